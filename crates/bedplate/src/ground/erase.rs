//! Taking away what a person agreed to lose: every signature of the drive and of its partitions, and then, where the
//! drive can, every byte.

use claim::Permission;
use host::{Host, HostError};
use terms::{Cmd, Nanos};

use crate::exit::Failure;
use crate::site::Site;

/// A drive of many terabytes may take its time to discard.
const LIMIT: Nanos = Nanos::seconds(600);

/// Erases one drive. Nothing here forces its way: what is in use by now stops it.
///
/// # Errors
/// Where a signature cannot be taken away, or is still there afterwards.
pub(crate) fn erase(site: &Site, permission: &Permission) -> Result<(), Failure> {
    let identity = permission.identity();
    claim::confirm(site, identity)?;
    let node = identity.node.as_str();
    let run = |argv: &[&str]| site.run_ok(&Cmd::new(argv.iter().copied()).limit(LIMIT));
    for partition in partitions(site, node)? {
        run(&["wipefs", "--all", "--quiet", &partition])?;
    }
    run(&["wipefs", "--all", "--quiet", node])?;
    // The kernel forgets partitions of a table that is gone; a drive without any answers that there is nothing to do.
    site.run(&Cmd::new(["blockdev", "--rereadpt", node]).limit(LIMIT))?;
    discard(site, node)?;
    let left = build::found_on(site, node)?;
    if left.is_empty() {
        return Ok(());
    }
    Err(Failure::Refused(format!(
        "refused: {} still carries {} after it was wiped\n\nhint: wipefs --no-act {node}",
        identity.describe(),
        left.join(", ")
    )))
}

/// Discards a drive that holds nothing: old bytes without a signature mean nothing to anybody, and would have the next run
/// refused. A drive that cannot discard keeps them.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn discard(host: &dyn Host, node: &str) -> Result<(), HostError> {
    host.run(&Cmd::new(["blkdiscard", node]).limit(LIMIT)).map(drop)
}

/// Nodes of the partitions of a drive, the last first.
fn partitions(site: &Site, node: &str) -> Result<Vec<String>, Failure> {
    let name = node.rsplit('/').next().unwrap_or_default();
    let directory = format!("/sys/class/block/{name}");
    let mut found = Vec::new();
    for entry in site.list(&directory)? {
        if site.exists(&format!("{directory}/{entry}/partition"))? {
            found.push(format!("/dev/{entry}"));
        }
    }
    found.reverse();
    Ok(found)
}
