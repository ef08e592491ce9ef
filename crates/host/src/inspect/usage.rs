//! How full file systems are: what `df` says of those that are on this machine.

use terms::inventory::{Readout, Usage};

use super::kernel::EXCERPT;
use super::source::Source;

/// Mounted file systems of devices. Those of a network are left out, for one that is gone makes `df` wait.
pub(super) fn read(source: &Source) -> Readout<Vec<Usage>> {
    source.said(&["df", "-lPk"]).map(|text| {
        if text.starts_with(EXCERPT) {
            source.partial("df", "what was posted of `df` may not be all of it");
        }
        text.lines().filter_map(usage).collect()
    })
}

/// `/dev/sda2 1000 900 100 90% /home`: six columns (POSIX `df -P`), of which the last may have blanks.
pub(crate) fn usage(line: &str) -> Option<Usage> {
    let mut words = line.split_whitespace();
    let mut next = || words.next();
    let (source, _, _, left, percent) = (next()?, next()?, next()?, next()?, next()?);
    let target = words.collect::<Vec<_>>().join(" ");
    let used = percent.strip_suffix('%')?.parse().ok()?;
    // Packages and images are full by design, and memory is no device.
    let device = source.strip_prefix("/dev/").filter(|name| !name.starts_with("loop"));
    device.filter(|_| target.starts_with('/')).map(|_| Usage {
        source: source.to_owned(),
        target,
        used,
        left: left.to_owned(),
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
            "Filesystem 1K-blocks Used Available Use% Mounted on",
        ] {
            assert_eq!(usage(line), None, "{line}");
        }
    }
}
