//! A post is read, judged and drawn in a time that grows with it, whatever it lists.

use std::time::Duration;

use host::{inspect, posted};
use report::{Style, diagnosis};

use crate::diagnose;

/// Ten times the text may take twice ten times the time.
const STEEPEST: f64 = 2.0;

/// `sda`, …, `sdz`, `sdaa`, ….
fn drive(at: usize) -> String {
    let (mut rest, mut name) = (at + 1, String::new());
    while rest > 0 {
        rest -= 1;
        name.insert(0, char::from(b"abcdefghijklmnopqrstuvwxyz"[rest % 26]));
        rest /= 26;
    }
    format!("sd{name}")
}

type Shape = (&'static str, fn(usize) -> String);

const SHAPES: [Shape; 7] = [
    ("alerts of drives", |n| {
        let alert = |at| format!("* Device: /dev/{} [SAT], 8 Currently unreadable (pending) sectors.\n", drive(at));
        format!("New alerts:\n{}", (0..n).map(alert).collect::<String>())
    }),
    ("arrays", |n| {
        let array = |at: usize| {
            let members = format!("{}1[1] {}1[0]", drive(2 * at), drive(2 * at + 1));
            format!("md{at} : active raid1 {members}\n      12581816 blocks super 1.2 [2/2] [UU]\n\n")
        };
        format!("Personalities : [raid1]\n{}unused devices: <none>\n", (0..n).map(array).collect::<String>())
    }),
    ("file systems", |n| {
        let row = |at| format!("{:8} 8:{at} disk ext4   {at:08}-0000-0000-0000-000000000000\n", drive(at));
        format!("NAME     MAJ:MIN TYPE FSTYPE UUID\n{}", (0..n).map(row).collect::<String>())
    }),
    ("mappings without numbers", |n| {
        let row = |at| format!("└─luks{at:08} 9G crypt ext4\n");
        format!("NAME           SIZE TYPE  FSTYPE\nsda              9T disk  \n{}", (0..n).map(row).collect::<String>())
    }),
    ("one long word", |n| format!("[1.5] I/O error, dev sda, {}\n", "x".repeat(n * 60))),
    ("members of one array", |n| {
        let members: String = (0..n).map(|at| format!(" {}1[{at}]", drive(at))).collect();
        format!(
            "md0 : active raid6{members}\n      9 blocks level 6, 4k chunk, algorithm 2 [{n}/{n}] [{}]\n\n",
            "U".repeat(n)
        )
    }),
    ("messages", |n| (0..n).map(|at| format!("[{at}.5] I/O error, dev {}, sector {at}\n", drive(at))).collect()),
];

/// What this thread has worked: beside other work a long turn is interrupted and a short one is not.
pub(super) fn worked() -> Duration {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).try_into().unwrap()
}

fn took(text: &str) -> Duration {
    let start = worked();
    let inventory = inspect::examine(&posted::read([("post", text)]).machine).unwrap();
    assert!(!report::machine_sheet(&inventory, &Style::default()).is_empty());
    assert!(!diagnosis::text(&diagnose(&inventory), &Style::default()).is_empty());
    worked() - start
}

#[test]
fn time_grows_with_a_post_and_no_faster() {
    let mut bent = Vec::new();
    for (name, make) in SHAPES {
        let texts = [120, 1200].map(make);
        let bytes = texts[1].len() as f64 / texts[0].len() as f64;
        let mut best = [Duration::MAX; 2];
        let mut steepness = f64::MAX;
        // Beside other work only the best of some turns tells: the first good one ends it.
        for _ in 0..8 {
            for (best, text) in best.iter_mut().zip(&texts) {
                *best = took(text).min(*best);
            }
            steepness = best[1].as_secs_f64() / best[0].as_secs_f64() / bytes;
            if steepness <= STEEPEST {
                break;
            }
        }
        if steepness > STEEPEST {
            bent.push(format!("{name}: {best:?}, {steepness:.1}"));
        }
    }
    assert!(bent.is_empty(), "{bent:#?}");
}
