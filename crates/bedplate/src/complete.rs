//! Completion of what is typed: commands and options by their definition, and values that only this machine knows.

use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, Command, Parser as _};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter as _};
use clap_complete::env::{CompleteEnv, Shells};
use host::{Local, inspect};

use crate::cli::{Cli, pages};
use crate::commands::runs::{catalogue, told};
use crate::exit::Failure;
use crate::settings::Settings;
use crate::{input, library};

/// Holds the name of the shell that asks.
const ASKING: &str = "BEDPLATE_COMPLETE";

type Candidates = Vec<CompletionCandidate>;
type Completer = fn(&OsStr) -> Candidates;

/// By what the help calls a value: which there are. A person sees the same word in `--help`.
const VALUES: [(&str, Completer); 10] = [
    ("STUDY", studies),
    ("STACK", |typed| matching(typed, stacks())),
    ("PROFILE", |typed| matching(typed, profiles())),
    ("CHECK", |typed| matching(typed, checks())),
    ("RUN", runs),
    ("A", runs),
    ("B", runs),
    ("ID", |typed| matching(typed, drives())),
    ("NAME=ID", |typed| matching(typed, pairings())),
    ("PLACE", |typed| matching(typed, places())),
];

/// Answers a shell that asks what could be typed next, and ends the program; returns where none asks.
pub(crate) fn answer() {
    CompleteEnv::with_factory(|| with_values(pages::command())).var(ASKING).complete();
}

/// What a shell reads once, so that it asks this program from then on.
///
/// # Errors
/// Where the shell is none that can ask.
pub(crate) fn registration(shell: clap_complete::Shell) -> Result<String, Failure> {
    let mut text = Vec::new();
    let shells = Shells::builtins();
    let completer =
        shells.completer(&shell.to_string()).ok_or_else(|| Failure::told("error: that shell cannot ask"))?;
    completer
        .write_registration(ASKING, "bedplate", "bedplate", "bedplate", &mut text)
        .map_err(Failure::system("could not write the completions"))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn with_values(command: Command) -> Command {
    command.mut_args(with_value).mut_subcommands(with_values)
}

fn with_value(arg: Arg) -> Arg {
    // A positional argument is called as its field is, in capitals.
    let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let name = name.unwrap_or_else(|| arg.get_id().as_str().to_uppercase());
    match VALUES.iter().find(|(of, _)| *of == name) {
        Some((_, values)) if arg.get_action().takes_values() => arg.add(ArgValueCompleter::new(*values)),
        _ => arg,
    }
}

/// A value, and what it is.
type Known = (String, String);

fn matching(typed: &OsStr, known: Vec<Known>) -> Candidates {
    let typed = typed.to_string_lossy();
    let begins = known.into_iter().filter(|(value, _)| value.starts_with(&*typed));
    begins.map(|(value, help)| CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.into()))).collect()
}

/// Studies of the program, and files.
fn studies(typed: &OsStr) -> Candidates {
    let ours = library::ALL.map(|(name, _)| (name.to_owned(), "comes with the program".to_owned()));
    let mut all = matching(typed, ours.to_vec());
    all.extend(PathCompleter::file().complete(typed));
    all
}

/// Those of the study that stands on the line already, by the short name that needs no quotes.
fn stacks() -> Vec<Known> {
    let stacks = study().into_iter().flat_map(|design| design.stacks);
    stacks.map(|stack| (stack.slug(), stack.name.clone())).collect()
}

/// The first word on the line that is a study.
fn study() -> Option<terms::Design> {
    let words = std::env::args_os().skip_while(|word| word != "--").skip(2);
    words.filter_map(|word| text(Path::new(&word))).find_map(|text| spec::parse(&text).0)
}

fn text(path: &Path) -> Option<String> {
    // Only what looks like one is opened: the line may name anything.
    let is_file = path.extension().is_some_and(|end| end == "toml") && path.is_file();
    let ours = || library::text(path).map(str::to_owned);
    if is_file { input::text(path, "study", |_| "").ok() } else { ours() }
}

fn profiles() -> Vec<Known> {
    spec::profile::all().iter().map(|profile| (profile.name.to_owned(), String::new())).collect()
}

fn checks() -> Vec<Known> {
    doctor::checks().map(|check| (check.id.to_owned(), String::new())).collect()
}

/// Directories of runs, and runs by the name that `bedplate runs` shows.
fn runs(typed: &OsStr) -> Candidates {
    let mut all = matching(typed, named_runs().unwrap_or_default());
    all.extend(PathCompleter::dir().complete(typed));
    all
}

fn named_runs() -> Option<Vec<Known>> {
    // What cannot be read has no place on somebody's half-typed line.
    let cli = Cli::try_parse_from(["bedplate", "--quiet", "runs"]).ok()?;
    let settings = Settings::resolve(&cli.global).ok()?;
    let catalogue = catalogue(&settings).ok()?;
    let runs = catalogue.list().iter().map(|run| (told(&run.dir, &settings), run.question.clone()));
    Some(std::iter::once(("latest".to_owned(), "the newest".to_owned())).chain(runs).collect())
}

/// Drives of this machine by the name that stays. Whether one may be used is found out where it is named, and not here.
fn drives() -> Vec<Known> {
    let all = inspect::drives(&Local::new()).unwrap_or_default();
    let known = all.iter().filter_map(|drive| Some((claim::id_of(drive)?, drive.node())));
    known.collect()
}

/// Each drive of the study as each drive of this machine.
fn pairings() -> Vec<Known> {
    let ours = drives();
    let wanted = study().into_iter().flat_map(|design| design.lab.drives);
    let pairs = wanted.flat_map(|of| ours.iter().map(move |(id, node)| (format!("{}={id}", of.name), node.clone())));
    pairs.collect()
}

fn places() -> Vec<Known> {
    [("lab", "a guest that can harm nothing"), ("local", "this machine"), ("ssh://", "another machine")]
        .map(|(place, help)| (place.to_owned(), help.to_owned()))
        .to_vec()
}
