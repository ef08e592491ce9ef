//! The study file's grammar: every key with its kind, its default and its meaning.
//!
//! This table is the single source: the reader, the search for misspelt keys, the JSON Schema and the
//! reference page all walk it. What keys mean *together* is not here but beside the noun they make.

mod lab;
mod layers;
mod machine;

use terms::Replicate;
use terms::design::Sanitize;
use terms::text::Alphabet;
use terms::units::{KIB, MIB, TIB};

pub(crate) use layers::LAYER_KINDS;
pub(crate) use machine::MACHINE;

/// A table of the study file.
#[derive(Debug)]
pub(crate) struct Table {
    /// Its name in the schema, unique.
    pub(crate) name: &'static str,
    /// How it is written, for the reference page.
    pub(crate) written: &'static str,
    /// What it is, in one sentence.
    pub(crate) help: &'static str,
    /// Its keys in the order of the reference page.
    pub(crate) keys: &'static [Key],
    /// Keys of which exactly one must be there; empty if there is no such rule.
    pub(crate) one_of: &'static [&'static str],
}

impl Table {
    /// The key of that name.
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.name == name)
    }
}

/// One key.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) kind: Kind,
    /// What happens without it.
    pub(crate) without: Without,
    /// What it means, in one sentence.
    pub(crate) help: &'static str,
}

/// What a key takes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// A text of these characters.
    Text(Alphabet),
    /// A [`terms::Name`].
    Name,
    /// A size within bounds, in bytes.
    Size { least: u64, most: u64, step: Step },
    /// One of a few sizes, in bytes.
    Sizes(&'static [u64]),
    /// A time within bounds, a multiple of `step`, all in nanoseconds.
    Duration { least: u64, most: u64, step: u64 },
    /// A whole number within bounds.
    Integer { least: i64, most: i64 },
    /// One of a few whole numbers.
    Integers(&'static [i64]),
    /// A percentage within bounds, in parts of a thousand.
    Percent { least: u32, most: u32 },
    /// `true` or `false`.
    Boolean,
    /// One of a few words.
    Choice(&'static [&'static str]),
    /// Names: a list, or one by itself.
    Names,
    /// A table.
    Table(&'static Table),
    /// A list of tables.
    Tables(&'static Table),
}

/// Which sizes between the bounds are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Powers of two, and 0 where the bounds allow it.
    PowerOfTwo,
    /// Multiples of so many bytes.
    Multiple(u64),
}

/// What happens without a key.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Without {
    /// It must be there.
    Required,
    /// This stands for it, as it would be written in the file.
    Default(&'static str),
    /// Nothing stands for it; the text says what then happens.
    Optional(&'static str),
}

/// A key that must be there.
const fn required(name: &'static str, kind: Kind, help: &'static str) -> Key {
    Key { name, kind, without: Without::Required, help }
}

/// A key with a default.
const fn default(name: &'static str, kind: Kind, value: &'static str, help: &'static str) -> Key {
    Key { name, kind, without: Without::Default(value), help }
}

/// A key without a default, with the words for what then happens.
const fn optional(name: &'static str, kind: Kind, absent: &'static str, help: &'static str) -> Key {
    Key { name, kind, without: Without::Optional(absent), help }
}

/// What somebody says in a sentence.
const SENTENCE: Kind = Kind::Text(Alphabet::Sentence);
/// What something is called in tables.
const TITLE: Kind = Kind::Text(Alphabet::Title);
/// A number with its unit, which is read where it is used.
const FIGURE: Kind = Kind::Text(Alphabet::Figure);

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;
/// Nanoseconds of a second.
const S: u64 = 1000 * MS;
/// Nanoseconds of an hour.
const HOUR: u64 = 3600 * S;

/// The whole file.
pub(crate) static STUDY: Table = Table {
    name: "study",
    written: "the top level",
    help: "One question about storage stacks, and everything needed to answer it.",
    keys: &[
        required("question", SENTENCE, "The question that the study answers, in one sentence."),
        optional("lab", Kind::Table(&lab::LAB), "no drives", "The virtual machine and its drives."),
        optional("drive", Kind::Tables(&SETUP), "drives stay as they are", "How drives are set up before the study."),
        required("stack", Kind::Tables(&STACK), "What is compared; ratios are taken to the first."),
        optional(
            "source",
            Kind::Tables(&SOURCE),
            "files come from memory",
            "Where the files of `file-copy` come from: one stack on drives of its own, which is not compared.",
        ),
        optional("workload", Kind::Tables(&WORKLOAD), "those of the profiles", "Workloads of the study's own."),
        optional("measure", Kind::Table(&MEASURE), "its defaults", "How it is measured."),
        optional(
            "trials",
            Kind::Table(&FEATURE_CHECKS),
            "nothing is tried",
            "Features of the stacks that are checked.",
        ),
        optional(
            "chart",
            Kind::Tables(&CHART),
            "none but those of all stacks",
            "Charts of some of the stacks, in addition to that of all.",
        ),
    ],
    one_of: &[],
};

static SETUP: Table = Table {
    name: "setup",
    written: "[[drive]]",
    help: "How one drive is set up before anything is built on it. What it was before is put back at the end.",
    keys: &[
        required("name", Kind::Name, "The drive, by its name in `[lab]`."),
        optional(
            "lba",
            Kind::Sizes(&[512, 4096]),
            "as it is",
            "Logical block that the drive is formatted to (NVMe). It takes all that is on the drive, and some seconds.",
        ),
        optional(
            "write_cache",
            Kind::Boolean,
            "as it is",
            "The drive's volatile write cache (NVMe, SATA). Flash drives of the lab have none, and hard disks under a \
             virtual clock are made with one or without.",
        ),
        optional(
            "scheduler",
            Kind::Choice(&["none", "mq-deadline", "kyber", "bfq"]),
            "as it is",
            "The I/O scheduler of the kernel.",
        ),
        optional(
            "sanitize",
            Kind::Choice(Sanitize::WORDS),
            "not done",
            "How the NVMe controller forgets everything first, for good. Emulated drives cannot, and leave it out.",
        ),
    ],
    one_of: &[],
};

static STACK: Table = Table {
    name: "stack",
    written: "[[stack]]",
    help: "One thing to compare: layers on drives.",
    keys: &[
        required("name", TITLE, "Its name in tables."),
        optional("note", SENTENCE, "none", "A remark on it, in one sentence."),
        required("layers", Kind::Tables(&layers::LAYER), "Its layers; exactly one is on top."),
    ],
    one_of: &[],
};

static SOURCE: Table =
    Table { name: "source", written: "[[source]]", help: "A stack that files are copied from.", ..STACK };

static WORKLOAD: Table = Table {
    name: "workload",
    written: "[[workload]]",
    help: "One access pattern: what fio calls a job.",
    keys: &[
        required("name", Kind::Name, "Its name in tables and file names."),
        required(
            "pattern",
            Kind::Choice(&["read", "write", "randread", "randwrite", "mixed", "randmixed"]),
            "Direction and order of accesses.",
        ),
        optional(
            "read_percent",
            Kind::Integer { least: 0, most: 100 },
            "70 where mixed",
            "Share of reads in the two mixed patterns.",
        ),
        required(
            "block",
            Kind::Size { least: 512, most: 64 * MIB, step: Step::Multiple(512) },
            "Bytes of one operation.",
        ),
        default("depth", Kind::Integer { least: 1, most: 4096 }, "1", "Operations that each job keeps in flight."),
        default("jobs", Kind::Integer { least: 1, most: 1024 }, "1", "Parallel jobs."),
        optional(
            "fsync_every",
            Kind::Integer { least: 1, most: 1_000_000 },
            "never",
            "Flush after every so many writes.",
        ),
        optional("window", WINDOW, "that of `[measure]`", "Time under load that is measured, for this workload alone."),
        default(
            "engine",
            Kind::Choice(&["libaio", "io-uring", "posix-aio", "psync"]),
            "\"libaio\"",
            "How operations reach the kernel.",
        ),
        optional(
            "rate",
            Kind::Integer { least: 1, most: 1_000_000_000 },
            "as fast as it goes",
            "Operations per second over all jobs, at random moments.",
        ),
        optional(
            "samples",
            Kind::Integer { least: 2, most: 1_000_000 },
            "all of the span",
            "Use only this many blocks, evenly spread over the span.",
        ),
        optional(
            "span",
            Kind::Size { least: 4 * KIB, most: 64 * TIB, step: Step::Multiple(4 * KIB) },
            "that of `[measure]`",
            "Use only this many bytes of the span, from its beginning.",
        ),
        optional(
            "page_cache",
            Kind::Choice(&["cold", "warm"]),
            "direct I/O, past it",
            "Buffered I/O: what the page cache holds is dropped before each pass over the span, or is read into it first. Each of several jobs has a part of the span of its own.",
        ),
        default(
            "hosts",
            Kind::Integer { least: 1, most: 4 },
            "1",
            "Hosts of the lab that do it at once, each on the same stack of drives of its own, started by fio's client \
             and server mode.",
        ),
        optional(
            "path_lost",
            Kind::Table(&PATH_LOST),
            "all paths stay",
            "Lose a network path to remote drives in the window. Needs a `window` of its own, and is never compared.",
        ),
    ],
    one_of: &[],
};

static PATH_LOST: Table = Table {
    name: "path-lost",
    written: "path_lost = { … }",
    help: "When the second network path to remote drives is lost and comes back, from the start of the window.",
    keys: &[
        required("at", EVENT, "It is lost."),
        required("back", EVENT, "It is there again; the kernel then has to connect anew."),
    ],
    one_of: &[],
};

/// A moment within a window.
const EVENT: Kind = Kind::Duration { least: 100 * MS, most: HOUR, step: MS };

static FEATURE_CHECKS: Table = Table {
    name: "trials",
    written: "[trials]",
    help: "Features that are checked on each stack after all measurements, only in the lab, because checks damage data.",
    keys: &[default(
        "features",
        Kind::Names,
        "[\"encryption\", \"redundancy\", \"corruption\", \"snapshot\"]",
        "Features to check on each stack.",
    )],
    one_of: &[],
};

static CHART: Table = Table {
    name: "chart",
    written: "[[chart]]",
    help: "A chart of some stacks, with ratios to the first that is named.",
    keys: &[
        required("title", TITLE, "What it shows."),
        optional("note", SENTENCE, "none", "A remark on it, in one sentence."),
        required("stacks", Kind::Names, "Its stacks by their names, or several by a pattern with `*`, in this order."),
        optional(
            "workloads",
            Kind::Names,
            "all of them",
            "The workloads that it shows, by name or by a pattern with `*`.",
        ),
        default("latency", Kind::Boolean, "false", "Show the mean latency of each workload beside its throughput."),
    ],
    one_of: &[],
};

/// Any time that a window may last.
/// fio's log has a line each 100 ms; a shorter window would be a single line.
pub const SHORTEST_WINDOW: terms::Nanos = terms::Nanos(100 * MS);
const WINDOW: Kind = Kind::Duration { least: SHORTEST_WINDOW.0, most: 24 * HOUR, step: MS };

static MEASURE: Table = Table {
    name: "measure",
    written: "[measure]",
    help: "How the study is measured.",
    keys: &[
        optional(
            "profiles",
            Kind::Names,
            "`[\"quick\"]` if there is no `[[workload]]`",
            "Named sets of workloads, joined with the study's own.",
        ),
        optional(
            "rounds",
            Kind::Integer { least: 1, most: 1000 },
            "5, and more up to 12 where they decide something",
            "Rounds of every cell; in a round, every workload runs once on every stack.",
        ),
        optional(
            "max_rounds",
            Kind::Integer { least: 1, most: 1000 },
            "`rounds` where that is given, else 12",
            "Rounds at most, for cells that are not precise enough or whose comparison is undecided.",
        ),
        default(
            "precision",
            Kind::Percent { least: 1, most: 1000 },
            "\"2 %\"",
            "Half-width of the interval at which a cell has had enough rounds. Under a virtual clock, with one round, windows are made longer to reach it, and to decide comparisons with the first stack.",
        ),
        default("margin", Kind::Percent { least: 1, most: 1000 }, "\"3 %\"", "Ratios within this of 1 count as equal."),
        optional(
            "budget",
            Kind::Duration { least: S, most: 1000 * HOUR, step: MS },
            "as long as it takes",
            "Time for the whole run; a cell that would not fit is not begun.",
        ),
        default(
            "replicate",
            Kind::Choice(Replicate::WORDS),
            "\"rebuild\"",
            "What every round repeats: builds; builds on slices of the drives that change places; nothing.",
        ),
        optional(
            "stop_beyond",
            Kind::Percent { least: 1, most: 1000 },
            "stacks in random order, all of them",
            "Measure stack by stack in the study's order, and stop where a figure is this far from its prediction and outside its 90 % interval.",
        ),
        default(
            "anchor",
            Kind::Choice(&["off", "note", "discard"]),
            "\"note\"",
            "Control measurement of the bare drive, first and last in every round: `off`: none; `note`: its change is reported; `discard`: a round with more than 6 % change is repeated.",
        ),
        optional("quick", Kind::Names, "all of them", "Workloads that `--quick` keeps."),
        default("compat", Kind::Boolean, "false", "Also run what the imitated tool would, with its faults."),
        default(
            "curve",
            Kind::Boolean,
            "false",
            "Also measure random workloads at 25, 50, 70 and 90 % of their largest rate.",
        ),
        optional(
            "settle",
            Kind::Duration { least: 0, most: HOUR, step: MS },
            "by the slowest drives: NVMe `\"3 s\"`, SATA `\"5 s\"`, RAM `\"1 s\"`",
            "Time under load before the window, not counted.",
        ),
        optional(
            "window",
            WINDOW,
            "by the slowest drives: NVMe `\"6 s\"`, SATA `\"15 s\"`, RAM `\"3 s\"`",
            "Time under load that is measured.",
        ),
        optional(
            "fill_passes",
            Kind::Integer { least: 1, most: 4 },
            "1; 2 with a `snia` profile",
            "How often the span is written before anything is measured on it.",
        ),
        default(
            "span",
            Kind::Size { least: MIB, most: 64 * TIB, step: Step::Multiple(4 * KIB) },
            "\"128 MiB\"",
            "Size of the area that is written first and that workloads then use.",
        ),
        default("seed", Kind::Integer { least: 0, most: i64::MAX }, "1", "Seed of every random choice."),
    ],
    one_of: &[],
};

/// Every table, the outer before the inner, each once.
pub(crate) fn tables() -> Vec<&'static Table> {
    let mut found: Vec<&'static Table> = vec![&STUDY];
    let mut next = 0;
    while let Some(table) = found.get(next).copied() {
        for key in table.keys {
            if let Kind::Table(inner) | Kind::Tables(inner) = key.kind
                && !found.iter().any(|known| known.name == inner.name)
            {
                found.push(inner);
            }
        }
        next += 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_keys_are_named_once() {
        let tables = tables();
        for (i, table) in tables.iter().enumerate() {
            assert!(tables[i + 1..].iter().all(|other| other.name != table.name), "{}", table.name);
            for (k, key) in table.keys.iter().enumerate() {
                assert!(table.keys[k + 1..].iter().all(|other| other.name != key.name), "{}.{}", table.name, key.name);
                assert!(key.help.ends_with('.'), "{}.{}: help is a sentence", table.name, key.name);
            }
            assert!(table.one_of.iter().all(|name| table.key(name).is_some()));
        }
    }
}
