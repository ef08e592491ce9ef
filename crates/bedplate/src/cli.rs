//! What can be typed.

mod advise;
mod calibrate;
mod expect;
mod machine;
mod prove;
mod records;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

pub(crate) use advise::AdviseArguments;
pub(crate) use calibrate::CalibrateArguments;
pub(crate) use expect::ExpectArguments;
pub(crate) use machine::{CaptureArguments, DoctorArguments, InspectArguments, MachineArguments};
pub(crate) use prove::ProveArguments;
pub(crate) use records::{CompareArguments, ReportArguments, RunsArguments};

/// Designs, builds, measures and proves Linux storage stacks.
#[derive(Debug, Parser)]
#[command(name = "bedplate", version, about, max_term_width = 100, after_help = AFTER)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
Exit codes: 0 yes, 1 no (a cell or check failed), 2 could not, 3 refused for safety,
4 not possible here (with what is missing), 130 interrupted after clean-up.

Start with: bedplate run studies/quickstart.toml";

/// What every verb takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Colour on the terminal
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(crate) color: Color,
    /// Draw with ASCII only
    #[arg(long, global = true)]
    pub(crate) ascii: bool,
    /// Say nothing but results and errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Directory of runs [default: $XDG_STATE_HOME/bedplate/runs]
    #[arg(long, global = true, env = "BEDPLATE_RUNS", value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
    /// Directory for the files of lab guests [default: /var/tmp/bedplate-UID]
    #[arg(long, global = true, env = "BEDPLATE_LAB", value_name = "DIR")]
    pub(crate) lab_directory: Option<PathBuf>,
    /// Command that reaches other machines, with its arguments
    #[arg(long, global = true, env = "BEDPLATE_SSH", value_name = "COMMAND", default_value = "ssh")]
    pub(crate) ssh: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Build every stack of a study, measure it, take it down, and report
    Run(Box<RunArguments>),
    /// Show what would be done: every command with its reason and its undo
    Plan(PlanArguments),
    /// Build the stacks of a study, prove that they stand, and take them down again
    Build(BuildArguments),
    /// Try out what the stacks of a study promise: encryption, redundancy, repair of silent corruption, snapshots
    Prove(ProveArguments),
    /// Take down what a run left standing, from its journal
    Teardown(TeardownArguments),
    /// Report a run again from its record
    Report(ReportArguments),
    /// Compare two runs: what differs in how they were made, and which cells are slower or faster
    Compare(CompareArguments),
    /// List runs
    Runs(RunsArguments),
    /// Show a machine: processors, PCIe tree with what links carry, drives and what stands on them, programs
    Inspect(InspectArguments),
    /// Say what is wrong with how a machine is set up, what it costs and what mends it
    Doctor(DoctorArguments),
    /// Say how fast the stacks of a study or a plan will be before they are built, with intervals, and what limits them
    Expect(ExpectArguments),
    /// Measure in a minute what expectations need of a machine: nothing is written but RAM
    Calibrate(CalibrateArguments),
    /// Search all stacks on a study's drives for those that meet needs and that no other beats
    Advise(AdviseArguments),
    /// Pack a machine into one text file, serial numbers masked, for `--machine`
    Capture(CaptureArguments),
    /// A guest to try things in, and what this machine lacks for one
    Lab(LabArguments),
    /// List built-in workload profiles, or show one
    Profiles(ProfilesArguments),
    /// Check a fio job file, or export a study's workloads as job files
    Fio(FioArguments),
    /// Print the JSON Schema of study files, for editors
    Schema,
    /// Measure what a calibration asks of the processors
    #[command(hide = true)]
    Rates,
    /// Do what another Bedplate asks over standard input and output
    #[command(hide = true)]
    Agent,
    /// Print shell completions
    Completion {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write all pages into a directory
    Man {
        /// Where to write all pages
        directory: Option<PathBuf>,
    },
}

/// Which study, and which of its stacks.
#[derive(Debug, Clone, Args)]
pub(crate) struct Selection {
    /// The study file
    pub(crate) study: PathBuf,
    /// Only these stacks: name, number in the study, or pattern with `*`; repeat or separate by commas
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// All but these stacks
    #[arg(long, value_name = "STACK", value_delimiter = ',')]
    pub(crate) skip: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Where: `lab` is a guest that can harm nothing
    #[arg(long, default_value = "lab", value_name = "PLACE")]
    pub(crate) on: String,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The study file; with --dir only its workloads and how to measure
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
    /// What time is in the lab's guest: `virtual` counts instructions, so that numbers do not follow what else this
    /// machine does; one processor, and only RAM drives (--lab-drives ram) [default: the study's]
    #[arg(long, value_enum, value_name = "CLOCK", conflicts_with_all = ["dir", "drive"])]
    pub(crate) clock: Option<Clock>,
    /// Release of the lab guest's kernel, or the beginning of it, such as `6.12`: one that this machine has installed.
    /// `bedplate compare` tells two runs on two kernels apart [default: the study's, else the newest]
    #[arg(long, value_name = "RELEASE", conflicts_with_all = ["dir", "drive"])]
    pub(crate) kernel: Option<String>,
    /// Measure what stands already: files in this directory. Needs no rights beyond that and leaves nothing behind
    #[arg(long, value_name = "PATH", conflicts_with_all = ["only", "skip", "resume", "replicate", "anchor", "max_rounds"])]
    pub(crate) dir: Option<String>,
    /// Which drive of the machine the study's drive NAME is, by an id that stays: a name in /dev/disk/by-id, `serial=…`
    /// or `wwid=…`. ALL THAT IS ON IT IS LOST; one that holds anything is refused
    #[arg(long, value_name = "NAME=ID", value_parser = crate::ground::drives::pairing, conflicts_with = "dir")]
    pub(crate) drive: Vec<crate::ground::drives::Pairing>,
    /// Use this drive although it holds something, which is lost. One that is in use is refused all the same
    #[arg(long, value_name = "ID", requires = "drive")]
    pub(crate) erase: Vec<String>,
    /// Exactly so many rounds; with --max-rounds, at least so many [default: the study's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) rounds: Option<u32>,
    /// Rounds at most, while intervals are wider than --precision or a comparison is open [default: the study's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_rounds: Option<u32>,
    /// Half-width of an interval at which a cell has had enough rounds, such as `2%` [default: the study's]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) precision: Option<terms::PerMille>,
    /// Ratios within this of 1 are as good as equal, such as `3%` [default: the study's]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub(crate) margin: Option<terms::PerMille>,
    /// Time for all of it, such as `45m`: spent where verdicts are open, and no cell is begun that would not fit
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) budget: Option<terms::Nanos>,
    /// What is done anew for every round [default: the study's]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) replicate: Option<Replicate>,
    /// What the bare drive, measured first and last in every round, is good for [default: the study's]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) anchor: Option<Anchor>,
    /// Also run what KDiskMark, CrystalDiskMark or GNOME Disks would, and say why it shows something else
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
    #[arg(long, requires = "fio", value_name = "NAME=VALUE", value_parser = crate::commands::fio::variable)]
    pub(crate) set: Vec<(String, String)>,
    /// Time under load that counts, such as `2s` [default: the study's]
    #[arg(long, value_name = "TIME", value_parser = window)]
    pub(crate) window: Option<terms::Nanos>,
    /// Time under load before that [default: the study's]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) settle: Option<terms::Nanos>,
    /// Bytes filled and worked on, such as `64MiB` [default: the study's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(crate) span: Option<terms::Bytes>,
    /// Seed of every random choice [default: the study's]
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// One round of short windows, and no trials
    #[arg(long, conflicts_with_all = ["rounds", "max_rounds", "window", "settle"])]
    pub(crate) quick: bool,
    /// Leave out what `[trials]` asks for
    #[arg(long)]
    pub(crate) no_trials: bool,
    /// Go on where the newest run of this study with these choices stopped; finished cells are not repeated
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "latest")]
    pub(crate) resume: Option<String>,
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
    /// Disks that spin, with a head that takes its time
    Hdd,
    /// The guest kernel's RAM drives
    Ram,
}

impl From<LabDrives> for terms::LabDriveKind {
    fn from(kind: LabDrives) -> Self {
        match kind {
            LabDrives::Nvme => Self::Nvme,
            LabDrives::Sata => Self::Sata,
            LabDrives::Hdd => Self::Hdd,
            LabDrives::Ram => Self::Ram,
        }
    }
}

/// What time is in the lab's guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Clock {
    /// Ours: a busy machine makes the guest slow
    Real,
    /// Each instruction of the guest takes one nanosecond, and waiting takes none of ours
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
    /// Every stack is built anew: intervals hold for builds
    Rebuild,
    /// Stacks stand side by side on slices of every drive, which change places from round to round
    Slices,
    /// Every stack is built once: nothing is said between stacks
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
pub(crate) enum Anchor {
    /// It is not measured
    Off,
    /// Its change within a round is told
    Note,
    /// A round in which it changes by more than 6 % does not count and is run again
    Discard,
}

impl From<Anchor> for terms::Anchor {
    fn from(anchor: Anchor) -> Self {
        match anchor {
            Anchor::Off => Self::Off,
            Anchor::Note => Self::Note,
            Anchor::Discard => Self::Discard,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    /// As a shell script; for one stack
    #[arg(long, conflicts_with_all = ["json", "diff"])]
    pub(crate) script: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// What is different from the plans of another study
    #[arg(long, value_name = "STUDY", conflicts_with = "json")]
    pub(crate) diff: Option<PathBuf>,
    /// Which drive of the machine the study's drive NAME is, as in `run`: plans for its size and its block, and for what
    /// `[[drive]]` asks of it. Nothing is touched
    #[arg(long, value_name = "NAME=ID", value_parser = crate::ground::drives::pairing)]
    pub(crate) drive: Vec<crate::ground::drives::Pairing>,
    /// The machine of these drives: `local`, or `ssh://host`
    #[arg(long, default_value = "local", value_name = "PLACE", requires = "drive")]
    pub(crate) on: String,
    /// The machine of these drives: a captured one, see `bedplate capture`
    #[arg(long, value_name = "FILE", requires = "drive", conflicts_with = "on")]
    pub(crate) machine: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct BuildArguments {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) place: Place,
    /// Open a shell on each stack while it stands
    #[arg(long)]
    pub(crate) shell: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TeardownArguments {
    /// The run: a directory, the beginning of a name, or `latest`
    #[arg(default_value = "latest")]
    pub(crate) run: String,
    /// Take the run's traces off this drive although the machine was started anew since, and something else may be on
    /// it by now
    #[arg(long, value_name = "ID")]
    pub(crate) erase: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct LabArguments {
    #[command(subcommand)]
    pub(crate) command: LabCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LabCommand {
    /// Open a shell in a guest; leaving it ends the guest
    Shell {
        /// The study whose drives the guest has [default: two NVMe drives of 1 GiB]
        study: Option<PathBuf>,
    },
    /// Say what is there, what is missing and what brings it; exit 4 where a lab cannot run
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove what a killed lab left behind
    Sweep,
}

#[derive(Debug, Args)]
pub(crate) struct FioArguments {
    #[command(subcommand)]
    pub(crate) command: FioCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FioCommand {
    /// Say what of a job file can be measured, and show the jobs that would be run
    Check {
        /// The job file
        #[arg(required_unless_present = "command_line", conflicts_with = "command_line")]
        file: Option<PathBuf>,
        /// Keep options that defeat measurement; they are told as warnings
        #[arg(long)]
        force: bool,
        /// What `${NAME}` stands for; repeat
        #[arg(long, value_name = "NAME=VALUE", value_parser = crate::commands::fio::variable)]
        set: Vec<(String, String)>,
        /// A command line of fio's in place of a file: `-- --name=a --rw=randread`
        #[arg(last = true, value_name = "FIO'S ARGUMENTS")]
        command_line: Vec<String>,
    },
    /// Write a job file with comments for every workload of a study
    Export {
        /// The study file
        study: PathBuf,
        /// Where to write them
        #[arg(default_value = ".")]
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ProfilesArguments {
    /// Show this profile with its exact fio jobs
    pub(crate) name: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// `2%`, `2.5 %`.
fn percent(text: &str) -> Result<terms::PerMille, String> {
    let number = text.trim().strip_suffix('%').ok_or("write a percentage such as `2%`")?;
    let percent: f64 = number.trim().parse().map_err(|_| "write a percentage such as `2%`")?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked first")]
    if (0.1..=100.0).contains(&percent) {
        Ok(terms::PerMille((percent * 10.0).round() as u32))
    } else {
        Err("a percentage from 0.1% to 100%".to_owned())
    }
}

fn time(text: &str) -> Result<terms::Nanos, String> {
    terms::Nanos::parse(text).map_err(|error| format!("{error}; write a time such as `2s` or `500ms`"))
}

/// Shorter than this nothing can be counted: fio's own log has four lines in a second.
fn window(text: &str) -> Result<terms::Nanos, String> {
    let window = time(text)?;
    if window < terms::Nanos::millis(250) { Err("a window is at least 250 ms".to_owned()) } else { Ok(window) }
}

fn size(text: &str) -> Result<terms::Bytes, String> {
    let size = terms::Bytes::parse(text).map_err(|error| format!("{error}; write a size such as `128MiB`"))?;
    if size < terms::Bytes::mib(1) { Err("a span is at least 1 MiB".to_owned()) } else { Ok(size) }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }
}
