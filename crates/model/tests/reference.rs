//! The model against a published machine: raw ext4 on each device and the stacks on a RAM drive go in, every other cell
//! is predicted.
#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub, missing_docs, reason = "a test")]

#[path = "reference/cells.rs"]
mod cells;
#[path = "reference/learn.rs"]
mod learn;

use cells::{Cell, Cells, TESTS, cells as published, stack, workload};
use learn::{drives, site};
use model::{Conditions, predict};

/// A predicted cell beside the measured one.
struct Scored {
    cell: Cell,
    predicted: f64,
    inside: bool,
    limit: String,
}

impl Scored {
    fn error(&self) -> f64 {
        self.predicted / self.cell.rate - 1.0
    }
    fn is_block(&self) -> bool {
        self.cell.number < 14
    }
}

/// Every cell that is neither an input nor a failed job.
fn scored(cells: &Cells) -> Vec<Scored> {
    let site = site(cells);
    let inputs = |cell: &&Cell| cell.device != "RAM" && cell.number != 1 && !cell.failed;
    cells
        .values()
        .filter(inputs)
        .map(|cell| {
            let stack = stack(cell.number, drives(&cell.device));
            let said = predict(&site, &stack, &workload(&cell.test), &Conditions::default()).unwrap();
            Scored {
                cell: cell.clone(),
                predicted: said.throughput.value,
                inside: said.throughput.ninety.holds(cell.rate),
                limit: said.limits.first().map_or_else(String::new, |limit| limit.resource.clone()),
            }
        })
        .collect()
}

fn mean_error<'a>(list: impl Iterator<Item = &'a Scored>) -> (f64, usize) {
    let errors: Vec<f64> = list.map(|scored| scored.error().abs()).collect();
    (errors.iter().sum::<f64>() / errors.len() as f64, errors.len())
}

#[test]
fn stacks_are_predicted_from_raw_drives_and_a_ram_drive() {
    let all = scored(&published());
    for s in &all {
        println!(
            "{:3} {:2} {:36} {:22} {:8.1} {:8.1} MB/s {:+6.1} % {} {}",
            s.cell.device,
            s.cell.number,
            s.cell.stack,
            s.cell.test,
            s.cell.rate / 1e6,
            s.predicted / 1e6,
            s.error() * 100.0,
            if s.inside { "  " } else { "x " },
            s.limit,
        );
    }
    let (block, n) = mean_error(all.iter().filter(|s| s.is_block()));
    println!("block layers {n}: {:.2} %", block * 100.0);
    let (every, n) = mean_error(all.iter());
    println!("all {n}: {:.2} %", every * 100.0);
    let inside = all.iter().filter(|s| s.inside).count();
    println!("inside 90 %: {inside} of {}", all.len());
    let (mut pairs, mut right) = (0, 0);
    for device in ["HDD", "SSD"] {
        for test in TESTS {
            let here: Vec<&Scored> = all.iter().filter(|s| s.cell.device == device && s.cell.test == test).collect();
            for (at, a) in here.iter().enumerate() {
                for b in &here[at + 1..] {
                    let (fast, slow) = if a.predicted >= b.predicted { (a, b) } else { (b, a) };
                    if fast.predicted / slow.predicted >= 1.1 {
                        pairs += 1;
                        right += usize::from(fast.cell.rate > slow.cell.rate);
                    }
                }
            }
        }
    }
    println!("pairs {right} of {pairs}");
}
