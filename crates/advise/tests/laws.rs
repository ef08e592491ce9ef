//! What designs promise, held against the rooms that know.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may stop at the first fault of its own, and talk")]

use std::collections::BTreeSet;

use advise::{Layout, LayoutQueue, Question, Search, designs, layers, stack};
use capacity::DriveSize;
use durability::{Arrangement, DriveModel, arrangement, class, healing};
use model::{Conditions, Site};
use terms::advice::Needs;
use terms::durability::Healing;
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::{Bytes, BytesPerSecond, Name, Pattern, Workload};

fn names(count: usize) -> Vec<Name> {
    (0..count).map(|at| Name::new(format!("d{at}")).unwrap()).collect()
}

/// How many drives may fail, whichever they are.
fn survives(arrangement: &Arrangement<Name>) -> usize {
    match arrangement {
        Arrangement::Drive(_) => 0,
        Arrangement::All(members) => members.iter().map(survives).min().unwrap_or(0),
        Arrangement::Group { members, survives: own } => {
            // The cheapest way to lose one member more than may be lost.
            let mut costs: Vec<usize> = members.iter().map(|member| survives(member) + 1).collect();
            costs.sort_unstable();
            costs.iter().take(own + 1).sum::<usize>() - 1
        }
    }
}

/// The designs that meet some needs, and those that encrypt besides: nobody is advised these unasked, and every law holds
/// of them.
fn all_designs(drives: usize, lba: Bytes, needs: &Needs) -> Vec<Layout> {
    let mut all = designs(drives, lba, needs);
    if !needs.encryption {
        all.extend(designs(drives, lba, &Needs { encryption: true, ..needs.clone() }));
    }
    all
}

#[test]
fn designs_promise_what_layers_and_durability_say() {
    let names = names(4);
    for design in all_designs(4, Bytes(4096), &Needs::default()) {
        let stack = stack(&design, &names);
        let encrypts = stack.nodes.iter().any(|node| node.layer.traits().encrypts);
        assert_eq!(design.is_encrypted(), encrypts, "{design:?}");
        assert_eq!(design.survives(), survives(&arrangement(&stack).unwrap()), "{design:?}");
        assert_eq!(design.repairs(), healing(&stack) == Healing::Repaired, "{design:?}");
    }
}

/// The text is what a study would say: read back, it is the same stack.
#[test]
fn the_text_of_a_design_is_read_as_the_same_stack() {
    let names = names(4);
    let all = all_designs(4, Bytes(4096), &Needs::default());
    // Every design would take minutes; a step without a common factor with the lists' lengths meets every choice.
    for design in all.iter().step_by(97) {
        let built = stack(design, &names);
        let drives: Vec<String> =
            names.iter().map(|name| format!("{{ name = \"{name}\", size = \"8 GiB\", lba = \"4 KiB\" }}")).collect();
        let text = format!(
            "question = \"?\"\n[lab]\ndrives = [{}]\n[[stack]]\nname = \"{}\"\nlayers = [\n{}]\n",
            drives.join(", "),
            built.name,
            layers(design, &names)
        );
        let (read, notes) = spec::parse(&text);
        let read = read.unwrap_or_else(|| panic!("{notes:#?}\n{text}"));
        assert_eq!(read.stacks[0].nodes, built.nodes, "{text}");
    }
}

fn machine(count: u32) -> Machine {
    Machine {
        name: "test".to_owned(),
        kernel: Some((6, 12)),
        cores: 8,
        threads: 16,
        drives: vec![DriveGroup { count, ..DriveGroup::unknown(Name::new("d").unwrap(), DriveKind::NvmeEnterprise) }],
        ..Machine::default()
    }
}

fn work(name: &str, pattern: Pattern, block: Bytes, depth: u32, jobs: u32) -> Workload {
    let mut work = Workload::new(Name::new(name).unwrap(), pattern, block);
    (work.depth, work.jobs) = (depth, jobs);
    work
}

fn workloads() -> Vec<Workload> {
    vec![work("seq", Pattern::Read, Bytes::mib(1), 8, 1), work("rnd", Pattern::RandWrite, Bytes::kib(4), 32, 1)]
}

struct Stage {
    needs: Needs,
    sizes: Vec<DriveSize>,
    models: Vec<DriveModel>,
    workloads: Vec<Workload>,
}

impl Stage {
    fn new(needs: Needs, count: usize) -> Self {
        let size = Bytes(2_000_398_934_016);
        let sizes: Vec<DriveSize> =
            names(count).into_iter().map(|name| DriveSize { name, size, lba: Bytes(4096), slice: false }).collect();
        let class = class("datacentre-ssd").unwrap();
        let models = sizes.iter().map(|of| DriveModel { name: of.name.clone(), size, class: class.clone() }).collect();
        Self { needs, sizes, models, workloads: workloads() }
    }

    fn question(&self) -> Question<'_> {
        Question {
            needs: &self.needs,
            drives: &self.sizes,
            models: &self.models,
            workloads: &self.workloads,
            conditions: Conditions::default(),
            rebuild: BytesPerSecond(2e9),
        }
    }
}

/// What is left out is never among the best: to the last bit, the front is that of all designs.
#[test]
fn a_search_that_leaves_out_finds_what_one_finds_that_does_not() {
    let (plain, daily) = (Needs::default(), Some(Bytes(200_000_000_000)));
    let lasting = Needs { daily, life_years: Some(3.0), loss: Some(0.1), ..Needs::default() };
    let safe = Needs { survives: 1, snapshots: true, encryption: true, ..Needs::default() };
    let large = Needs { capacity: Some(Bytes(2_500_000_000_000)), daily, repairs: true, ..Needs::default() };
    let small = [work("scattered", Pattern::RandMixed(70), Bytes::kib(16), 1, 1)];
    let many =
        [work("many", Pattern::RandRead, Bytes::kib(4), 64, 16), work("long", Pattern::Write, Bytes::mib(1), 16, 4)];
    for (kind, count, lba, needs, works) in [
        (DriveKind::NvmeEnterprise, 4, 4096, &plain, &workloads()[..]),
        (DriveKind::NvmeEnterprise, 2, 512, &lasting, &small[..]),
        (DriveKind::Nvme, 3, 512, &plain, &many[..]),
        (DriveKind::SataSsd, 4, 4096, &safe, &many[..]),
        (DriveKind::Hdd, 3, 4096, &large, &workloads()[..]),
        (DriveKind::Ram, 3, 4096, &plain, &small[..]),
        (DriveKind::Optane, 4, 4096, &lasting, &many[..]),
    ] {
        let mut stage = Stage::new(needs.clone(), count);
        stage.workloads = works.to_vec();
        let mut machine = machine(u32::try_from(count).unwrap());
        machine.drives[0].kind = kind;
        let (question, site) = (stage.question(), Site::new(&machine));
        let all = all_designs(count, Bytes(lba), needs);
        let (scored, found) =
            (advise::exhaust(&question, &site, &all), LayoutQueue::new(&all).search(&question, &site));
        assert_eq!(found.fitting, scored.len() as u64, "{kind:?}");
        assert_eq!(found.designs, all.len() as u64, "{kind:?}");
        assert_eq!(advise::front(&found.best), advise::front(&scored), "{kind:?} {needs:?}");
        assert_eq!(found.simplest, advise::simplest(&scored), "{kind:?} {needs:?}");
        let least = scored.iter().map(|one| one.loss).fold(f64::INFINITY, f64::min);
        assert_eq!(found.safest.map(|one| one.loss.to_bits()), Some(least.to_bits()), "{kind:?}");
        assert!(found.solved * 2 < found.designs, "{kind:?}: {} of {}", found.solved, found.designs);
        println!("{kind:?}: {} of {} solved, {} kept", found.solved, found.designs, found.best.len());
    }
}

/// What is computed once for many designs is what each of them has.
#[test]
fn figures_of_a_likeness_are_those_of_each_design() {
    let needs = Needs { daily: Some(Bytes(50_000_000_000)), ..Needs::default() };
    let stage = Stage::new(needs, 4);
    let (question, site) = (stage.question(), Site::new(&machine(4)));
    let mut judge = advise::Judge::new(&question, &site);
    let daily = durability::Daily::usual(&stage.workloads, Bytes(50_000_000_000));
    for design in all_designs(4, Bytes(4096), &stage.needs).iter().step_by(41) {
        let stack = stack(design, &names(4));
        let (scored, account) = (judge.score(design), capacity::account(&stack, &stage.sizes));
        assert_eq!(scored.is_ok(), account.is_ok(), "{design:?}");
        let (Ok(scored), Ok(account)) = (scored, account) else { continue };
        let room = account.available;
        let given = durability::Given::usual(&stack, &stage.models, room, question.rebuild, &daily);
        let outlook = durability::outlook(&given).unwrap();
        // Room is that of a usual chunk.
        assert!(room.0.abs_diff(scored.available.0) <= room.0 / 1000, "{design:?}: {room} {}", scored.available);
        assert!((outlook.loss.any.middle / scored.loss - 1.0).abs() < 1e-12, "{design:?}");
        assert!((outlook.life_years.unwrap().middle / scored.life - 1.0).abs() < 1e-12, "{design:?}");
    }
}

/// One drive of 2 TB: a thin volume of 1.4 TB, and 0.6 TB for its snapshots.
#[test]
fn layouts_that_only_keep_room_for_snapshots_are_counted() {
    let of = |capacity| {
        let needs = Needs { snapshots: true, capacity: Some(Bytes(capacity)), ..Needs::default() };
        let stage = Stage::new(needs, 1);
        let (question, site) = (stage.question(), Site::new(&machine(1)));
        let mut search = Search::new(&question, &site);
        search.look(&designs(1, Bytes(4096), &stage.needs));
        search.finish().kept_free
    };
    assert!(of(1_700_000_000_000) > 0);
    assert_eq!((of(1_000_000_000_000), of(2_500_000_000_000)), (0, 0));
}

#[test]
fn what_is_advised_meets_every_need_and_nothing_beats_it() {
    let needs = Needs {
        encryption: true,
        survives: 1,
        repairs: true,
        snapshots: true,
        capacity: Some(Bytes(3_000_000_000_000)),
        loss: Some(1e-2),
        ..Needs::default()
    };
    let stage = Stage::new(needs.clone(), 4);
    let (question, site) = (stage.question(), Site::new(&machine(4)));
    let all = designs(4, Bytes(4096), &needs);
    let scored = advise::exhaust(&question, &site, &all);
    assert!(!scored.is_empty() && scored.len() <= all.len());
    let front = advise::front(&scored);
    for one in &front {
        let design: &Layout = &one.design;
        assert!(design.is_encrypted() && design.repairs() && design.has_snapshots() && design.survives() >= 1);
        assert!(one.available >= Bytes(3_000_000_000_000) && one.loss <= 1e-2, "{one:?}");
        let better = |other: &advise::Scored| {
            other.speed > one.speed + 0.04
                && other.available.as_f64() > one.available.as_f64() * 1.02
                && other.loss < one.loss * 0.7
        };
        assert!(!scored.iter().any(better), "{one:?}");
    }
    let advice = advise::advise(&question, &site, &LayoutQueue::new(&all).search(&question, &site), 4);
    assert!(advice.front.len() <= 4 && advice.fitting == scored.len() as u64);
    let simplest = advise::simplest(&scored).unwrap();
    let named = &advice.front[advice.fewest_layers.unwrap()];
    assert_eq!(named.name, advise::title(&simplest.design));
    assert!((named.loss.middle / simplest.loss - 1.0).abs() < 1e-9, "{named:#?} {simplest:?}");
    for one in &advice.front {
        assert!(!one.neighbours.is_empty() && one.rates.len() == 2, "{one:#?}");
        let bare = |neighbour: &terms::advice::Neighbour| {
            neighbour.why.contains("encrypted") || neighbour.change == "encryption that is not authenticated"
        };
        assert!(one.neighbours.iter().any(bare), "{one:#?}");
    }
    println!("{} designs, {} fit, {} on the front", all.len(), scored.len(), front.len());
}

/// A name is that of the layout, and says nothing of files; a study's stacks have a file each.
#[test]
fn every_name_has_a_file_of_its_own() {
    let needs = Needs { survives: 2, ..Needs::default() };
    let stage = Stage::new(needs.clone(), 6);
    let (question, site) = (stage.question(), Site::new(&machine(6)));
    let all = designs(6, Bytes(4096), &needs);
    let mut advice = advise::advise(&question, &site, &LayoutQueue::new(&all).search(&question, &site), 20);
    assert!(advice.front.len() > 2 && advice.front.iter().all(|one| !one.name.contains(": ")), "{advice:#?}");
    // Whatever is on the front, these share the beginning of which a file's name is made.
    advice.front[0].name = "XFS on LVM raid6 on dm-integrity (bitmap) on 6 drives".to_owned();
    advice.front[1].name = "XFS on LVM raid6 on dm-integrity (bitmap) on 5 drives".to_owned();
    let names = advise::study_names(&advice.front);
    let files: BTreeSet<String> = names.iter().map(|name| terms::slug(name)).collect();
    assert_eq!(files.len(), advice.front.len(), "{names:#?}");
}

#[test]
fn what_nothing_meets_gives_nothing() {
    let needs = Needs { survives: 5, ..Needs::default() };
    assert!(designs(4, Bytes(4096), &needs).is_empty());
    let needs = Needs { capacity: Some(Bytes(100_000_000_000_000)), ..Needs::default() };
    let stage = Stage::new(needs.clone(), 2);
    let scored = advise::exhaust(&stage.question(), &Site::new(&machine(2)), &designs(2, Bytes(4096), &needs));
    assert!(scored.is_empty());
}

/// What was computed for a like design is not taken for another: alone and in a crowd the figures are the same.
#[test]
fn figures_do_not_depend_on_what_was_scored_before() {
    let stage = Stage::new(Needs::default(), 3);
    let (question, site) = (stage.question(), Site::new(&machine(3)));
    let all = all_designs(3, Bytes(4096), &stage.needs);
    let some: Vec<Layout> = all.iter().copied().step_by(53).collect();
    let mut judge = advise::Judge::new(&question, &site);
    let crowd: Vec<_> = all.iter().map(|design| (*design, judge.score(design))).collect();
    for design in some {
        let alone = advise::Judge::new(&question, &site).score(&design);
        let (_, found) = crowd.iter().find(|(known, _)| *known == design).unwrap();
        assert_eq!(found, &alone, "{design:?}");
    }
}

/// Without needs the fastest is a stripe over all drives. (Checksums may be on them: they hand work to other processors,
/// and where one thread is the limit that is faster, as published measurements show.)
#[test]
fn without_needs_nothing_is_paid_for() {
    let stage = Stage::new(Needs::default(), 3);
    let scored = advise::exhaust(&stage.question(), &Site::new(&machine(3)), &designs(3, Bytes(4096), &stage.needs));
    let fastest = advise::front(&scored)[0].design;
    assert!(!fastest.is_encrypted() && fastest.survives() == 0 && fastest.members == 3, "{fastest:?}");
}
