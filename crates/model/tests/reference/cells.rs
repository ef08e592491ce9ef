//! The published cells: 19 stacks on a hard disk, ten of them on NVMe and on a RAM drive, four tests each.

use std::collections::BTreeMap;

use terms::layer::{
    Bitmap, Btrfs, BtrfsProfile, CryptFlags, Ext4, Integrity, IntegrityMode, Luks, LuksIntegrity, Lvm, Raid, RaidLevel,
    Zfs, ZfsCache, ZfsLayout,
};
use terms::workload::FioKey;
use terms::{Bytes, Layer, LayerNode, Name, Nanos, Pattern, Ref, Stack, Workload};

/// One published result.
#[derive(Debug, Clone)]
pub struct Cell {
    pub device: String,
    pub number: u32,
    pub stack: String,
    pub test: String,
    /// Bytes per second.
    pub rate: f64,
    pub iops: f64,
    /// Microseconds.
    pub mean: f64,
    pub p95: f64,
    /// Processors that fio kept busy.
    pub cores: f64,
    pub failed: bool,
}

/// Every cell, by device, number of the stack and test.
pub type Cells = BTreeMap<(String, u32, String), Cell>;

pub fn cells() -> Cells {
    let text = include_str!("../data/t13a.csv");
    let mut all = Cells::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let f: Vec<&str> = line.split(',').collect();
        let number = |at: usize| f[at].parse::<f64>().unwrap_or(f64::NAN);
        let cell = Cell {
            device: f[0].to_owned(),
            number: f[1].parse().unwrap(),
            stack: f[2].to_owned(),
            test: f[3].to_owned(),
            rate: number(4),
            iops: number(5),
            mean: number(6),
            p95: number(8),
            cores: number(10),
            failed: f[11] != "0",
        };
        all.insert((cell.device.clone(), cell.number, cell.test.clone()), cell);
    }
    all
}

pub const SEQ_READ: &str = "seq-1m-q8-t1-read";
pub const SEQ_WRITE: &str = "seq-1m-q8-t1-write";
pub const RND_READ: &str = "rnd-4k-q32-t16-read";
pub const RND_WRITE: &str = "rnd-4k-q32-t16-write";
pub const TESTS: [&str; 4] = [SEQ_READ, SEQ_WRITE, RND_READ, RND_WRITE];

/// The fio job of a test.
pub fn workload(test: &str) -> Workload {
    let (pattern, block, depth, jobs) = match test {
        SEQ_READ => (Pattern::Read, Bytes::mib(1), 8, 1),
        SEQ_WRITE => (Pattern::Write, Bytes::mib(1), 8, 1),
        RND_READ => (Pattern::RandRead, Bytes::kib(4), 32, 16),
        _ => (Pattern::RandWrite, Bytes::kib(4), 32, 16),
    };
    let mut work = Workload::new(Name::new(test).unwrap(), pattern, block);
    work.depth = depth;
    work.jobs = jobs;
    work.window = Some(Nanos::seconds(60));
    work.keys.push(FioKey { key: "end_fsync".to_owned(), value: "1".to_owned() });
    work
}

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

struct Builder {
    nodes: Vec<LayerNode>,
}

impl Builder {
    fn put(&mut self, title: &str, layer: Layer, on: &[Ref]) -> Ref {
        self.nodes.push(LayerNode { name: name(title), layer, on: on.to_vec(), special: Vec::new() });
        Ref::Layer(name(title))
    }
}

const INLINE: CryptFlags = CryptFlags {
    same_cpu_crypt: true,
    submit_from_crypt_cpus: true,
    no_read_workqueue: true,
    no_write_workqueue: true,
};

/// A stack by its number, on drives of these names.
pub fn stack(number: u32, drives: [&str; 2]) -> Stack {
    let d = drives.map(|drive| Ref::Drive(name(drive)));
    let mut b = Builder { nodes: Vec::new() };
    let integrity = |mode| {
        Layer::Integrity(Integrity {
            mode,
            sector: Bytes::kib(4),
            commit: Nanos::seconds(5),
            bitmap_flush: Nanos::seconds(5),
            ..Integrity::default()
        })
    };
    let journal = || integrity(IntegrityMode::Journal);
    let luks =
        |integrity| Layer::Luks(Luks { sector: Some(Bytes::kib(4)), flags: INLINE, integrity, ..Luks::default() });
    let mirror = || Layer::Raid(Raid { level: RaidLevel::Raid1, bitmap: Bitmap::None, ..Raid::default() });
    let ext4 = |b: &mut Builder, on: Ref| b.put("fs", Layer::Ext4(Ext4::default()), &[on]);
    match number {
        1 => drop(ext4(&mut b, d[0].clone())),
        2..=4 => {
            let mode = [IntegrityMode::Journal, IntegrityMode::NoJournal, IntegrityMode::Bitmap][number as usize - 2];
            let i = b.put("i", integrity(mode), &d[..1]);
            ext4(&mut b, i);
        }
        5 | 6 => {
            let c = b.put("c", luks((number == 6).then_some(LuksIntegrity::HmacSha256)), &d[..1]);
            ext4(&mut b, c);
        }
        7 => {
            let i = b.put("i", journal(), &d[..1]);
            let c = b.put("c", luks(None), &[i]);
            ext4(&mut b, c);
        }
        8 | 9 | 11..=13 => {
            let mut members = d.to_vec();
            if number == 13 {
                members = vec![b.put("c0", luks(None), &members[..1]), b.put("c1", luks(None), &members[1..])];
            }
            if matches!(number, 9 | 12 | 13) {
                members = vec![b.put("i0", journal(), &members[..1]), b.put("i1", journal(), &members[1..])];
            }
            let mut top = b.put("m", mirror(), &members);
            if number >= 11 {
                top = b.put("l", Layer::Lvm(Lvm::default()), &[top]);
            }
            ext4(&mut b, top);
        }
        10 => {
            let l = b.put("l", Layer::Lvm(Lvm::default()), &d[..1]);
            ext4(&mut b, l);
        }
        14 => drop(b.put("b", Layer::Btrfs(Btrfs { commit: Nanos::seconds(5), ..Btrfs::default() }), &d[..1])),
        15 | 16 => {
            let mut members = d.to_vec();
            if number == 16 {
                members = vec![b.put("c0", luks(None), &members[..1]), b.put("c1", luks(None), &members[1..])];
            }
            let (data, metadata) = (BtrfsProfile::Raid1, BtrfsProfile::Raid1);
            let commit = Nanos::seconds(5);
            b.put("b", Layer::Btrfs(Btrfs { data, metadata, commit, ..Btrfs::default() }), &members);
        }
        17 => drop(b.put("z", Layer::Zfs(Zfs { primarycache: ZfsCache::Metadata, ..Zfs::default() }), &d[..1])),
        _ => {
            let mut members = d.to_vec();
            if number == 19 {
                members = vec![b.put("c0", luks(None), &members[..1]), b.put("c1", luks(None), &members[1..])];
            }
            let layout = ZfsLayout::Mirror;
            b.put("z", Layer::Zfs(Zfs { layout, primarycache: ZfsCache::Metadata, ..Zfs::default() }), &members);
        }
    }
    Stack { name: number.to_string(), note: None, nodes: b.nodes }
}
