//! The facts of the page: how it was measured, on what, with which options.

use askama::Template;
use terms::finding::Findings;
use terms::record::StackEntry;

use super::filters;
use super::section::{Drawn, Source};
use crate::evidence::{believe, count};
use crate::grid::Grid;
use crate::{machine, options, prose, svg};

/// A fact: what, and its value.
pub(super) struct Fact {
    /// What.
    pub(super) what: String,
    /// Its value.
    pub(super) value: String,
}

impl Fact {
    pub(super) fn new(what: impl Into<String>, value: impl Into<String>) -> Self {
        Self { what: what.into(), value: value.into() }
    }
}

#[derive(Template)]
#[template(path = "report/stacks.html")]
struct Stacks {
    stacks: Vec<StackCard>,
}

/// Drawings of all stacks.
pub(super) fn stacks(of: &Source) -> Drawn {
    let stacks = of.grid.stacks().iter().map(StackCard::new).collect();
    Drawn::new("stacks", "Stacks", "Stacks", &Stacks { stacks }).hint(
        "Workloads see the top; each layer stands on what it rests on, drives at the bottom. Dashed lines lead to \
         special vdev members.",
    )
}

#[derive(Template)]
#[template(path = "report/machine.html")]
struct Machine {
    facts: Vec<Fact>,
    drawing: Option<String>,
}

/// What it was measured on.
pub(super) fn machine(of: &Source) -> Drawn {
    let inventory = &of.findings().inventory;
    let facts = machine::facts(inventory).into_iter().map(|(what, value)| Fact::new(what, value)).collect();
    let body = Machine { facts, drawing: svg::machine::draw(inventory) };
    Drawn::new("machine", "Machine", "The machine", &body)
}

#[derive(Template)]
#[template(path = "report/not_checked.html")]
struct NotChecked<'a> {
    items: &'a [String],
}

/// What nobody should believe was checked.
pub(super) fn not_checked(of: &Source) -> Drawn {
    Drawn::new("not-checked", "Not checked", "Not checked", &NotChecked { items: &of.findings().not_checked })
}

#[derive(Template)]
#[template(path = "report/method.html")]
struct Method<'a> {
    command: String,
    kept: String,
    kept_path: String,
    resume: Option<String>,
    method: Vec<Fact>,
    kernel: &'a str,
    programs: Vec<Fact>,
    options: Vec<Options>,
}

/// How it was measured, and how to run it again.
pub(super) fn how(of: &Source) -> Drawn {
    let findings = of.findings();
    let body = Method {
        command: findings.provenance.command_line(),
        kept: prose::kept(findings),
        kept_path: prose::kept_path(findings),
        resume: prose::resume(&Grid::new(findings)),
        method: method(findings),
        kernel: machine::known(&findings.inventory.kernel),
        programs: programs(findings),
        options: options(findings),
    };
    Drawn::new("method", "Method", "How this was measured, and how to run it again", &body)
}

/// A stack, drawn.
struct StackCard {
    /// Its name.
    name: String,
    /// What the study says of it.
    note: Option<String>,
    /// What is missing for it, and the command that brings it.
    missing: Option<(String, String)>,
    /// The drawing.
    drawing: String,
}

impl StackCard {
    /// The card of a stack.
    fn new(entry: &StackEntry) -> Self {
        Self {
            name: entry.name.clone(),
            note: entry.note.clone(),
            missing: entry.missing.as_ref().map(|missing| (missing.what.clone(), missing.remedy.clone())),
            drawing: svg::stack::draw(&entry.name, &entry.nodes),
        }
    }
}

/// Options of a stack's layers.
struct Options {
    /// The stack.
    stack: String,
    /// Layer by title and its options in words.
    layers: Vec<(String, String)>,
}

/// Options of all layers of all stacks; layers without options are left out.
fn options(findings: &Findings) -> Vec<Options> {
    let stack = |entry: &StackEntry| {
        let mut layers: Vec<(String, String)> = Vec::new();
        for node in &entry.nodes {
            let words = options::words(&node.layer).join(" · ");
            let title = node.layer.title();
            // The same layer on each of several drives is told once.
            if !words.is_empty() && !layers.iter().any(|known| known.0 == title && known.1 == words) {
                layers.push((title, words));
            }
        }
        Options { stack: entry.name.clone(), layers }
    };
    findings.provenance.stacks.iter().map(stack).filter(|options| !options.layers.is_empty()).collect()
}

/// Where the run took place, in words.
fn place(findings: &Findings) -> String {
    let provenance = &findings.provenance;
    match (provenance.place.as_str(), &provenance.accelerator) {
        ("lab", Some(accelerator)) => format!("lab, a QEMU guest ({accelerator})"),
        ("lab", None) => "lab, a QEMU guest".to_owned(),
        ("local", _) => "the machine itself".to_owned(),
        (other, _) => other.to_owned(),
    }
}

/// How many rounds, and what is done anew in each.
fn rounds(findings: &Findings) -> String {
    match &findings.provenance.policy {
        None => format!("{}; every stack is built anew in each", count(findings.provenance.rounds, "round")),
        Some(policy) => format!("{}; {}", believe::rounds_of(findings), believe::replicate(policy.replicate)),
    }
}

/// The line under the question.
pub(super) fn brief(grid: &Grid) -> Vec<Fact> {
    let findings = grid.findings;
    let provenance = &findings.provenance;
    vec![
        Fact::new("Stacks", provenance.stacks.len().to_string()),
        Fact::new("Workloads", grid.titles.len().to_string()),
        Fact::new("Rounds", believe::rounds_of(findings)),
        Fact::new("Window", provenance.window.to_string()),
        Fact::new("Span", provenance.span.to_string()),
        Fact::new("Where", place(findings)),
        Fact::new("Begun", provenance.started.clone()),
    ]
}

/// How it was measured.
fn method(findings: &Findings) -> Vec<Fact> {
    let p = &findings.provenance;
    let mut facts = vec![
        Fact::new("Bedplate", format!("{}, build {}", p.version, p.build)),
        Fact::new("Run", p.run.clone()),
        Fact::new("Begun", p.started.clone()),
        Fact::new("Where", place(findings)),
    ];
    facts.extend(
        findings
            .emulator()
            .map(|by| Fact::new("Emulated", if by.is_empty() { "yes".to_owned() } else { format!("yes, by {by}") })),
    );
    facts.extend([
        Fact::new("Study, SHA-256", p.study_sha256.clone()),
        Fact::new("Seed", p.seed.to_string()),
        Fact::new("Rounds", rounds(findings)),
        Fact::new("Settling", format!("{} under load, not counted", prose::settling(findings))),
        Fact::new("Window", format!("{} under load, counted{}", p.window, own_windows(findings))),
        Fact::new("Span", format!("{}, filled first and then worked on{}", p.span, prose::lab_drives(findings))),
        Fact::new("Figures", prose::figures(findings)),
    ]);
    facts
}

/// Workloads with a window of their own.
fn own_windows(findings: &Findings) -> String {
    let own = findings.provenance.workloads.iter().filter_map(|work| Some((work, work.window?)));
    own.map(|(work, window)| format!("; {window} for {}", work.name)).collect()
}

/// Programs and their versions.
fn programs(findings: &Findings) -> Vec<Fact> {
    findings
        .inventory
        .programs
        .iter()
        .map(|program| Fact::new(program.name.clone(), machine::version(program)))
        .collect()
}
