//! How long a search takes, from listing designs to the front.
//!
//! `cargo bench -p advise`. Drives with blocks of 512 bytes and no needs: every design there is, under one to eight
//! workloads. `cargo bench -p advise -- exhaust` also searches without leaving anything out, for comparison, and says
//! whether the front is the same; that takes longer.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss, reason = "a program for people")]

use std::thread;
use std::time::Instant;

use advise::{Found, Layout, LayoutQueue, Question, Scored, designs, front};
use capacity::DriveSize;
use durability::{DriveModel, class};
use model::{Conditions, Site};
use terms::advice::Needs;
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::{Bytes, BytesPerSecond, Name, Pattern, Workload};

const THREADS: usize = 2;

fn main() {
    println!("drives  workloads    designs       fit   solved  front  seconds  of processors  ({THREADS} threads)");
    let encrypted = Needs { encryption: true, ..Needs::default() };
    let lasting = Needs { daily: Some(Bytes(1_000_000_000_000)), ..encrypted.clone() };
    for (drives, workloads) in [(2, 4), (4, 4), (8, 4), (16, 4), (24, 1), (24, 4), (36, 4), (36, 8), (64, 4)] {
        run(drives, workloads, &encrypted);
    }
    println!("with lives, of 1 TB written in a day:");
    run(36, 4, &lasting);
}

fn run(drives: u32, workloads: usize, needs: &Needs) {
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
        work("save", Pattern::Write, Bytes::mib(1), 8, 1),
        work("dense", Pattern::RandWrite, Bytes::kib(4), 32, 16),
        work("page", Pattern::RandRead, Bytes::kib(64), 4, 4),
        work("ping", Pattern::RandRead, Bytes::kib(4), 1, 1),
    ];
    let question = Question {
        needs,
        drives: &sizes,
        models: &models,
        workloads: &all[..workloads],
        conditions: Conditions::default(),
        rebuild: BytesPerSecond(2e9),
    };
    let site = Site::new(&machine);
    let (start, before) = (Instant::now(), processors());
    let listed = designs(sizes.len(), Bytes(512), needs);
    let found = search(&question, &site, &listed);
    let best = front(&found.best);
    let (seconds, busy) = (start.elapsed().as_secs_f64(), processors() - before);
    println!(
        "{drives:>6}  {workloads:>9}  {:>9}  {:>8}  {:>7}  {:>5}  {seconds:>7.2}  {busy:>13.2}",
        found.designs,
        found.fitting,
        found.solved,
        best.len()
    );
    if std::env::args().any(|argument| argument == "exhaust") {
        let start = Instant::now();
        let half = listed.len() / THREADS;
        let all: Vec<Scored> = thread::scope(|scope| {
            let parts: Vec<_> =
                listed.chunks(half).map(|part| scope.spawn(|| advise::exhaust(&question, &site, part))).collect();
            parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
        });
        let same = if front(&all) == best { "the same front" } else { "ANOTHER FRONT" };
        println!("        with nothing left out: {:.2} s, {same}", start.elapsed().as_secs_f64());
    }
}

/// Seconds that processors have worked for this program.
fn processors() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

fn search(question: &Question<'_>, site: &Site, designs: &[Layout]) -> Found {
    let queue = LayoutQueue::new(designs);
    thread::scope(|scope| {
        let searches: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| queue.search(question, site))).collect();
        searches.into_iter().map(|search| search.join().unwrap()).fold(Found::default(), Found::join)
    })
}
