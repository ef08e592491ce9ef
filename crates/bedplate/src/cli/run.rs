//! What `bedplate run` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{self, percent, size, time, window};

#[derive(Debug, Default, Args)]
pub(crate) struct RunArguments {
    /// The study: a file, or the name of one that comes with the program (`bedplate studies`). With --dir only its
    /// workloads and how to measure
    #[arg(required_unless_present = "dir")]
    pub(crate) study: Option<PathBuf>,
    /// Only these stacks: name, number in the study, or pattern with `*`; repeat or separate by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// All but these stacks
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
    /// Where: `lab` is a guest that can harm nothing, `local` this machine, `ssh://host` another [default: lab; with --dir local]
    #[arg(long, value_name = "PLACE")]
    pub(crate) on: Option<String>,
    /// Make all drives of the lab of this kind: the same study on another class of drives
    #[arg(long, value_enum, value_name = "KIND", conflicts_with_all = ["dir", "drive"])]
    pub(crate) lab_drives: Option<LabDrives>,
    /// Clock of the lab's guest: `virtual` counts instructions, so that other load on this machine does not change
    /// figures; it has one processor, and NVMe and SATA drives become flash drives in the guest [default: the study's]
    #[arg(long, value_enum, value_name = "CLOCK", conflicts_with_all = ["dir", "drive"])]
    pub(crate) clock: Option<Clock>,
    /// Release of the lab guest's kernel, or the beginning of it, such as `6.12`: one that this machine has installed.
    /// Repeat it for a run on each, every one compared with the first [default: the study's, else the newest]
    #[arg(long, value_name = "RELEASE", value_delimiter = ',', conflicts_with_all = ["dir", "drive"])]
    pub(crate) kernel: Vec<String>,
    /// Exit with 1 if a cell is significantly slower on another kernel than on the first by more than this, such as `5%`
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with_all = ["dir", "drive"])]
    pub(crate) fail_slower: Option<terms::PerMille>,
    /// Measure files in this existing directory instead of stacks. Needs only the right to write there, and leaves nothing behind
    #[arg(long, value_name = "PATH", conflicts_with_all = ["only", "skip", "resume", "replicate", "control", "max_rounds"])]
    pub(crate) dir: Option<String>,
    /// Which drive of the machine the study's drive NAME is, by an id that does not change: a name in /dev/disk/by-id, `serial=…`
    /// or `wwid=…`. ALL THAT IS ON IT IS LOST; one that holds anything is refused
    #[arg(long, value_name = "NAME=ID", value_parser = values::pairing, conflicts_with = "dir")]
    pub(crate) drive: Vec<values::Pairing>,
    /// Do not ask on the terminal before drives are erased
    #[arg(long, requires = "drive")]
    pub(crate) yes: bool,
    /// Use this drive although it holds data, which are lost. A drive that is in use is still refused
    #[arg(long, value_name = "ID", requires = "drive")]
    pub(crate) erase: Vec<String>,
    /// Exactly so many rounds; with --max-rounds, at least so many [default: the study's]
    #[arg(long, value_name = "N", value_parser = values::number(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Rounds at most, while intervals are wider than --precision or a comparison is open [default: the study's]
    #[arg(long, value_name = "N", value_parser = values::number(1..=1000))]
    pub(crate) max_rounds: Option<u32>,
    /// Half-width of an interval at which a cell has had enough rounds, such as `2%` [default: the study's]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) precision: Option<terms::PerMille>,
    /// Ratios within this of 1 count as equal, such as `3%` [default: the study's]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) margin: Option<terms::PerMille>,
    /// Time for the whole run, such as `45min`: spent on undecided comparisons; a cell that would not fit is not begun. With
    /// --resume no less than the run had
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) budget: Option<terms::Nanos>,
    /// What every round repeats [default: the study's]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) replicate: Option<Replicate>,
    /// What to do with the control measurement of the bare drive, first and last in every round [default: the study's]
    #[arg(long = "anchor", value_enum, value_name = "WHAT")]
    pub(crate) control: Option<Control>,
    /// Also run what KDiskMark, CrystalDiskMark or GNOME Disks would run, and explain why their figures differ
    #[arg(long)]
    pub(crate) compat: bool,
    /// Also measure latency at 25, 50, 70 and 90 % of each random workload's largest throughput
    #[arg(long)]
    pub(crate) curve: bool,
    /// Workloads of these profiles instead of the study's; repeat or separate by commas
    #[arg(long, value_name = "PROFILE", value_delimiter = ',')]
    pub(crate) profile: Vec<String>,
    /// Workloads of a fio job file instead of the study's
    #[arg(long, value_name = "FILE", conflicts_with = "profile")]
    pub(crate) fio: Option<PathBuf>,
    /// Keep options of that file that defeat measurement
    #[arg(long, requires = "fio")]
    pub(crate) force: bool,
    /// What `${NAME}` stands for in that file; repeat
    #[arg(long, requires = "fio", value_name = "NAME=VALUE", value_parser = values::variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Time for which each workload is measured, such as `2s` [default: the study's]
    #[arg(long, value_name = "TIME", value_parser = window)]
    pub(crate) window: Option<terms::Nanos>,
    /// Time under load before that, not counted [default: the study's]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) settle: Option<terms::Nanos>,
    /// Size of the area that is written first and then measured, such as `64MiB` [default: the study's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) span: Option<terms::Bytes>,
    /// Seed of every random choice [default: the study's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// One round of short windows, and no feature checks
    #[arg(long, conflicts_with_all = ["rounds", "max_rounds", "window", "settle"])]
    pub(crate) quick: bool,
    /// Leave out what `[trials]` asks for
    #[arg(long = "no-trials")]
    pub(crate) no_feature_checks: bool,
    /// Add at most this many rounds to the newest run of this study with the same options (to another with --resume RUN),
    /// for undecided comparisons and wide intervals
    #[arg(long, value_name = "N", conflicts_with_all = ["rounds", "max_rounds"], value_parser = values::number(1..=1000))]
    pub(crate) more: Option<u32>,
    /// Continue the newest run of this study with the same options; finished cells are not repeated
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    pub(crate) resume: Option<String>,
    /// Print everything instead of a summary that fits a screen
    #[arg(long, conflicts_with = "json")]
    pub(crate) details: bool,
    /// Print the findings as JSON instead of a table
    #[arg(long)]
    pub(crate) json: bool,
}

/// What drives of the lab can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LabDrives {
    /// NVMe controllers, as fast as they go unless the study limits them
    Nvme,
    /// Disks on SATA, just as fast
    Sata,
    /// Hard disks, with a head that takes its time
    Hdd,
    /// The guest kernel's RAM drives
    Ram,
    /// Drives in the guest's memory that answer as late as flash, under either clock
    Flash,
}

impl From<LabDrives> for terms::LabDriveKind {
    fn from(kind: LabDrives) -> Self {
        match kind {
            LabDrives::Nvme => Self::Nvme,
            LabDrives::Sata => Self::Sata,
            LabDrives::Hdd => Self::Hdd,
            LabDrives::Ram => Self::Ram,
            LabDrives::Flash => Self::Flash,
        }
    }
}

/// What time is in the lab's guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    /// Real time: a busy machine makes the guest slow
    Real,
    /// The guest's instructions are counted, and waiting takes no real time
    Virtual,
}

impl From<Clock> for terms::Clock {
    fn from(clock: Clock) -> Self {
        match clock {
            Clock::Real => Self::Real,
            Clock::Virtual => Self::Virtual,
        }
    }
}

/// What is done anew for every round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Replicate {
    /// Every stack is built again: intervals include the scatter between builds
    Rebuild,
    /// Stacks are built side by side on slices of every drive, which change places from round to round
    Slices,
    /// Every stack is built once: stacks are not compared
    Single,
}

impl From<Replicate> for terms::Replicate {
    fn from(replicate: Replicate) -> Self {
        match replicate {
            Replicate::Rebuild => Self::Rebuild,
            Replicate::Slices => Self::Slices,
            Replicate::Single => Self::Single,
        }
    }
}

/// What the bare drive is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Control {
    /// It is not measured
    Off,
    /// Its change within a round is reported
    Note,
    /// A round in which it changes by more than 6 % does not count and is run again
    Discard,
}

impl From<Control> for terms::Control {
    fn from(control: Control) -> Self {
        match control {
            Control::Off => Self::Off,
            Control::Note => Self::Note,
            Control::Discard => Self::Discard,
        }
    }
}
