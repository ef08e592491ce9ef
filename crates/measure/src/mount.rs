//! What is mounted where.

/// A line of `/proc/mounts` (proc(5)).
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mount<'a> {
    pub(crate) source: &'a str,
    pub(crate) target: &'a str,
    pub(crate) kind: &'a str,
    pub(crate) options: &'a str,
}

impl<'a> Mount<'a> {
    /// Every mount, in the order in which they were made.
    pub(crate) fn all(mounts: &'a str) -> impl Iterator<Item = Self> {
        mounts.lines().filter_map(|line| match *line.split_whitespace().collect::<Vec<_>>() {
            [source, target, kind, options, ..] => Some(Self { source, target, kind, options }),
            _ => None,
        })
    }

    /// The mount that a directory is in: the innermost, and of several at one place the last.
    pub(crate) fn of(mounts: &'a str, directory: &str) -> Option<Self> {
        let holds = |target: &str| {
            let rest = directory.strip_prefix(target.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        Self::all(mounts).filter(|mount| holds(mount.target)).max_by_key(|mount| mount.target.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_in_the_innermost_mount() {
        let mounts = "overlay / overlay rw 0 0\n\
                      tmpfs /mnt tmpfs rw 0 0\n\
                      /dev/mapper/bp-a /mnt/bedplate/a ext4 rw,relatime,commit=5 0 0\n\
                      bp-b/data /mnt/bedplate/a-b zfs rw,xattr 0 0\n";
        let of = |directory| Mount::of(mounts, directory).map(|mount| (mount.target, mount.kind, mount.options));
        assert_eq!(of("/mnt/bedplate/a"), Some(("/mnt/bedplate/a", "ext4", "rw,relatime,commit=5")));
        assert_eq!(of("/mnt/bedplate/a/deep"), of("/mnt/bedplate/a"));
        assert_eq!(of("/mnt/bedplate/a-b"), Some(("/mnt/bedplate/a-b", "zfs", "rw,xattr")));
        assert_eq!(of("/mnt/bedplate/c"), Some(("/mnt", "tmpfs", "rw")));
        assert_eq!(of("/home"), Some(("/", "overlay", "rw")));
        assert_eq!(Mount::of("", "/home"), None);
    }
}
