//! From raw ext4 on each device and the stacks on the RAM drive to the constants of this machine.

use model::{Conditions, Parameter, Site, fit};
use terms::machine::{DriveGroup, DriveKind, Machine, Rated, Trust};
use terms::prediction::Source;
use terms::{BytesPerSecond, Iops, Name, Nanos};

use crate::cells::{Cells, RND_READ, RND_WRITE, SEQ_READ, SEQ_WRITE, stack, workload};

/// The device's drives in stacks.
pub fn drives(device: &str) -> [&'static str; 2] {
    match device {
        "HDD" => ["hdd0", "hdd1"],
        "SSD" => ["ssd", "ssd"],
        _ => ["ram", "ram"],
    }
}

/// The machine with its drives as raw ext4 says. Nothing else of the drives is looked at.
pub fn site(cells: &Cells) -> Site {
    let raw = |device: &str, test: &str| &cells[&(device.to_owned(), 1, test.to_owned())];
    let group = |name: &str, kind, device: &str, count| {
        let mut group = DriveGroup::unknown(Name::new(name).unwrap(), kind);
        group.count = count;
        // All of them are partitions of that size.
        group.size = Some(terms::Bytes::gib(8));
        group.trust = Trust::Measured;
        group.rated = Rated {
            read: Some(BytesPerSecond(raw(device, SEQ_READ).rate)),
            write: Some(BytesPerSecond(raw(device, SEQ_WRITE).rate)),
            read_iops: Some(Iops(raw(device, RND_READ).iops)),
            write_iops: Some(Iops(raw(device, RND_WRITE).iops)),
            // Measured for a minute after a minute: what it can keep up.
            sustained: Some(BytesPerSecond(raw(device, SEQ_WRITE).rate)),
            sustained_iops: Some(Iops(raw(device, RND_WRITE).iops)),
            write_cache: Some(false),
            read_latency: (kind == DriveKind::Nvme).then_some(Nanos(80_000)),
            ..Rated::NOTHING
        };
        group
    };
    let machine = Machine {
        name: "reference machine".to_owned(),
        kernel: Some((6, 1)),
        cores: 4,
        threads: 8,
        drives: vec![
            group("hdd", DriveKind::Hdd, "HDD", 2),
            group("ssd", DriveKind::Nvme, "SSD", 1),
            DriveGroup::unknown(Name::new("ram").unwrap(), DriveKind::Ram),
        ],
        ..Machine::default()
    };
    let mut site = Site::new(&machine);
    site.parameters.set(Parameter::CpuFactor, 1.0, 0.02, Source::Told, "the reference machine itself");
    // Spread of a drive's own times: how far the 95th percentile is above the mean, in standard deviations of a normal.
    let random = raw("HDD", RND_WRITE);
    site.set_spread("hdd", (random.p95 / random.mean - 1.0) / 1.645);
    learn(&mut site, cells);
    site
}

fn learn(site: &mut Site, cells: &Cells) {
    let raw = |test: &str| &cells[&("SSD".to_owned(), 1, test.to_owned())];
    let set = |site: &mut Site, parameter, value| {
        site.parameters.set(parameter, value, 0.08, Source::Measured, "raw ext4 and the RAM drive of this machine");
    };
    set(site, Parameter::ApiByte, raw(SEQ_READ).cores / raw(SEQ_READ).rate);
    let ram = |site: &mut Site, parameter, number: u32, test: &str| {
        let Some(cell) = cells.get(&("RAM".to_owned(), number, test.to_owned())) else { return };
        let stack = stack(number, drives("RAM"));
        let value = fit(site, parameter, &stack, &workload(test), &Conditions::default(), cell.iops).unwrap();
        set(site, parameter, value);
    };
    // Twice: times of operations and of bytes are in both tests, in different shares.
    for _ in 0..3 {
        ram(site, Parameter::RamByte, 1, SEQ_READ);
        ram(site, Parameter::ApiRead, 1, RND_READ);
        ram(site, Parameter::ApiWrite, 1, RND_WRITE);
    }
    set(site, Parameter::ColdByte, site.parameters.get(Parameter::RamByte));
    let whole = raw(RND_READ).cores / raw(RND_READ).iops;
    let call = site.parameters.get(Parameter::ApiRead) + site.parameters.get(Parameter::FileRead);
    let known = call + 4096.0 * site.parameters.get(Parameter::ApiByte);
    set(site, Parameter::NvmeIo, whole - known);
    use Parameter as P;
    let layers: [(u32, [P; 4]); 7] = [
        (2, [P::JournalReadByte, P::JournalWriteByte, P::JournalReadIo, P::JournalWriteIo]),
        (3, [P::NoJournalReadByte, P::NoJournalWriteByte, P::NoJournalReadIo, P::NoJournalWriteIo]),
        (4, [P::BitmapReadByte, P::BitmapWriteByte, P::BitmapReadIo, P::BitmapWriteIo]),
        (5, [P::CryptReadByte, P::CryptWriteByte, P::CryptReadIo, P::CryptWriteIo]),
        (6, [P::HmacReadByte, P::HmacWriteByte, P::HmacReadIo, P::HmacWriteIo]),
        (14, [P::BtrfsReadByte, P::BtrfsWriteByte, P::BtrfsReadIo, P::BtrfsTree]),
        (17, [P::ZfsReadByte, P::ZfsWriteByte, P::ZfsReadIo, P::ZfsWriteIo]),
    ];
    for (number, parameters) in layers {
        for _ in 0..3 {
            for (parameter, test) in parameters.into_iter().zip([SEQ_READ, SEQ_WRITE, RND_READ, RND_WRITE]) {
                ram(site, parameter, number, test);
            }
        }
    }
    // The cipher's time for a byte, and the time in which a byte of the stack with the cipher on top comes back.
    let both = &cells[&("RAM".to_owned(), 7, SEQ_READ.to_owned())];
    set(site, P::CompletionWorkers, site.parameters.get(P::CryptReadByte) * both.rate);
    ram(site, P::LinearRead, 10, RND_READ);
    ram(site, P::LinearWrite, 10, RND_WRITE);
}
