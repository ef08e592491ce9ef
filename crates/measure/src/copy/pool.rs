//! Memory that ZFS keeps of a pool, given back: the kernel cannot ask for all of it.

use host::Host;
use terms::{Cmd, Layer, Nanos, Node};

use crate::error::MeasureError;

/// Longest time for any of the commands.
const LIMIT: Nanos = Nanos::seconds(300);

/// Exports the pool below a directory and imports it again, if the stack is one: nothing of it is left in memory then.
/// Dropping caches leaves ZFS the least that it is allowed to keep, a 32nd of all memory (zfs(4), `zfs_arc_min`). A pool
/// that the study did not build is left alone.
///
/// # Errors
/// Where the machine is lost, or a command fails.
pub(super) fn reopen(host: &dyn Host, nodes: &[Node], directory: &str) -> Result<(), MeasureError> {
    if !nodes.last().is_some_and(|top| matches!(top.layer, Layer::Zfs(_))) {
        return Ok(());
    }
    let said = |argv: &[&str]| Ok::<_, MeasureError>(host.run_ok(&Cmd::new(argv.iter().copied()).limit(LIMIT))?.text());
    let dataset = said(&["zfs", "list", "-H", "-o", "name", directory])?;
    let pool = dataset.trim().split('/').next().unwrap_or_default().to_owned();
    let parts = said(&["zpool", "list", "-vHP", &pool])?;
    let devices: Vec<&str> = parts.lines().filter_map(|line| device(line)).collect();
    said(&["zpool", "export", &pool])?;
    let from = devices.iter().flat_map(|device| ["-d", device]);
    let argv: Vec<&str> = ["zpool", "import", "-o", "cachefile=none"].into_iter().chain(from).chain([&*pool]).collect();
    said(&argv)?;
    Ok(())
}

/// The device of a line of `zpool list -vHP`, where it is about one.
fn device(line: &str) -> Option<&str> {
    line.split_whitespace().next().filter(|word| word.starts_with("/dev/"))
}

#[cfg(test)]
mod tests {
    use super::*;

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
