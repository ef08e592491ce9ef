//! The whole room on small made-up records.

use terms::finding::{CellFinding, Findings, Verdict};
use terms::inventory::Inventory;
use terms::record::{
    BuildOutcome, Cell, CellKey, CpuDelta, Flow, GuardNote, Latency, MemberDelta, Missing, Provenance, RECORD_SCHEMA,
    Reading, Sample, StackEntry,
};
use terms::units::{Bytes, BytesPerSecond, Iops, Nanos};
use terms::workload::{Load, Pattern, Workload};
use terms::{Guard, Name};

use crate::study;

/// A good cell: 4 KiB reads, a window of 3 s, 100 µs each.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small whole numbers")]
pub(crate) fn cell(round: u32, stack: &str, workload: &str, throughput: f64) -> Cell {
    let operations = (throughput * 3.0 / 4096.0) as u64;
    let key = CellKey { round, stack: stack.into(), workload: workload.into() };
    Cell {
        directory: Some(format!("cells/{round}-{stack}-{workload}")),
        reading: Some(Reading {
            read: Some(Flow {
                bytes: Bytes(operations * 4096),
                operations,
                runtime: Nanos::seconds(3),
                throughput: BytesPerSecond(throughput),
                iops: Iops(throughput / 4096.0),
                latency: Latency {
                    mean: Nanos(100_000),
                    max: Nanos(200_000),
                    bins: vec![(100_000, operations)],
                    ..Latency::default()
                },
            }),
            fio_cpu_cores: 0.1,
            ..Reading::default()
        }),
        members: vec![MemberDelta { drive: "d".into(), read: Bytes(operations * 4096), ..MemberDelta::default() }],
        cpu: Some(CpuDelta { busy: Nanos::seconds(1), wall: Nanos::seconds(4), ..CpuDelta::default() }),
        samples: vec![Sample {
            at: Nanos::seconds(u64::from(round)),
            throughput: BytesPerSecond(throughput),
            latency: None,
        }],
        took: Nanos::seconds(5),
        ..Cell::begun(key, "2026-11-20T19:21:33Z".into(), vec!["fio".into()], 1)
    }
}

pub(crate) fn provenance(stacks: &[&str], workloads: &[&str]) -> Provenance {
    let stack = |slug: &&str| StackEntry {
        slug: (*slug).into(),
        name: (*slug).into(),
        note: None,
        nodes: vec![],
        missing: None,
    };
    let workload = |name: &&str| Workload::new(Name::new(*name).unwrap(), Pattern::RandRead, Bytes::kib(4));
    Provenance {
        schema: RECORD_SCHEMA,
        run: "r".into(),
        question: "?".into(),
        started: "2026-11-20T19:21:33Z".into(),
        command: vec![],
        version: "0".into(),
        build: "b".into(),
        study_sha256: String::new(),
        place: "local".into(),
        accelerator: None,
        cpu: None,
        drives: Vec::new(),
        seed: 1,
        rounds: 3,
        settle: Nanos::seconds(1),
        window: Nanos::seconds(3),
        span: Bytes::mib(1),
        policy: None,
        stacks: stacks.iter().map(stack).collect(),
        workloads: workloads.iter().map(workload).collect(),
        charts: Vec::new(),
    }
}

fn find<'a>(findings: &'a Findings, stack: &str, workload: &str) -> &'a CellFinding {
    findings.cells.iter().find(|of| of.stack == stack && of.workload == workload).unwrap()
}

/// What fio took up late had waited, and its latency does not tell: such a point of a curve has none.
#[test]
fn a_point_of_a_curve_that_fell_behind_has_no_latency() {
    let mut provenance = provenance(&["a"], &["w", "w.at-50", "w.at-90"]);
    for (workload, percent) in provenance.workloads.iter_mut().skip(1).zip([50, 90]) {
        workload.load = Load::Share { of: Name::new("w").unwrap(), percent };
    }
    let late = GuardNote { guard: Guard::RateNotReached, witness: "50 of 90".into(), voids: false };
    let cells = [
        cell(1, "a", "w", 100e6),
        Cell { offered_iops: Some(12_000.0), ..cell(1, "a", "w.at-50", 50e6) },
        Cell { offered_iops: Some(22_000.0), guards: vec![late], ..cell(1, "a", "w.at-90", 50e6) },
    ];
    let findings = study(&provenance, &Inventory::default(), &cells, &[]);
    let told: Vec<_> = findings.curves[0].points.iter().map(|point| (point.percent, point.latency.is_some())).collect();
    assert_eq!(told, [(Some(50), true), (Some(90), false), (None, true)]);
}

fn assert_no_number(finding: &CellFinding) {
    assert!(finding.throughput.is_none() && finding.iops.is_none() && finding.ratio_to_first.is_none());
    assert!(finding.latency.is_none() && finding.cpu_per_operation.is_none() && finding.drive_bytes_ratio.is_none());
    assert!(finding.samples.is_empty());
}

fn three(stack: &str, workload: &str, throughput: f64) -> Vec<Cell> {
    (1..=3).map(|round| cell(round, stack, workload, throughput * (1.0 + 0.01 * f64::from(round)))).collect()
}

fn build(round: u32, stack: &str, failure: Option<&str>) -> BuildOutcome {
    BuildOutcome {
        round,
        stack: stack.into(),
        build: Nanos(u64::from(round) * 10),
        fill: Nanos(u64::from(round) * 100),
        failure: failure.map(Into::into),
    }
}

#[test]
fn every_stack_and_workload_is_there_in_the_order_of_the_study() {
    let findings = study(&provenance(&["b", "a"], &["seq", "rnd"]), &Inventory::default(), &[], &[]);
    let order: Vec<_> = findings.cells.iter().map(|of| (of.stack.as_str(), of.workload.as_str())).collect();
    assert_eq!(order, [("b", "seq"), ("b", "rnd"), ("a", "seq"), ("a", "rnd")]);
    assert!(findings.cells.iter().all(|of| of.verdict == Verdict::NotRun && of.sources.is_empty()));
    assert_eq!(findings.builds.len(), 2);
    assert!(findings.not_checked[0].starts_with("anything"));
}

#[test]
fn a_workload_is_not_said_to_work_on_more_than_the_span() {
    let mut provenance = provenance(&["a"], &["w"]);
    let size = |of: &Bytes| terms::workload::FioKey { key: "size".into(), value: of.0.to_string() };
    provenance.workloads[0].keys = vec![size(&Bytes(provenance.span.0 * 16))];
    let findings = study(&provenance, &Inventory::default(), &[], &[]);
    let title = findings.provenance.workloads[0].title();
    assert!(!title.contains(" in "), "{title}");
}

#[test]
fn measured_cells_have_everything() {
    let mut cells = three("a", "rnd", 4e6);
    cells.extend(three("b", "rnd", 2e6));
    let builds: Vec<_> = (1..=3).map(|round| build(round, "a", None)).collect();
    let findings = study(&provenance(&["a", "b"], &["rnd"]), &Inventory::default(), &cells, &builds);
    let (a, b) = (find(&findings, "a", "rnd"), find(&findings, "b", "rnd"));
    assert_eq!((&a.verdict, &b.verdict), (&Verdict::Measured, &Verdict::Measured));
    assert_eq!(a.sources, ["cells/1-a-rnd", "cells/2-a-rnd", "cells/3-a-rnd"]);
    let throughput = a.throughput.unwrap();
    assert!((throughput.value - 4.08e6).abs() < 1e3 && throughput.rounds == 3, "{throughput:?}");
    assert!((a.iops.unwrap().value * 4096.0 / throughput.value - 1.0).abs() < 1e-12);
    assert!(a.ratio_to_first.is_none(), "not against itself");
    let ratio = b.ratio_to_first.unwrap();
    assert!((ratio.value - 0.5).abs() < 1e-9 && (ratio.high.unwrap() - 0.5).abs() < 1e-9, "{ratio:?}");
    assert_eq!(a.latency.as_ref().unwrap().p50, Nanos(100_000));
    assert!(a.cpu_per_operation.is_some());
    assert!((a.drive_bytes_ratio.unwrap() - 0.75).abs() < 1e-9);
    assert_eq!(a.samples[0].at, Nanos::seconds(3), "the last round's");
    assert_eq!((findings.builds[0].build, findings.builds[0].fill), (Some(Nanos(20)), Some(Nanos(200))));
    assert_eq!((findings.builds[1].build, &findings.builds[1].failure), (None, &None));
}

#[test]
fn one_failed_round_fails_the_whole() {
    let mut cells = three("a", "rnd", 4e6);
    cells[1].failure = Some("fio ended with error 84".into());
    let findings = study(&provenance(&["a"], &["rnd"]), &Inventory::default(), &cells, &[]);
    let a = find(&findings, "a", "rnd");
    assert_eq!(a.verdict, Verdict::Failed("round 2: fio ended with error 84".into()));
    assert_no_number(a);
    assert_eq!(a.sources.len(), 3, "its records stay findable");
}

/// Names of stacks and workloads are put together: `a` and `b-c` make what `a-b` and `c` make.
#[test]
fn the_sources_of_a_cell_are_its_own_where_names_meet() {
    let other = |round: u32| Cell { directory: Some(format!("cells/{round}-a-b-c.2")), ..cell(round, "a-b", "c", 2e6) };
    let mut cells = three("a", "b-c", 4e6);
    cells.extend((1..=3).map(other));
    let findings = study(&provenance(&["a", "a-b"], &["b-c", "c"]), &Inventory::default(), &cells, &[]);
    assert_eq!(find(&findings, "a", "b-c").sources[0], "cells/1-a-b-c");
    assert_eq!(find(&findings, "a-b", "c").sources, ["cells/1-a-b-c.2", "cells/2-a-b-c.2", "cells/3-a-b-c.2"]);
}

#[test]
fn a_failed_attempt_is_forgiven_by_a_later_good_one() {
    let mut cells = three("a", "rnd", 4e6);
    cells[1].failure = Some("no space".into());
    cells.push(Cell { directory: Some("cells/2-a-rnd.2".to_owned()), ..cell(2, "a", "rnd", 4e6) });
    let findings = study(&provenance(&["a"], &["rnd"]), &Inventory::default(), &cells, &[]);
    let a = find(&findings, "a", "rnd");
    assert_eq!(a.verdict, Verdict::Measured);
    assert_eq!(a.sources[1], "cells/2-a-rnd.2");
    assert!(
        findings.not_checked.iter().any(|open| open.starts_with("earlier attempts: of cells run more than once (1)"))
    );
}

#[test]
fn a_voiding_guard_fails_and_a_labelling_one_only_labels() {
    let guard =
        |voids| GuardNote { guard: terms::Guard::Cache, witness: "drives moved 10 % of the bytes".into(), voids };
    for voids in [false, true] {
        let mut cells = three("a", "rnd", 4e6);
        cells[0].guards = vec![guard(voids)];
        cells[2].guards = vec![guard(voids)];
        let findings = study(&provenance(&["a"], &["rnd"]), &Inventory::default(), &cells, &[]);
        let a = find(&findings, "a", "rnd");
        assert_eq!(a.guards, [guard(voids)], "told once");
        if voids {
            let Verdict::Failed(why) = &a.verdict else { panic!("{:?}", a.verdict) };
            assert!(why.starts_with("round 1: guard cache: drives moved 10 %"), "{why}");
            assert_no_number(a);
        } else {
            assert_eq!(a.verdict, Verdict::Measured);
        }
    }
}

#[test]
fn cells_without_work_fail() {
    for (reading, why) in [(None, "nothing was read"), (Some(Reading::default()), "nothing was done")] {
        let mut cells = three("a", "rnd", 4e6);
        cells[0].reading = reading;
        let findings = study(&provenance(&["a"], &["rnd"]), &Inventory::default(), &cells, &[]);
        let Verdict::Failed(told) = &find(&findings, "a", "rnd").verdict else { panic!() };
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn failed_builds_fail_their_stack_until_built_anew() {
    let study = |builds: &[BuildOutcome]| {
        study(&provenance(&["a", "b"], &["rnd"]), &Inventory::default(), &three("a", "rnd", 4e6), builds)
    };
    let failed = study(&[build(1, "a", None), build(2, "a", Some("mdadm ended with status 1"))]);
    assert_eq!(
        find(&failed, "a", "rnd").verdict,
        Verdict::Failed("round 2: not built: mdadm ended with status 1".into())
    );
    assert_eq!(failed.builds[0].build, None);
    assert_eq!(failed.builds[0].failure.as_deref(), Some("round 2: mdadm ended with status 1"));
    assert_eq!(find(&failed, "b", "rnd").verdict, Verdict::NotRun, "others are untouched");
    let anew = study(&[build(2, "a", Some("x")), build(2, "a", None)]);
    assert_eq!(find(&anew, "a", "rnd").verdict, Verdict::Measured);
    assert_eq!(anew.builds[0].build, Some(Nanos(20)));
}

#[test]
fn missing_says_what_and_how_to_get_it() {
    let mut provenance = provenance(&["zfs", "a"], &["rnd"]);
    provenance.stacks[0].missing = Some(Missing { what: "module zfs".into(), remedy: "apt install zfs-dkms".into() });
    let findings = study(&provenance, &Inventory::default(), &three("a", "rnd", 4e6), &[]);
    let zfs = find(&findings, "zfs", "rnd");
    assert_eq!(zfs.verdict, Verdict::Missing("module zfs — apt install zfs-dkms".into()));
    assert_no_number(zfs);
    assert!(find(&findings, "a", "rnd").ratio_to_first.is_none(), "the first stack has no number");
}

#[test]
fn many_reasons_are_counted() {
    let mut cells: Vec<_> = (1..=5).map(|round| cell(round, "a", "rnd", 4e6)).collect();
    cells.iter_mut().for_each(|cell| cell.failure = Some("no".into()));
    let findings = study(&provenance(&["a"], &["rnd"]), &Inventory::default(), &cells, &[]);
    let expect = "round 1: no; round 2: no; round 3: no; and 2 more";
    assert_eq!(find(&findings, "a", "rnd").verdict, Verdict::Failed(expect.into()));
}

#[test]
fn laps_of_streams_are_told_with_the_largest() {
    let mut cells = three("a", "seq", 4e6);
    let told = |cells: &[Cell]| {
        let open = study(&provenance(&["a"], &["seq"]), &Inventory::default(), cells, &[]).not_checked;
        open.into_iter().filter(|line| line.contains("larger --span")).collect::<Vec<_>>()
    };
    assert!(told(&cells).is_empty());
    (cells[0].lap_error, cells[1].lap_error) = (Some(0.005), Some(0.01));
    let [line] = &told(&cells)[..] else { panic!("{:?}", told(&cells)) };
    assert!(line.starts_with("rates of accesses in order better than ±2.0 %"), "{line}");
}

#[test]
fn what_was_not_checked_is_said() {
    let mut cells = vec![cell(1, "a", "rnd", 4e6), cell(1, "x", "rnd", 1.0)];
    cells[0].members.clear();
    cells[0].cpu = None;
    if let Some(flow) = cells[0].reading.as_mut().and_then(|reading| reading.read.as_mut()) {
        flow.latency.bins.clear();
    }
    let mut provenance = provenance(&["a"], &["rnd"]);
    provenance.place = "lab".into();
    provenance.accelerator = Some("tcg".into());
    let open = study(&provenance, &Inventory::default(), &cells, &[]).not_checked;
    for about in [
        "speed of real drives: the machine was emulated (tcg)",
        "cells that the study does not name, left aside: rnd on x",
        "variation between rounds: a single round",
        "rounds that were not run: the study asks for 3 (1 of 1",
        "caches below direct I/O",
        "latency: ",
        "processor time: ",
        "steady state",
        "drift between rounds",
        "thermal state",
    ] {
        assert!(open.iter().any(|line| line.starts_with(about)), "{about}: {open:#?}");
    }
    assert!(!open.iter().any(|line| line.starts_with("sustained writes")), "nothing was written");
}

#[test]
fn a_complete_real_run_is_not_told_what_it_has() {
    let open = study(&provenance(&["a"], &["rnd"]), &Inventory::default(), &three("a", "rnd", 4e6), &[]).not_checked;
    for about in
        ["speed of real", "variation", "rounds that", "caches", "latency:", "processor", "cells that", "earlier"]
    {
        assert!(!open.iter().any(|line| line.starts_with(about)), "{about}: {open:#?}");
    }
    assert!(open.iter().any(|line| line.starts_with("steady state")));
}

#[test]
fn findings_survive_json() {
    let mut cells = three("a", "rnd", 4e6);
    cells.extend(three("b", "rnd", 2e6));
    let findings = study(&provenance(&["a", "b"], &["rnd"]), &Inventory::default(), &cells, &[]);
    let text = serde_json::to_string(&findings).unwrap();
    let back: Findings = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}
