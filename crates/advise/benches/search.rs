//! How long a search takes, from listing designs to the front.
//!
//! `cargo bench -p advise`. Drives with blocks of 512 bytes and no needs: every design there is, under four workloads
//! and under one.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss, reason = "a program for people")]

use std::thread;
use std::time::Instant;

use advise::{Design, Question, Scored, designs, front};
use capacity::DriveSize;
use durability::{DriveModel, class};
use model::{Conditions, Site};
use terms::advice::Needs;
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::{Bytes, BytesPerSecond, Name, Pattern, Workload};

const THREADS: usize = 2;

fn main() {
    println!("drives  workloads    designs       fit  front  seconds  designs/s  ({THREADS} threads)");
    for (drives, workloads) in [(2, 4), (4, 4), (8, 4), (8, 1), (16, 1), (24, 1)] {
        run(drives, workloads);
    }
}

fn run(drives: u32, workloads: usize) {
    let name = |text: String| Name::new(text).unwrap();
    let size = Bytes(2_000_398_934_016);
    let drive = |at| DriveSize { name: name(format!("d{at}")), size, lba: Bytes(512), slice: false };
    let sizes: Vec<DriveSize> = (0..drives).map(drive).collect();
    let class = class("datacentre-ssd").unwrap();
    let models: Vec<DriveModel> =
        sizes.iter().map(|of| DriveModel { name: of.name.clone(), size, class: class.clone() }).collect();
    let group = DriveGroup { count: drives, ..DriveGroup::unknown(name("d".into()), DriveKind::NvmeEnterprise) };
    let machine = Machine { cores: 16, threads: 32, kernel: Some((6, 12)), drives: vec![group], ..Machine::default() };
    let work = |title: &str, pattern, block, depth, jobs| {
        let mut work = Workload::new(name(title.to_owned()), pattern, block);
        (work.depth, work.jobs) = (depth, jobs);
        work
    };
    let all = [
        work("rnd", Pattern::RandRead, Bytes::kib(4), 32, 16),
        work("seq", Pattern::Read, Bytes::mib(1), 8, 1),
        work("mix", Pattern::RandMixed(70), Bytes::kib(16), 16, 8),
        work("one", Pattern::RandWrite, Bytes::kib(4), 1, 1),
    ];
    let needs = Needs::default();
    let question = Question {
        needs: &needs,
        drives: &sizes,
        models: &models,
        workloads: &all[..workloads],
        conditions: Conditions::default(),
        rebuild: BytesPerSecond(2e9),
    };
    let site = Site::new(&machine);
    let start = Instant::now();
    let listed = designs(sizes.len(), Bytes(512), &needs);
    let scored = search(&question, &site, &listed);
    let best = front(&scored);
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{drives:>6}  {workloads:>9}  {:>9}  {:>8}  {:>5}  {seconds:>7.2}  {:>9.0}",
        listed.len(),
        scored.len(),
        best.len(),
        listed.len() as f64 / seconds
    );
}

fn search(question: &Question<'_>, site: &Site, designs: &[Design]) -> Vec<Scored> {
    let part = designs.len().div_ceil(THREADS);
    thread::scope(|scope| {
        let parts: Vec<_> =
            designs.chunks(part).map(|part| scope.spawn(|| advise::search(question, site, part))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}
