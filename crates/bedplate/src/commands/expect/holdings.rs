//! What stacks hold and for how long: bytes layer by layer, rebuilds, life of the drives, loss of data in a year.

use capacity::DriveSize;
use durability::{Daily, DriveModel, Given, class};
use model::Assignment;
use terms::account::Account;
use terms::durability::{CommonCause, DriveClass, Outlook};
use terms::inventory::Inventory;
use terms::machine::{DriveGroup, DriveKind, Machine};
use terms::{Bytes, BytesPerSecond, Design, LabDrive, Name, Stack, Workload};

use crate::cli::ExpectArguments;
use crate::exit::Failure;
use crate::{drives, room};

/// Sequential writes of a hard disk on average over its tracks, where nobody says.
const HDD: BytesPerSecond = BytesPerSecond(160e6);
/// The same of flash, when its write cache is full; and of flash at a line of SATA, which carries no more.
pub(crate) const FLASH: BytesPerSecond = BytesPerSecond(1e9);
const SATA_FLASH: BytesPerSecond = BytesPerSecond(500e6);

/// What one stack holds, and what is to be expected of it over the years.
pub(super) struct Holding {
    /// Bytes, layer by layer.
    pub(super) account: Account,
    /// Years; absent where durability has no rule for the stack.
    pub(super) outlook: Option<Outlook>,
}

/// For every stack of the design that something was predicted of.
///
/// # Errors
/// Where a stack does not fit on its drives.
pub(super) fn holdings(
    design: &Design,
    (machine, assignments): (&Machine, &[Assignment]),
    inventory: Option<&Inventory>,
    arguments: &ExpectArguments,
) -> Result<Vec<Holding>, Failure> {
    let sizes = sizes(design, (machine, assignments), inventory, arguments.drive_size);
    let daily = arguments.daily.map(|bytes| Daily::usual(&design.workloads, bytes)).unwrap_or_default();
    design.stacks.iter().map(|stack| holding(stack, &sizes, machine, (arguments, &daily))).collect()
}

/// The span of a job file is as large as its author's drives. Drives that are small for the lab's sake hold nobody to that: the machine
/// has no size of them.
///
/// # Errors
/// Where the span is more than a stack holds, with what it holds.
pub(super) fn want_room(design: &Design, machine: &Machine) -> Result<(), Failure> {
    let of = |drive: &LabDrive| {
        let size = group(&drive.name, machine)?.size?;
        Some(DriveSize { name: drive.name.clone(), size, lba: drive.lba, slice: false })
    };
    room::for_jobs(&design.workloads, design.measure.span)?;
    let drives: Vec<DriveSize> = design.lab.drives.iter().filter_map(of).collect();
    room::for_blocks(&design.workloads, &design.stacks, &drives)?;
    room::for_data(&design.stacks, &drives, design.measure.span)
}

/// Plans do not say how large drives are, and studies say how large they are in the lab: years of those are no one's.
///
/// # Errors
/// Where nobody says how large some of the drives are, with their names.
pub(crate) fn want_sizes(
    design: &Design,
    seated: (&Machine, &[Assignment]),
    inventory: Option<&Inventory>,
    (said, of_years): (Option<Bytes>, bool),
) -> Result<(), Failure> {
    let is_unknown = |drive: &&LabDrive| {
        let of_the_lab = drive.size.0 == 0 || of_years;
        of_the_lab && said.is_none() && told(drive, seated, inventory).is_none()
    };
    let unknown: Vec<String> =
        design.lab.drives.iter().filter(is_unknown).map(|drive| format!("`{}`", drive.name)).collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(Failure::told(format!(
        "error: the real size of {} is not known, and that of a drive in the lab says nothing of it\n\nhint: add `--drive-size 2TB`, \
         or `stands_for = \"2 TB\"` to the drive in the study",
        unknown.join(", ")
    )))
}

/// The bytes that workloads use on drives as large as those of the study stand for, or are said to be: the same share of a drive.
/// The study's own where neither is known.
pub(crate) fn span(design: &Design, said: Option<Bytes>) -> Bytes {
    let span = design.measure.span;
    let times = |drive: &LabDrive| Some(said.or(drive.stands_for)?.as_f64() / drive.size.as_f64());
    let times = design.lab.drives.iter().filter_map(times).find(|times| times.is_finite() && *times > 1.0);
    times.map_or(span, |times| Bytes::mib((span.as_f64() * times / Bytes::mib(1).as_f64()).round() as u64))
}

/// Sizes of the study's drives: as they are said to be, else those of the machine's drives, else the study's.
pub(crate) fn sizes(
    design: &Design,
    seated: (&Machine, &[Assignment]),
    inventory: Option<&Inventory>,
    said: Option<Bytes>,
) -> Vec<DriveSize> {
    let size = |drive: &LabDrive| {
        let size = said.or_else(|| told(drive, seated, inventory)).unwrap_or(drive.size);
        DriveSize { name: drive.name.clone(), size, lba: drive.lba, slice: false }
    };
    design.lab.drives.iter().map(size).collect()
}

/// The size of the real drive that the study says it stands for; else that which the machine tells of the one in its place, or
/// the study where it is that of no lab ([`model::assignment`]).
fn told(
    drive: &LabDrive,
    (machine, assignments): (&Machine, &[Assignment]),
    inventory: Option<&Inventory>,
) -> Option<Bytes> {
    if drive.stands_for.is_some() {
        return drive.stands_for;
    }
    let here = assignments
        .iter()
        .find(|assignment| assignment.name == drive.name)
        .and_then(|assignment| assignment.drive.as_deref());
    let here = inventory.and_then(|all| all.drives.iter().find(|of| Some(of.kernel_name.as_str()) == here));
    here.map(|drive| drive.size).or_else(|| group(&drive.name, machine)?.size)
}

/// How long drives of these sizes last, by their kind.
pub(crate) fn models(sizes: &[DriveSize], machine: &Machine) -> Vec<DriveModel> {
    let model = |size: &DriveSize| {
        let class = kind(group(&size.name, machine).map_or(DriveKind::Nvme, |group| group.kind))?;
        Some(DriveModel { name: size.name.clone(), size: size.size, class })
    };
    sizes.iter().filter_map(model).collect()
}

/// What a rebuild can write to a drive.
pub(crate) fn speed_of(name: &Name, machine: &Machine) -> Option<BytesPerSecond> {
    group(name, machine).map(speed)
}

fn group<'a>(name: &Name, machine: &'a Machine) -> Option<&'a DriveGroup> {
    machine.drives.iter().find(|group| &group.name == name)
}

fn holding(
    stack: &Stack,
    sizes: &[DriveSize],
    machine: &Machine,
    (arguments, daily): (&ExpectArguments, &[Daily]),
) -> Result<Holding, Failure> {
    let account = capacity::account(stack, sizes)
        .map_err(|error| Failure::told(format!("error: `{}`: {}", stack.name, crate::exit::chain(&error))))?;
    let drives = models(sizes, machine);
    let slowest = stack.drives().iter().filter_map(|name| speed_of(name, machine)).min_by(|a, b| a.0.total_cmp(&b.0));
    let given = Given::usual(stack, &drives, account.available, slowest.unwrap_or(FLASH), daily);
    let common = CommonCause::of(arguments.common_cause.map(|years| 1.0 / years));
    let given = Given { state: arguments.state.into(), layers: &account.entries, common, ..given };
    Ok(Holding { outlook: durability::outlook(&given), account })
}

fn speed(group: &DriveGroup) -> BytesPerSecond {
    let usual = match group.kind {
        DriveKind::Hdd => return group.rated.write.unwrap_or(HDD),
        DriveKind::SataSsd => SATA_FLASH,
        _ => FLASH,
    };
    // A rating is that of the write cache, and a rebuild is larger than that.
    group
        .rated
        .sustained
        .unwrap_or_else(|| BytesPerSecond(group.rated.write.map_or(usual.0, |rated| rated.0.min(usual.0))))
}

/// How long drives of a kind last. A RAM drive is taken for flash: nobody keeps data on one for a year.
fn kind(kind: DriveKind) -> Option<DriveClass> {
    let name = match kind {
        DriveKind::Nvme | DriveKind::SataSsd | DriveKind::Ram => "client-ssd",
        DriveKind::NvmeEnterprise | DriveKind::SataEnterprise | DriveKind::SasSsd => "datacentre-ssd",
        DriveKind::Optane => "optane",
        DriveKind::Hdd => "nearline-hdd",
    };
    class(name)
}

/// What holdings are made of besides the stack, in a sentence.
pub(super) fn assumptions(arguments: &ExpectArguments, workloads: &[Workload]) -> String {
    let daily = arguments.daily.map_or_else(
        || "Without `--daily SIZE`, the bytes written in a day, the life of the drives is not predicted".to_owned(),
        |bytes| written(bytes, workloads),
    );
    format!(
        "Assumed: the stack is half full and scrubbed every 30 days, a failed drive is replaced within 0 to 3 days. {daily}."
    )
}

/// How so many bytes of a day are written, in a sentence without its full stop.
pub(crate) fn written(bytes: Bytes, workloads: &[Workload]) -> String {
    let (kinds, all) = (Daily::of(workloads, bytes), drives::said(bytes));
    if kinds.is_empty() {
        return format!(
            "{all} are written in a day, which is assumed to be at random places in blocks of 16 KiB, as no workload writes"
        );
    }
    let kind = |of: &Daily| {
        let (share, order) =
            (of.bytes.as_f64() / bytes.as_f64() * 100.0, if of.write.random { "random" } else { "sequential" });
        let sync = if of.write.sync { ", each synchronous" } else { "" };
        format!("{share:.0} % {order} in blocks of {}{sync}", of.write.block)
    };
    let kinds: Vec<String> = kinds.iter().map(kind).collect();
    format!("{all} are written in a day as the workloads write: {}", kinds.join("; "))
}
