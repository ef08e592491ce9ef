//! fio's command line, written as a job file.

use terms::fio;

use super::passed;

/// Options of the command line alone that change nothing of what is measured; with a word behind them, or not.
const PRINTING: [(&str, bool); 16] = [
    ("output", true),
    ("output-format", true),
    ("append-terse", false),
    ("bandwidth-log", false),
    ("debug", true),
    ("minimal", false),
    ("terse-version", true),
    ("eta", true),
    ("eta-newline", true),
    ("eta-interval", true),
    ("parse-only", false),
    ("showcmd", false),
    ("status-interval", true),
    ("max-jobs", true),
    ("alloc-size", true),
    ("warnings-fatal", false),
];

/// What fio is told of writes: it refuses these.
const READONLY: &str = "readonly";

/// Options of the command line behind which fio takes no `=` (its `--parse-only` of 3.33).
const ALONE: [&str; 6] = ["bandwidth-log", "minimal", "parse-only", READONLY, "showcmd", "warnings-fatal"];

/// Options that fio answers, and ends.
const ANSWERED: [&str; 5] = ["cmdhelp", "crctest", "enghelp", "help", "version"];

/// What may stand before fio's name.
const SUDO: &str = "sudo";

/// Letters that begin a comment in a job file, or end a line.
const NONE_OF: [char; 3] = ['#', ';', '\n'];

/// A command line on its way to a job file.
struct Line {
    text: String,
    /// The engine of what speaks for all jobs, and of the job that is spoken of.
    shared: String,
    engine: String,
    has_job: bool,
    /// The first value of the job that is spoken of with a unit that `kb_base` decides.
    measured: Option<String>,
    is_readonly: bool,
    /// The first `rw` that does not only read.
    writes: Option<String>,
}

/// The job file that says what fio's arguments say: what comes before the first `--name` speaks for all jobs, each
/// `--name` begins one. `sudo` and fio's own name may stand before them.
///
/// # Errors
/// The argument that is none of fio's, and why.
pub fn job_file(arguments: &[String]) -> Result<String, String> {
    let default = "psync".to_owned();
    let mut line = Line {
        text: String::new(),
        shared: default.clone(),
        engine: default,
        has_job: false,
        measured: None,
        is_readonly: false,
        writes: None,
    };
    let mut words = behind_fio(arguments).iter();
    while let Some(word) = words.next() {
        let said = word.trim_start_matches('-');
        if said.len() == word.len() && words.clone().any(is_fio) {
            let starter = arguments.iter().find(|word| *word != SUDO && !word.starts_with('-')).unwrap_or(word);
            return Err(format!("`{}` stands before fio: give what stands behind fio", starter.escape_debug()));
        }
        if said.is_empty() {
            return Err(format!(
                "behind `{}` fio takes every argument for a job file: leave it out",
                word.escape_debug()
            ));
        }
        if said.len() == word.len() {
            return Err(format!(
                "`{}` is no option, and fio takes it for a job file: check that by its name alone, and join a value to its \
                 option by `=`",
                word.escape_debug()
            ));
        }
        let (key, own) = said.split_once('=').map_or((said, None), |(key, value)| (key, Some(value)));
        if ANSWERED.contains(&key) {
            return Err(format!("fio answers `--{key}` and runs no job: leave it out"));
        }
        if let Some(value) = own.filter(|_| ALONE.contains(&key)) {
            return Err(format!("fio refuses `--{key}={}`: say --{key}", value.escape_debug()));
        }
        let printing = PRINTING.iter().find(|(name, _)| *name == key);
        let takes_next = printing.map_or_else(|| key != READONLY && !fio::is_set(key), |(_, value)| *value);
        let value = if own.is_none() && takes_next { words.next().map(String::as_str) } else { own };
        if printing.is_none() {
            line.take(key, value)?;
        }
    }
    line.whole()
}

fn is_fio(word: &String) -> bool {
    word == "fio" || word.ends_with("/fio")
}

/// What stands behind fio's own name, where that is there.
fn behind_fio(arguments: &[String]) -> &[String] {
    match arguments {
        [first, rest @ ..] if is_fio(first) => rest,
        [first, rest @ ..] if first == SUDO => {
            let options = rest.iter().take_while(|word| word.starts_with('-')).count();
            rest.get(options).filter(|word| is_fio(word)).map_or(arguments, |_| &rest[options + 1..])
        }
        _ => arguments,
    }
}

impl Line {
    fn take(&mut self, key: &str, value: Option<&str>) -> Result<(), String> {
        let name = fio::canonical(key);
        match (name, value) {
            (READONLY, _) => {
                self.is_readonly = true;
                return Ok(());
            }
            ("name", Some(job)) => {
                self.begin(job);
                return Ok(());
            }
            ("ioengine", Some(engine)) => fio::engine(engine).clone_into(&mut self.engine),
            // What stands behind a colon is no direction.
            ("rw", Some(rw)) if !["read", "randread"].contains(&rw.split(':').next().unwrap_or_default()) => {
                self.writes.get_or_insert(rw.to_owned());
            }
            _ => {}
        }
        if let Some(engines) = fio::engines_with(name).filter(|engines| !engines.contains(&self.engine.as_str())) {
            return Err(format!("fio takes `--{key}` only behind `--ioengine` with one of {}", engines.join(", ")));
        }
        // In a file fio reads it before all others.
        if let Some(known) = self.measured.as_ref().filter(|_| name == "kb_base") {
            return Err(format!("fio has read `{known}` before --kb_base: put --kb_base first"));
        }
        if let Some(value) = value.filter(|value| passed::has_unit(name, value)) {
            self.measured.get_or_insert_with(|| format!("--{key}={value}").escape_debug().to_string());
        }
        let value = value.map(|value| if name == "description" { plain(value) } else { value.to_owned() });
        if value.as_ref().is_some_and(|value| value.contains(NONE_OF)) {
            return Err(format!("the value of `--{}` has a letter that no job file can hold", key.escape_debug()));
        }
        if self.text.is_empty() {
            self.text.push_str("[global]\n");
        }
        self.text.push_str(&value.map_or_else(|| format!("{key}\n"), |value| format!("{key}={value}\n")));
        Ok(())
    }

    /// Begins a job, or more of what speaks for all.
    fn begin(&mut self, job: &str) {
        let is_job = !job.starts_with("global");
        if !self.has_job {
            self.shared.clone_from(&self.engine);
        }
        self.engine.clone_from(&self.shared);
        self.measured = None;
        self.has_job |= is_job;
        self.text.push_str(&format!("[{}]\n", plain(job)));
    }

    fn whole(self) -> Result<String, String> {
        match self.writes {
            Some(rw) if self.is_readonly => Err(format!("fio refuses `--rw={}` with --readonly", rw.escape_debug())),
            _ if !self.has_job => Err("the command line has no job: say --name=NAME".to_owned()),
            _ => Ok(self.text),
        }
    }
}

/// A text for people, in letters that a job file can hold.
fn plain(text: &str) -> String {
    text.replace(NONE_OF, "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Result<String, String> {
        job_file(&line.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_line_is_a_job_file() {
        for (line, text) in [
            ("--name=a --rw=read", "[a]\nrw=read\n"),
            ("sudo fio --rw=read --bs 4k --name=x --output-format=json", "[global]\nrw=read\nbs=4k\n[x]\n"),
            ("-thread -iodepth 1 -name=x -group_reporting", "[global]\nthread\niodepth=1\n[x]\ngroup_reporting\n"),
            ("--name=a --time_based=0 --eta always --name=b", "[a]\ntime_based=0\n[b]\n"),
        ] {
            assert_eq!(of(line).as_deref(), Ok(text), "{line}");
        }
        for line in
            ["/usr/bin/fio --name=a --rw=read", "sudo -E fio --name=a --rw=read", "--name=a --debug=io --rw=read"]
        {
            assert_eq!(of(line).as_deref(), Ok("[a]\nrw=read\n"), "{line}");
        }
        assert_eq!(of("--name=a;b --description=#1").as_deref(), Ok("[a-b]\ndescription=-1\n"));
    }

    /// What fio itself is given here, fio 3.33 refused.
    #[test]
    fn what_fio_refuses_of_a_command_line_is_refused_with_the_reason() {
        for (line, why) in [
            ("--name=a job.fio", "takes it for a job file"),
            ("--name=a --thread 1", "join a value"),
            ("taskset -c 0 fio --name=a", "`taskset` stands before fio"),
            ("sudo -E nice fio --name=a", "`nice` stands before fio"),
            ("--help", "runs no job"),
            ("--name=a --cmdhelp=bs", "runs no job"),
            ("--name=a -- --bs=4k", "for a job file"),
            ("--readonly=1 --name=a --rw=read", "say --readonly"),
            ("--minimal=1 --name=a --rw=read", "say --minimal"),
            ("--readonly --name=a --rw=write:4k", "with --readonly"),
            ("--rw=read --size=1g", "say --name="),
            ("--name=a --hipri --ioengine=io_uring", "only behind `--ioengine`"),
            ("--readonly --name=a --rw=randwrite", "with --readonly"),
            ("--name=a --rate=1;2", "no job file can hold"),
            // These two fio takes, with 4 KiB.
            ("--name=a --bs=4k --kb_base=1000", "read `--bs=4k` before --kb_base: put --kb_base first"),
            ("--bs=4k --name=a --size=1m --kb_base=1000", "put --kb_base first"),
        ] {
            assert!(of(line).is_err_and(|told| told.contains(why)), "{line}: {:?}", of(line));
        }
        for line in [
            "--ioengine=io_uring --name=a --hipri",
            "--readonly --name=a --rw=randread",
            "--readonly --name=a --rw=read:4k",
            "--append-terse=1 --name=a",
            "--name=a --kb_base=1000 --bs=4k --name=b --kb_base=1000",
            "--name=a --runtime=2m --thinktime=2m --filename=/dev/nvme0p1 --kb_base=1000",
        ] {
            assert!(of(line).is_ok(), "{line}");
        }
    }
}
