//! Drives write as much as the arithmetic of write amplification says.
//!
//! `cargo test -p bedplate --features long-tests --test lab amplif -- --nocapture` prints every figure.

use durability::{Write, amplification};
use host::Host;
use terms::plan::{Act, Plan, PlanCommand, WorkTarget};
use terms::{Bytes, Nanos, Word};

use crate::bench::{Bench, design};
use crate::sizes::{Standing, hasten};

/// Bytes that are written to, and bytes written at random within them.
const SPAN: Bytes = Bytes::mib(96);
const WRITTEN: Bytes = Bytes::mib(24);
/// Stacks of `capacity.toml`, and what may be measured beside the spread: superblocks, bitmaps and labels of taking the
/// stack down below, journals and directories above.
const STACKS: [&str; 10] = [
    "RAID-1, 640 MiB",
    "RAID-5, 640 MiB",
    "RAID-6, 640 MiB",
    "RAID-10, 640 MiB",
    "LUKS, 640 MiB",
    "dm-integrity, 640 MiB",
    "dm-integrity with sha256, 640 MiB",
    "ext4, 640 MiB",
    "btrfs, 640 MiB",
    "ZFS, 640 MiB",
];
const BELOW: f64 = 0.95;
const ABOVE: f64 = 1.06;

impl Standing<'_> {
    fn fio(&self, how: &[&str]) {
        let target = match &self.plan.target {
            WorkTarget::Device(node) => self.word(node),
            WorkTarget::Directory(directory) => format!("{directory}/file"),
        };
        let base = ["fio", "--name=w", "--ioengine=libaio", "--iodepth=16", "--direct=1", "--end_fsync=1"];
        let own = [format!("--filename={target}"), format!("--size={}", SPAN.0)];
        let words = base.iter().chain(how).map(|word| (*word).to_owned()).chain(own);
        let argv = words.map(Word::from).collect();
        self.run(&PlanCommand { argv, key: None, limit: Nanos::seconds(180) }).unwrap();
    }

    /// Bytes that all drives of the stack have written so far: the seventh figure of their `stat`, in sectors
    /// (Documentation/block/stat.rst).
    fn written(&self) -> u64 {
        let drives = self.plan.drives.iter().map(|drive| self.word(&Word::drive(drive)));
        drives
            .map(|node| {
                let path = format!("/sys/block/{}/stat", node.trim_start_matches("/dev/"));
                let text = self.guest.read_text(&path).unwrap();
                512 * text.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap()
            })
            .sum()
    }
}

/// Tables of ext4 are written at once after all: in the background they would be counted with what is measured.
fn at_once(plan: &mut Plan) {
    for step in &mut plan.steps {
        if let Act::Run(command) = &mut step.act {
            let eager = |word: &Word| Word::parse(&word.to_string().replace("_init=1", "_init=0")).unwrap();
            command.argv = command.argv.iter().map(eager).collect();
        }
    }
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn drives_write_as_much_as_the_amplification_says() {
    let bench = Bench::alone();
    let design = design("crates/bedplate/tests/studies/capacity.toml");
    let facts = plan::DriveSize::of_lab(&design.lab);
    let guest = bench.boot_as_asked(&design);
    let mut wrong = Vec::new();
    for name in STACKS {
        let stack = design.stacks.iter().find(|stack| stack.name == name).unwrap();
        let mut plan = plan::plan(stack, &facts).unwrap();
        hasten(&mut plan, stack);
        at_once(&mut plan);
        let standing = Standing { guest: &guest, plan: &plan };
        standing.build().unwrap();
        standing.fio(&["--rw=write", "--bs=1m"]);
        let before = standing.written();
        let random = format!("--io_size={}", WRITTEN.0);
        standing.fio(&["--rw=randwrite", "--bs=4k", "--randseed=7", &random]);
        // What a journal still holds is in place only when the stack is down.
        standing.take_down();
        let measured = (standing.written() - before) as f64 / WRITTEN.as_f64();
        standing.blank();
        let write = Write { block: Bytes::kib(4), random: true, sync: false };
        let spread = amplification(stack, &write).total;
        let inside = (spread.low * BELOW..=spread.high * ABOVE).contains(&measured);
        println!(
            "{} {name:36} measured {measured:6.2}, expected {:.2} from {:.2} to {:.2}",
            if inside { "ok " } else { "BAD" },
            spread.middle,
            spread.low,
            spread.high
        );
        if !inside {
            wrong.push(format!("{name}: {measured:.3} and not {spread:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    drop(guest);
    bench.assert_nothing_left();
}
