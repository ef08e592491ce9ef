//! Every stack of every study that comes with the project has an account that adds up.

#![allow(clippy::unwrap_used, reason = "a test may stop")]

use std::path::{Path, PathBuf};

use capacity::{DriveSize, account};
use terms::{Bytes, Design, Exactness, LayerAccount};

/// A drive of 2 TB as they are sold, in bytes (SFF-8447, 2000 GB).
const SOLD: Bytes = Bytes(2_000_398_934_016);

fn studies() -> Vec<(PathBuf, Design)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut studies = Vec::new();
    for directory in ["studies", "crates/bedplate/tests/studies"] {
        for entry in std::fs::read_dir(root.join(directory)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "toml")
                && let (Some(design), _) = spec::parse(&std::fs::read_to_string(&path).unwrap())
            {
                studies.push((path, design));
            }
        }
    }
    studies
}

#[test]
fn stacks_of_all_studies_are_accounted_for() {
    let mut stacks = 0;
    for (path, design) in studies() {
        for as_sold in [false, true] {
            let drives = design.lab.drives.iter().map(|drive| DriveSize {
                name: drive.name.clone(),
                size: if as_sold { SOLD } else { drive.size },
                lba: drive.lba,
                slice: false,
            });
            let drives: Vec<_> = drives.collect();
            for stack in &design.stacks {
                let account = account(stack, &drives).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                stacks += 1;
                assert!(account.entries.iter().all(LayerAccount::balances), "{}: {account:#?}", path.display());
                assert!(account.available <= account.total && account.available > Bytes(0));
                let files = stack.top().unwrap().layer.is_file_system();
                assert_eq!(account.entries.last().unwrap().exactness == Exactness::Thousandth, files);
            }
        }
    }
    assert!(stacks >= 250, "{stacks} stacks were found");
}
