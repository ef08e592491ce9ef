//! How full file systems are: what `df` says of those that are on this machine.

use terms::inventory::{Readout, Usage, Used};

use super::kernel::EXCERPT;
use super::source::Source;

/// Mounted file systems of devices. Those of a network are left out, for one that is gone makes `df` wait.
pub(super) fn read(source: &Source) -> Readout<Vec<Usage>> {
    let space = source.said(&["df", "-lPk"]).map(|text| rows(source, &text));
    let inodes = source.said(&["df", "-lPi"]).map(|text| rows(source, &text));
    // Captures of older versions have no inodes, and a post has what somebody asked for.
    match (space, inodes) {
        (Readout::Known(mut space), Readout::Known(inodes)) => {
            space.extend(of_inodes(inodes));
            Readout::Known(space)
        }
        (Readout::Unknown(_), Readout::Known(inodes)) => Readout::Known(of_inodes(inodes)),
        (space, Readout::Unknown(_)) => space,
    }
}

fn of_inodes(rows: Vec<Usage>) -> Vec<Usage> {
    rows.into_iter().map(|row| Usage { of: Used::Inodes, ..row }).collect()
}

fn rows(source: &Source, text: &str) -> Vec<Usage> {
    if text.starts_with(EXCERPT) {
        source.partial("df", "what was posted of `df` may not be all of it");
    }
    text.lines().filter_map(usage).collect()
}

/// Where OpenWrt mounts its image.
const IMAGE: &str = "/rom";

/// `/dev/sda2 1000 900 100 90% /home`: six columns (POSIX `df -P`), of which the last may have blanks.
pub(crate) fn usage(line: &str) -> Option<Usage> {
    let mut words = line.split_whitespace();
    let mut next = || words.next();
    let (source, _, _, left, percent) = (next()?, next()?, next()?, next()?, next()?);
    let target = words.collect::<Vec<_>>().join(" ");
    let used = percent.strip_suffix('%')?.parse().ok()?;
    // Packages and images are full by design, and memory is no device.
    let device = source.strip_prefix("/dev/").filter(|name| !name.starts_with("loop"));
    device.filter(|_| target.starts_with('/') && target != IMAGE).map(|_| Usage {
        source: source.to_owned(),
        target,
        used,
        left: left.to_owned(),
        of: Used::Space,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_told_from_all_else() {
        let home = usage("/dev/sda2   1000 900 100 91% /home/my files").unwrap();
        assert_eq!((home.target.as_str(), home.used, home.left.as_str()), ("/home/my files", 91, "100"));
        for line in [
            "tmpfs 10 0 10 0% /run",
            "/dev/loop3 10 10 0 100% /snap/a",
            "/dev/root 4.3M 4.3M 0 100% /rom",
            "Filesystem 1K-blocks Used Available Use% Mounted on",
        ] {
            assert_eq!(usage(line), None, "{line}");
        }
    }
}
