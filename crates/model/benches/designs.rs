//! How many designs a second go through the full solver, and how time grows with designs, drives and layers.
//!
//! `cargo bench -p model`. Each design is compiled anew from its stack and solved to the end of the fixed point.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::cast_precision_loss, reason = "a program for people")]

use std::hint::black_box;
use std::thread;
use std::time::Instant;

use model::{Compiler, Conditions, Site, predict, solve::solve};
use terms::inventory::Link;
use terms::layer::{Ext4, Integrity, Luks, Lvm, Raid, RaidLevel, Xfs};
use terms::machine::{DriveGroup, DriveKind, Machine, Memory, Path, Uplink};
use terms::{Bytes, Layer, LayerNode, Name, Pattern, Ref, Stack, Workload};

fn name(text: impl Into<String>) -> Name {
    Name::new(text).unwrap()
}

fn machine(drives: u32, per_uplink: u32) -> Machine {
    let uplinks = drives.div_ceil(per_uplink);
    let link = |lanes| Link { speed: 16_000, lanes };
    Machine {
        name: "bench".to_owned(),
        kernel: Some((6, 12)),
        cores: 16,
        threads: 32,
        memory: Memory { channels: Some(4), speed: Some(3200), ..Memory::default() },
        uplinks: (0..uplinks)
            .map(|at| Uplink {
                name: name(format!("shelf{at}")),
                path: Path::Pcie { link: link(16), payload: Some(Bytes(256)) },
                behind: None,
            })
            .collect(),
        drives: (0..uplinks)
            .map(|at| DriveGroup {
                count: per_uplink.min(drives - at * per_uplink),
                link: Some(link(4)),
                payload: Some(Bytes(256)),
                behind: Some(name(format!("shelf{at}"))),
                ..DriveGroup::unknown(name(format!("d{at}-")), DriveKind::NvmeEnterprise)
            })
            .collect(),
        ..Machine::default()
    }
}

fn node(title: String, layer: Layer, on: Vec<Ref>) -> LayerNode {
    LayerNode { name: name(title), layer, on, special: Vec::new() }
}

/// Designs as a search makes them: levels × chunks × orders × flags.
fn designs(members: usize) -> Vec<Stack> {
    let drives: Vec<Ref> = (0..members).map(|at| Ref::Drive(name(format!("d0-{at}")))).collect();
    let mut all = Vec::new();
    for level in [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6] {
        for chunk in [64, 128, 256, 512] {
            for kind in 0..6 {
                let raid = Layer::Raid(Raid { level, chunk: Bytes::kib(chunk), ..Raid::default() });
                let mut nodes = vec![node("m".to_owned(), raid, drives.clone())];
                if kind & 1 == 1 {
                    nodes.push(node("c".to_owned(), Layer::Luks(Luks::default()), vec![Ref::Layer(name("m"))]));
                }
                if kind >= 2 {
                    let on = vec![Ref::Layer(nodes.last().unwrap().name.clone())];
                    let layer =
                        if kind >= 4 { Layer::Integrity(Integrity::default()) } else { Layer::Lvm(Lvm::default()) };
                    nodes.push(node("l".to_owned(), layer, on));
                }
                let on = vec![Ref::Layer(nodes.last().unwrap().name.clone())];
                let layer = if chunk > 128 { Layer::Ext4(Ext4::default()) } else { Layer::Xfs(Xfs::default()) };
                nodes.push(node("fs".to_owned(), layer, on));
                all.push(Stack { name: format!("{level:?} {chunk} {kind}"), note: None, nodes });
            }
        }
    }
    all
}

fn workloads() -> Vec<Workload> {
    let job = |title, pattern, block, depth, jobs| {
        let mut work = Workload::new(name(title), pattern, block);
        (work.depth, work.jobs) = (depth, jobs);
        work
    };
    vec![
        job("seq", Pattern::Read, Bytes::mib(1), 8, 1),
        job("rnd", Pattern::RandRead, Bytes::kib(4), 32, 16),
        job("mix", Pattern::RandMixed(70), Bytes::kib(16), 16, 8),
        job("one", Pattern::RandWrite, Bytes::kib(4), 1, 1),
    ]
}

/// Seconds for so many designs on one thread.
fn run(site: &Site, designs: &[Stack], workloads: &[Workload], count: usize) -> f64 {
    let mut compiler = Compiler::new(site);
    let conditions = Conditions::default();
    let start = Instant::now();
    for at in 0..count {
        let stack = &designs[at % designs.len()];
        let work = &workloads[at / designs.len() % workloads.len()];
        black_box(solve(compiler.compile(stack, work, &conditions).unwrap()));
    }
    start.elapsed().as_secs_f64()
}

fn main() {
    let work = workloads();
    let site = Site::new(&machine(16, 16));
    println!("designs        seconds  designs/s  (one thread, 4 drives)");
    for count in [1_000, 10_000, 100_000, 1_000_000] {
        let seconds = run(&site, &designs(4), &work, count);
        println!("{count:>9}  {seconds:>10.3}  {:>9.0}", count as f64 / seconds);
    }
    let start = Instant::now();
    let each = 500_000;
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| run(&site, &designs(4), &work, each));
        }
    });
    println!("two threads: {:.0} designs/s", 2.0 * each as f64 / start.elapsed().as_secs_f64());
    println!("\nmembers   designs/s  (one thread)");
    for members in [2, 4, 8, 16] {
        println!("{members:>7}  {:>10.0}", 50_000.0 / run(&site, &designs(members), &work, 50_000));
    }
    println!("\nlayers    designs/s  (one thread, linear volumes on a drive)");
    for layers in [1_usize, 2, 4, 8, 16] {
        let stack = tower(layers);
        println!("{layers:>6}  {:>11.0}", 50_000.0 / run(&site, std::slice::from_ref(&stack), &work, 50_000));
    }
    println!("\n drives  ciphers  description   compile   predict  (seconds)");
    for (drives, ciphers) in [10, 100, 1_000, 10_000].into_iter().flat_map(|n| [(n, false), (n, true)]) {
        let start = Instant::now();
        let large = machine(drives, 24);
        let site = Site::new(&large);
        let ready = start.elapsed().as_secs_f64();
        let stack = wide(&large, ciphers);
        let seconds = run(&site, std::slice::from_ref(&stack), &work[1..2], 1);
        let start = Instant::now();
        black_box(predict(&site, &stack, &work[1], &Conditions::default()).unwrap());
        println!("{drives:>7}  {ciphers:>7}  {ready:>11.4}  {seconds:>8.4}  {:>8.4}", start.elapsed().as_secs_f64());
    }
}

fn tower(layers: usize) -> Stack {
    let mut nodes = Vec::new();
    let mut on = Ref::Drive(name("d0-0"));
    for at in 0..layers {
        nodes.push(node(format!("l{at}"), Layer::Lvm(Lvm::default()), vec![on]));
        on = Ref::Layer(name(format!("l{at}")));
    }
    Stack { name: "tower".to_owned(), note: None, nodes }
}

/// Mirrors of neighbours in each shelf, and one stripe over all of them; with a cipher on each drive or without.
fn wide(machine: &Machine, ciphers: bool) -> Stack {
    let mut nodes = Vec::new();
    for (at, group) in machine.drives.iter().enumerate() {
        let mut members: Vec<Ref> = (0..group.count).map(|number| Ref::Drive(name(group.member(number)))).collect();
        if ciphers {
            for member in &mut members {
                let title = format!("c-{}", member.name());
                nodes.push(node(title.clone(), Layer::Luks(Luks::default()), vec![member.clone()]));
                *member = Ref::Layer(name(title));
            }
        }
        nodes.push(node(format!("s{at}"), Layer::Raid(Raid { level: RaidLevel::Raid10, ..Raid::default() }), members));
    }
    let arrays = nodes.iter().filter(|node| matches!(node.layer, Layer::Raid(_)));
    let on = arrays.map(|node| Ref::Layer(node.name.clone())).collect();
    nodes.push(node("all".to_owned(), Layer::Raid(Raid { level: RaidLevel::Raid0, ..Raid::default() }), on));
    Stack { name: "wide".to_owned(), note: None, nodes }
}
