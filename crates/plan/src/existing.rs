//! What stands already: a directory on somebody's file system, which is measured and left as it was.

use terms::plan::{Act, Effect, PLAN_SCHEMA, Plan, Prerequisite, Step, Undo, WorkTarget};
use terms::{Name, Stack};

use crate::draft::{command, words};
use crate::error::PlanError;

/// Plans work in a new directory `inside` of one that is there already, on the file system that calls itself `file_system`:
/// it is made, and taken away with all it holds.
/// Nothing else is touched, so the plan writes to no drive of its own accord.
///
/// # Errors
/// [`PlanError::Directory`] for a path that is not absolute, or has a brace in it, which would be taken for a
/// placeholder.
pub fn existing(stack: &Stack, inside: &str, file_system: &str) -> Result<Plan, PlanError> {
    if !inside.starts_with('/') || inside.contains(['{', '}']) {
        return Err(PlanError::Directory { path: inside.to_owned() });
    }
    let layer = Name::new("directory").map_err(|_| PlanError::Directory { path: inside.to_owned() })?;
    let take_away = words!["rm", "--recursive", "--force", "--one-file-system", "--", inside];
    let step = Step {
        id: "directory.make".to_owned(),
        layer,
        why: "files of the measurement lie in a directory of their own".to_owned(),
        act: Act::Run(command(words!["mkdir", "--mode=700", "--", inside])),
        effect: Some(Effect::Directory { path: inside.to_owned(), file_system: file_system.to_owned() }),
        undo: vec![Undo { why: "it holds only what was measured on".to_owned(), command: command(take_away) }],
        erases: Vec::new(),
        marks: Vec::new(),
    };
    Ok(Plan {
        schema: PLAN_SCHEMA,
        stack: stack.name.clone(),
        slug: stack.slug(),
        nodes: stack.nodes.clone(),
        drives: Vec::new(),
        needs: ["fio", "mkdir", "rm"].map(|program| Prerequisite::Program(program.to_owned())).to_vec(),
        options: Vec::new(),
        resyncs: Vec::new(),
        steps: vec![step],
        target: WorkTarget::Directory(inside.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_new_directory_is_made_and_taken_away() {
        let stack = Stack { name: "ext4 at /data".to_owned(), note: None, nodes: Vec::new() };
        let plan = existing(&stack, "/data/.bedplate-1", "7f").unwrap();
        assert!(plan.drives.is_empty() && plan.steps.iter().all(|step| step.erases.is_empty()));
        let told = crate::render(&plan);
        assert!(told.contains("mkdir --mode=700 -- /data/.bedplate-1") && told.contains("rm --recursive"), "{told}");
        for path in ["data", "/da{ta"] {
            assert!(matches!(existing(&stack, path, ""), Err(PlanError::Directory { .. })), "{path}");
        }
    }
}
