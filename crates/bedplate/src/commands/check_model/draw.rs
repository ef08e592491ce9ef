//! A study drawn at random: stacks with all that is below them, and workloads.
//!
//! Each stack is drawn from its drives upwards, and what it is after each layer is a stack of the study too. So where a
//! prediction is off, the study shows from which layer on.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use terms::advice::Advised;
use terms::{Design, Nanos, NoteLevel};

/// Drives of each kind. RAID-6 and pairs of pairs want four.
const DRIVES: usize = 4;
/// Of each drive: XFS wants 300 MB below a header of LUKS. What was not written takes no memory of the guest.
const SIZE: &str = "320 MiB";
/// Layers above the first at most.
const LAYERS: u32 = 2;
/// Rates of flash drives: operations and bytes in a second. Bytes are whole blocks for each operation; the fastest is what
/// one processor of the guest can follow (docs/lab.md).
const FLASH: [(u32, &str); 3] = [(12_000, "98.304 MB/s"), (20_000, "245.76 MB/s"), (25_000, "409.6 MB/s")];

/// What is drawn.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) stacks: usize,
    pub(super) workloads: usize,
    pub(super) window: Nanos,
}

/// The study of a seed.
pub(super) fn study(seed: u64, size: Size) -> String {
    let mut dice = Dice(ChaCha8Rng::seed_from_u64(seed));
    let ram = (0..DRIVES).map(|at| format!("    {{ name = \"r{at}\", kind = \"ram\", size = \"{SIZE}\" }},\n"));
    let question = "How far off are predictions of stacks that were drawn at random?";
    let text = dice.head((seed, size), question, &ram.collect::<String>());
    let mut stacks = String::new();
    let (mut seen, mut count) = (BTreeSet::new(), 0);
    while count < size.stacks {
        let chain = dice.chain();
        for end in 1..=chain.len() {
            let layers = chain[..end].join(", ");
            let stack = format!("\n[[stack]]\nname = \"s{}\"\nlayers = [{layers}]\n", count + 1);
            if count < size.stacks && seen.insert(layers) && can_be_built(&(text.clone() + &stack)) {
                stacks += &stack;
                count += 1;
            }
        }
    }
    text + &stacks
}

/// A study of layouts that were advised, on flash drives of a seed under workloads of it.
pub(super) fn advised(seed: u64, size: Size, front: &[Advised]) -> String {
    let question = "Is what is advised first the fastest?";
    let mut text = Dice(ChaCha8Rng::seed_from_u64(seed)).head((seed, size), question, "");
    for (one, name) in front.iter().zip(advise::study_names(front)) {
        // Argon2 would take a guest a minute.
        let layers = one.layers.replace("{ luks = { ", "{ luks = { pbkdf = \"pbkdf2\", ");
        let _ = write!(text, "\n[[stack]]\nname = \"{name}\"\nlayers = [\n{layers}]\n");
    }
    text
}

/// Does a study say something that there is, and that fits on its drives? Not all that is drawn does: a sector may be
/// smaller than the block below, a file system larger than its device.
pub(super) fn can_be_built(text: &str) -> bool {
    let (design, notes) = spec::parse(text);
    let is_understood = notes.iter().all(|note| note.severity != NoteLevel::Error);
    let fits =
        |design: &Design| plan::plans(&design.stacks, &plan::DriveSize::of_lab(&design.lab)).iter().all(Result::is_ok);
    is_understood && design.as_ref().is_some_and(fits)
}

/// Chance, from one seed.
struct Dice(ChaCha8Rng);

impl Dice {
    /// Everything but the stacks, with more drives after those of flash.
    fn head(&mut self, (seed, size): (u64, Size), question: &str, more: &str) -> String {
        let (operations, rate) = self.one(&FLASH);
        let mut text = format!(
            "# Drawn by `bedplate check-model --seed {seed}`.\n\
             question = \"{question}\"\n\n[lab]\n\
             # An instruction of the guest takes a nanosecond of its clock, and no time is converted.\n\
             cpu = \"1 G instructions/s\"\nmemory = \"6 GiB\"\ndrives = [\n"
        );
        for at in 0..DRIVES {
            let _ = writeln!(
                text,
                "    {{ name = \"f{at}\", kind = \"flash\", size = \"{SIZE}\", read = \"{rate}\", write = \"{rate}\", \
                 read_iops = {operations}, write_iops = {operations} }},"
            );
        }
        text += more;
        let _ = writeln!(
            text,
            "]\n\n[measure]\nrounds = 1\nseed = {seed}\nspan = \"32 MiB\"\nsettle = \"50 ms\"\nwindow = \"{} ms\"\nanchor = \"off\"",
            size.window.0 / 1_000_000
        );
        let mut works = BTreeSet::new();
        while works.len() < size.workloads {
            let work = self.workload();
            if works.insert(work.clone()) {
                let _ = write!(text, "\n[[workload]]\nname = \"w{}\"\n{work}", works.len());
            }
        }
        text
    }

    /// A number below `end`.
    fn below(&mut self, end: u32) -> u32 {
        self.0.next_u32() % end.max(1)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(u32::try_from(of.len()).unwrap_or(1)) as usize]
    }

    fn workload(&mut self) -> String {
        let pattern =
            self.one(&["read", "write", "randread", "randwrite", "randread", "randwrite", "mixed", "randmixed"]);
        let block = self.one(&[4_u32, 4, 16, 64, 256, 1024]);
        // Fewer than 4 MiB under way, an eighth of the span.
        let depth = self.one(&[1_u32, 1, 4, 8, 16, 32]).min(4096 / block);
        let jobs = self.one(&[1_u32, 1, 1, 2, 4]);
        let mut text = format!("pattern = \"{pattern}\"\nblock = \"{block} KiB\"\ndepth = {depth}\njobs = {jobs}\n");
        if pattern.ends_with("write") && self.below(4) == 0 {
            let _ = writeln!(text, "fsync_every = {}", self.one(&[1_u32, 4, 16]));
        }
        if depth == 1 && self.below(2) == 0 {
            text += "engine = \"psync\"\n";
        }
        // Not a warm cache: that is memory, whatever the stack.
        if self.below(4) == 0 {
            text += "page_cache = \"cold\"\n";
            if !pattern.ends_with("read") && !text.contains("fsync_every") {
                // What is dirty at the end of a pass is written then: a window has to hold several passes on the slowest drive.
                text += "span = \"8 MiB\"\n";
            }
        }
        text
    }

    /// A stack as its layers, from the drives upwards.
    fn chain(&mut self) -> Vec<String> {
        let kind = self.one(&["f", "r"]);
        let (first, drives) = self.first();
        let mut chain = vec![first];
        if self.below(5) == 0 {
            // One on each drive.
            chain.insert(0, self.mapping());
        }
        let names: Vec<String> = (0..drives).map(|at| format!("\"{kind}{at}\"")).collect();
        let on = format!(", on = [{}] }}", names.join(", "));
        chain[0] = chain[0].trim_end_matches('}').trim_end().to_owned() + &on;
        for _ in 0..self.below(LAYERS + 1) {
            chain.push(self.mapping());
        }
        if self.below(2) == 0 {
            chain.push(format!("{{ {} = {{}} }}", self.one(&["ext4", "xfs", "btrfs"])));
        }
        chain
    }

    /// What lies on the drives, and on how many.
    fn first(&mut self) -> (String, usize) {
        let chunk = self.one(&[16_u32, 64, 128, 512]);
        let several = 2 + self.below(3) as usize;
        match self.below(10) {
            0 => ("{ bare = {} }".to_owned(), 1),
            1 => (format!("{{ raid = {{ level = 0, chunk = \"{chunk} KiB\" }} }}"), several),
            2 => ("{ raid = { level = 1 } }".to_owned(), several.min(3)),
            3 => (format!("{{ raid = {{ level = 10, chunk = \"{chunk} KiB\" }} }}"), DRIVES),
            4 => {
                let threads = self.one(&[0_u32, 0, 2]);
                (
                    format!("{{ raid = {{ level = 5, chunk = \"{chunk} KiB\", group_thread_cnt = {threads} }} }}"),
                    several.max(3),
                )
            }
            5 => (format!("{{ raid = {{ level = 6, chunk = \"{chunk} KiB\" }} }}"), DRIVES),
            6 => {
                let (volume, least) =
                    self.one(&[("linear", 1), ("striped", 2), ("raid1", 2), ("raid5", 3), ("raid10", 4)]);
                (format!("{{ lvm = {{ volume = \"{volume}\" }} }}"), least)
            }
            7 => {
                let (data, least) = self.one(&[("single", 1), ("dup", 1), ("raid0", 2), ("raid1", 2), ("raid10", 4)]);
                (format!("{{ btrfs = {{ data = \"{data}\" }} }}"), least)
            }
            8 => {
                let (layout, least) =
                    self.one(&[("single", 1), ("single", 2), ("mirror", 2), ("raidz1", 3), ("raidz2", 4)]);
                let record = self.one(&[16_u32, 128]);
                (format!("{{ zfs = {{ layout = \"{layout}\", recordsize = \"{record} KiB\" }} }}"), least)
            }
            _ => (self.mapping(), 1),
        }
    }

    /// A layer on one device.
    fn mapping(&mut self) -> String {
        let sector = self.one(&["512 B", "4 KiB"]);
        let inline = self.below(2) == 0;
        let flags = format!("no_read_workqueue = {inline}, no_write_workqueue = {inline}");
        match self.below(5) {
            0 => format!("{{ crypt = {{ sector = \"{sector}\", {flags} }} }}"),
            // The key is no part of the data's way, and Argon2 would take a guest a minute.
            1 => format!("{{ luks = {{ pbkdf = \"pbkdf2\", sector = \"{sector}\", {flags} }} }}"),
            2 => "{ lvm = {} }".to_owned(),
            _ => {
                let mode = self.one(&["journal", "no-journal", "bitmap"]);
                format!("{{ integrity = {{ mode = \"{mode}\", sector = \"{sector}\" }} }}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use terms::machine::{DriveGroup, DriveKind, Machine};

    use super::*;

    #[test]
    fn every_seed_makes_a_study_that_is_understood_and_predicted() {
        let size = Size { stacks: 12, workloads: 6, window: Nanos::millis(300) };
        let mut titles = BTreeSet::new();
        for seed in 0..64 {
            let text = study(seed, size);
            assert_eq!(text, study(seed, size));
            let (design, notes) = spec::parse(&text);
            assert!(notes.iter().all(|note| note.severity != NoteLevel::Error), "{notes:#?}\n{text}");
            let design = design.unwrap();
            assert_eq!((design.stacks.len(), design.workloads.len()), (12, 6), "{text}");
            assert_eq!(design.lab.clock(), terms::Clock::Virtual);
            titles.extend(design.stacks.iter().flat_map(|stack| &stack.nodes).map(|node| node.layer.kind()));
            let drives = design.lab.drives.iter().map(|drive| DriveGroup::unknown(drive.name.clone(), DriveKind::Ram));
            let machine = Machine { cores: 1, threads: 1, drives: drives.collect(), ..Machine::default() };
            let machine = model::Site::new(&model::limited(machine, &design.lab, design.measure.span));
            for stack in &design.stacks {
                for work in &design.workloads {
                    let said = model::predict(&machine, stack, work, &model::Conditions::default());
                    assert!(said.is_ok_and(|said| said.throughput.value > 0.0), "{}: {text}", stack.name);
                }
            }
        }
        let all = ["bare", "raid", "luks", "crypt", "integrity", "lvm", "ext4", "xfs", "btrfs", "zfs"];
        assert!(all.iter().all(|kind| titles.contains(kind)), "{titles:?}");
    }
}
