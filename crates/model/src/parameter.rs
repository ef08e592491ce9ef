//! The constants of the model: each with its unit, how far it may be off, and where it is from.
//!
//! No constant here was fitted to a figure that the model is judged by. Most processor times are those of one machine
//! (below: "the reference machine"), published with its raw fio output: a Lenovo P500, Xeon E5-1620 v3 (Haswell, 4
//! cores, 8 threads), Debian 12.1, Linux 6.1, all stacks on a RAM drive
//! (github.com/t13a/dm-integrity-benchmarks, MIT, 2023). They are differences between two of its RAM-drive rows, as
//! time of one hardware thread while all eight are busy.

use terms::prediction::Source;

/// What a constant is.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// In words.
    pub name: &'static str,
    /// In which unit people read it.
    pub unit: Unit,
    /// Its value in seconds, seconds per byte, or as it is.
    pub value: f64,
    /// Geometric standard deviation less 1.
    pub sigma: f64,
    /// What kind of source.
    pub source: Source,
    /// Which source.
    pub origin: &'static str,
}

/// A constant, written in the unit of its row.
const fn row(name: &'static str, unit: Unit, value: f64, sigma: f64, source: Source, origin: &'static str) -> Entry {
    Entry { name, unit, value, sigma, source, origin }
}

macro_rules! table {
    ($($key:ident: $name:literal, $unit:ident, $value:expr, $sigma:literal, $source:ident, $origin:expr;)*) => {
        /// A constant of the model.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Parameter {
            $(
                #[doc = $name]
                $key,
            )*
        }

        /// Every constant, in the order of [`Parameter`].
        pub const TABLE: &[Entry] = &[
            $(row($name, Unit::$unit, $value, $sigma, Source::$source, $origin),)*
        ];

        impl Parameter {
            /// Every constant.
            pub const ALL: &[Self] = &[$(Self::$key,)*];

            /// A name that lasts, for files.
            #[must_use]
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$key => stringify!($key),)*
                }
            }

            /// The constant of that [`key`](Self::key).
            #[must_use]
            pub fn by_key(key: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|parameter| parameter.key() == key)
            }
        }
    };
}

const US: f64 = 1e-6;
/// A nanosecond per byte in seconds per byte.
const NS: f64 = 1e-9;
/// Nanoseconds for each byte from milliseconds for each MiB.
const fn per_mib(ms: f64) -> f64 {
    ms * 1e-3 / 1_048_576.0
}

/// Processor time of a usual machine of today relative to the reference machine.
const USUAL: f64 = 0.5;
/// A time that was measured on a machine of today, as the reference machine's: what was measured there is not twice as
/// quick on the next machine of its age.
const fn today(time: f64) -> f64 {
    time / USUAL
}

const RAM: &str = "difference of two RAM-drive rows of the reference machine";
const CRYPT: &str = "difference of two RAM-drive rows of the reference machine, less the waking of workers";
/// A read is handed to a worker, a write to a worker and the writing thread; where the drive answers in the call itself (a RAM
/// drive), the caller is woken besides, which elsewhere it is without encryption too. In VMs it takes several times as long,
/// for there every interrupt between processors leaves the guest (27.5 and 77.4 µs with four cores, null cipher on null_blk,
/// linux-block mails of June 2020, "dm-crypt without workqueues").
const HANDOFF: &str = "7 to 13 µs for two switches of threads on hosts";
const TWELVE: &str = "linux-raid, 12 NVMe drives on two EPYC Rome, July and August 2021, and commit 97ae27252f49";
/// Reads and writes of a RAM drive through a warm and a cold page cache, crates/bedplate/tests/studies/page-cache.toml.
const COUNTED_PAGES: &str = "instructions of Linux 6.1, counted in the lab: buffered reads and writes of a RAM drive";
/// A row of RAID-5 of which a part is written takes two reads and two writes of members.
const CHANGED: &str = "463 k writes of 4 KiB a second, RAID-5 on null_blk, by eight threads (group_thread_cnt), before md-6.12-raid5-opt (fb16787b396c), less the pages of members";

table! {
    One: "one", Ratio, 1.0, 0.0, Told, "";
    CpuFactor: "processor time relative to the reference machine", Ratio, USUAL, 0.5, Guessed,
        "2.4 µs for a 4 KiB read of a lone thread on a Ryzen 5950X, 3.6 µs on a cloud Xeon (both published), 7.2 µs here: geometric middle and spread";
    ApiRead: "a read through fio, libaio and the block layer", Time, 3.7 * US, 0.15, Published,
        "ext4 on the RAM drive of the reference machine, 5.24 µs, less the drive's own copy and the file system";
    ApiWrite: "a write through fio, libaio and the block layer", Time, 3.5 * US, 0.2, Published,
        "ext4 on the RAM drive of the reference machine, 5.57 µs, less the drive's own copy and the file system";
    FlushCall: "the call of an fsync", Time, 1.4 * US, 0.5, Guessed,
        "some 2500 instructions of Linux 6.1, counted in the lab: fsync of a RAM drive";
    MdFlush: "a flush through md", Time, 5.0 * US, 0.5, Guessed,
        "some 9000 instructions of Linux 6.1, counted in the lab: a worker asks each member, another goes on (`md_flush_request`)";
    FileRead: "a file system, a read", Time, 0.3 * US, 0.6, Guessed, "a lookup of the extent";
    FileWrite: "a file system, a write", Time, 0.8 * US, 0.6, Guessed,
        "a lookup of the extent, time stamps, and a worker that ends the write (iomap's s_dio_done_wq)";
    ApiByte: "pinning and mapping of user pages", PerByte, 0.08 * NS, 0.15, Published,
        "0.36 µs a page on the reference machine (fio's processor time at 3421 MB/s), 0.30 µs on a Ryzen 5950X: geometric middle";
    UringShare: "io_uring relative to libaio", Ratio, 0.7, 0.15, Published,
        "2.3 against 3.6 µs and 2.9 µs of an optimised libaio, PhotonLibOS documentation";
    ThreadShare: "posixaio and blocking calls relative to libaio", Ratio, 1.3, 0.25, Guessed, "a thread is woken for each operation";
    Blocking: "a blocking call that wakes nobody relative to libaio", Ratio, 1.0, 0.2, Guessed,
        "one system call for an operation and no ring (fs/aio.c), in place of `io_submit` and `io_getevents`";
    PagePin: "pinning a page of a block that lies in small pages", Time, 0.01 * US, 0.6, Guessed,
        "some hundred instructions for each page: a lookup, an entry of the request, a reference given back";
    CachedPage: "a page of buffered I/O, looked up", Time, 0.18 * US, 0.5, Guessed, COUNTED_PAGES;
    CachedByte: "copy between the program and the page cache", PerByte, 0.0823 * NS, 0.3, Published, "as the RAM drive's copy";
    CachedNew: "a page that is new in the page cache", Time, 2.6 * US, 0.4, Guessed,
        "some 4700 instructions of Linux 6.1, counted in the lab on ext4, XFS and a RAM drive: taken, charged, entered, and dropped again";
    CachedFolio: "a page that is new in the page cache, in a large folio", Time, 0.55 * US, 0.4, Guessed, COUNTED_PAGES;
    CachedDirty: "a page of buffered I/O, written to", Time, 0.65 * US, 0.5, Guessed, COUNTED_PAGES;
    CachedFlush: "a page of buffered I/O, written back", Time, 2.2 * US, 0.5, Guessed,
        "some 2700 (XFS) and 5600 instructions (ext4) of Linux 6.1, counted in the lab";
    CachedFolioFlush: "a page of buffered I/O, written back in a large folio", Time, 0.46 * US, 0.6, Guessed, "less than of single pages by as much as a page that is read";
    CachedRequest: "a request of the page cache through the block layer", Time, 1.3 * US, 0.5, Guessed, COUNTED_PAGES;
    Contention: "growth of an operation's processor time with each further job", Ratio, 0.014, 0.4, Published,
        "one process 420 k, 16 processes 5.556 M IOPS on four drives (regalis, 2022)";
    Alone: "a thread whose sibling sleeps, time of an operation", Ratio, 0.62, 0.15, Guessed,
        "two threads of a core do 1.25 of the work of one";
    RamIo: "an operation of the RAM drive", Time, 0.6 * US, 0.4, Guessed, "a lookup and the call";
    RamByte: "the RAM drive's copy", PerByte, 0.0823 * NS, 0.25, Published,
        "0.179 ms for a MiB of sequential reads on the reference machine, less pinning and mapping";
    ColdByte: "first touch of data that a drive put into memory", PerByte, 0.0823 * NS, 0.3, Published,
        "as the RAM drive's copy: there it is the copy that brings data into the cache";
    NvmeIo: "NVMe driver and interrupt", Time, 7.2 * US, 0.25, Published,
        "11.6 µs for a 4 KiB read through ext4 on the NVMe drive of the reference machine, less what the RAM drive needs";
    SataIo: "SATA driver and interrupt", Time, 9.0 * US, 0.4, Guessed, "one queue, one interrupt for few operations";
    TcpIo: "TCP, an operation", Time, 8.0 * US, 0.6, Guessed, "a request and an answer through the stack, an interrupt and a worker's wake-up";
    TcpByte: "TCP, its bytes", PerByte, 0.2 * NS, 0.5, Guessed, "a copy out of the socket, and what segments take: 3 to 6 GB/s of one core";
    LinearRead: "LVM's remapping of a read", Time, 0.78 * US, 0.2, Published, RAM;
    LinearWrite: "LVM's remapping of a write", Time, 0.89 * US, 0.2, Published, RAM;
    ThinIo: "lookup of a thin chunk", Time, 1.5 * US, 0.6, Guessed, "a B-tree lookup under a lock";
    ThinLock: "mapping of a thin pool, its lock", Time, today(3.1 * US), 0.6, Published,
        "326 k reads of 4 KiB a second where one worker does all of them; 146 k of twelve jobs on persistent memory (dm-devel)";
    CryptReadIo: "dm-crypt, a read", Time, 1.88 * US, 0.3, Published, CRYPT;
    CryptWriteIo: "dm-crypt, a write", Time, 1.75 * US, 0.3, Published, CRYPT;
    HandoffReadIo: "waking a worker for a read", Time, 1.0 * US, 0.6, Guessed, "one switch of threads";
    HandoffWriteIo: "waking a worker and the writing thread for a write", Time, 1.5 * US, 0.6, Guessed,
        "two switches of threads, the second for several writes at a time";
    CryptReadByte: "AES-256-XTS, decryption", PerByte, per_mib(0.435), 0.3, Published, RAM;
    CryptWriteByte: "AES-256-XTS, encryption", PerByte, per_mib(0.501), 0.3, Published, RAM;
    CryptSector: "setting up a sector of encryption", Time, 0.223 * US, 0.3, Published,
        "1006 and 1633 MB/s with sectors of 512 and 4096 bytes on the NVMe drive of the reference machine";
    OtherCipher: "another cipher relative to AES with instructions", Ratio, 4.0, 0.6, Guessed, "ciphers without instructions of their own";
    CryptWorkers: "workers that decrypt or encrypt one stream at a time", Ratio, 1.5, 0.3, Guessed,
        "1.25 to 1.6 of 12 threads were busy on a Ryzen 2600 (published 2023), if its cipher did 1.6 to 2.0 GB/s";
    CompletionWorkers: "workers in which reads of one stream come back", Ratio, 1.75, 0.3, Published,
        "0.435 ms of cipher for each MiB pass in 0.249 ms over dm-integrity on the RAM drive of the reference machine";
    HandoffRead: "two switches of threads for a read", Delay, 10.0 * US, 0.4, Guessed, HANDOFF;
    HandoffWrite: "three switches of threads for a write", Delay, 15.0 * US, 0.5, Guessed, HANDOFF;
    WriteThread: "dm-crypt's writing thread, an operation", Time, 2.0 * US, 0.6, Guessed, "a tree insertion and a submission";
    HmacReadIo: "HMAC-SHA-256 of dm-crypt, a read", Time, 47.0 * US, 0.35, Published, RAM;
    HmacWriteIo: "HMAC-SHA-256 of dm-crypt, a write", Time, 20.0 * US, 0.35, Published, RAM;
    HmacReadByte: "HMAC-SHA-256 of dm-crypt, bytes read", PerByte, per_mib(1.2), 0.35, Published, RAM;
    HmacWriteByte: "HMAC-SHA-256 of dm-crypt, bytes written", PerByte, per_mib(4.5), 0.35, Published, RAM;
    JournalReadIo: "dm-integrity with journal, a read", Time, 11.3 * US, 0.3, Published, RAM;
    JournalWriteIo: "dm-integrity with journal, a write", Time, 18.9 * US, 0.3, Published, RAM;
    JournalReadByte: "dm-integrity with journal, bytes read", PerByte, per_mib(0.15), 0.3, Published, RAM;
    JournalWriteByte: "dm-integrity with journal, bytes written", PerByte, per_mib(0.3), 0.3, Published, RAM;
    NoJournalReadIo: "dm-integrity without journal, a read", Time, 10.8 * US, 0.3, Published, RAM;
    NoJournalWriteIo: "dm-integrity without journal, a write", Time, 11.2 * US, 0.3, Published, RAM;
    NoJournalReadByte: "dm-integrity without journal, bytes read", PerByte, per_mib(0.18), 0.3, Published, RAM;
    NoJournalWriteByte: "dm-integrity without journal, bytes written", PerByte, per_mib(0.29), 0.3, Published, RAM;
    BitmapReadIo: "dm-integrity with bitmap, a read", Time, 11.0 * US, 0.3, Published, RAM;
    BitmapWriteIo: "dm-integrity with bitmap, a write", Time, 11.2 * US, 0.3, Published, RAM;
    BitmapReadByte: "dm-integrity with bitmap, bytes read", PerByte, per_mib(0.15), 0.3, Published, RAM;
    BitmapWriteByte: "dm-integrity with bitmap, bytes written", PerByte, per_mib(0.28), 0.3, Published, RAM;
    IntegrityFlush: "dm-integrity, a flush", Time, 8.0 * US, 0.6, Guessed,
        "some 15000 instructions of Linux 6.1, counted in the lab: a worker writes dirty tags and wakes who waits (`integrity_commit`, `dm_bufio_write_dirty_buffers`)";
    TagSector: "looking up and checking the tag of a sector", Time, 0.201 * US, 0.3, Published,
        "1193 and 2022 MB/s with sectors of 512 and 4096 bytes on the RAM drive of the reference machine";
    JournalSector: "dm-integrity's journal, an entry of a sector", Time, today(0.5 * US), 0.5, Guessed,
        "some 3000 instructions of Linux 6.1: an entry, a node of a tree put in and taken out, and a copy written back (`copy_to_journal`, `do_journal_write`)";
    Xxhash: "xxhash64", PerByte, today(0.10 * NS), 0.3, Guessed, "10 GB/s of one core";
    Sha256: "SHA-256", PerByte, 2.5 * NS, 0.6, Guessed, "0.4 GB/s without, 1.9 GB/s with instructions of its own, of one core";
    MdIo: "md, an operation", Time, today(0.7 * US), 0.4, Published, "half of the 1.5 µs of md and LVM together, 24 NVMe drives on two EPYC Rome (linux-raid, 2021)";
    StripeLock: "counting operations of a RAID-0 array, before Linux 6.3", Time, today(0.26 * US), 0.4, Published, "3.8 M IOPS through RAID-0 where the bare drives gave 7 M (Linux 4.4)";
    ParityReadOld: "lock of a parity array for a read, before Linux 5.14", Time, today(0.86 * US), 0.25, Published, TWELVE;
    ParityReadNew: "lock of a parity array for a read, since Linux 5.14", Time, today(0.18 * US), 0.25, Published, TWELVE;
    ParityVisit: "parity thread, a visit of a row of 4 KiB of which a part is written", Time, today(3.6 * US), 0.6, Published,
        "as a whole row of the resync that ParityMember is from";
    ParityPart: "parity thread, four accesses of drives for a row of which a part is written", Time, today(16.1 * US), 0.5, Published, CHANGED;
    ParityCopy: "copy into the stripe cache", PerByte, 0.0823 * NS, 0.3, Published, "as the RAM drive's copy";
    ParityByte: "XOR and syndrome, data from memory", PerByte, today(0.045 * NS), 0.4, Published, "19 to 31 GB/s a core in boot logs, less from memory";
    ParityMember: "parity thread, bytes of members in rows that it handles", PerByte, today(0.073 * NS), 0.6, Published,
        "resync of a RAID-6 of 12 NVMe drives at 1.11 GB/s each, which is 3.6 µs for a row of 12 pages (linux-raid, June 2022)";
    ParityWalk: "parity thread, a page of a request that it passes to find another", Time, today(0.004 * US), 0.6, Guessed,
        "each page is looked for from the beginning of its request (`async_copy_data`): some 40 instructions of a small loop, counted in the lab with Linux 6.1, three a cycle";
    MirrorWrite: "md's thread, a write of a mirror", Time, today(0.5 * US), 0.6, Guessed,
        "what raid1d and raid10d take from a list and submit (`flush_pending_writes`), and their waking";
    BarrierWake: "lock of a RAID-1 array, before Linux 6.6", Time, 1.3 * US, 0.4, Published,
        "740 to 774 k IOPS of RAM drives on 256 hardware threads, and 1.61 M on 56 (linux-raid, June and July 2023)";
    BarrierCount: "counting operations of a RAID-10 array", Time, 0.35 * US, 0.4, Published,
        "2.90 M IOPS of RAM drives on the same 256 hardware threads, Linux 6.1 and later";
    BitmapLock: "write-intent bitmap, its lock", Time, today(0.8 * US), 0.5, Published,
        "one spinlock for each array: 1.27 M writes of 4 KiB a second of 16 threads, and 2.41 M once it was split in many";
    BitmapShare: "write-intent bitmap, extra writes for each write", Ratio, 0.02, 1.0, Guessed, "regions of 64 MiB are marked once and cleared late";
    ResyncCap: "cap of a resync, each member", PerByte, 1.0 / 204.8e6, 0.08, Published, "sync_speed_max 200000 KiB/s, kernel documentation of md";
    ResyncDepth: "requests of a resync under way beside other work", Ratio, 32.0, 0.5, Published,
        "sync_io_depth, since Linux 6.16 (03720d82d730)";
    ResyncYields: "requests of a resync under way beside other work, before Linux 6.16", Ratio, 1.0, 0.5, Published,
        "md_do_sync waits until its own have ended while others are served (ac8fa4196d20)";
    BtrfsReadIo: "btrfs, a read: tree lookup and checksum", Time, 10.7 * US, 0.35, Published, RAM;
    BtrfsReadByte: "btrfs, bytes read", PerByte, per_mib(0.0067), 0.35, Published, RAM;
    BtrfsWriteIo: "btrfs, a write beside its trees", Time, 5.0 * US, 0.5, Guessed, "allocation and the hand-off";
    BtrfsWriteByte: "btrfs, bytes written", PerByte, per_mib(0.0832), 0.35, Published, RAM;
    BtrfsTree: "btrfs, updating its trees for a write", Time, 22.6 * US, 0.4, Published,
        "44 k overwrites a second on the RAM drive of the reference machine with 1.5 of 8 threads busy: one after the other";
    BtrfsSync: "btrfs, a file's log or the writing of all logs", Time, 160.0 * US, 0.5, Guessed,
        "some 300000 instructions of Linux 6.1 for each of both, counted in the lab: overwrites of 4 KiB on a RAM drive, one and four jobs, with and without fsync";
    BtrfsLeaves: "btrfs, leaves written in a commit relative to those touched", Ratio, 1.0, 0.6, Guessed,
        "checksums and inner nodes besides; leaves that are written before the commit and again";
    ZfsReadIo: "ZFS, a read", Time, 15.0 * US, 0.4, Published, RAM;
    ZfsReadByte: "ZFS, bytes of records read", PerByte, per_mib(0.25), 0.35, Published, RAM;
    ZfsWriteIo: "ZFS, a write", Time, 100.0 * US, 0.4, Published, RAM;
    ZfsWriteAgain: "ZFS, a write to a record that is dirty already", Time, 11.0 * US, 0.5, Guessed,
        "some 20000 instructions of OpenZFS 2.1 on Linux 6.1, counted in the lab: writes of 4 KiB in order";
    ZfsGroup: "ZFS, a transaction group", Time, 6600.0 * US, 0.7, Guessed,
        "some 12 million instructions of OpenZFS 2.1 on Linux 6.1, counted in the lab: pools that have room for 25 and for 80 records of 128 KiB in each";
    ZfsWriteByte: "ZFS, bytes of records written", PerByte, per_mib(0.35), 0.35, Published, RAM;
    ZfsRecordWrite: "ZFS, a record written beyond one for each 128 KiB", Time, 41.0 * US, 0.5, Guessed,
        "some 75000 instructions of OpenZFS 2.1 on Linux 6.1, counted in the lab: records of 16 KiB, 64 KiB, 128 KiB and 1 MiB on two RAM drives";
    ZfsRecordHit: "ZFS, a record more that the ARC answers", Time, 3.0 * US, 0.5, Guessed,
        "some 5500 instructions of OpenZFS 2.1 on Linux 6.1, counted in the lab: reads of 64 KiB and 1 MiB within 8 MiB, records of 16 KiB and 128 KiB";
    ZfsRecordFound: "ZFS, a record that the ARC holds and the dbuf cache does not", Time, 5.0 * US, 0.5, Guessed,
        "some 8600 instructions with records of 16 KiB and 17000 with those of 128 KiB, counted the same way within 16 MiB and 32 MiB";
    ZfsCopy: "ZFS, bytes of each further copy on a mirror", PerByte, 0.7 * NS, 0.5, Guessed,
        "some 1.3 instructions of OpenZFS 2.1 on Linux 6.1, counted in the lab: single drives and mirrors of RAM drives";
    ZfsLogRecord: "ZFS, a record of the intent log", Time, 11.0 * US, 0.5, Guessed,
        "some 20000 instructions of OpenZFS 2.1 on Linux 6.1, counted in the lab: overwrites of 4 KiB on a RAM drive, an fsync after each, every 4 and every 16";
    ZfsLogBlock: "ZFS, a block of the intent log", Time, 33.0 * US, 0.5, Guessed, "some 60000 instructions, counted the same way";
    ZfsLogWait: "ZFS, a block of the intent log that waits for others, relative to the one before it", Ratio, 0.05, 0.3, Published,
        "zfs_commit_timeout_pct, OpenZFS module parameters";
    ZfsActive: "writes that ZFS keeps under way on a vdev", Ratio, 2.0, 0.3, Published, "zfs_vdev_async_write_min_active, OpenZFS module parameters";
    ZfsCommit: "seeks for each transaction group", Ratio, 100.0, 1.0, Guessed,
        "labels, space maps and the meta object set, three copies in several passes: 30 where neighbours are joined, 300 where not";
    CopyOnWrite: "drives' work for data written to another place, relative to the same in place", Ratio, 1.0, 0.6, Guessed,
        "how free space lies is not known";
    Lz4Miss: "LZ4, a place without a match", Time, 5.0 * NS, 0.5, Guessed, "some 18 cycles: a hash, its place in a table, what stands there";
    Zstd: "Zstandard, compression", PerByte, today(3.0 * NS), 0.6, Guessed, "level 3: 0.33 GB/s of one core";
    Program: "programming a page of flash", Delay, 530.0 * US, 0.3, Guessed,
        "0.4 to 0.7 ms for three bits a cell, geometric middle; what a write takes where the cache is off";
    PartOfFlash: "time of writes at random in a part of protected flash, relative to half of the way from its rating", Ratio, 1.0, 0.5,
        Guessed, "whether the rest was written before, and how long ago, nobody tells";
    Position: "positioning of a head: half a turn and a short way", Time, 5.2e-3, 0.15, Published,
        "4.17 ms for half a turn at 7200 rpm, 1 ms from track to track and to settle";
    SnapshotCopy: "share of writes that copy a chunk for a snapshot", Ratio, terms::layer::Lvm::FIRST_WRITES, 1.0, Guessed, "each chunk is copied once";
    FlashIo: "an operation of a flash drive in the guest's memory: queue, copy of a page and timer", Time, 3.0 * US, 0.5, Guessed,
        "a request of null_blk and the interrupt that ends it";
    FlashQueue: "an operation that waits in the queue of such a drive", Time, 4.4 * US, 0.3, Guessed,
        "some 8000 instructions of Linux 6.1, counted in the lab: mq-deadline, and a worker of the block layer";
    FlashByte: "its copy", PerByte, 0.0823 * NS, 0.5, Guessed, "as the RAM drive's copy";
    MemoryShare: "share of the peak that memory sustains", Ratio, 0.8, 0.06, Published, "75 to 85 % is usual";
}

impl Parameter {
    /// Its place in a [`Parameters`](crate::Parameters).
    #[must_use]
    pub const fn place(self) -> u32 {
        self as u32
    }
}

/// Share of a link that is left of acknowledgements and flow control when a drive reads from memory: two streams of
/// 8 bytes in 214 are recommended, one of them in this direction. Model of pcie-bench (Neugebauer et al., SIGCOMM 2018).
pub const ACKNOWLEDGED: f64 = 1.0 - 8.0 / 214.0;
/// Bytes of a completion with data besides the data: 8 of framing, 4 of common header, 8 of its own. Same source.
pub const COMPLETION_OVERHEAD: f64 = 20.0;
/// Largest completion in bytes: roots cut at the read completion boundary, 64 or 128 bytes.
pub const COMPLETION: f64 = 128.0;
/// The same from 16 GT/s on: 128 would carry 6560 and 13,100 MB/s over four lanes of 16 and 32 GT/s, and makers rate writes of 7000 (Kingston
/// KC3000, Crucial T500) and 13,400 MB/s (Samsung 9100 PRO). Taken for twice as much, for those ratings.
pub const COMPLETION_OF_FAST: f64 = 256.0;
/// Transfers in a second from which on a link is such a one, in millions.
pub const FAST: u32 = 16_000;
/// What two runs with the same build may differ by, geometric: 2 to 5 % for careful fio runs; in the data of the
/// reference machine encryption "gains" 8.7 %.
pub const REPEATABILITY: f64 = 0.04;
/// How far a latency at the 99th percentile may be off, geometric: it is about three times as hard to tell as
/// throughput (Li and Huang, MASCOTS 2010).
pub const TAIL: f64 = 0.6;
/// Jobs of the workload that processor times of operations were published for.
pub const REFERENCE_JOBS: f64 = 16.0;
/// A rating within this share of its link's capacity says what the link carried and not what the flash can do.
pub const RATED_AT_LINK: f64 = 0.95;
/// Commands that a SATA drive sorts at once (native command queueing).
pub const QUEUE: f64 = 32.0;

/// Switches of threads for a request that is slept for.
pub(crate) const SWITCHES: f64 = 2.0;

/// In which unit people read a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Processor time, kept in seconds.
    Time,
    /// Time in which nothing is used up, kept in seconds.
    Delay,
    /// Processor time for each byte, kept in seconds per byte.
    PerByte,
    /// A rate, kept in seconds per byte.
    Rate,
    /// Operations per second, kept in seconds per operation.
    Operations,
    /// A number.
    Ratio,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_constant_has_a_value_an_interval_and_a_source() {
        assert_eq!(TABLE.len(), Parameter::ALL.len());
        for (parameter, entry) in Parameter::ALL.iter().zip(TABLE).skip(1) {
            assert!(entry.value > 0.0 && entry.value.is_finite(), "{parameter:?}");
            assert!((0.01..=2.0).contains(&entry.sigma), "{parameter:?} has no interval");
            assert!(!entry.origin.is_empty(), "{parameter:?} has no source");
            assert!(entry.source != Source::Guessed || entry.sigma >= 0.15, "{parameter:?}: a guess that is too sure");
        }
        assert_eq!(Parameter::ALL[Parameter::Zstd as usize], Parameter::Zstd);
    }
}
