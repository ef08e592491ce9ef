//! Plans in the place of a study: the stacks that they build, read back from the file.
//!
//! A plan holds its stack as it was understood, and names its drives. It holds neither workloads nor what drives are.

use std::collections::BTreeSet;

use serde::Deserialize as _;
use serde_json::Value;
use terms::note::Span;
use terms::plan::PLAN_SCHEMA;
use terms::text::Alphabet;
use terms::{Bytes, Design, LabDrive, LabSpec, MeasurePolicy, Name, Note, NoteLevel, Plan, Stack, Workload};

/// What a file that holds no plan is to be.
const EXPECTED: &str = "a plan is what `bedplate plan STUDY --json` prints, or a file in `plans/` of a run";

/// Is it JSON, which no study is?
pub(super) fn is_one(text: &str) -> bool {
    // A study may begin with `[lab]` or `[[stack]]`.
    let start = text.trim_start();
    start.starts_with('{') || start.strip_prefix('[').is_some_and(|rest| rest.trim_start().starts_with(['{', ']']))
}

/// The design of one plan or of a list of them, under these workloads; `None` where the notes hold an error.
pub(super) fn read(text: &str, workloads: Vec<Workload>) -> (Option<Design>, Vec<Note>) {
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return (None, vec![malformed(text, &error)]),
    };
    let list = if let Value::Array(list) = value { list } else { vec![value] };
    let mut notes = Vec::new();
    let mut stacks: Vec<Stack> = Vec::new();
    let many = list.len() > 1;
    for (at, one) in list.into_iter().enumerate() {
        match stack(one) {
            Ok(Some(stack)) => stacks.push(stack),
            // Setting up drives is a plan of its own, before those that build stacks.
            Ok(None) => {}
            Err(note) if many => {
                notes.push(Note { message: format!("plan {} of the file: {}", at + 1, note.message), ..*note });
            }
            Err(note) => notes.push(*note),
        }
    }
    if stacks.is_empty() && notes.is_empty() {
        notes.push(Note::error("plan-no-stack", None, "no plan in the file builds a stack").hint(EXPECTED));
    }
    if notes.iter().any(|note| note.severity == NoteLevel::Error) {
        return (None, notes);
    }
    (Some(design(stacks, workloads)), notes)
}

/// The stack of a plan; `None` for a plan that only sets up drives.
fn stack(value: Value) -> Result<Option<Stack>, Box<Note>> {
    let schema = value.get("schema").and_then(Value::as_u64);
    if schema.is_some_and(|schema| schema != u64::from(PLAN_SCHEMA)) {
        let message = format!("schema {} is not one that this program reads", schema.unwrap_or_default());
        let hint = format!("it reads schema {PLAN_SCHEMA}: make the plan again from its study");
        return Err(Note::error("plan-schema", None, message).hint(hint).into());
    }
    if !value.is_object() || schema.is_none() || value.get("nodes").is_none() {
        return Err(Note::error("plan-none", None, "this is JSON, and no plan").hint(EXPECTED).into());
    }
    let plan = Plan::deserialize(value).map_err(|error| {
        Note::error("plan-bad-value", None, format!("the plan cannot be read: {error}")).hint(EXPECTED)
    })?;
    if let Err(unfit) = Alphabet::Title.check(&plan.stack) {
        let message = format!("the name of the plan's stack {unfit}");
        return Err(Note::error("plan-bad-name", None, message).hint(EXPECTED).into());
    }
    let stack = Stack { name: plan.stack, note: None, nodes: plan.nodes };
    if !stack.drives().is_empty() {
        return Ok(Some(stack));
    }
    if stack.nodes.is_empty() && !plan.drives.is_empty() {
        return Ok(None);
    }
    let message = format!(
        "the plan of `{}` has no layers on drives: what it measures stood before, and the plan does not say on what",
        stack.name
    );
    Err(Note::error("plan-no-layers", None, message).hint("describe the stack in a study, and expect that").into())
}

/// What is not JSON, with its place.
fn malformed(text: &str, error: &serde_json::Error) -> Note {
    let line_start: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let start = text.len().min(line_start + error.column().saturating_sub(1));
    let start = (0..=start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let end = text[start..].chars().next().map_or(start, |letter| start + letter.len_utf8());
    // serde_json ends its sentence with the place, which is drawn.
    let words = error.to_string();
    let what = words.split(" at line ").next().unwrap_or_default().to_owned();
    Note::error("plan-not-json", Some(Span { start, end }), format!("the plan is not whole JSON: {what}"))
        .hint(EXPECTED)
}

fn design(stacks: Vec<Stack>, workloads: Vec<Workload>) -> Design {
    let mut seen: BTreeSet<Name> = BTreeSet::new();
    let names = stacks.iter().flat_map(Stack::drives).filter(|name| seen.insert(name.clone()));
    // Before a machine has said more they are NVMe with blocks of 512 bytes; their size is not known.
    let drive = |name| LabDrive::new(name, Bytes::default());
    Design {
        question: "What is expected of these plans?".to_owned(),
        lab: LabSpec { drives: names.map(drive).collect(), ..LabSpec::new(1, Bytes::default()) },
        setups: Vec::new(),
        stacks,
        feature_checks: Vec::new(),
        charts: Vec::new(),
        sources: Vec::new(),
        workloads,
        measure: MeasurePolicy::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_are_not_taken_for_plans() {
        for text in ["[lab]\n", "[[stack]]", "question = \"{\"", ""] {
            assert!(!is_one(text), "{text}");
        }
        for text in ["{", " [ {\"schema\": 1}]", "[]"] {
            assert!(is_one(text), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let codes = |text: &str| {
            let (design, notes) = read(text, Vec::new());
            assert!(design.is_none() && notes.iter().all(|note| note.hint.is_some()), "{notes:#?}");
            notes.into_iter().map(|note| (note.code, note.span)).collect::<Vec<_>>()
        };
        let at = |start, end| Some(Span { start, end });
        assert_eq!(codes("{\n  \"é\": ?}"), [("plan-not-json".to_owned(), at(10, 11))]);
        assert_eq!(codes("[{\"schema\": 7}, {\"a\": 1}]").len(), 2, "everything at once");
        assert_eq!(codes("[]")[0].0, "plan-no-stack");
        assert_eq!(codes("{\"schema\": 1, \"nodes\": 3}")[0].0, "plan-bad-value");
    }
}
