//! `bedplate doctor`

use std::fmt::Write as _;

use ::doctor::{Check, checks, diagnose_with};
use host::{Host, inspect};
use report::diagnosis;
use terms::diagnosis::{Diagnosis, Finding, Severity};

use crate::cli::DoctorArguments;
use crate::exit::{Exit, Failure};
use crate::machine;
use crate::settings::Settings;

/// Looks at a machine and says what is wrong; or fixes what is named.
pub(crate) fn doctor(arguments: &DoctorArguments, settings: &Settings) -> Result<Exit, Failure> {
    for name in arguments.only.iter().chain(&arguments.fix) {
        check(name)?;
    }
    let wanted = |check: &Check, names: &[String]| names.is_empty() || names.iter().any(|name| name == check.id);
    if arguments.list {
        let all: Vec<_> = checks().filter(|check| wanted(check, &arguments.only)).map(Check::about).collect();
        let text =
            if arguments.json { serde_json::to_string_pretty(&all)? } else { diagnosis::list(&all, &settings.style) };
        settings.printer.drawn(&text)?;
        return Ok(Exit::Yes);
    }
    if !arguments.fix.is_empty() {
        return fix(arguments, settings);
    }
    let wanted = |check: &Check| wanted(check, &arguments.only);
    let found = if arguments.files.is_empty() {
        diagnose_with(&inspect::examine(&*machine::open(&arguments.machine, settings)?)?, wanted)
    } else {
        let posted = machine::posted(&arguments.files)?;
        diagnose_with(&inspect::examine(&posted)?, wanted).cited(|path| posted.told_by(path))
    };
    let found = found.at_least(arguments.severity.into());
    let text = if arguments.json { diagnosis::json(&found)? } else { diagnosis::text(&found, &narrow(settings)) };
    settings.printer.drawn(&text)?;
    Ok(if found.worst() >= Some(Severity::Warning) { Exit::No } else { Exit::Yes })
}

/// The style for running text: lines of more than 80 columns are hard to read.
fn narrow(settings: &Settings) -> report::Style {
    report::Style { width: settings.style.width.min(80), ..settings.style }
}

fn check(name: &str) -> Result<&'static Check, Failure> {
    checks().find(|check| check.id == name).ok_or_else(|| {
        let near = spec::did_you_mean(name, checks().map(|check| check.id));
        Failure::told(format!("error: no check is called `{name}`\n\nhint: {near}`bedplate doctor --list` lists them"))
    })
}

/// Fixes what is named: all of it is refused where one part is not what can be put back.
fn fix(arguments: &DoctorArguments, settings: &Settings) -> Result<Exit, Failure> {
    if arguments.machine.machine.is_some() {
        return Err(Failure::Refused(
            "refused: a machine in a file cannot be fixed\n\nhint: leave out --machine, on the machine itself"
                .to_owned(),
        ));
    }
    for name in &arguments.fix {
        if !check(name)?.fixes {
            return Err(refused(name, "what it finds is not fixed by a setting that can be put back"));
        }
    }
    let host = machine::open(&arguments.machine, settings)?;
    let diagnosis =
        diagnose_with(&inspect::examine(&*host)?, |check| arguments.fix.iter().any(|name| name == check.id));
    for finding in &diagnosis.findings {
        if let Some(lost) = &finding.remedy.destroys {
            return Err(refused(&finding.check, &format!("fixing {} destroys {lost}", finding.place)));
        }
    }
    let mut done = String::new();
    let result = fix_all(&*host, &diagnosis, &mut done);
    let nothing = format!("nothing to fix: {} found nothing here that a setting fixes\n", arguments.fix.join(", "));
    settings.printer.data(if done.is_empty() { &nothing } else { &done })?;
    result
}

fn refused(check: &str, why: &str) -> Failure {
    Failure::Refused(format!(
        "refused: `{check}`: {why}\n\nhint: `bedplate doctor --only {check}` shows what to do by hand"
    ))
}

fn fix_all(host: &dyn Host, diagnosis: &Diagnosis, done: &mut String) -> Result<Exit, Failure> {
    let mut all = true;
    for finding in &diagnosis.findings {
        all &= apply(host, finding, done)?;
    }
    for unknown in &diagnosis.unknown {
        let _ = writeln!(done, "# {}: {} is not known: {}", unknown.check, unknown.place, unknown.reason);
        all = false;
    }
    Ok(if all { Exit::Yes } else { Exit::No })
}

/// Writes one finding's settings; was everything of it fixed?
fn apply(host: &dyn Host, finding: &Finding, done: &mut String) -> Result<bool, Failure> {
    if finding.remedy.fixes.is_empty() {
        let _ = writeln!(done, "# {}: {} is left: {}", finding.check, finding.place, finding.what);
        return Ok(false);
    }
    let _ = writeln!(done, "# {}: {}", finding.check, finding.place);
    let mut all = true;
    for fix in &finding.remedy.fixes {
        if !is_setting(&fix.path) {
            return Err(refused(&finding.check, &format!("`{}` is no setting of the kernel", fix.path)));
        }
        let now = current(&host.read_text(&fix.path)?);
        if !says(&now, &fix.old) {
            let _ = writeln!(done, "# left: {} says `{now}` and not `{}` any more", fix.path, fix.old);
            all = false;
            continue;
        }
        host.write(&fix.path, fix.new.as_bytes())?;
        let _ = writeln!(done, "{}\n#   back: {}", fix.command(), fix.undo());
        let after = current(&host.read_text(&fix.path)?);
        if !says(&after, &fix.new) {
            let _ = writeln!(done, "# the kernel did not take it: {} says `{after}`", fix.path);
            all = false;
        }
    }
    Ok(all)
}

/// Names in paths are those that the machine gave: none of them may lead elsewhere.
fn is_setting(path: &str) -> bool {
    path.starts_with("/sys/") && path.split('/').all(|part| part != ".." && part != ".")
}

/// What a file of the kernel says is in force: of several words the one in brackets (`queue/scheduler`).
fn current(text: &str) -> String {
    host::in_force(text).trim().to_owned()
}

/// Is it that value? `200000 (system)` is both the number and the word (`md/sync_speed_max`).
fn says(now: &str, value: &str) -> bool {
    now == value
        || now.split_once(" (").is_some_and(|(number, rest)| number == value || rest.trim_end_matches(')') == value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::io;
    use std::sync::Mutex;

    use host::HostError;
    use terms::diagnosis::{Fix, Place, Remedy};
    use terms::{Cmd, Nanos, Outcome};

    use super::*;

    /// A machine that has files and nothing else. A file that begins with `deaf` takes no writes, without saying so.
    struct Files(Mutex<BTreeMap<String, String>>);

    impl Host for Files {
        fn name(&self) -> String {
            "files".to_owned()
        }
        fn run(&self, _: &Cmd) -> Result<Outcome, HostError> {
            Err(HostError::Interrupted)
        }
        fn read(&self, path: &str) -> Result<Vec<u8>, HostError> {
            let files = self.0.lock().unwrap();
            let missing = || HostError::File {
                host: self.name(),
                doing: "read",
                path: path.to_owned(),
                source: io::Error::from(io::ErrorKind::NotFound),
            };
            files.get(path).map(|text| text.trim_start_matches("deaf").as_bytes().to_vec()).ok_or_else(missing)
        }
        fn write(&self, path: &str, bytes: &[u8]) -> Result<(), HostError> {
            let mut files = self.0.lock().unwrap();
            if !files[path].starts_with("deaf") {
                files.insert(path.to_owned(), String::from_utf8_lossy(bytes).into_owned());
            }
            Ok(())
        }
        fn list(&self, _: &str) -> Result<Vec<String>, HostError> {
            Ok(Vec::new())
        }
        fn resolve(&self, path: &str) -> Result<String, HostError> {
            Ok(path.to_owned())
        }
        fn now(&self) -> Result<Nanos, HostError> {
            Ok(Nanos(0))
        }
    }

    const SCHEDULER: &str = "/sys/block/nvme0n1/queue/scheduler";

    fn files(text: &str) -> Files {
        Files(Mutex::new([(SCHEDULER.to_owned(), text.to_owned())].into()))
    }

    fn finding(path: &str) -> Finding {
        Finding {
            check: "scheduler".into(),
            severity: Severity::Warning,
            place: Place::new("drive", "nvme0n1"),
            what: "the I/O scheduler is `bfq`".into(),
            why: String::new(),
            seen: Vec::new(),
            remedy: Remedy {
                fixes: vec![Fix { path: path.to_owned(), old: "bfq".to_owned(), new: "none".to_owned() }],
                ..Remedy::default()
            },
        }
    }

    fn applied(host: &Files, finding: &Finding) -> (Result<bool, Failure>, String) {
        let mut done = String::new();
        (apply(host, finding, &mut done), done)
    }

    #[test]
    fn a_setting_is_written_and_can_be_put_back() {
        let host = files("mq-deadline kyber [bfq] none\n");
        let (result, said) = applied(&host, &finding(SCHEDULER));
        assert!(result.unwrap());
        assert_eq!(host.read_text(SCHEDULER).unwrap(), "none");
        assert_eq!(
            said,
            "# scheduler: drive nvme0n1\necho none > /sys/block/nvme0n1/queue/scheduler\n#   back: echo bfq > \
             /sys/block/nvme0n1/queue/scheduler\n"
        );
    }

    #[test]
    fn what_has_changed_meanwhile_is_left_alone() {
        let host = files("[mq-deadline] kyber bfq none\n");
        let (result, said) = applied(&host, &finding(SCHEDULER));
        assert!(!result.unwrap() && said.contains("says `mq-deadline` and not `bfq`"), "{said}");
        assert_eq!(host.read_text(SCHEDULER).unwrap(), "[mq-deadline] kyber bfq none");
    }

    #[test]
    fn a_kernel_that_does_not_take_it_is_told_of() {
        let (result, said) = applied(&files("deaf[bfq] none"), &finding(SCHEDULER));
        assert!(!result.unwrap() && said.contains("did not take it"), "{said}");
    }

    #[test]
    fn only_settings_of_the_kernel_are_written() {
        for path in ["/etc/passwd", "/sys/../etc/passwd", "/proc/sys/vm/drop_caches"] {
            let (result, _) = applied(&files(""), &finding(path));
            assert!(matches!(result, Err(Failure::Refused(_))), "{path}");
        }
        assert!(matches!(applied(&files(""), &finding("/sys/x")).0, Err(Failure::Could(_))));
    }

    #[test]
    fn findings_without_a_setting_are_left_and_said() {
        let mut left = finding(SCHEDULER);
        left.remedy.fixes.clear();
        let (result, said) = applied(&files(""), &left);
        assert!(!result.unwrap() && said.contains("is left"), "{said}");
    }

    #[test]
    fn values_are_read_as_the_kernel_writes_them() {
        assert_eq!(current("mq-deadline kyber [bfq] none"), "bfq");
        assert_eq!(current("8192\n"), "8192");
        assert!(says("200000 (system)", "system") && says("200000 (local)", "200000"));
        assert!(!says("200000 (local)", "system") && !says("8192", "256"));
    }
}
