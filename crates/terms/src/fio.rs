//! Which options of fio's job files a workload may carry.
//!
//! A list of what is allowed, and none of what is not: whatever is missing here is never handed to fio. An option is on
//! it because it touches nothing but what is measured: it runs no program, loads no code, names no file and no host. Its
//! value is held to the letters that its kind needs, so that no path, quote or variable is among them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// 0 or 1: `pre_read=1`.
    Flag,
    /// Nothing, 0 or 1: `norandommap`, `refill_buffers=1`.
    Set,
    /// One of these words: `random_generator=tausworthe64`.
    Word(&'static [&'static str]),
    /// Numbers with units, ranges, lists of them: `rate=1m,500k`, `cpus_allowed=0-3`, `random_distribution=zipf:1.2`.
    Numbers,
    /// The same with shares behind slashes: `bssplit=4k/60:64k/40`.
    Shares,
    /// One of [`ENGINES`].
    Engine,
}

/// Disk engines of fio that do the work of a job on the file that it names, and on nothing else.
pub const ENGINES: [&str; 9] =
    ["io_uring", "libaio", "mmap", "posixaio", "psync", "pvsync", "pvsync2", "sync", "vsync"];

/// Other names of an engine, which fio takes by how they begin (`__load_ioengine` in its `ioengines.c`).
const ENGINE_ALIASES: [(&str, &str); 2] = [("aio", "libaio"), ("linuxaio", "libaio")];

/// Options that count by the clock, which in a guest need not be that of the machine it stands for.
pub const TIMED: [&str; 11] = [
    "latency_run",
    "latency_target",
    "latency_window",
    "rate",
    "rate_cycle",
    "rate_iops",
    "rate_iops_min",
    "rate_min",
    "thinktime",
    "thinktime_iotime",
    "thinktime_spin",
];

/// Longest value, in bytes. fio reads lines of a job file in pieces of 4096 bytes, and takes each piece for a line.
const LONGEST: usize = 1024;

/// Other names of options (`fio --cmdhelp=all` of 3.33): theirs, then fio's first name.
const ALIASES: [(&str, &str); 21] = [
    ("readwrite", "rw"),
    ("blocksize", "bs"),
    ("blockalign", "ba"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iodepth_batch_complete", "iodepth_batch_complete_min"),
    ("io_limit", "io_size"),
    ("fill_fs", "fill_device"),
    ("fileoffset", "offset"),
    ("nr_files", "nrfiles"),
    ("timeout", "runtime"),
    ("iomem", "mem"),
    ("mem_align", "iomem_align"),
    ("ratemin", "rate_min"),
    ("ratecycle", "rate_cycle"),
    ("wait_for_previous", "stonewall"),
    ("disable_bw", "disable_bw_measurement"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
];

/// Options that need a 0 or a 1 behind them.
const FLAGS: &[&str] = &[
    "allow_file_create",
    "atomic",
    "bs_is_seq_rand",
    "buffered",
    "clat_percentiles",
    "create_fsync",
    "create_on_open",
    "create_only",
    "create_serialize",
    "dedupe_global",
    "direct",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "do_verify",
    "end_fsync",
    "file_append",
    "fill_device",
    "fsync_on_close",
    "gtod_reduce",
    "ignore_zone_limits",
    "invalidate",
    "latency_run",
    "pre_read",
    "rate_ignore_thinktime",
    "read_beyond_wp",
    "scramble_buffers",
    "serialize_overlap",
    "softrandommap",
    "stats",
    "thp",
    "unlink",
    "unlink_each_loop",
    "verify_fatal",
];

/// Options that are said by their name alone, or with a 0 or a 1.
const SETS: &[&str] = &[
    "bs_unaligned",
    "fixedbufs",
    "force_async",
    "hipri",
    "libaio_vectored",
    "nonvectored",
    "norandommap",
    "nowait",
    "refill_buffers",
    "registerfiles",
    "sqthread_poll",
    "thread",
    "uncached",
    "userspace_reap",
    "verify_only",
    "zero_buffers",
];

/// Options that take one of some words, with those that fio knows (`fio --cmdhelp=all` of 3.33).
const WORDS: &[(&str, &[&str])] = &[
    ("clocksource", &["gettimeofday", "clock_gettime", "cpu"]),
    ("continue_on_error", &["none", "read", "write", "io", "verify", "all", "0", "1"]),
    ("cpus_allowed_policy", &["shared", "split"]),
    ("dedupe_mode", &["repeat", "working_set"]),
    ("fadvise_hint", &["0", "1", "random", "sequential"]),
    ("fallocate", &["none", "native", "posix", "keep", "truncate", "0", "1"]),
    ("io_submit_mode", &["inline", "offload"]),
    // Sizes with units are read by it: it goes with those that are passed on.
    ("kb_base", &["1000", "1024"]),
    ("lockfile", &["none", "exclusive", "readwrite"]),
    ("mem", &["malloc", "shm", "shmhuge", "mmap", "mmapshared", "mmaphuge"]),
    ("prioclass", &["0", "1", "2", "3"]),
    ("random_generator", &["tausworthe", "lfsr", "tausworthe64"]),
    ("rate_process", &["linear", "poisson"]),
    ("rw_sequencer", &["sequential", "identical"]),
    ("sync", &["none", "0", "sync", "1", "dsync"]),
    ("thinktime_blocks_type", &["complete", "issue"]),
    (
        "verify",
        &[
            "0",
            "md5",
            "crc64",
            "crc32",
            "crc32c-intel",
            "crc32c",
            "crc16",
            "crc7",
            "sha1",
            "sha256",
            "sha512",
            "sha3-224",
            "sha3-256",
            "sha3-384",
            "sha3-512",
            "xxhash",
            "meta",
            "pattern",
            "null",
        ],
    ),
    ("write_hint", &["none", "short", "medium", "long", "extreme"]),
    ("zonemode", &["none", "strided", "zbd"]),
];

const NUMBERS: &[&str] = &[
    "ba",
    "bsrange",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "buffer_pattern",
    "bwavgtime",
    "cmdprio",
    "cmdprio_class",
    "cmdprio_percentage",
    "cpumask",
    "cpus_allowed",
    "dedupe_percentage",
    "dedupe_working_set_percentage",
    "fdatasync",
    "file_service_type",
    "filesize",
    "flow",
    "flow_id",
    "flow_sleep",
    "gtod_cpu",
    "hipri_percentage",
    "hugepage-size",
    "ignore_error",
    "iodepth_batch",
    "iodepth_batch_complete_max",
    "iodepth_batch_complete_min",
    "iodepth_low",
    "iomem_align",
    "iopsavgtime",
    "job_max_open_zones",
    "latency_percentile",
    "latency_target",
    "latency_window",
    "loops",
    "max_latency",
    "max_open_zones",
    "nice",
    "nrfiles",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "offset",
    "offset_align",
    "openfiles",
    "percentage_random",
    "prio",
    "rate",
    "rate_cycle",
    "rate_iops",
    "rate_iops_min",
    "rate_min",
    "sqthread_poll_cpu",
    "sync_file_range",
    "thinktime",
    "thinktime_blocks",
    "thinktime_iotime",
    "thinktime_spin",
    "verify_async",
    "verify_backlog",
    "verify_backlog_batch",
    "verify_interval",
    "verify_offset",
    "verify_pattern",
    "write_barrier",
    "zone_reset_frequency",
    "zone_reset_threshold",
    "zonecapacity",
    "zonerange",
    "zonesize",
    "zoneskip",
];

const SHARES: &[&str] = &["bssplit", "cmdprio_bssplit", "random_distribution"];

static ALLOWED: LazyLock<BTreeMap<&'static str, Takes>> = LazyLock::new(|| {
    let kinds = [(Takes::Flag, FLAGS), (Takes::Set, SETS), (Takes::Numbers, NUMBERS), (Takes::Shares, SHARES)];
    let words = WORDS.iter().map(|(name, words)| (*name, Takes::Word(words)));
    let engine = [("ioengine", Takes::Engine)];
    let named = kinds.into_iter().flat_map(|(takes, names)| names.iter().map(move |name| (*name, takes)));
    named.chain(words).chain(engine).collect()
});

/// Options that only some engines have (`fio --enghelp=…` of 3.33): with any other engine, fio refuses them.
const OF_ENGINES: &[(&str, &[&str])] = &[
    ("cmdprio", &["io_uring", "libaio"]),
    ("cmdprio_bssplit", &["io_uring", "libaio"]),
    ("cmdprio_class", &["io_uring", "libaio"]),
    ("cmdprio_percentage", &["io_uring", "libaio"]),
    ("fixedbufs", &["io_uring"]),
    ("force_async", &["io_uring"]),
    ("hipri", &["io_uring", "pvsync2"]),
    ("hipri_percentage", &["pvsync2"]),
    ("libaio_vectored", &["libaio"]),
    ("nonvectored", &["io_uring"]),
    ("nowait", &["io_uring", "libaio", "pvsync2"]),
    ("registerfiles", &["io_uring"]),
    ("sqthread_poll", &["io_uring"]),
    ("sqthread_poll_cpu", &["io_uring"]),
    ("thp", &["mmap"]),
    ("uncached", &["io_uring", "pvsync2"]),
    ("userspace_reap", &["libaio"]),
];

/// Options without a value that no workload carries.
const BARE: [&str; 6] = ["exitall", "exitall_on_error", "group_reporting", "new_group", "stonewall", "time_based"];

/// Is it an option that takes no word of a command line behind it? By any of its names.
#[must_use]
pub fn is_set(key: &str) -> bool {
    let name = canonical(key);
    BARE.contains(&name) || SETS.contains(&name)
}

/// The engines that have an option of their own, for an option that not all of them have.
#[must_use]
pub fn engines_with(name: &str) -> Option<&'static [&'static str]> {
    OF_ENGINES.iter().find(|(option, _)| *option == name).map(|(_, engines)| *engines)
}

/// Why an option is not handed to fio.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not on the list.
    #[error("it is not among the options that touch nothing but what is measured")]
    Unknown,
    /// The engine is not on the list.
    #[error("engines that work on the file that is measured, and on nothing else, are {}", ENGINES.join(", "))]
    Engine,
    /// Its value has more in it than a value of this option needs.
    #[error("its value is to be {0}")]
    Value(String),
}

/// fio's first name for an option that has several; what is no other name of one stays as it is.
#[must_use]
pub fn canonical(key: &str) -> &str {
    ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, name)| name)
}

/// fio's own name for an engine that has several; what is no other name of one stays as it is.
#[must_use]
pub fn engine(name: &str) -> &str {
    ENGINE_ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, name)| name)
}

/// The names of all options that may be handed on, in order.
pub fn allowed() -> impl Iterator<Item = (&'static str, Takes)> {
    ALLOWED.iter().map(|(name, takes)| (*name, *takes))
}

/// An option of somebody else's, if it may be handed to fio: by fio's first name. A name has to be whole: fio completes
/// what is abbreviated, here nothing is.
///
/// # Errors
/// [`Refused`]: it, or its value, is not allowed.
pub fn checked(key: &str, value: &str) -> Result<&'static str, Refused> {
    let (name, takes) = ALLOWED.get_key_value(canonical(key)).ok_or(Refused::Unknown)?;
    takes.check(value).map(|()| *name)
}

impl Takes {
    /// Holds a value against it.
    ///
    /// # Errors
    /// [`Refused`]: it is none of these.
    pub fn check(self, value: &str) -> Result<(), Refused> {
        let of = |more: &str| {
            let fits = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
            !value.is_empty() && value.len() <= LONGEST && value.chars().all(fits)
        };
        let (fits, expected) = match self {
            Self::Flag => (["0", "1"].contains(&value), "0 or 1".to_owned()),
            Self::Set => (["", "0", "1"].contains(&value), "nothing, 0 or 1".to_owned()),
            Self::Word(words) => (words.contains(&value), format!("one of {}", words.join(", "))),
            Self::Numbers => (of("_-+.,:%"), "numbers, with units, commas and colons".to_owned()),
            Self::Shares => (of("_-+.,:%/"), "numbers, with units, commas, colons and slashes".to_owned()),
            Self::Engine if ENGINES.contains(&value) => return Ok(()),
            Self::Engine => return Err(Refused::Engine),
        };
        if fits { Ok(()) } else { Err(Refused::Value(expected)) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_name_stands_twice_and_every_alias_leads_somewhere_else() {
        let lists = [FLAGS, SETS, NUMBERS, SHARES];
        assert_eq!(lists.iter().map(|list| list.len()).sum::<usize>() + WORDS.len() + 1, allowed().count());
        assert!(lists.iter().all(|list| list.is_sorted()) && WORDS.is_sorted() && OF_ENGINES.is_sorted());
        assert!(OF_ENGINES.iter().all(|(name, _)| ALLOWED.contains_key(name)));
        for (alias, name) in ALIASES {
            assert!(!ALLOWED.contains_key(alias) && canonical(name) == name, "{alias}");
        }
    }

    #[test]
    fn options_are_known_by_all_their_names_and_by_no_part_of_one() {
        assert_eq!(checked("norandommap", ""), Ok("norandommap"));
        assert_eq!(checked("nr_files", "2"), Ok("nrfiles"));
        assert_eq!(checked("bssplit", "4k/60:64k/40"), Ok("bssplit"));
        for key in ["exec_prerun", "exec_prer", "norandomma", "NORANDOMMAP", "opendi", "aux-path", "filename", "rw", ""]
        {
            assert_eq!(checked(key, "1"), Err(Refused::Unknown), "{key}");
        }
    }

    #[test]
    fn values_hold_no_paths_no_variables_and_no_second_option() {
        for (key, value) in [
            ("mem", "mmaphuge:/etc/passwd"),
            ("buffer_pattern", "'/etc/shadow'"),
            ("verify_pattern", "\"a\""),
            ("rate", "1m\nexec_prerun=touch"),
            ("rate", "$ncpus"),
            ("rate", "`id`"),
            ("rate", "1m #"),
            ("nrfiles", ""),
            ("direct", "/"),
        ] {
            assert!(matches!(checked(key, value), Err(Refused::Value(_))), "{key}={value}");
        }
        assert!(checked("rate", &"1".repeat(LONGEST + 1)).is_err(), "fio would take its end for another line");
        for engine in ["/tmp/evil.so", "external:/tmp/evil.so", "./x", "exec", "net", "http", "nbd", "filedelete", ""] {
            assert_eq!(checked("ioengine", engine), Err(Refused::Engine), "{engine}");
        }
    }

    proptest! {
        #[test]
        fn whatever_passes_is_one_line_of_plain_letters(key in "[a-z_-]{1,12}", value in ".{0,40}") {
            for key in allowed().map(|(name, _)| name).chain([key.as_str()]) {
                if let Ok(name) = checked(key, &value) {
                    prop_assert_eq!(canonical(key), name);
                    prop_assert!(!value.contains(|c: char| "$`'\"\\#;[]= \n".contains(c) || !c.is_ascii()));
                }
            }
        }
    }
}
