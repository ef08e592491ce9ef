//! From a study file to a design and its plans, with the choices of the command line applied.

use std::path::Path;

use terms::{Design, Note, Plan, Severity, Stack};

use crate::cli::{RunArguments, Selection};
use crate::exit::Failure;
use crate::settings::Settings;

/// A study that was read.
#[derive(Debug)]
pub(crate) struct Study {
    /// The exact text.
    pub(crate) text: String,
    /// The file's name without its ending.
    pub(crate) title: String,
    /// What it means, with only the stacks that were selected.
    pub(crate) design: Design,
}

/// Reads a study and selects stacks. Warnings are printed; errors are all told at once.
pub(crate) fn load(selection: &Selection, settings: &Settings) -> Result<Study, Failure> {
    let mut study = load_whole(&selection.study, settings)?;
    study.design.stacks = select(study.design.stacks, &selection.only, &selection.skip)?;
    Ok(study)
}

/// Reads a study with all its stacks.
pub(crate) fn load_whole(path: &Path, settings: &Settings) -> Result<Study, Failure> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "\n\nhint: studies that come with Bedplate are in `studies/`",
            std::io::ErrorKind::IsADirectory => "\n\nhint: name a file in it, ending in `.toml`",
            std::io::ErrorKind::InvalidData => "\n\nhint: a study is text in UTF-8",
            _ => "",
        };
        Failure::told(format!("error: could not read the study `{name}`\n  because: {error}{hint}"))
    })?;
    let (design, notes) = spec::parse(&text);
    let rendered = spec::render(&name, &text, &notes, settings.style.colour);
    let design = match design {
        Some(design) if !has_errors(&notes) => design,
        _ => return Err(Failure::Told(rendered)),
    };
    if !notes.is_empty() {
        settings.printer.say(rendered.trim_end());
    }
    let title = path.file_stem().map_or_else(|| "study".to_owned(), |stem| stem.to_string_lossy().into_owned());
    Ok(Study { text, title, design })
}

fn has_errors(notes: &[Note]) -> bool {
    notes.iter().any(|note| note.severity == Severity::Error)
}

/// The plan of every stack, linted. All that is wrong is told at once.
pub(crate) fn plans(design: &Design) -> Result<Vec<Plan>, Failure> {
    let facts = plan::DriveFact::of_lab(&design.lab);
    let mut wrong = Vec::new();
    let mut plans = Vec::new();
    for stack in &design.stacks {
        match plan::plan(stack, &facts) {
            Ok(plan) => {
                let notes = plan::lint(&plan);
                let errors = notes.iter().filter(|note| note.severity == Severity::Error);
                wrong.extend(errors.map(|note| format!("error: plan of `{}`: {}", stack.name, note.message)));
                plans.push(plan);
            }
            Err(error) => wrong.push(format!("error: `{}`: {}", stack.name, crate::exit::chain(&error))),
        }
    }
    if wrong.is_empty() { Ok(plans) } else { Err(Failure::Told(wrong.join("\n"))) }
}

/// Puts the choices of the command line over those of the study.
pub(crate) fn adjust(design: &mut Design, arguments: &RunArguments) {
    let policy = &mut design.measure;
    if arguments.quick {
        policy.rounds = 1;
        policy.settle = terms::Nanos::millis(300);
        policy.window = terms::Nanos::seconds(1);
    }
    policy.rounds = arguments.rounds.unwrap_or(policy.rounds);
    policy.window = arguments.window.unwrap_or(policy.window);
    policy.settle = arguments.settle.unwrap_or(policy.settle);
    policy.span = arguments.span.unwrap_or(policy.span);
    policy.seed = arguments.seed.unwrap_or(policy.seed);
    if arguments.window.is_some() || arguments.quick {
        for workload in &mut design.workloads {
            workload.window = None;
        }
    }
}

fn select(stacks: Vec<Stack>, only: &[String], skip: &[String]) -> Result<Vec<Stack>, Failure> {
    let wanted = |patterns: &[String]| patterns.iter().filter(|p| !p.trim().is_empty()).cloned().collect::<Vec<_>>();
    let (only, skip) = (&wanted(only), &wanted(skip));
    for pattern in only.iter().chain(skip) {
        if !stacks.iter().enumerate().any(|(index, stack)| matches(pattern, index, stack)) {
            let names: Vec<String> =
                stacks.iter().enumerate().map(|(index, stack)| format!("  {:>2}  {}", index + 1, stack.name)).collect();
            let list = names.join("\n");
            return Err(Failure::told(format!(
                "error: no stack of the study is `{pattern}`\n\nhint: its stacks are\n{list}"
            )));
        }
    }
    let any = |patterns: &[String], index: usize, stack: &Stack| patterns.iter().any(|p| matches(p, index, stack));
    let chosen: Vec<Stack> = stacks
        .into_iter()
        .enumerate()
        .filter(|(index, stack)| (only.is_empty() || any(only, *index, stack)) && !any(skip, *index, stack))
        .map(|(_, stack)| stack)
        .collect();
    if chosen.is_empty() { Err(Failure::told("error: --only and --skip leave no stack")) } else { Ok(chosen) }
}

/// Is it this stack: by number in the study, by name or slug, or by a pattern with `*` over the name?
fn matches(pattern: &str, index: usize, stack: &Stack) -> bool {
    let pattern = pattern.trim();
    if pattern.chars().all(|c| c.is_ascii_digit()) {
        return pattern.parse() == Ok(index + 1);
    }
    if pattern.contains('*') {
        return glob(&pattern.to_lowercase(), &stack.name.to_lowercase());
    }
    pattern.eq_ignore_ascii_case(&stack.name) || pattern == stack.slug()
}

/// `*` stands for anything.
fn glob(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((head, tail)) => {
            let Some(rest) = text.strip_prefix(head) else { return false };
            (0..=rest.len()).filter(|at| rest.is_char_boundary(*at)).any(|at| glob(tail, &rest[at..]))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stacks() -> Vec<Stack> {
        ["#1 ext4", "#2 ext4 on LUKS", "btrfs"]
            .map(|name| Stack { name: name.to_owned(), note: None, nodes: Vec::new() })
            .to_vec()
    }

    fn names(only: &[&str], skip: &[&str]) -> Vec<String> {
        let owned = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>();
        select(stacks(), &owned(only), &owned(skip)).unwrap().into_iter().map(|stack| stack.name).collect()
    }

    #[test]
    fn stacks_are_selected_by_number_name_and_pattern() {
        assert_eq!(names(&["2", "btrfs"], &[]), ["#2 ext4 on LUKS", "btrfs"]);
        assert_eq!(names(&["*ext4*"], &["*luks"]), ["#1 ext4"]);
        assert_eq!(names(&[], &["1-ext4"]), ["#2 ext4 on LUKS", "btrfs"]);
        assert!(select(stacks(), &["zfs".to_owned()], &[]).is_err());
        assert!(select(stacks(), &[], &["*".to_owned()]).is_err());
    }

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, text, expect) in
            [("a*c", "abc", true), ("a*c", "abcd", false), ("*", "", true), ("*é*", "caféx", true), ("a", "b", false)]
        {
            assert_eq!(glob(pattern, text), expect, "{pattern} {text}");
        }
    }
}
