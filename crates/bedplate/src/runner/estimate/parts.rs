//! What stacks that were never built take, from parts of those that were: each command by what earlier runs' journals
//! say it took, filling by the slowest of the layers.

use std::collections::BTreeMap;

use build::JournalEntry;
use terms::Plan;
use terms::plan::{Act, Step};

/// What was seen of one kind of thing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    pub(super) fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    pub(super) fn or(self, other: f64) -> f64 {
        if self.count > 0.0 { self.sum / self.count } else { other }
    }
}

/// Seconds of commands that take longer than most: means over one run of the first twelve stacks of
/// `studies/long-term-storage.toml` under emulation on two cores, on drives of 768 MiB.
const COMMANDS: [(&str, f64); 5] = [
    ("cryptsetup luksFormat", 5.6),
    ("cryptsetup open", 1.1),
    ("integritysetup format", 8.5),
    ("mkfs.ext4 -q", 0.7),
    ("wait:", 6.1),
];
/// Seconds of any other: the mean of those, in the same run.
const COMMAND: f64 = 0.4;

/// Commands and layers seen so far.
#[derive(Debug, Default)]
pub(super) struct Parts {
    commands: BTreeMap<String, Mean>,
    /// Seconds for a MiB, by the title of every layer that it went through.
    layers: BTreeMap<String, Mean>,
}

impl Parts {
    /// Learns from a run's journal what commands take.
    pub(super) fn journal(&mut self, entries: &[JournalEntry]) {
        let mut begun: BTreeMap<(&str, &str), &str> = BTreeMap::new();
        for entry in entries {
            match entry {
                JournalEntry::Before { stack, step, line, .. } => drop(begun.insert((stack, step), line)),
                JournalEntry::After { stack, step, took_ns, .. } => {
                    if let Some(line) = begun.remove(&(stack.as_str(), step.as_str())) {
                        self.commands.entry(kind(line)).or_default().add(took_ns.as_seconds());
                    }
                }
                _ => {}
            }
        }
    }

    /// Learns what it takes to fill a stack of these layers.
    pub(super) fn fill(&mut self, plan: &Plan, seconds_per_mebibyte: f64) {
        for node in &plan.nodes {
            self.layers.entry(node.layer.title()).or_default().add(seconds_per_mebibyte);
        }
    }

    /// Seconds to carry a plan out: of what is done side by side, the longest.
    pub(super) fn build(&self, plan: &Plan) -> f64 {
        let command = |step: &Step| {
            let kind = kind(&line(step));
            let table = COMMANDS.iter().find(|(of, _)| *of == kind).map_or(COMMAND, |(_, seconds)| *seconds);
            self.commands.get(&kind).map_or(table, |mean| mean.or(table))
        };
        let lane = |steps: &build::Lane<'_>| steps.iter().map(command).sum();
        build::waves(plan).iter().map(|wave| wave.iter().map(lane).fold(0.0, f64::max)).sum()
    }

    /// Seconds to fill one MiB of a stack of these layers: as the slowest of them does, as far as they are known.
    pub(super) fn fill_of(&self, plan: &Plan) -> Option<f64> {
        let seen = plan.nodes.iter().filter_map(|node| self.layers.get(&node.layer.title()));
        seen.map(|mean| mean.or(0.0)).reduce(f64::max)
    }
}

/// What a journal would say of a step.
fn line(step: &Step) -> String {
    match &step.act {
        Act::Run(command) => command.argv.iter().take(2).map(ToString::to_string).collect::<Vec<_>>().join(" "),
        Act::Write { .. } => "echo".to_owned(),
        Act::Wait(_) => "wait:".to_owned(),
    }
}

/// The program and, where it has several, which of its acts: `cryptsetup luksFormat`, `mdadm --create`, `mkfs.ext4 -q`.
fn kind(line: &str) -> String {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    match words.next() {
        Some(act)
            if !matches!(program, "echo" | "wait:") && act.starts_with(|c: char| c == '-' || c.is_alphabetic()) =>
        {
            format!("{program} {act}")
        }
        _ => program.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use terms::{LabSpec, Nanos};

    use super::*;

    const STUDY: &str = r#"
        question = "How long?"
        [lab]
        drives = [{ name = "a", size = "512 MiB" }, { name = "b", size = "512 MiB" }]
        [[stack]]
        name = "luks"
        layers = [{ luks = {}, on = "a" }, { ext4 = {} }]
        [[stack]]
        name = "ext4"
        layers = [{ ext4 = {}, on = "a" }]
        [measure]
        profiles = ["quick"]
    "#;

    fn plans() -> Vec<Plan> {
        let (design, notes) = spec::parse(STUDY);
        let design = design.unwrap_or_else(|| panic!("{notes:?}"));
        let facts = |lab: &LabSpec| plan::DriveSize::of_lab(lab);
        design.stacks.iter().map(|stack| plan::plan(stack, &facts(&design.lab)).unwrap()).collect()
    }

    #[test]
    fn commands_are_known_by_program_and_act() {
        for (line, expect) in [
            ("cryptsetup luksFormat --type luks2 /dev/x", "cryptsetup luksFormat"),
            ("mdadm --create /dev/md/x", "mdadm --create"),
            ("wait: `/dev/md/x` to be in sync", "wait:"),
            ("echo 8192 > /sys/x", "echo"),
            ("pvcreate /dev/x", "pvcreate"),
        ] {
            assert_eq!(kind(line), expect);
        }
    }

    #[test]
    fn a_stack_never_built_takes_what_its_commands_took_elsewhere() {
        let [luks, ext4] = <[Plan; 2]>::try_from(plans()).unwrap();
        let mut parts = Parts::default();
        let mut entries = Vec::new();
        for step in &luks.steps {
            let before = JournalEntry::Before {
                stack: "s".into(),
                step: step.id.clone(),
                line: line(step),
                old: None,
                makes: Vec::new(),
            };
            let took = if step.id.starts_with("luks") { 4 } else { 1 };
            entries.push(before);
            entries.push(JournalEntry::After {
                stack: "s".into(),
                step: step.id.clone(),
                took_ns: Nanos::seconds(took),
                made: Vec::new(),
            });
        }
        parts.journal(&entries);
        parts.fill(&luks, 0.5);
        let (slow, fast) = (parts.build(&luks), parts.build(&ext4));
        assert!((fast - 2.0).abs() < 1e-9 && slow > 2.0 * fast, "{slow} {fast}");
        parts.fill(&ext4, 0.1);
        assert!(parts.fill_of(&ext4).unwrap() < parts.fill_of(&luks).unwrap());
    }
}
