//! Memory that the kernel keeps of a file system, given back, so that the next reader goes to the drives.
//!
//! `drop_caches` would do it for the whole machine (Documentation/admin-guide/sysctl/vm.rst): whatever else is at work
//! there would read its programs anew, and under emulation the machine crawls afterwards for a minute, because memory that
//! held programs is slow to write to there. A file system that the study built can be unmounted instead. ZFS is exported:
//! it keeps of a pool what it likes, and dropped caches leave it the least that it is allowed to keep, a 32nd of all
//! memory (zfs(4), `zfs_arc_min`).

use host::{Host, HostError};
use terms::{Cmd, Nanos, Outcome};

use crate::counters::settle_writes;
use crate::error::MeasureError;
use crate::mount::Mount;

/// Longest time for any of the commands.
const LIMIT: Nanos = Nanos::seconds(300);

/// Writes out what is dirty and forgets what memory holds of the file system that a directory is in: by mounting it anew
/// if the study built it, else by dropping all caches. A machine that does not allow the latter stays warm, which shows:
/// its drives read nothing.
///
/// # Errors
/// Where the machine is lost, or what was unmounted cannot be mounted again; [`MeasureError::Replaced`].
pub(super) fn forget(host: &dyn Host, directory: &str, built: bool) -> Result<(), MeasureError> {
    settle_writes(host)?;
    let mounts = host.read_text("/proc/mounts")?;
    match holder(&mounts, directory, built)? {
        // Memory is where it is.
        Some(mount) if ["tmpfs", "ramfs"].contains(&mount.kind) => Ok(()),
        Some(mount) if built && mount.kind == "zfs" => reimport(host, mount.source),
        Some(mount) if built && host.run(&command(&["umount", mount.target]))?.ok() => {
            run_ok(host, &["mount", "--types", mount.kind, "--options", mount.options, mount.source, mount.target])?;
            Ok(())
        }
        _ => {
            let _ = host.write("/proc/sys/vm/drop_caches", b"3\n");
            Ok(())
        }
    }
}

/// The mount that a directory is in. What the study built is mounted on the directory itself: where somebody unmounted it, the directory is
/// in a file system of theirs, which is not to be unmounted, nor its pool exported.
fn holder<'m>(mounts: &'m str, directory: &str, built: bool) -> Result<Option<Mount<'m>>, MeasureError> {
    let mount = Mount::of(mounts, directory);
    if built && mount.as_ref().is_none_or(|mount| mount.target != directory) {
        return Err(MeasureError::Replaced { target: directory.to_owned() });
    }
    Ok(mount)
}

/// Exports the pool of a dataset and imports it again.
fn reimport(host: &dyn Host, dataset: &str) -> Result<(), MeasureError> {
    let pool = dataset.split('/').next().unwrap_or_default();
    let parts = run_ok(host, &["zpool", "list", "-vHP", pool])?.text();
    let devices: Vec<&str> = parts.lines().filter_map(|line| device(line)).collect();
    run_ok(host, &["zpool", "export", pool])?;
    let from = devices.iter().flat_map(|device| ["-d", device]);
    let argv: Vec<&str> = ["zpool", "import", "-o", "cachefile=none"].into_iter().chain(from).chain([pool]).collect();
    run_ok(host, &argv)?;
    Ok(())
}

/// The device of a line of `zpool list -vHP`, where it is about one.
fn device(line: &str) -> Option<&str> {
    line.split_whitespace().next().filter(|word| word.starts_with("/dev/"))
}

fn command(argv: &[&str]) -> Cmd {
    Cmd::new(argv.iter().copied()).limit(LIMIT)
}

fn run_ok(host: &dyn Host, argv: &[&str]) -> Result<Outcome, HostError> {
    host.run_ok(&command(argv))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_of_somebodys_is_not_unmounted_where_the_runs_is_gone() {
        let theirs = "tank/root / zfs rw 0 0\ntank/mnt /mnt zfs rw 0 0\n";
        let own = format!("{theirs}/dev/mapper/bp-a /mnt/bedplate/a ext4 rw 0 0\n");
        let source =
            |mounts, built| holder(mounts, "/mnt/bedplate/a", built).map(|mount| mount.map(|mount| mount.source));
        assert_eq!(source(&own, true).unwrap(), Some("/dev/mapper/bp-a"));
        assert_eq!(source(theirs, false).unwrap(), Some("tank/mnt"), "a directory that was there before");
        for mounts in [theirs, ""] {
            assert!(matches!(source(mounts, true), Err(MeasureError::Replaced { .. })));
        }
    }

    #[test]
    fn devices_are_told_from_vdevs() {
        let text = "bp\t480M\t118K\t480M\t-\t-\t0%\t0%\t1.00x\tONLINE\t-\n\
                    \tmirror-0\t480M\t118K\t480M\t-\t-\t0%\t0.02%\t-\tONLINE\n\
                    \t/dev/nvme0n1p1\t-\t-\t-\t-\t-\t-\t-\t-\tONLINE\n\
                    special\t-\t-\t-\t-\t-\t-\t-\t-\t-\n\
                    \t/dev/nvme2n1p1\t480M\t0\t480M\t-\t-\t0%\t0.00%\t-\tONLINE\n";
        assert_eq!(text.lines().filter_map(device).collect::<Vec<_>>(), ["/dev/nvme0n1p1", "/dev/nvme2n1p1"]);
    }
}
