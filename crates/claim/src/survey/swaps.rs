//! Devices and files that are swapped to.

use host::{Devno, Host, unescape};

use super::files::Named;
use crate::device::{behind_node, present};
use crate::doubt::Doubt;

/// What is swapped to. Swap in a file counts through the mount the file is on, and for the loop devices made of it.
#[derive(Debug, Default)]
pub(super) struct Swaps {
    pub(super) devices: Vec<Devno>,
    pub(super) files: Vec<Named>,
}

/// Reads `/proc/swaps`. A kernel without swap has none.
pub(super) fn read(host: &dyn Host) -> Result<Swaps, Doubt> {
    let Some(text) = present(host.read_text("/proc/swaps"))? else { return Ok(Swaps::default()) };
    let Paths { devices, files } = parse(&text)?;
    let node = |path: String| {
        let devno = behind_node(host, &path)?;
        devno.ok_or_else(|| Doubt::words(format!("swap on `{path}`, which is no block device now")))
    };
    let named = |path| Named { path, user: "the swap of this machine".to_owned() };
    Ok(Swaps {
        devices: devices.into_iter().map(node).collect::<Result<_, _>>()?,
        files: files.into_iter().map(named).collect(),
    })
}

/// Paths of what is swapped to.
#[derive(Debug, Default)]
struct Paths {
    devices: Vec<String>,
    files: Vec<String>,
}

/// Understands the table (proc(5): `Filename Type Size Used Priority`).
fn parse(text: &str) -> Result<Paths, Doubt> {
    let mut lines = text.lines();
    if lines.next().is_none_or(|head| !head.starts_with("Filename")) {
        return Err(Doubt::words("its table has no head"));
    }
    let mut swaps = Paths::default();
    for line in lines {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            [path, "file", ..] => swaps.files.push(unescape(path)),
            [path, "partition", ..] => swaps.devices.push(unescape(path)),
            _ => return Err(Doubt::words(format!("a line is not understood: {line}"))),
        }
    }
    Ok(swaps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_files_are_distinguished() {
        let head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        let text = format!("{head}/dev/nvme0n1p2 partition 100 0 -2\n/var/swap\\040file file 5 0 -3\n");
        let swaps = parse(&text).unwrap();
        assert_eq!(
            (swaps.devices, swaps.files),
            (vec!["/dev/nvme0n1p2".to_owned()], vec!["/var/swap file".to_owned()])
        );
        assert!(parse(head).unwrap().devices.is_empty());
        for broken in
            [String::new(), "/dev/a partition 1".to_owned(), format!("{head}/dev/a"), format!("{head}/dev/a zram 1")]
        {
            assert!(parse(&broken).is_err(), "{broken}");
        }
    }
}
