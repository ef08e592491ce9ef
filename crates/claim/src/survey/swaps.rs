//! Devices that are swapped to.

use host::{Devno, Host};

use super::mounts::unescape;
use crate::device::{behind_node, present};
use crate::doubt::Doubt;

/// Reads `/proc/swaps`. A kernel without swap has none. Swap in a file counts through the mount the file is on.
pub(crate) fn read(host: &dyn Host) -> Result<Vec<Devno>, Doubt> {
    let Some(text) = present(host.read_text("/proc/swaps"))? else { return Ok(Vec::new()) };
    let node = |path: String| {
        let devno = behind_node(host, &path)?;
        devno.ok_or_else(|| Doubt::words(format!("swap on `{path}`, which is no block device now")))
    };
    parse(&text)?.into_iter().map(node).collect()
}

/// Paths of what is not a file (proc(5): `Filename Type Size Used Priority`).
fn parse(text: &str) -> Result<Vec<String>, Doubt> {
    let mut lines = text.lines();
    if lines.next().is_none_or(|head| !head.starts_with("Filename")) {
        return Err(Doubt::words("its table has no head"));
    }
    let mut paths = Vec::new();
    for line in lines {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            [_, "file", ..] => {}
            [path, "partition", ..] => paths.push(unescape(path)),
            _ => return Err(Doubt::words(format!("a line is not understood: {line}"))),
        }
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_listed_and_files_are_not() {
        let head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        let text = format!("{head}/dev/nvme0n1p2 partition 100 0 -2\n/var/swap\\040file file 5 0 -3\n");
        assert_eq!(parse(&text).unwrap(), ["/dev/nvme0n1p2"]);
        assert!(parse(head).unwrap().is_empty());
        for broken in
            [String::new(), "/dev/a partition 1".to_owned(), format!("{head}/dev/a"), format!("{head}/dev/a zram 1")]
        {
            assert!(parse(&broken).is_err(), "{broken}");
        }
    }
}
