//! What a usual drive of each kind does, for drives of which nothing is told.

use terms::Bytes;
use terms::machine::DriveKind;

/// A usual drive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sheet {
    pub(crate) name: &'static str,
    /// Bytes per second.
    pub(crate) read: f64,
    pub(crate) write: f64,
    /// Operations of 4 KiB per second at a depth that keeps it busy.
    pub(crate) read_iops: f64,
    pub(crate) write_iops: f64,
    /// Seconds of one operation alone.
    pub(crate) read_delay: f64,
    pub(crate) write_delay: f64,
    /// Seconds of a small read alone that follows another one in order: the drive has it in its buffer before it is asked.
    pub(crate) ahead: f64,
    /// Seconds.
    pub(crate) flush: f64,
    /// How far that may be off, geometric: drives that are alike in all else differ in what they do of a flush.
    pub(crate) flush_sigma: f64,
    /// What is left of writes once the cache is full.
    pub(crate) fade: f64,
    /// What the cache takes.
    pub(crate) cache: Bytes,
    /// How far the table may be off, and how far a data sheet of such a drive: geometric.
    pub(crate) sigma: f64,
    pub(crate) sheet_sigma: f64,
    /// Spread of the time of an operation relative to its mean.
    pub(crate) spread: f64,
}

/// Seconds of a flush that nobody sends: a drive that tells of no volatile write cache is asked for none, and what has to be past
/// the cache is written like anything else (`submit_bio_noacct` in block/blk-core.c).
pub(crate) const UNSENT: f64 = 1e-9;
/// Seconds of a flush that a protected drive answers at once: a command without data.
pub(crate) const ANSWERED: f64 = 6e-6;

/// Flash of 2020 to 2023 on PCIe 4.0: ratings of 5 to 7.4 GB/s and 0.7 to 1 M IOPS; 40 to 70 µs for a read, some 3 µs of them
/// the processor's, and 10 to 20 µs for a write into the cache, in the geometric middle. One by one in order a 980 PRO gave 4 KiB
/// each 13.2 µs, of which some 3 µs are the processor's (linux-raid, June 2024). A flush without protection against loss of power:
/// `pg_test_fsync` had 8 KiB safe by `fdatasync` in 0.45 to 1.6 ms on an MP600 in two slots, a 970 EVO Plus, a 970 EVO and a 990 PRO
/// (2018 to 2025), and an `fsync` on ext4, which is two of them, takes 1.2 to 1.4 ms on a KC3000. Of models that were published they
/// take 0.2 to 1.9 ms, as far apart as told here.
static NVME: Sheet = Sheet {
    name: "NVMe drive for people at home",
    read: 5.0e9,
    write: 4.2e9,
    read_iops: 600e3,
    write_iops: 600e3,
    read_delay: 50e-6,
    write_delay: 15e-6,
    ahead: 10e-6,
    flush: 0.85e-3,
    flush_sigma: 1.3,
    fade: 0.3,
    cache: Bytes::gib(100),
    sigma: 0.4,
    sheet_sigma: 0.2,
    spread: 0.1,
};

static ENTERPRISE: Sheet = Sheet {
    name: "NVMe drive for servers",
    read: 6.0e9,
    write: 3.0e9,
    read_iops: 900e3,
    write_iops: 180e3,
    read_delay: 75e-6,
    write_delay: 15e-6,
    ahead: 10e-6,
    flush: UNSENT,
    flush_sigma: 0.4,
    fade: 1.0,
    cache: Bytes(0),
    sigma: 0.4,
    sheet_sigma: 0.12,
    spread: 0.1,
};

/// 7 to 10 µs for a read at depth 1.
static OPTANE: Sheet = Sheet {
    name: "Optane drive",
    read: 2.5e9,
    write: 2.0e9,
    read_iops: 500e3,
    write_iops: 450e3,
    read_delay: 9e-6,
    write_delay: 10e-6,
    ahead: 9e-6,
    flush: UNSENT,
    flush_sigma: 0.4,
    fade: 1.0,
    cache: Bytes(0),
    sigma: 0.35,
    sheet_sigma: 0.1,
    spread: 0.05,
};

/// 6 Gbit/s with 8b/10b, less the frames. Flushes: 0.65 ms for `fdatasync` on an Ultra II (`pg_test_fsync`, 2018), and 1.65 ms for
/// two of them, an `fsync` on ext4, on a Micron 1100. Twenty drives of 2011 to 2016 took 0.04 to 10 ms for 4 KiB past the cache
/// (Sébastien Han, "how to test if your SSD is suitable as a journal device"), 1.2 ms in the geometric middle and 3 times apart.
static SATA: Sheet = Sheet {
    name: "SATA SSD",
    read: 550e6,
    write: 510e6,
    read_iops: 95e3,
    write_iops: 85e3,
    read_delay: 100e-6,
    write_delay: 40e-6,
    ahead: 50e-6,
    flush: 0.7e-3,
    flush_sigma: 2.0,
    fade: 0.5,
    cache: Bytes::gib(40),
    sigma: 0.25,
    sheet_sigma: 0.12,
    spread: 0.1,
};

/// As on SATA, but with capacitors: writes at random places are what the flash keeps up, and a flush has nothing to write. It is
/// sent all the same: an `fsync` on ext4, two flushes and two writes, took 75 µs on a PM863, and 0.28 and 0.73 ms on mirrors of
/// DC600M (both published). Eleven such drives took 25 to 180 µs for 4 KiB past the cache, 86 µs in the geometric middle (the table of
/// Sébastien Han): a write, and some 30 µs more.
static SATA_ENTERPRISE: Sheet = Sheet {
    name: "SATA SSD for servers",
    read: 550e6,
    write: 510e6,
    read_iops: 95e3,
    write_iops: 30e3,
    read_delay: 100e-6,
    write_delay: 45e-6,
    ahead: 36e-6,
    flush: 30e-6,
    flush_sigma: 2.0,
    fade: 1.0,
    cache: Bytes(0),
    sigma: 0.3,
    sheet_sigma: 0.12,
    spread: 0.1,
};

/// 12 Gbit/s of one port with 8b/10b, less the frames, carry 1.1 GB/s; two ports carry twice that. A flush has nothing to write, but is
/// sent where the drive tells of a cache, and goes through the adapter: a PM1643a took 40 µs for a small write handed over and a flush
/// after it (fio, 32 deep, published 2022).
static SAS: Sheet = Sheet {
    name: "SAS SSD",
    read: 1.1e9,
    write: 1.0e9,
    read_iops: 200e3,
    write_iops: 60e3,
    read_delay: 110e-6,
    write_delay: 40e-6,
    ahead: 36e-6,
    flush: 30e-6,
    flush_sigma: 0.8,
    fade: 1.0,
    cache: Bytes(0),
    sigma: 0.4,
    sheet_sigma: 0.12,
    spread: 0.1,
};

/// 7200 rpm; 619 and 541 IOPS at 512 outstanding within 8 GB (reference machine). A flush waits for a turn.
static HDD: Sheet = Sheet {
    name: "hard disk",
    read: 210e6,
    write: 205e6,
    read_iops: 400.0,
    write_iops: 380.0,
    read_delay: 9e-3,
    write_delay: 9e-3,
    ahead: 9e-3,
    flush: 8.3e-3,
    flush_sigma: 0.3,
    fade: 1.0,
    cache: Bytes(0),
    sigma: 0.3,
    sheet_sigma: 0.15,
    spread: 0.2,
};

/// A copy in memory; what it costs is processor time.
static RAM: Sheet = Sheet {
    name: "RAM drive",
    read: 1e12,
    write: 1e12,
    read_iops: 1e9,
    write_iops: 1e9,
    read_delay: 1e-9,
    write_delay: 1e-9,
    ahead: 1e-9,
    flush: 1e-6,
    flush_sigma: 0.1,
    fade: 1.0,
    cache: Bytes(0),
    sigma: 0.1,
    sheet_sigma: 0.1,
    spread: 0.05,
};

/// The usual drive of a kind.
pub(crate) const fn sheet(kind: DriveKind) -> &'static Sheet {
    match kind {
        DriveKind::Nvme => &NVME,
        DriveKind::NvmeEnterprise => &ENTERPRISE,
        DriveKind::Optane => &OPTANE,
        DriveKind::SataSsd => &SATA,
        DriveKind::SataEnterprise => &SATA_ENTERPRISE,
        DriveKind::SasSsd => &SAS,
        DriveKind::Hdd => &HDD,
        DriveKind::Ram => &RAM,
    }
}
