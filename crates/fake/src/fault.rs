//! What may go wrong with a machine, and when.

use crate::program::script::{FREEZE, LOOK, OPEN_FILES};

/// What goes wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FakeFault {
    /// The program does nothing, ends with this status and says this.
    Refused(i32, &'static str),
    /// The program does what it should, and says that it failed.
    Half(i32, &'static str),
    /// The program succeeds and nothing is done.
    Nothing,
    /// Nothing more is heard of the machine, before or after the program did what it should.
    Lost(Moment),
    /// Power is lost, before or after.
    PowerCut(Moment),
    /// The person asks to stop, and the program is ended: before or after it did what it should.
    Interrupt(Moment),
    /// This drive is pulled before the program begins.
    Pull(String),
}

/// Before or after the program did what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// Before.
    Before,
    /// After.
    After,
}

/// Does a program change anything? Those that only look are asked as often as anybody likes.
pub(crate) fn changes(argv: &[String]) -> bool {
    const LOOKING: [&str; 10] = ["blkid", "stat", "vgs", "lvs", "pvs", "cat", "readlink", "cmp", "blockdev", "losetup"];
    let word = |at: usize| argv.get(at).map_or("", String::as_str);
    match word(0) {
        program if LOOKING.contains(&program) => word(1) == "--rereadpt",
        "dmsetup" => !["deps", "table"].contains(&word(1)),
        "zpool" => !["list", "status"].contains(&word(1)),
        "zfs" => word(1) != "list",
        "nvme" => word(1) != "get-log",
        "wipefs" => word(1) != "--no-act",
        "sh" => ![LOOK, OPEN_FILES, FREEZE].iter().any(|looks| word(2).contains(looks)),
        _ => true,
    }
}
