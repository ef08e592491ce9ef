//! fio's command line, written as a job file.

use terms::fio;

/// Options of the command line alone that change nothing of what is measured; with a value behind them, or not.
const PRINTING: [(&str, bool); 13] = [
    ("output", true),
    ("output-format", true),
    ("append-terse", false),
    ("minimal", false),
    ("terse-version", true),
    ("eta", true),
    ("eta-newline", true),
    ("eta-interval", true),
    ("status-interval", true),
    ("readonly", false),
    ("max-jobs", true),
    ("alloc-size", true),
    ("warnings-fatal", false),
];

/// The job file that says what fio's arguments say: what comes before the first `--name` speaks for all jobs, each
/// `--name` begins one. The words `sudo` and `fio` may stand before them.
///
/// # Errors
/// The argument that is none of fio's, and why.
pub fn job_file(arguments: &[String]) -> Result<String, String> {
    let mut text = String::new();
    let mut words = arguments.iter().skip_while(|word| ["sudo", "fio"].contains(&word.as_str())).peekable();
    while let Some(word) = words.next() {
        let said = word.trim_start_matches('-');
        if said.len() == word.len() {
            return Err(format!("`{}` is no option; a job file is checked by its name alone", word.escape_debug()));
        }
        let (key, own) = said.split_once('=').map_or((said, None), |(key, value)| (key, Some(value)));
        let printing = PRINTING.iter().find(|(name, _)| *name == key);
        let takes_next = printing.map_or_else(|| !fio::is_set(key), |(_, value)| *value);
        let value = match own {
            None if takes_next => words.next().map(String::as_str),
            own => own,
        };
        if value.is_some_and(|value| value.contains(['#', ';', '\n'])) {
            return Err(format!("`{}` cannot stand in a job file", word.escape_debug()));
        }
        if printing.is_some() {
            continue;
        }
        match (key, value) {
            ("name", Some(name)) => text.push_str(&format!("[{name}]\n")),
            _ => {
                if text.is_empty() {
                    text.push_str("[global]\n");
                }
                text.push_str(&value.map_or_else(|| format!("{key}\n"), |value| format!("{key}={value}\n")));
            }
        }
    }
    Ok(text)
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
        assert!(of("--name=a job.fio").is_err() && of("--name=a --description=a;b").is_err());
    }
}
