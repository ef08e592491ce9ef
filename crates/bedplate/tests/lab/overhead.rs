//! What the harness costs, and that its numbers are fio's own.
//!
//! `cargo test -p bedplate --features long-tests --test lab overhead -- --nocapture` prints the figures.

use build::{Authority, MemoryJournal};
use host::Host;
use measure::{CellRequest, Filled, WorkPlace, Writable};
use terms::record::CellKey;
use terms::{Bytes, Cmd, LayerNode, MeasurePolicy, Nanos, Workload};

use crate::bench::{Bench, design};

fn policy() -> MeasurePolicy {
    MeasurePolicy {
        rounds: 15,
        settle: Nanos::millis(500),
        window: Nanos::seconds(5),
        span: Bytes::mib(64),
        ..MeasurePolicy::default()
    }
}

fn request<'a>(
    workload: &'a Workload,
    policy: &'a MeasurePolicy,
    nodes: &'a [LayerNode],
    filled: &'a Filled,
    drives: &'a [(String, String)],
) -> CellRequest<'a> {
    let key = CellKey { round: 1, stack: "s".into(), workload: workload.name.to_string() };
    CellRequest {
        key,
        workload,
        policy,
        filled,
        address: None,
        others: &[],
        resyncs: &[],
        longer: None,
        watch: &|_, _| (),
        drives,
        seed: 7,
        started: String::new(),
        nodes,
        rate: None,
        source: None,
    }
}

/// Processor time of this process, in clock ticks: fields 14 and 15 of its stat (proc(5)).
fn own_ticks() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Geometric mean of the pairs' ratios and the factor of its 95 % interval, by Student's t.
fn ratio_of_pairs(harness: &[f64], hand: &[f64]) -> (f64, f64) {
    let logs: Vec<f64> = harness.iter().zip(hand).map(|(harness, hand)| (harness / hand).ln()).collect();
    let count = f64::from(u32::try_from(logs.len()).unwrap());
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
    // Quantile 0.975 of Student's t with 14 degrees of freedom.
    (mean.exp(), (2.145 * (variance / count).sqrt()).exp())
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn fio_by_hand_gives_the_same_and_the_harness_takes_next_to_nothing() {
    let bench = Bench::alone();
    let design = design(crate::bench::TWO_NVME);
    let plan = plan::plan(&design.stacks[0], &plan::DriveSize::of_lab(&design.lab)).unwrap();
    let guest = bench.boot_as_asked(&design);
    let authority = Authority::lab(&guest, guest.drives()).unwrap();
    let built = build::apply(&plan, &authority, &[], &mut MemoryJournal::default(), &|_| {}).unwrap();
    let WorkPlace::Directory(directory) = built.target.place().clone() else { panic!("no directory") };
    let policy = policy();
    let filled = measure::fill(&guest, (Writable::directory(directory.clone()), None), policy.span, 1, 1).unwrap();
    let drives: Vec<_> = guest.drives().iter().map(|(name, node)| (name.to_string(), node.clone())).collect();
    let workload = design.workloads.iter().find(|w| w.pattern.random() && w.pattern.reads()).unwrap();
    let (mut harness, mut hand, mut share, mut own) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let by_hand = |job: &measure::Job| {
        let by_hand = Cmd::new(["sh", "-c", "cd \"$(mktemp -d)\" && exec \"$@\"", "sh"].map(str::to_owned));
        let cmd = Cmd { argv: [by_hand.argv, job.argv()].concat(), ..by_hand };
        let outcome = guest.run_ok(&cmd.stdin(job.file()).limit(Nanos::seconds(120))).unwrap();
        measure::parse(&outcome.stdout).unwrap().reading.iops().0
    };
    let job = measure::job(workload, &WorkPlace::Directory(directory), &policy, 7).unwrap();
    for round in 0..policy.rounds {
        // In turns, so that neither always comes first.
        if round % 2 == 1 {
            hand.push(by_hand(&job));
        }
        let (before, start) = (own_ticks(), std::time::Instant::now());
        let cell = measure::measure(&guest, &request(workload, &policy, &design.stacks[0].nodes, &filled, &drives))
            .unwrap()
            .cell;
        // Clock ticks are hundredths of a second.
        own.push((own_ticks() - before) / 100.0 / start.elapsed().as_secs_f64());
        let cpu = cell.cpu.as_ref().unwrap();
        share.push(cpu.agent.as_seconds() / cpu.wall.as_seconds());
        harness.push(cell.reading.unwrap_or_else(|| panic!("{:?}", cell.failure)).iops().0);
        if round % 2 == 0 {
            hand.push(by_hand(&job));
        }
    }
    let spread = |values: &[f64]| {
        let (low, high) = values.iter().fold((f64::MAX, 0.0_f64), |(low, high), v| (low.min(*v), high.max(*v)));
        (low, high)
    };
    let ((harness_low, harness_high), (hand_low, hand_high)) = (spread(&harness), spread(&hand));
    let ratio = median(harness.clone()) / median(hand.clone());
    let share = share.iter().sum::<f64>() / f64::from(policy.rounds);
    println!("fio through the harness {harness:.0?}, by hand {hand:.0?}: ratio of medians {ratio:.3}");
    let (middle, half) = ratio_of_pairs(&harness, &hand);
    println!("pairs: harness over hand {middle:.4}, 95 % interval {:.4} to {:.4}", middle / half, middle * half);
    let own = own.iter().sum::<f64>() / f64::from(policy.rounds);
    println!("bedplate outside took {:.2} % of one processor over whole cells", own * 100.0);
    println!("the agent took {:.2} % of one processor while fio ran", share * 100.0);
    let noise = (harness_high / harness_low).max(hand_high / hand_low);
    // Noise is told only roughly, so half as much again is always allowed: a lost job would be a factor of two.
    let bound = (noise * 1.1).max(1.5);
    assert!((1.0 / bound..bound).contains(&ratio), "ratio {ratio}, noise {noise}");
    // The promise is 1 %; where other work shares the cores, an emulated processor counts its waiting too.
    assert!(share <= 0.02, "{share}");
    assert!(own <= 0.01, "{own}");
}
