//! How a study is measured, with which workloads, and whether its stacks can hold that.

use std::collections::{BTreeMap, HashMap, HashSet};

use terms::{Bytes, LabDriveKind, LabSpec, MeasurePolicy, Method, Name, Nanos, Note, Replicate, Span, Workload};

use crate::fields::{Fields, Word};
use crate::profile;
use crate::stack::Grown;
use crate::suggest::{all_of, either, is_worth_it, meant};
use crate::workload;

/// A workload with its place in the text, if it is the study's own.
struct Placed {
    workload: Workload,
    block: Option<Span>,
}

/// Reads `[measure]` and every workload, reads before writes.
pub(crate) fn read(
    study: &Fields,
    lab: &LabSpec,
    stacks: &[Grown],
    source: Option<&Grown>,
    notes: &mut Vec<Note>,
) -> (MeasurePolicy, Vec<Workload>) {
    let measure = study.table("measure");
    let mut policy = policy(measure, lab, notes);
    let mut workloads = of_profiles(study, measure, notes);
    add_own(study, &mut workloads, notes);
    if !measure.is_some_and(|m| m.is_wrong("span")) {
        check_span(measure, policy.span, stacks, notes);
        leave_out_small(&mut workloads, measure, stacks, notes);
        check_blocks(&workloads, policy.span, stacks, notes);
    }
    let mut workloads: Vec<Workload> = workloads.into_iter().map(|placed| placed.workload).collect();
    if measure.and_then(|m| m.boolean("curve")).unwrap_or(false) {
        let random = workloads.iter().filter(|workload| workload.pattern.random());
        workloads.extend(random.flat_map(Workload::curve).collect::<Vec<_>>());
    }
    copy_from(&mut workloads, source, policy.span);
    check_paths(&workloads, lab, notes);
    check_hosts(&workloads, &policy, lab, notes);
    // Stable: within each half the order is that of the profiles and then of the file.
    workloads.sort_by_key(|workload| workload.pattern.writes());
    policy.quick = quick(measure, &workloads, notes);
    (policy, workloads)
}

/// The policy that `[measure]` describes.
fn policy(measure: Option<&Fields>, lab: &LabSpec, notes: &mut Vec<Note>) -> MeasurePolicy {
    let base = MeasurePolicy::default();
    let number = |key: &str| measure.and_then(|m| m.number(key));
    let (settle, window) = times(lab);
    let (rounds, max_rounds) = rounds(measure, &base, notes);
    let named = measure.and_then(|m| m.names("profiles")).unwrap_or_default();
    let wanted = profile::all().into_iter().filter(|profile| named.iter().any(|word| word.text == profile.name));
    let passes = wanted.map(|profile| profile.fill_passes).max().unwrap_or(base.fill_passes);
    MeasurePolicy {
        rounds,
        max_rounds,
        precision: measure.and_then(|m| m.percent("precision")).unwrap_or(base.precision),
        any_precision: base.any_precision,
        stop_beyond: measure.and_then(|m| m.percent("stop_beyond")),
        margin: measure.and_then(|m| m.percent("margin")).unwrap_or(base.margin),
        budget: measure.and_then(|m| m.duration("budget")),
        replicate: measure.and_then(|m| m.word("replicate")).unwrap_or(base.replicate),
        control: measure.and_then(|m| m.word("anchor")).unwrap_or(base.control),
        compat: measure.and_then(|m| m.boolean("compat")).unwrap_or(base.compat),
        settle: measure.and_then(|m| m.duration("settle")).unwrap_or(settle),
        window: measure.and_then(|m| m.duration("window")).unwrap_or(window),
        span: measure.and_then(|m| m.size("span")).unwrap_or(base.span),
        fill_passes: number("fill_passes").unwrap_or(passes),
        seed: measure.and_then(|m| m.number("seed")).unwrap_or(base.seed),
        quick: Vec::new(),
        left_out: Vec::new(),
        lab_drives: None,
    }
}

/// Workloads that a quick run keeps, each of which there must be.
fn quick(measure: Option<&Fields>, workloads: &[Workload], notes: &mut Vec<Note>) -> Vec<Name> {
    let words = measure.and_then(|m| m.names("quick")).unwrap_or_default();
    let known: HashMap<&str, &Name> =
        workloads.iter().map(|workload| (workload.name.as_str(), &workload.name)).collect();
    let mut kept = Vec::new();
    let mut seen = HashSet::new();
    for word in words {
        if let Some(name) = known.get(word.text.as_str()) {
            kept.extend(seen.insert(*name).then(|| (*name).clone()));
            continue;
        }
        let message = format!("no workload is called `{}`", word.text.escape_debug());
        let note = Note::error("study-quick", Some(word.span), message);
        let names = || workloads.iter().map(|workload| workload.name.as_str());
        notes.push(match is_worth_it(notes) {
            true => note.hint(meant(&word.text, names(), || format!("there is {}", all_of(names())))),
            false => note,
        });
    }
    kept
}

/// Rounds at least and at most: as many as are asked for, or until it is precise.
fn rounds(measure: Option<&Fields>, base: &MeasurePolicy, notes: &mut Vec<Note>) -> (u32, u32) {
    let number = |key: &str| measure.and_then(|m| m.number::<u32>(key));
    match (number("rounds"), number("max_rounds")) {
        (None, None) => (base.rounds, base.max_rounds),
        (Some(rounds), None) => (rounds, rounds),
        (None, Some(most)) => (base.rounds.min(most), most),
        (Some(rounds), Some(most)) => {
            if let (true, Some(measure)) = (most < rounds, measure) {
                let place = Some(measure.place("max_rounds"));
                notes.push(
                    Note::error("study-rounds", place, format!("`max_rounds` is {most} and `rounds` is {rounds}"))
                        .hint("make `max_rounds` as large as `rounds`, or leave it out for exactly so many"),
                );
            }
            (rounds, most)
        }
    }
}

/// Settling and window by the slowest class of the drives: long enough for what a class does in a while, and no longer.
fn times(lab: &LabSpec) -> (Nanos, Nanos) {
    let any = |kind| lab.drives.iter().any(|drive| drive.kind == kind);
    let (settle, window) = match () {
        () if any(LabDriveKind::Sata) || any(LabDriveKind::Hdd) => (5, 15),
        () if any(LabDriveKind::Nvme) || any(LabDriveKind::NvmeTcp) => (3, 6),
        () => (1, 3),
    };
    (Nanos::seconds(settle), Nanos::seconds(window))
}

/// A path can only be lost where drives have two.
fn check_paths(workloads: &[Workload], lab: &LabSpec, notes: &mut Vec<Note>) {
    let Some(workload) = workloads.iter().find(|workload| workload.path_lost.is_some()) else { return };
    if !lab.drives.iter().any(|drive| drive.paths > 1) {
        let message = format!("workload `{}` loses a path, and no drive has two", workload.name);
        notes.push(
            Note::error("study-path-lost", None, message)
                .hint("make drives kind = \"nvme-tcp\", paths = 2, or leave `path_lost` out"),
        );
    }
}

/// Only hosts that are there can work, and only those behind one enclosure have a network between them.
fn check_hosts(workloads: &[Workload], policy: &MeasurePolicy, lab: &LabSpec, notes: &mut Vec<Note>) {
    let Some(workload) = workloads.iter().max_by_key(|workload| workload.hosts) else { return };
    if !workload.hosts.is_one() && policy.replicate == Replicate::Slices {
        let message = format!("workload `{}` is for several hosts, and slices are of one", workload.name);
        notes.push(Note::error("study-hosts", None, message).hint("leave `replicate` out of [measure]"));
    }
    if workload.hosts > lab.hosts {
        let message =
            format!("workload `{}` is for {} hosts, and the lab has {}", workload.name, workload.hosts.0, lab.hosts.0);
        notes.push(
            Note::error("study-hosts", None, message)
                .hint(format!("write hosts = {} in [lab], or less in the workload", workload.hosts.0)),
        );
    }
}

/// Where copies come from, and no more than half of the span: what is filled stays there beside them.
fn copy_from(workloads: &mut [Workload], source: Option<&Grown>, span: Bytes) {
    for workload in workloads {
        match &mut workload.method {
            Method::Fio => {}
            Method::Copy(tree) => {
                tree.source = source.map(|grown| grown.stack.slug());
                tree.total = tree.total.min(Bytes(span.0 / 2));
            }
            Method::Tree(_, tree) => tree.total = tree.total.min(Bytes(span.0 / 2)),
        }
    }
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
    let mut profiles: BTreeMap<&str, Vec<Workload>> =
        profile::all().into_iter().map(|profile| (profile.name, profile.workloads)).collect();
    for word in named {
        let Some(workloads) = profiles.get_mut(word.text.as_str()) else {
            notes.push(unknown_profile(word, is_worth_it(notes)));
            continue;
        };
        // Named again, a profile has nothing to add.
        for workload in std::mem::take(workloads) {
            // The same name means the same accesses in every profile, which a test of `profile` holds.
            if !found.iter().any(|known| known.workload.name == workload.name) {
                found.push(Placed { workload, block: None });
            }
        }
    }
    found
}

fn unknown_profile(word: &Word, is_worth_it: bool) -> Note {
    let message = format!("there is no profile `{}`", word.text.escape_debug());
    let note = Note::error("study-unknown-profile", Some(word.span), message);
    if !is_worth_it {
        return note;
    }
    let profiles = profile::all();
    let names = || profiles.iter().map(|profile| profile.name);
    note.hint(meant(&word.text, names(), || format!("there is {}", either(names()))))
}

/// Adds the study's own workloads.
fn add_own(study: &Fields, workloads: &mut Vec<Placed>, notes: &mut Vec<Note>) {
    let mut whose: HashMap<Name, Option<String>> = workloads.iter().map(|known| whose_name(&known.workload)).collect();
    for fields in study.tables("workload") {
        let read = workload::read(fields, notes);
        let name: Option<Name> = fields.name("name");
        if let Some(name) = &name
            && let Some(profile) = whose.get(name)
        {
            let whose = match profile {
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
            whose.extend([whose_name(&workload)]);
            workloads.push(Placed { workload, block: Some(fields.place("block")) });
        }
    }
}

fn whose_name(workload: &Workload) -> (Name, Option<String>) {
    (workload.name.clone(), workload.profile.clone())
}

/// Does the span fit every stack? Capacities are upper bounds, so what does not fit here fits nowhere.
fn check_span(measure: Option<&Fields>, span: Bytes, stacks: &[Grown], notes: &mut Vec<Note>) {
    let sized = stacks.iter().filter_map(|grown| {
        let capacity = grown.capacity?;
        Some((capacity::room_to_work(&grown.stack, capacity), capacity, grown))
    });
    let Some((room, capacity, grown)) = sized.min_by_key(|(room, ..)| *room) else { return };
    let place = measure.filter(|m| m.has("span")).map_or(grown.place, |m| m.place("span"));
    if span <= room {
        return;
    }
    let name = &grown.stack.name;
    let hint = if room.0 == 0 {
        "make the drives larger: nothing is left for data".to_owned()
    } else {
        format!(
            "make the span {room} or less, so that journals, reserves and what copy-on-write has twice have room; or make the drives larger"
        )
    };
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

/// Cells of a profile that are smaller than a block of the drives: no drive of the kind can run them, and the study did
/// not ask for each by name.
fn leave_out_small(workloads: &mut Vec<Placed>, measure: Option<&Fields>, stacks: &[Grown], notes: &mut Vec<Note>) {
    let Some(unit) = stacks.iter().filter_map(|grown| grown.direct_block).max() else { return };
    let too_small = |placed: &Placed| placed.workload.profile.is_some() && placed.workload.breaks_blocks_of(unit);
    let named: Vec<String> =
        workloads.iter().filter(|of| too_small(of)).map(|of| of.workload.name.to_string()).collect();
    if named.is_empty() {
        return;
    }
    workloads.retain(|placed| !too_small(placed));
    let place = measure.filter(|m| m.has("profiles")).map(|m| m.place("profiles"));
    let message = format!("left out, because stacks take multiples of {unit}: {}", named.join(", "));
    notes.push(
        Note::error("study-below-block", place, message).as_warning().hint("use drives with blocks of 512 bytes"),
    );
}

/// Is every operation within the span, and whole blocks of every stack that takes direct I/O?
fn check_blocks(workloads: &[Placed], span: Bytes, stacks: &[Grown], notes: &mut Vec<Note>) {
    // The first stack of each block: there are few blocks, and may be many stacks.
    let mut units: Vec<(Bytes, &Grown)> = Vec::new();
    for grown in stacks {
        if let Some(unit) = grown.direct_block
            && !units.iter().any(|(known, _)| *known == unit)
        {
            units.push((unit, grown));
        }
    }
    for placed in workloads {
        let Workload { name, block, .. } = &placed.workload;
        let own = placed.workload.own_span();
        if *block > own.unwrap_or(span) {
            let (own, of) = own.map_or((span, " in [measure]"), |own| (own, ""));
            let message = format!("workload `{name}` moves {block} in a span of {own}");
            let hint = format!("make `block` smaller or `span`{of} larger");
            notes.push(Note::error("study-span", placed.block, message).hint(hint));
        }
        if let Some(own) = own.filter(|own| *own > span) {
            let message = format!("workload `{name}` works on {own} of a span of {span}");
            let hint = "make its `span` smaller or that in [measure] larger";
            notes.push(Note::error("study-span", placed.block, message).hint(hint));
        }
        let refused = units.iter().find(|(unit, _)| placed.workload.breaks_blocks_of(*unit));
        if let Some((unit, grown)) = refused {
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
