//! The look at a drive: everything that is asked, in the order in which it is asked.

use host::{Devno, Host, HostError};

use crate::device::{Device, behind_node};
use crate::examination::{Class, Examination, Objection};
use crate::family::{Member, family, on_top_of};
use crate::identity::Identity;
use crate::log::Log;
use crate::survey::Survey;
use crate::{fitness, samples, signature, usage};

/// Looks for everything that speaks against using a drive. Reads only.
///
/// # Errors
/// Where the machine is lost. Whatever else fails is a finding of [`Class::Unknown`].
pub fn examine(host: &dyn Host, identity: &Identity) -> Result<Examination, HostError> {
    examine_with(host, &Survey::read(host)?, identity)
}

/// The same with a survey of the machine that was read already.
pub(crate) fn examine_with(host: &dyn Host, survey: &Survey, identity: &Identity) -> Result<Examination, HostError> {
    look(host, survey, identity, Extent::Whole)
}

/// The same for a drive that we hold, data without a signature included: only the lock is ours.
pub(crate) fn examine_unlocked(host: &dyn Host, identity: &Identity) -> Result<Examination, HostError> {
    look(host, &Survey::read(host)?, identity, Extent::Content)
}

/// The same for a drive that we hold: the lock is ours, and so is data without a signature.
pub(crate) fn examine_held(host: &dyn Host, identity: &Identity) -> Result<Examination, HostError> {
    look(host, &Survey::read(host)?, identity, Extent::Held)
}

/// Looks at nodes of drives that nobody has to name: those of a lab, and those that a stack was just taken down from.
/// Data without a signature is not looked for, because earlier stacks leave some; a lock is not, because it may be ours.
/// For each node, what speaks against using it.
///
/// # Errors
/// Where the machine is lost.
pub fn examine_nodes(host: &dyn Host, nodes: &[String]) -> Result<Vec<Vec<Objection>>, HostError> {
    let survey = Survey::read(host)?;
    nodes.iter().map(|node| node_findings(host, &survey, node)).collect()
}

fn node_findings(host: &dyn Host, survey: &Survey, node: &str) -> Result<Vec<Objection>, HostError> {
    let mut log = Log::new(node);
    if let Some(devno) = log.proven("its number", behind_node(host, node))? {
        match devno {
            Some(devno) => device(host, survey, devno, Extent::Held, &mut log)?,
            None => log.add(Class::Unfit, "it is no block device", ""),
        }
    }
    Ok(log.findings())
}

/// How far to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Everything.
    Whole,
    /// Everything but a lock, which is our own.
    Content,
    /// Everything but what may be our own: a lock, and data without a signature.
    Held,
}

fn look(host: &dyn Host, survey: &Survey, identity: &Identity, extent: Extent) -> Result<Examination, HostError> {
    let mut log = Log::new(&identity.node);
    device(host, survey, identity.devno, extent, &mut log)?;
    if let Some(part) = &identity.part {
        around(host, survey, (part.drive_devno, identity.devno), extent, &mut log)?;
    }
    let partitions = log.proven("its partitions", partitions(host, identity.devno))?.unwrap_or_default();
    Ok(Examination { identity: identity.clone(), findings: log.findings(), partitions })
}

/// Numbers of the partitions of a drive that the kernel knows.
fn partitions(host: &dyn Host, drive: Devno) -> Result<Vec<u32>, HostError> {
    let Some(device) = Device::numbered(host, drive)? else { return Ok(Vec::new()) };
    Ok(device.partitions(host)?.iter().filter_map(|device| device.partition).collect())
}

/// Looks at the whole drive that a partition is on. What uses it, or lies across it, is of all its partitions.
fn around(
    host: &dyn Host,
    survey: &Survey,
    (drive, part): (Devno, Devno),
    extent: Extent,
    log: &mut Log,
) -> Result<(), HostError> {
    let Some(whole) = log.proven("the drive that it is on", Device::numbered(host, drive))?.flatten() else {
        log.unknown("the drive that it is on is not to be found");
        return Ok(());
    };
    let Some(above) = log.proven("what is on top of it", on_top_of(host, &whole, &survey.loops))? else {
        return Ok(());
    };
    usage::report_whole(host, survey, (&whole, &above), extent != Extent::Whole, log)?;
    if let Some(extents) = log.proven("where its partitions lie", extents(host, &whole))? {
        overlapped(&extents, part, log);
    }
    signature::report_across(host, &whole, survey, log)
}

/// A partition, and its first byte and the one behind its last.
type PartitionExtent = (Device, u64, u64);

fn extents(host: &dyn Host, whole: &Device) -> Result<Vec<PartitionExtent>, HostError> {
    let mut found = Vec::new();
    for device in whole.partitions(host)? {
        let start = device.start(host)?.unwrap_or_default().0;
        let end = start.saturating_add(device.size.0);
        found.push((device, start, end));
    }
    Ok(found)
}

/// What is written to a partition is written to those that lie across it. (Of an extended partition the kernel shows no more than its
/// first table, which no logical one overlaps.)
fn overlapped(extents: &[PartitionExtent], part: Devno, log: &mut Log) {
    let Some((own, start, end)) = extents.iter().find(|(device, ..)| device.devno == part) else {
        return log.unknown("it is not among the partitions of its drive");
    };
    log.at(&own.node());
    for (other, from, to) in extents.iter().filter(|(device, ..)| device.devno != part) {
        if from < end && start < to {
            let what = format!("it and the partition `{}` overlap", other.node());
            log.add(Class::Unfit, what, format!("sfdisk --list /dev/{}", own.whole_name()));
        }
    }
}

fn device(host: &dyn Host, survey: &Survey, devno: Devno, extent: Extent, log: &mut Log) -> Result<(), HostError> {
    let device = match log.proven("sysfs", Device::numbered(host, devno))? {
        Some(Some(device)) => device,
        Some(None) => {
            log.add(Class::Unfit, "it is no longer there", "lsblk");
            return Ok(());
        }
        None => return Ok(()),
    };
    fitness::report(host, &device, log)?;
    let Some(family) = log.proven("what is on top of it", family(host, &device, &survey.loops))? else { return Ok(()) };
    usage::report(host, survey, &family, extent != Extent::Whole, log)?;
    let mut signed = false;
    for Member { device, .. } in family.iter().filter(|member| member.made.is_none()) {
        signed |= signature::report(host, device, survey, log)?;
    }
    log.at(&device.node());
    // Where there is a signature, data behind it is no news.
    if extent != Extent::Held && !signed {
        samples::report(host, &device, log)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use terms::Bytes;

    use super::*;

    #[test]
    fn partitions_that_lie_across_one_are_told() {
        let part = |minor: u32, from: u64, to: u64| {
            let device = Device {
                name: format!("sda{minor}"),
                directory: format!("/sys/block/sda/sda{minor}"),
                devno: Devno { major: 8, minor },
                size: Bytes(to - from),
                partition: Some(minor),
            };
            (device, from, to)
        };
        // An extended partition is as large as its table, and logical ones begin behind theirs.
        let extents = [part(1, 10, 20), part(2, 20, 30), part(3, 25, 40), part(4, 50, 52), part(5, 60, 70)];
        for (own, told) in [(1, 0), (2, 1), (3, 1), (4, 0), (5, 0), (9, 1)] {
            let mut log = Log::new("/dev/sda");
            overlapped(&extents, Devno { major: 8, minor: own }, &mut log);
            let found = log.findings();
            assert_eq!(found.len(), told, "{own}: {found:?}");
            assert!(found.iter().all(|finding| matches!(finding.class, Class::Unfit | Class::Unknown)), "{found:?}");
        }
    }
}
