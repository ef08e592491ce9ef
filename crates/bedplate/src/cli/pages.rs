//! What is told of the program beside its options: where to begin, verbs in groups, examples, and the last sections of
//! manual pages. All of it is in tables here; help and manual are made from them and from the definition.

use std::fmt::Write as _;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, CommandFactory};

use super::Cli;

/// What the program says when nothing is asked of it.
pub(crate) const START: &str = "\
Bedplate measures, compares and checks Linux storage: RAID, LVM, LUKS, ext4,
XFS, btrfs, ZFS.

  bedplate bench .    how fast is this directory? No root, nothing left behind
  bedplate doctor     is storage on this machine set up well? Changes nothing
  bedplate init       which layout is best for your drives? Asks you first
  bedplate demo       build and compare five stacks in a virtual machine

All commands: `bedplate --help`. One of them, with examples: its own `--help`";

/// Verbs by what they are for.
const GROUPS: [(&str, &[&str]); 6] = [
    ("Measure", &["bench", "demo", "run", "build", "prove"]),
    ("Decide", &["advise", "expect", "init", "plan"]),
    ("This machine", &["doctor", "inspect", "calibrate", "capture"]),
    ("Results", &["report", "compare", "runs", "check-model"]),
    ("Studies and workloads", &["studies", "profiles", "fio", "schema"]),
    ("Setup", &["lab", "teardown", "completion", "man"]),
];

/// Examples of each verb, as they are typed.
pub(crate) const EXAMPLES: [(&str, &[&str]); 27] = [
    (
        "bench",
        &["bedplate bench . --quick", "bedplate bench /srv/photos --rounds 5", "bedplate bench /data --on ssh://nas"],
    ),
    ("demo", &["bedplate demo", "bedplate demo --details"]),
    (
        "run",
        &[
            "bedplate run quickstart",
            "bedplate run study.toml --only 'ext4*' --rounds 5",
            "bedplate run study.toml --resume",
            "bedplate run quickstart --rounds 1 --kernel 6.1 --kernel 6.12",
            "bedplate run study.toml --on local --drive a=serial=S1 --drive b=serial=S2",
        ],
    ),
    ("build", &["bedplate build quickstart", "bedplate build quickstart --only 2 --shell"]),
    ("prove", &["bedplate prove quickstart", "bedplate prove quickstart --feature encryption,redundancy --steps"]),
    ("expect", &["bedplate expect quickstart", "bedplate expect study.toml --years --drive-size 2TB"]),
    (
        "advise",
        &[
            "bedplate advise --drives 4x4TB:hdd --encrypted --survive 1",
            "bedplate advise quickstart --drive-size 2TB --repair --explain",
            "bedplate advise --drives 2x2TB:nvme --write-study study.toml",
        ],
    ),
    ("init", &["bedplate init", "bedplate init nas.toml --drives 4x8TB:hdd --repair"]),
    ("plan", &["bedplate plan quickstart", "bedplate plan quickstart --only 3 --script"]),
    ("doctor", &["bedplate doctor", "bedplate doctor lspci.txt", "bedplate doctor --severity warning"]),
    ("inspect", &["bedplate inspect", "bedplate inspect --on ssh://nas --json"]),
    ("calibrate", &["bedplate calibrate", "bedplate calibrate --on lab"]),
    ("capture", &["bedplate capture machine.capture"]),
    ("check-model", &["bedplate check-model --seed 7", "bedplate check-model --seed 7 --again --json"]),
    (
        "report",
        &[
            "bedplate report",
            "bedplate report --details",
            "bedplate report latest --html page.html",
            "bedplate report --card card.svg",
        ],
    ),
    ("compare", &["bedplate compare 2026-11-20 latest", "bedplate compare 2026-11-20 latest --fail-slower 5%"]),
    ("runs", &["bedplate runs"]),
    ("studies", &["bedplate studies", "bedplate studies quickstart"]),
    ("profiles", &["bedplate profiles", "bedplate profiles kdiskmark"]),
    ("fio", &["bedplate fio check jobs.fio", "bedplate fio export quickstart jobs"]),
    ("schema", &["bedplate schema"]),
    ("lab", &["bedplate lab check", "bedplate lab shell quickstart"]),
    ("teardown", &["bedplate teardown", "bedplate teardown latest"]),
    ("completion", &["bedplate completion bash"]),
    ("man", &["bedplate man", "bedplate man /usr/local/share/man/man1"]),
    ("check", &["bedplate lab check --json", "bedplate fio check -- --name=a --rw=randread --size=1G"]),
    ("shell", &["bedplate lab shell"]),
];

/// What the exit status says.
const STATUS: [(&str, &str); 6] = [
    ("0", "done; every check and measurement succeeded"),
    (
        "1",
        "done, and the answer is no: a check failed, doctor found a warning or an error, no layout fits, plans differ, a record \
         is not as it was sealed, or a measurement of a run has no figure",
    ),
    ("2", "could not be done: usage, environment, input or output"),
    ("3", "refused for safety; nothing was changed"),
    ("4", "not possible here; the message names what is missing and what installs it"),
    ("130", "interrupted, after cleaning up"),
];

/// Where things are kept.
const FILES: [(&str, &str); 4] = [
    (
        "$XDG_STATE_HOME/bedplate/runs",
        "saved runs; by default below ~/.local/state, with sudo below that of who called it",
    ),
    ("$XDG_STATE_HOME/bedplate/calibrations", "what `bedplate calibrate` measured"),
    ("$XDG_CACHE_HOME/bedplate", "what is worth keeping between guests; may be deleted"),
    ("/var/tmp/bedplate-UID", "files of running guests; swept when a guest starts"),
];

/// What is read from the environment.
const ENVIRONMENT: [(&str, &str); 5] = [
    ("BEDPLATE_RUNS", "directory of saved runs, as --runs"),
    ("BEDPLATE_LAB", "directory for files of guests, as --lab-directory"),
    ("BEDPLATE_SSH", "command that reaches other machines, as --ssh"),
    ("NO_COLOR", "if set, no colours"),
    ("XDG_STATE_HOME, XDG_CACHE_HOME", "where state and cache are"),
];

/// Words that people type for what is no verb here, and the command that answers them.
const ANSWERED_BY: [(&str, &str); 12] = [
    ("benchmark", "bedplate bench PATH"),
    ("measure", "bedplate bench PATH"),
    ("predict", "bedplate expect STUDY"),
    ("capacity", "bedplate expect STUDY --space"),
    ("size", "bedplate expect STUDY --space"),
    ("durability", "bedplate expect STUDY --years"),
    ("risk", "bedplate expect STUDY --years"),
    ("recommend", "bedplate advise --drives 4x4TB:hdd"),
    ("diagnose", "bedplate doctor"),
    ("diff", "bedplate compare A B"),
    ("list", "bedplate runs"),
    ("clean", "bedplate teardown"),
];

/// The command that answers a word which is no verb, if that is known.
pub(crate) fn meant(said: &clap::Error) -> Option<&'static str> {
    let Some(ContextValue::String(typed)) = said.get(ContextKind::InvalidSubcommand) else { return None };
    ANSWERED_BY.iter().find(|(word, _)| typed.eq_ignore_ascii_case(word)).map(|(_, command)| *command)
}

/// A number below 0 is a value that its option refuses with the bounds, and no option that nobody knows.
fn with_minus(arg: Arg) -> Arg {
    let is_number = !arg.is_positional() && arg.get_action().takes_values();
    if is_number { arg.allow_negative_numbers(true) } else { arg }
}

/// The definition with groups and examples.
pub(crate) fn command() -> clap::Command {
    let plain = Cli::command();
    let groups = groups(&plain);
    let mut command = plain.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}"
    ));
    command = command.after_help(section("Exit status", &STATUS));
    for name in GROUPS.iter().flat_map(|(_, names)| names.iter().copied()) {
        command = command.mut_subcommand(name, |verb| {
            let own = verb.get_after_help().map(|text| format!("\n\n{text}")).unwrap_or_default();
            let text = format!("Examples:\n{}{own}", indented(examples(name)));
            verb.after_help(text).mut_args(with_minus)
        });
    }
    command
}

/// Examples of a verb.
pub(crate) fn examples(name: &str) -> &'static [&'static str] {
    EXAMPLES.iter().find(|of| of.0 == name).map_or(&[], |of| of.1)
}

/// The verbs in their groups, each with what it does.
fn groups(command: &clap::Command) -> String {
    let mut out = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(out, "{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let _ = writeln!(out, "  {name:<11} {}", about.map(ToString::to_string).unwrap_or_default());
        }
        out.push('\n');
    }
    out
}

fn indented(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("  {line}\n")).collect::<String>().trim_end().to_owned()
}

/// A list of words and what they mean.
fn section(title: &str, rows: &[(&str, &str)]) -> String {
    let rows: String = rows.iter().map(|(word, means)| format!("  {word:<4} {means}\n")).collect();
    format!("{title}:\n{rows}")
}

/// The sections that end every manual page, in the language of manual pages (groff_man(7)).
pub(crate) fn manual(verb: Option<&str>) -> String {
    let mut out = String::new();
    let shown = verb.map_or_else(
        || examples("bench").iter().chain(examples("demo")).copied().collect(),
        |verb| examples(verb).to_vec(),
    );
    if !shown.is_empty() {
        out.push_str(".SH EXAMPLES\n");
        shown.iter().for_each(|line| out.push_str(&format!(".PP\n.nf\n{}\n.fi\n", escaped(line))));
    }
    for (title, rows) in [("EXIT STATUS", &STATUS[..]), ("FILES", &FILES), ("ENVIRONMENT", &ENVIRONMENT)] {
        let _ = writeln!(out, ".SH \"{title}\"");
        for (word, means) in rows {
            let _ = writeln!(out, ".TP\n\\fB{}\\fR\n{}", escaped(word), escaped(means));
        }
    }
    out
}

/// Text that groff takes as it is.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('~', "\\(ti").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a line, quotes taken off; examples need no more of a shell.
    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
    }

    #[test]
    fn every_verb_is_in_one_group_and_has_an_example() {
        let command = command();
        let mut shown: Vec<&str> =
            command.get_subcommands().filter(|verb| !verb.is_hide_set()).map(clap::Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        shown.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(shown, grouped);
        for name in shown {
            assert!(!examples(name).is_empty(), "{name}");
        }
        // They are text of our own, which nobody wraps.
        for line in groups(&command).lines().chain(START.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn a_word_that_is_no_verb_is_told_what_answers_it() {
        for (word, answer) in ANSWERED_BY {
            let error = command().try_get_matches_from(["bedplate", word]).unwrap_err();
            assert_eq!(meant(&error), Some(answer), "{word}");
            assert!(command().try_get_matches_from(words(answer)).is_ok(), "{answer}");
        }
        let unknown = command().try_get_matches_from(["bedplate", "frobnicate"]).unwrap_err();
        assert_eq!(meant(&unknown), None);
    }

    #[test]
    fn a_number_below_0_is_refused_with_the_bounds() {
        for line in
            ["advise --drives 2x1TB --survive -1", "run quickstart --rounds -1", "advise --drives 2x1TB --once-in -3"]
        {
            let error = command().try_get_matches_from(words(&format!("bedplate {line}"))).unwrap_err();
            assert_eq!(error.kind(), clap::error::ErrorKind::ValueValidation, "{line}: {error}");
        }
    }

    #[test]
    fn every_example_can_be_typed() {
        for line in EXAMPLES.iter().flat_map(|of| of.1) {
            let typed = command().try_get_matches_from(words(line));
            assert!(typed.is_ok(), "{line}: {}", typed.unwrap_err());
        }
        for line in START.lines().filter(|line| line.starts_with("  bedplate")) {
            let typed: Vec<String> = words(line).into_iter().take(if line.contains(" . ") { 3 } else { 2 }).collect();
            assert!(command().try_get_matches_from(&typed).is_ok(), "{line}");
        }
    }

    /// Commands in a document: what stands behind a prompt, which can be typed, and what a sentence mentions, which may
    /// leave out what belongs to it. Code with dots or brackets shows a form and is neither.
    fn commands(text: &str) -> (Vec<String>, Vec<String>) {
        let (mut typed, mut mentioned) = (Vec::new(), Vec::new());
        let text = text.replace("\\\n", " ");
        for (at, part) in text.split("```").enumerate() {
            if at % 2 == 1 {
                typed.extend(part.lines().filter_map(|line| line.trim().strip_prefix("$ ")).map(command_of));
            } else {
                mentioned.extend(part.split('`').skip(1).step_by(2).map(command_of));
            }
        }
        let ours = |line: &String| line.starts_with("bedplate ") && !line.contains(['…', '[']);
        (typed.into_iter().filter(ours).collect(), mentioned.into_iter().filter(ours).collect())
    }

    /// The first command of a line, without what is said of it.
    fn command_of(line: &str) -> String {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        let ends = [" #", " | ", " > ", " && ", " 2>", ";"];
        let end = ends.iter().filter_map(|end| line.find(end)).min().unwrap_or(line.len());
        line[..end].trim().trim_start_matches("sudo ").to_owned()
    }

    #[test]
    fn every_command_of_readme_and_docs_can_be_typed() {
        use clap::error::ErrorKind::{DisplayHelp, DisplayVersion, InvalidSubcommand, UnknownArgument};
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let docs = std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
        let (mut seen, mut wrong) = (0, Vec::new());
        for path in docs.chain([root.join("README.md"), root.join("evidence/README.md")]) {
            let (typed, mentioned) = commands(&std::fs::read_to_string(&path).unwrap());
            let lines = typed.iter().map(|line| (line, true)).chain(mentioned.iter().map(|line| (line, false)));
            for (line, is_typed) in lines {
                seen += 1;
                let Err(error) = command().try_get_matches_from(words(line)) else { continue };
                let bad = match error.kind() {
                    DisplayHelp | DisplayVersion => false,
                    UnknownArgument | InvalidSubcommand => true,
                    _ => is_typed,
                };
                if bad {
                    wrong.push(format!("{}: {line}: {error}", path.display()));
                }
            }
        }
        assert!(wrong.is_empty() && seen > 50, "{seen} seen\n{}", wrong.join("\n"));
    }
}
