//! How a study is measured, with which workloads, and whether its stacks can hold that.

use terms::{Bytes, MeasurePolicy, Name, Note, Span, Workload};

use crate::fields::{Fields, Word};
use crate::profile;
use crate::stack::Grown;
use crate::suggest::{either, nearest};
use crate::workload;

/// A workload with its place in the text, if it is the study's own.
struct Placed {
    workload: Workload,
    block: Option<Span>,
}

/// Reads `[measure]` and every workload, reads before writes.
pub(crate) fn read(study: &Fields, stacks: &[Grown], notes: &mut Vec<Note>) -> (MeasurePolicy, Vec<Workload>) {
    let measure = study.table("measure");
    let base = MeasurePolicy::default();
    let policy = MeasurePolicy {
        rounds: measure.and_then(|m| m.number("rounds")).unwrap_or(3),
        max_rounds: measure.and_then(|m| m.number("rounds")).unwrap_or(3),
        settle: measure.and_then(|m| m.duration("settle")).unwrap_or(base.settle),
        window: measure.and_then(|m| m.duration("window")).unwrap_or(base.window),
        span: measure.and_then(|m| m.size("span")).unwrap_or(base.span),
        seed: measure.and_then(|m| m.number("seed")).unwrap_or(base.seed),
        ..base
    };
    let mut workloads = of_profiles(study, measure, notes);
    add_own(study, &mut workloads, notes);
    if !measure.is_some_and(|m| m.is_wrong("span")) {
        check_span(measure, policy.span, stacks, notes);
        check_blocks(&workloads, policy.span, stacks, notes);
    }
    // Stable: within each half the order is that of the profiles and then of the file.
    workloads.sort_by_key(|placed| placed.workload.pattern.writes());
    (policy, workloads.into_iter().map(|placed| placed.workload).collect())
}

/// Workloads of the profiles that are named, each workload once.
fn of_profiles(study: &Fields, measure: Option<&Fields>, notes: &mut Vec<Note>) -> Vec<Placed> {
    let named = measure.and_then(|m| m.names("profiles"));
    let own = study.has("workload") && (study.is_wrong("workload") || !study.tables("workload").is_empty());
    let Some(named) = named else {
        let wanted = !own && !measure.is_some_and(|m| m.has("profiles"));
        let quick = if wanted { profile::named("quick").unwrap_or_default() } else { Vec::new() };
        return quick.into_iter().map(|workload| Placed { workload, block: None }).collect();
    };
    if let (true, false, Some(measure)) = (named.is_empty(), own, measure) {
        notes.push(
            Note::error("study-no-workloads", Some(measure.place("profiles")), "the study has no workloads")
                .hint("name a profile, such as \"quick\", or add a [[workload]]"),
        );
    }
    let mut found: Vec<Placed> = Vec::new();
    for word in named {
        match profile::named(&word.text) {
            None => notes.push(unknown_profile(word)),
            Some(workloads) => {
                for workload in workloads {
                    if !found.iter().any(|known| known.workload.name == workload.name) {
                        found.push(Placed { workload, block: None });
                    }
                }
            }
        }
    }
    found
}

fn unknown_profile(word: &Word) -> Note {
    let profiles = profile::all();
    let note = Note::error(
        "study-unknown-profile",
        Some(word.span),
        format!("there is no profile `{}`", word.text.escape_debug()),
    );
    match nearest(&word.text, profiles.iter().map(|profile| profile.name)) {
        Some(meant) => note.hint(format!("did you mean `{meant}`?")),
        None => note.hint(format!("there is {}", either(profiles.iter().map(|profile| profile.name)))),
    }
}

/// Adds the study's own workloads.
fn add_own(study: &Fields, workloads: &mut Vec<Placed>, notes: &mut Vec<Note>) {
    for fields in study.tables("workload") {
        let read = workload::read(fields, notes);
        let name: Option<Name> = fields.name("name");
        if let Some(name) = &name
            && let Some(other) = workloads.iter().find(|known| &known.workload.name == name)
        {
            let whose = match &other.workload.profile {
                Some(profile) => format!("profile `{profile}` has it too"),
                None => "the second of that name".to_owned(),
            };
            notes.push(
                Note::error(
                    "study-same-workload",
                    Some(fields.place("name")),
                    format!("two workloads are named `{name}`"),
                )
                .label(whose)
                .hint("give every workload a name of its own"),
            );
            continue;
        }
        if let Some(workload) = read {
            workloads.push(Placed { workload, block: Some(fields.place("block")) });
        }
    }
}

/// Does the span fit every stack? Capacities are upper bounds, so what does not fit here fits nowhere.
fn check_span(measure: Option<&Fields>, span: Bytes, stacks: &[Grown], notes: &mut Vec<Note>) {
    let smallest = stacks.iter().filter_map(|grown| Some((grown.capacity?, grown))).min_by_key(|(size, _)| *size);
    let Some((capacity, grown)) = smallest else { return };
    let place = measure.filter(|m| m.has("span")).map_or(grown.place, |m| m.place("span"));
    if span <= share(capacity) {
        return;
    }
    let name = &grown.stack.name;
    let hint = format!(
        "make the span {} or less: 60 % of the bound, so that journals, reserves and copy-on-write have room; or make the drives larger",
        share(capacity)
    );
    let note = |message| {
        Note::error("study-span", Some(place), message)
            .label(format!("{capacity} is an upper bound of what it holds"))
            .hint(hint)
    };
    notes.push(if span > capacity {
        note(format!("a span of {span} does not fit stack `{name}`"))
    } else {
        note(format!("a span of {span} may leave stack `{name}` no room to work in")).as_warning()
    });
}

/// 60 % in whole MiB: beyond that copy-on-write file systems and journals have no room to work in.
const fn share(capacity: Bytes) -> Bytes {
    Bytes::mib(capacity.0 / 5 * 3 / terms::units::MIB)
}

/// Is every operation within the span, and whole blocks of every stack that takes direct I/O?
fn check_blocks(workloads: &[Placed], span: Bytes, stacks: &[Grown], notes: &mut Vec<Note>) {
    for placed in workloads {
        let Workload { name, block, .. } = &placed.workload;
        if *block > span {
            notes.push(
                Note::error("study-span", placed.block, format!("workload `{name}` moves {block} in a span of {span}"))
                    .hint("make `block` smaller or `span` in [measure] larger"),
            );
        }
        let refused = stacks
            .iter()
            .find(|grown| grown.direct_block.is_some_and(|unit| unit.0 != 0 && !block.0.is_multiple_of(unit.0)));
        if let Some((grown, unit)) = refused.and_then(|grown| Some((grown, grown.direct_block?))) {
            notes.push(
                Note::error(
                    "study-block-below-lba",
                    placed.block,
                    format!("workload `{name}` moves {block}, stack `{}` takes multiples of {unit}", grown.stack.name),
                )
                .hint(format!("make `block` a multiple of {unit}")),
            );
        }
    }
}
