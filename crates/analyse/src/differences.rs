//! What is not the same in how two runs were made, and which of it forbids to compare them.

use terms::finding::{Difference, Findings};
use terms::inventory::Inventory;
use terms::record::Provenance;

/// What a run says of one thing.
type Says = fn(&Findings) -> String;

/// Whether runs that differ in one thing are asked for the same operations at the same moments, under a virtual clock.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    Same,
    Another,
}

/// What runs are asked for, in the order in which it is told.
const ASKED: [(&str, Work, Says); 15] = [
    ("place", Work::Same, |of| of.provenance.place.clone()),
    ("kernel", Work::Same, |of| of.inventory.kernel.clone()),
    ("system", Work::Same, |of| of.inventory.system.clone()),
    ("processor", Work::Same, |of| of.inventory.cpu_model.clone()),
    ("processor of the virtual clock", Work::Another, |of| {
        of.provenance.cpu.map(|cpu| cpu.to_string()).unwrap_or_default()
    }),
    ("processors", Work::Same, |of| of.inventory.cpus.to_string()),
    ("memory", Work::Same, |of| of.inventory.memory.to_string()),
    ("drives", Work::Another, |of| drives(&of.inventory)),
    ("version of Bedplate", Work::Same, |of| format!("{} ({})", of.provenance.version, of.provenance.build)),
    ("rounds", Work::Same, |of| of.provenance.policy().rounds.to_string()),
    ("seed", Work::Another, |of| of.provenance.seed.to_string()),
    ("settling time", Work::Another, |of| of.provenance.settle.to_string()),
    ("window", Work::Another, |of| of.provenance.window.to_string()),
    ("span", Work::Another, |of| of.provenance.span.to_string()),
    ("done anew for every round", Work::Same, |of| format!("{:?}", of.provenance.policy().replicate).to_lowercase()),
];

/// Why the two must not be compared; nothing where they may.
pub(crate) fn refusals(a: &Findings, b: &Findings) -> Vec<String> {
    let (a, b) = (&a.provenance, &b.provenance);
    let mut refusals = Vec::new();
    if a.is_emulated() != b.is_emulated() {
        refusals.push(format!(
            "A was made {} and B {}: rates of a guest say nothing of real drives",
            place(a),
            place(b)
        ));
    } else if a.has_virtual_clock() != b.has_virtual_clock() {
        refusals.push(format!("A has {} and B {}: a second is not the same in both", clock(a), clock(b)));
    } else if a.accelerator != b.accelerator {
        let name = |of: &Provenance| of.accelerator.clone().unwrap_or_else(|| "nothing known".to_owned());
        refusals.push(format!("A ran under {} and B under {}: their processors differ by factors", name(a), name(b)));
    }
    refusals
}

fn place(of: &Provenance) -> &'static str {
    if of.is_emulated() { "in the lab" } else { "on a real machine" }
}

fn clock(of: &Provenance) -> &'static str {
    if of.has_virtual_clock() { "a virtual clock" } else { "a real clock" }
}

/// What is not the same.
pub(crate) fn all(a: &Findings, b: &Findings) -> Vec<Difference> {
    let mut found: Vec<Difference> =
        ASKED.iter().filter_map(|(what, _, says)| differ(what, says(a), says(b))).collect();
    found.extend(programs(&a.inventory, &b.inventory));
    found.extend(stacks(&a.provenance, &b.provenance));
    found
}

/// Are both asked for the same work, so that a cell with the same rates is the same?
pub(crate) fn same_work(a: &Findings, b: &Findings) -> bool {
    ASKED.iter().all(|(_, work, says)| *work == Work::Same || says(a) == says(b))
}

fn differ(what: &str, a: String, b: String) -> Option<Difference> {
    (a != b).then(|| Difference { what: what.to_owned(), a, b })
}

/// Drives alike are told once, with their number.
fn drives(inventory: &Inventory) -> String {
    let mut kinds: Vec<(String, u32)> = Vec::new();
    for drive in &inventory.drives {
        let kind = format!("{} {}", drive.model.as_deref().unwrap_or(&drive.kernel_name), drive.size);
        match kinds.iter_mut().find(|known| known.0 == kind) {
            Some(known) => known.1 += 1,
            None => kinds.push((kind, 1)),
        }
    }
    let text = |(kind, count): &(String, u32)| if *count > 1 { format!("{count} × {kind}") } else { kind.clone() };
    kinds.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// Programs of which both tell a version, and not the same.
fn programs<'a>(a: &'a Inventory, b: &'a Inventory) -> impl Iterator<Item = Difference> + 'a {
    a.programs.iter().filter_map(|program| {
        let other = b.programs.iter().find(|other| other.name == program.name)?;
        differ(&program.name, program.version.clone()?, other.version.clone()?)
    })
}

/// Stacks of the same name that are not built alike.
fn stacks<'a>(a: &'a Provenance, b: &'a Provenance) -> impl Iterator<Item = Difference> + 'a {
    a.stacks.iter().filter_map(|stack| {
        let other = b.stacks.iter().find(|other| other.slug == stack.slug)?;
        let layers = |of: &terms::record::StackEntry| {
            of.nodes.iter().map(|node| node.layer.kind()).collect::<Vec<_>>().join(", ")
        };
        if stack.nodes == other.nodes {
            return None;
        }
        let (from, to) = (layers(stack), layers(other));
        let to = if from == to { format!("{to}, with other options or places") } else { to };
        Some(Difference { what: format!("stack `{}`", stack.name), a: from, b: to })
    })
}
