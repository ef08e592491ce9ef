//! This machine.

use std::fs;
use std::io;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use terms::{Cmd, Nanos, Outcome};

use crate::device::{self, Holds};
use crate::process;
use crate::{Devno, Exclusivity, Hold, Host, HostError, Needle, NeedleHit};

/// This machine, as this user.
#[derive(Debug, Clone, Default)]
pub struct Local {
    env: Vec<(String, String)>,
    holds: Holds,
}

impl Local {
    /// This machine.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// This machine, with variables that every program gets.
    #[must_use]
    pub fn with_env(env: Vec<(String, String)>) -> Self {
        Self { env, holds: Holds::default() }
    }

    fn file_error(&self, doing: &'static str, path: &str) -> impl FnOnce(io::Error) -> HostError {
        let (host, path) = (self.name(), path.to_owned());
        move |source| HostError::File { host, doing, path, source }
    }
}

impl Host for Local {
    fn name(&self) -> String {
        "this machine".to_owned()
    }

    fn run(&self, cmd: &Cmd) -> Result<Outcome, HostError> {
        let start = |source| HostError::Start { host: self.name(), line: cmd.line(), source };
        process::run(cmd, &self.env).map_err(start)?.ok_or(HostError::Interrupted)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
        device::read(path).map_err(self.file_error("read", path))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError> {
        fs::write(path, bytes).map_err(self.file_error("write", path))
    }

    fn list(&self, path: &str) -> Result<Vec<String>, HostError> {
        let names = || -> io::Result<Vec<String>> {
            fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect()
        };
        let mut names = names().map_err(self.file_error("list", path))?;
        names.sort();
        Ok(names)
    }

    fn resolve(&self, path: &str) -> Result<String, HostError> {
        fs::canonicalize(path).map(|path| path.to_string_lossy().into_owned()).map_err(self.file_error("follow", path))
    }

    fn now(&self) -> Result<Nanos, HostError> {
        let time = clock_gettime(ClockId::Monotonic);
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanos = u64::try_from(time.tv_nsec).unwrap_or(0);
        Ok(Nanos::from(Duration::from_secs(seconds) + Duration::from_nanos(nanos)))
    }

    fn find(&self, path: &str, wanted: &Needle<'_>) -> Result<Vec<NeedleHit>, HostError> {
        device::find(path, wanted).map_err(self.file_error("search", path))
    }

    fn read_at(&self, path: &str, offset: u64, length: u32) -> Result<Vec<u8>, HostError> {
        device::read_at(path, offset, length).map_err(self.file_error("read", path))
    }

    fn device_number(&self, path: &str) -> Result<Option<Devno>, HostError> {
        device::number(path).map_err(self.file_error("tell the device number of", path))
    }

    fn open_exclusively(&self, path: &str) -> Result<Exclusivity, HostError> {
        device::open_exclusively(path).map_err(self.file_error("open", path))
    }

    fn hold(&self, path: &str) -> Result<Option<Hold>, HostError> {
        self.holds.take(path).map_err(self.file_error("hold", path))
    }

    fn release(&self, hold: u64) -> Result<(), HostError> {
        self.holds.release(hold);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use terms::Bytes;

    use super::*;

    #[test]
    fn a_program_is_run_and_kept_whole() {
        let host = Local::new();
        let outcome = host.run(&Cmd::new(["sh", "-c", "cat; echo oops >&2; exit 3"]).stdin(*b"in")).unwrap();
        assert_eq!((outcome.status, outcome.text(), outcome.error_text()), (3, "in".into(), "oops".into()));
    }

    #[test]
    fn a_failed_program_tells_everything() {
        let error = Local::new()
            .run_ok(&Cmd::new(["sh", "-c", "echo said; echo why >&2; exit 7"]).step("raid.create").stdin(*b"canary"))
            .unwrap_err();
        let text = error.to_string();
        for part in ["sh -c", "status 7", "raid.create", "stdout: said", "stderr: why"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!format!("{error:?}").contains("canary"));
    }

    #[test]
    fn time_runs_out_for_the_whole_group() {
        let start = std::time::Instant::now();
        let cmd = Cmd::new(["sh", "-c", "sleep 30 & sleep 30"]).limit(Nanos::millis(200));
        let outcome = Local::new().run(&cmd).unwrap();
        assert!(outcome.timed_out && !outcome.ok());
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_program_is_asked_before_it_is_ended() {
        let asked =
            Cmd::new(["sh", "-c", "trap 'echo cleaned; exit 1' TERM; sleep 30 & wait"]).limit(Nanos::millis(300));
        let outcome = Local::new().run(&asked).unwrap();
        assert_eq!((outcome.timed_out, outcome.text().as_str()), (true, "cleaned"));
        let deaf = Cmd::new(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"]).limit(Nanos::millis(300));
        let start = std::time::Instant::now();
        assert!(Local::new().run(&deaf).unwrap().timed_out);
        assert!(start.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_program_that_prints_without_end_is_ended_and_its_edges_are_kept() {
        let script = "echo first; while :; do echo 0123456789012345678901234567890123456789; done";
        for redirected in ["", "exec >&2; "] {
            let cmd = Cmd::new(["sh", "-c", &format!("{redirected}{script}")]).output(Bytes::mib(8));
            let start = std::time::Instant::now();
            let outcome = Local::new().run(&cmd).unwrap();
            let said = if redirected.is_empty() { &outcome.stdout } else { &outcome.stderr };
            assert_eq!((outcome.flooded, outcome.timed_out, outcome.ok()), (Some(Bytes::mib(8)), false, false));
            assert!(said.starts_with(b"first\n") && said.len() < 3 << 20, "{} bytes are kept", said.len());
            assert!(String::from_utf8_lossy(said).contains(" bytes are left out here]\n"));
            assert!(start.elapsed() < Duration::from_secs(30));
            let failure = Local::new().run_ok(&cmd).unwrap_err().to_string();
            assert!(
                failure.contains("it printed more than 8.00 MiB") || failure.contains("it printed more than 8 MiB")
            );
        }
    }

    #[test]
    fn output_within_the_bound_is_whole_and_one_byte_more_is_not_believed() {
        let print = |bytes: u64| {
            let cmd = Cmd::new(["head", "-c", &bytes.to_string(), "/dev/zero"]).output(Bytes::mib(3));
            Local::new().run(&cmd).unwrap()
        };
        let whole = print(3 << 20);
        assert!(whole.ok() && whole.stdout.len() == 3 << 20);
        // It ended by itself, with status 0, before anybody could end it.
        let more = print((3 << 20) + 1);
        assert_eq!((more.status, more.ok(), more.flooded), (0, false, Some(Bytes::mib(3))));
    }

    #[test]
    fn what_has_no_end_is_not_read() {
        let host = Local::new();
        for path in ["/dev/zero", "/dev/random", "/proc/self"] {
            assert!(host.read(path).is_err(), "{path}");
        }
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
        host.run_ok(&Cmd::new(["mkfifo", &at("pipe")])).unwrap();
        assert!(host.read(&at("pipe")).is_err() && host.read_at(&at("pipe"), 0, 1).is_err());
        // Sparse: it takes no room.
        fs::File::create(at("large")).unwrap().set_len(1 << 40).unwrap();
        assert!(host.read(&at("large")).unwrap_err().source().unwrap().to_string().contains("256 MiB"));
        assert!(host.read_at(&at("large"), 0, u32::MAX).unwrap_err().source().unwrap().to_string().contains("256 MiB"));
        let zero = vec![vec![0]];
        let wanted = Needle { texts: &zero, offset: 0, length: u64::MAX, keep: 1 << 20 };
        assert!(host.find(&at("large"), &wanted).is_err());
        // They say that they are empty.
        assert!(!host.read("/proc/self/stat").unwrap().is_empty() && host.read("/sys/kernel/mm/ksm/run").is_ok());
    }

    #[test]
    fn a_daemon_left_behind_does_not_hold_us() {
        let start = std::time::Instant::now();
        let outcome = Local::new().run(&Cmd::new(["sh", "-c", "echo done; sleep 4 & exit 0"])).unwrap();
        assert_eq!(outcome.text(), "done");
        assert!(start.elapsed() < Duration::from_secs(3));
    }

    #[test]
    fn what_is_not_there_is_told_from_what_fails() {
        let host = Local::new();
        assert!(!host.exists("/nonexistent/x").unwrap());
        assert!(host.read("/nonexistent").unwrap_err().is_not_found());
        assert!(host.run(&Cmd::new(["bedplate-no-such-program"])).unwrap_err().is_not_found());
        assert!(!host.read("/proc").unwrap_err().is_not_found());
    }
}
