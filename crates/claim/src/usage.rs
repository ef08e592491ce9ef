//! Who uses a drive right now.

use host::{Exclusivity, Host, HostError};
use terms::command::quote;
use terms::spelling::spell_inline;

use crate::device::Device;
use crate::examination::{Class, Evidence};
use crate::family::Member;
use crate::log::Log;
use crate::survey::{Backing, Survey};

/// Times that a lock is asked for, and how long is waited between: udev locks a drive for the moment of its look.
const LOCK_TRIES: u32 = 5;
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// Reports everybody who uses the drive. `family` begins with the drive itself.
pub(crate) fn report(
    host: &dyn Host,
    survey: &Survey,
    family: &[Member],
    held: bool,
    log: &mut Log,
) -> Result<(), HostError> {
    for doubt in &survey.doubts {
        log.unknown(doubt.clone());
    }
    for member in family {
        log.at(&member.device.node());
        on_top(member, log);
        tables(survey, &member.device, log);
    }
    for member in family.iter().filter(|member| member.made.is_none()) {
        log.at(&member.device.node());
        by_kernel(host, &member.device, log)?;
        if !held {
            lock(host, &member.device, log)?;
        }
    }
    Ok(())
}

/// Reports everybody who uses the whole drive that a partition is on, and the partition with it. Who uses another partition
/// of it is nobody to this one: the kernel's claim is not asked for, because a neighbour that is mounted has it.
pub(crate) fn report_whole(
    host: &dyn Host,
    survey: &Survey,
    (whole, above): (&Device, &[Member]),
    held: bool,
    log: &mut Log,
) -> Result<(), HostError> {
    above.iter().for_each(|member| on_top(member, log));
    log.at(&whole.node());
    tables(survey, whole, log);
    if held { Ok(()) } else { lock(host, whole, log) }
}

fn on_top(member: &Member, log: &mut Log) {
    if let Some(made) = &member.made
        && member.device.partition.is_none()
    {
        log.at(&made.below);
        let evidence = Evidence::Upper { devno: member.device.devno, name: made.mapping.clone() };
        let what = format!("held by {} ({})", made.name, member.device.node());
        log.show(Class::InUse, evidence, what, made.undo.clone());
        log.at(&member.device.node());
    }
}

/// What tables of the machine say of one device.
fn tables(survey: &Survey, device: &Device, log: &mut Log) {
    let node = device.node();
    for mount in survey.mounts_of(device.devno) {
        let what = match mount.point.as_str() {
            "/" => format!("it carries the root of this machine ({})", mount.kind),
            point => format!("mounted at `{point}` ({})", mount.kind),
        };
        let made: fn(String) -> Evidence = if mount.elsewhere { Evidence::MountElsewhere } else { Evidence::Mount };
        let hint = match mount.pool() {
            Some(_) => format!("findmnt --source {}", quote(&mount.source)),
            None => format!("findmnt --source {node}"),
        };
        // A run mounts all of what it makes. Of a part of it nobody sees what is in the rest.
        match mount.root.as_str() {
            "/" => log.show(Class::InUse, made(mount.point.clone()), what, hint),
            part => log.add(Class::InUse, format!("{what}, and of it only `{}`", spell_inline(part)), hint),
        }
    }
    if survey.swaps.contains(&device.devno) {
        log.add(Class::InUse, "this machine swaps to it", format!("swapoff {node}"));
    }
    for listed in survey.listed.iter().filter(|listed| listed.devno == device.devno) {
        let evidence = Evidence::Listed(listed.owner.clone());
        log.show(Class::InUse, evidence, format!("{} says it is its own", listed.owner), "");
    }
    for open in survey.opens.iter().filter(|open| open.devno == device.devno) {
        let what = format!("process {} (`{}`) has it open", open.process, open.program);
        log.add(Class::InUse, what, format!("fuser --verbose {node}"));
    }
    if let Some(backing) = survey.loops.iter().find(|backing| backing.name == device.name) {
        behind(survey, backing, log);
    }
}

/// Who else has what a loop device is made of: neither a lock nor an exclusive open of the loop device tells.
fn behind(survey: &Survey, backing: &Backing, log: &mut Log) {
    let path = &backing.path;
    if backing.devno.is_some() {
        log.add(Class::Unfit, format!("it is a loop device on the device `{path}`: name that one"), "losetup --list");
        return;
    }
    let Some(file) = backing.file else {
        log.unknown(format!("which file is behind it is not told (`losetup --list`), and who else has `{path}`"));
        return;
    };
    for other in survey.loops.iter().filter(|other| other.name != backing.name && other.devno.is_none()) {
        match other.file {
            Some(of) if of != file => {}
            Some(_) => {
                let what = format!("`/dev/{}` is made of the same file, `{path}`", other.name);
                log.add(Class::InUse, what, format!("losetup --detach /dev/{}", other.name));
            }
            None => log.unknown(format!("which file is behind `/dev/{}` is not told (`losetup --list`)", other.name)),
        }
    }
    survey.file_doubt.iter().for_each(|doubt| log.unknown(doubt.clone()));
    for found in &survey.file_uses {
        match found.file {
            Some(of) if of != file => {}
            Some(_) => log.add(Class::InUse, format!("its file is `{path}`, and {}", found.user), found.hint.clone()),
            None => log.unknown(format!("{}, and which file that is cannot be told", found.user)),
        }
    }
}

/// What the kernel itself says when it is asked for the device.
fn by_kernel(host: &dyn Host, device: &Device, log: &mut Log) -> Result<(), HostError> {
    let node = device.node();
    let answer = host.open_exclusively(&node);
    if log.proven("an exclusive open", answer)? == Some(Exclusivity::Busy) {
        let what = "claimed by the kernel or by a program for itself alone (an exclusive open says EBUSY)";
        log.show(Class::InUse, Evidence::Exclusive, what, format!("lsblk {node}; fuser --verbose {node}"));
    }
    let registered = host.exists(&format!("{}/bcache", device.directory));
    if log.proven("bcache", registered)? == Some(true) {
        let hint = format!("echo 1 > {}/bcache/stop", device.directory);
        log.show(Class::InUse, Evidence::Exclusive, "registered as part of a bcache", hint);
    }
    Ok(())
}

fn lock(host: &dyn Host, device: &Device, log: &mut Log) -> Result<(), HostError> {
    let node = device.node();
    for tried in 1..=LOCK_TRIES {
        match log.proven("a lock", host.hold(&node))? {
            Some(Some(hold)) => {
                host.release(hold.id)?;
                if hold.devno != device.devno {
                    log.unknown(format!("its node opens device {}, and it should be {}", hold.devno, device.devno));
                }
                return Ok(());
            }
            None => return Ok(()),
            Some(None) if tried < LOCK_TRIES => host.pause(LOCK_PAUSE)?,
            Some(None) => {
                log.add(Class::InUse, "locked by another program (flock)", format!("lslocks; fuser --verbose {node}"))
            }
        }
    }
    Ok(())
}
