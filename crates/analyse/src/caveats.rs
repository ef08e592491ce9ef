//! What was not checked, in words a reader can act on, so that nobody believes it was.

use terms::finding::{CellFinding, ControlAction, ControlFinding, Verdict};
use terms::inventory::Inventory;
use terms::record::Provenance;
use terms::{Control, Load, Name, Replicate, Speed};

use crate::rounds::Rounds;
use crate::window::NORMAL;

/// Everything that the numbers of a run leave open: first what this record lacks, then what no record has yet.
pub(crate) fn list(
    provenance: &Provenance,
    inventory: &Inventory,
    findings: &[CellFinding],
    rounds: &Rounds<'_>,
    controls: &[ControlFinding],
) -> Vec<String> {
    let measured: Vec<&CellFinding> = findings.iter().filter(|of| of.verdict == Verdict::Measured).collect();
    let mut open = Vec::new();
    open.extend(real_speed(provenance, inventory));
    open.extend(foreign_cells(provenance, rounds));
    if measured.is_empty() {
        open.push("anything: no cell has a number to check".to_owned());
        return open;
    }
    open.extend(lacking(provenance, &measured, rounds));
    open.extend(of_the_session(provenance, findings, controls));
    open.extend(laps(provenance, rounds));
    open.extend(never(provenance, &measured, rounds));
    open
}

/// What the bare drive and the windows say of the session.
fn of_the_session(provenance: &Provenance, findings: &[CellFinding], controls: &[ControlFinding]) -> Vec<String> {
    let mut open = Vec::new();
    let rounds =
        |action| controls.iter().filter(|of| of.action == action).map(|of| of.round.to_string()).collect::<Vec<_>>();
    if provenance.policy().replicate == Replicate::Single {
        open.push(
            "differences between stacks: every stack was built once, so its interval holds for that build".to_owned(),
        );
    }
    for (action, text) in [
        (ControlAction::Flagged, "rounds in which the bare drive changed by more than 3 %, and which count"),
        (ControlAction::Discarded, "rounds that do not count because the bare drive changed by more than 6 %"),
        (ControlAction::Unknown, "rounds whose bare drive was not measured at both ends"),
    ] {
        let named = rounds(action);
        if !named.is_empty() {
            open.push(format!("{text}: {}", named.join(", ")));
        }
    }
    let left = &provenance.policy().left_out;
    if !left.is_empty() {
        let names: Vec<&str> = left.iter().map(Name::as_str).collect();
        open.push(format!("workloads that a quick run leaves out: {}", names.join(", ")));
    }
    let unsteady: u32 = findings.iter().map(|of| of.steady.unsteady).sum();
    let unknown: u32 = findings.iter().map(|of| of.steady.unknown).sum();
    if unsteady > 0 {
        open.push(format!("windows that were not steady although they were made longer: {unsteady}"));
    }
    if unknown > 0 {
        open.push(format!("steadiness of windows too short to tell: {unknown}"));
    }
    open
}

/// A longer window does not help a stream that goes round a short span: each lap is the same.
fn laps(provenance: &Provenance, rounds: &Rounds<'_>) -> Option<String> {
    let cells = rounds.keys().flat_map(|(stack, workload)| rounds.of(stack, workload));
    let most = cells.filter_map(|cell| cell.lap_error).reduce(f64::max)?;
    Some(format!(
        "rates of accesses in order better than ±{:.1} %: a hard disk goes back to the beginning of {} again and again, \
         each time may cost a turn more or less, and only a larger --span makes that less",
        100.0 * NORMAL * most,
        provenance.policy().span,
    ))
}

/// Rates of an emulated machine say nothing of real drives.
fn real_speed(provenance: &Provenance, inventory: &Inventory) -> Option<String> {
    if provenance.has_virtual_clock() {
        return Some(format!(
            "speed of real machines: one processor ended {} whatever they were, and memory and caches cost nothing more",
            provenance.cpu.unwrap_or(Speed::GUEST)
        ));
    }
    let how = inventory.emulated.as_ref().or(provenance.accelerator.as_ref());
    (provenance.is_emulated() || inventory.emulated.is_some()).then(|| {
        let how = how.map(|how| format!(" ({how})")).unwrap_or_default();
        format!("speed of real drives: the machine was emulated{how}, so rates compare stacks at best")
    })
}

/// Cells that the study does not name.
fn foreign_cells(provenance: &Provenance, rounds: &Rounds<'_>) -> Option<String> {
    let named = |stack: &str, workload: &str| {
        provenance.stacks.iter().any(|of| of.slug == stack)
            && provenance.workloads.iter().any(|of| of.name.as_str() == workload)
    };
    let foreign: Vec<String> = rounds
        .keys()
        .filter(|(stack, workload)| !named(stack, workload))
        .map(|(stack, workload)| format!("{workload} on {stack}"))
        .collect();
    (!foreign.is_empty()).then(|| format!("cells that the study does not name, left aside: {}", foreign.join(", ")))
}

/// What other runs have and this one lacks.
fn lacking(provenance: &Provenance, measured: &[&CellFinding], rounds: &Rounds<'_>) -> Vec<String> {
    let all = measured.len();
    let count = |holds: &dyn Fn(&CellFinding) -> bool| measured.iter().filter(|of| holds(of)).count();
    let done = |of: &CellFinding| of.throughput.map_or(0, |estimate| estimate.rounds);
    let once = |of: &CellFinding, known| done(of) == 1 && of.throughput.is_some_and(|of| of.low.is_some() == known);
    let mut open = Vec::new();
    let mut say = |number: usize, text: &str| {
        if number > 0 {
            open.push(format!("{text} ({number} of {all} numbers)"));
        }
    };
    say(count(&|of| once(of, false)), "variation between rounds: a single round has no interval");
    say(count(&|of| once(of, true)), "variation between rounds: the interval of a single round is that of its window");
    say(
        count(&|of| done(of) < provenance.rounds),
        &format!("rounds that were not run: the study asks for {}", provenance.rounds),
    );
    say(
        count(&|of| of.drive_bytes_ratio.is_none()),
        "caches below direct I/O: without the drives' own counters, a cache may have answered",
    );
    let elsewhere =
        |of: &CellFinding| provenance.stacks.iter().any(|stack| stack.slug == of.stack && stack.nodes.is_empty());
    say(
        count(&elsewhere),
        "work of others on the same drives: how many bytes a stack needs that was built elsewhere is not known",
    );
    say(count(&|of| of.latency.is_none()), "latency: the load generator gave no bins");
    say(count(&|of| of.cpu_per_operation.is_none()), "processor time: it was not counted");
    let repeated = rounds.repeated();
    if repeated > 0 {
        open.push(format!(
            "earlier attempts: of cells run more than once ({repeated}) only the newest counts, the others are in the record"
        ));
    }
    open
}

/// What this run did not look at.
fn never(provenance: &Provenance, measured: &[&CellFinding], rounds: &Rounds<'_>) -> Vec<String> {
    let mut open = Vec::new();
    let judged = |of: &&CellFinding| of.steady.steady + of.steady.unsteady + of.steady.unknown > 0;
    if !measured.iter().any(judged) {
        open.push("steady state: the window counts as it is, no warm-up is cut and no drift in it is tested");
    }
    if provenance.policy().control == Control::Off {
        open.push("drift between rounds beyond the interval: no control measurement of the bare drive watches it");
    }
    if !rounds.any(|cell| cell.conditions.drives.iter().any(|drive| drive.celsius_before.is_some())) {
        open.push("thermal state: the drives tell no temperature");
    }
    if provenance.workloads.iter().all(|workload| workload.load == Load::Closed) {
        open.push("waiting before submission: the load keeps a fixed depth, so latency leaves out the time spent waiting for a slot; `--curve` measures it");
    }
    open.push("uncertainty of latency, processor time and drive bytes: they have no interval");
    if provenance.workloads.iter().any(|workload| workload.pattern.writes()) {
        open.push("sustained writes: a window may end before a drive's write cache is full");
    }
    open.into_iter().map(str::to_owned).collect()
}
