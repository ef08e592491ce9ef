//! Names of guards: conditions under which a figure is not believed.
//!
//! Records hold them, so a name stays as it is. What each looks at, and when it fires, is a table in `measure`.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! guards {
    ($($guard:ident $id:literal $doc:literal;)*) => {
        /// A condition under which a figure is not believed.
        #[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Guard {
            $(
                #[doc = $doc]
                #[serde(rename = $id)]
                $guard,
            )*
            /// One that this version does not have: a record of another version names it.
            #[serde(untagged)]
            Other(String),
        }

        impl Guard {
            /// Every guard of this version.
            pub const ALL: &[Self] = &[$(Self::$guard,)*];

            /// Its name in records, on pages and in documents.
            #[must_use]
            pub fn id(&self) -> &str {
                match self {
                    $(Self::$guard => $id,)*
                    Self::Other(id) => id,
                }
            }
        }
    };
}

guards! {
    Jobs "jobs" "fio tells of another number of jobs.";
    Identity "identity" "Operations and bytes per second contradict each other.";
    Sum "sum" "The jobs do not add up to fio's total.";
    Bins "bins" "Operations are not what their bins of latency hold.";
    LogSum "log-sum" "The log holds more than fio did.";
    Short "short" "The window ended early.";
    Queue "queue" "The window is short for what was under way.";
    RateNotReached "rate-not-reached" "Less was done than was offered.";
    NothingDone "nothing-done" "A direction that was asked for did nothing.";
    LostLog "lost-log" "Most of the log is missing.";
    Log "log" "The log holds less than fio did.";
    LogClock "log-clock" "The log tells of another time.";
    Together "together" "Hosts or jobs did not work at the same time.";
    Resync "resync" "An array resynchronised.";
    Degraded "degraded" "An array lacks a member.";
    InStep "in-step" "A resynchronisation that was asked for was over.";
    LvmSync "lvm-sync" "A logical volume resynchronised.";
    IntegrityRecalc "integrity-recalc" "Checksums were calculated anew.";
    LazyInit "lazy-init" "ext4 still wrote its tables.";
    Scrub "scrub" "A file system was scrubbed or balanced.";
    Impossible "impossible" "More than the drives' links carry.";
    Thermal "thermal" "A drive slowed itself down.";
    Clock "clock" "Processors changed their clock, or may.";
    SlcCliff "slc-cliff" "A drive's fast cache was full.";
    Link "link" "A link is slower than both its ends.";
    Numa "numa" "The drives are on several NUMA nodes.";
    Generator "generator" "fio itself may be the limit.";
    ForeignIo "foreign-io" "Something else used the drives.";
    Unwritten "unwritten" "The drive answered without reading.";
    Cache "cache" "Reads were answered above the drives.";
    WriteCache "write-cache" "Writes had not arrived at the drives.";
    Compression "compression" "A file system compressed the data.";
    DirectNotHonoured "direct-not-honoured" "Direct writes went through the page cache.";
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_hold_names_and_those_of_other_versions_are_kept() {
        for guard in Guard::ALL.iter().chain([&Guard::Other("of-another-version".into())]) {
            let json = serde_json::to_string(guard).unwrap();
            assert_eq!(json, format!("\"{guard}\""));
            assert_eq!(&serde_json::from_str::<Guard>(&json).unwrap(), guard);
        }
    }
}
