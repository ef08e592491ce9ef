//! Files in which people name drives, and the services that watch over storage.

use terms::inventory::{ConfigLine, Configuration, Pool, Reading, Unit, Vdev};

use super::mount::without_secret;
use super::source::Source;

/// Services and timers that watch, scrub and trim: by the beginnings of their names.
const UNITS: [&str; 17] = [
    "mdmonitor",
    "mdcheck",
    "mdadm",
    "raid-check",
    "zfs-zed",
    "zfs-scrub",
    "zfs-trim",
    "zed",
    "btrfs-scrub",
    "btrfs-balance",
    "xfs_scrub",
    "fstrim",
    "smartd",
    "smartmontools",
    "dm-event",
    "lvm2-monitor",
    "multipathd",
];

/// The files.
pub(super) fn read(source: &Source, pools: &Reading<Vec<Pool>>) -> Configuration {
    Configuration {
        fstab: table(source, &["/etc/fstab"], 4),
        // The third field is a file with a key or a word; its content is never looked at.
        crypttab: table(source, &["/etc/crypttab"], 4),
        mdadm: table(source, &["/etc/mdadm/mdadm.conf", "/etc/mdadm.conf"], usize::MAX),
        zpool_paths: pools.as_ref().and_then(|pools| {
            let mut paths = Vec::new();
            for pool in pools {
                match &pool.vdevs {
                    Reading::Known(vdevs) => collect(vdevs, &mut paths),
                    Reading::Unknown(why) => return Reading::Unknown(why.clone()),
                }
            }
            Reading::Known(paths)
        }),
    }
}

fn collect(vdevs: &[Vdev], paths: &mut Vec<String>) {
    for vdev in vdevs {
        if vdev.name.starts_with('/') {
            paths.push(vdev.name.clone());
        }
        collect(&vdev.children, paths);
    }
}

/// The first of the files that is there, as lines of at most so many fields.
fn table(source: &Source, files: &[&str], most: usize) -> Reading<Option<Vec<ConfigLine>>> {
    for file in files {
        match source.text(file) {
            Reading::Known(None) => {}
            read => return read.map(|text| text.map(|text| lines(file, &text, most))),
        }
    }
    Reading::Known(None)
}

fn lines(file: &str, text: &str, most: usize) -> Vec<ConfigLine> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        // Who gets mail concerns nobody.
        if line.is_empty() || line.starts_with("MAIL") {
            continue;
        }
        let fields = line
            .split_whitespace()
            .take(most)
            .map(|field| field.split(',').map(without_secret).collect::<Vec<_>>().join(","));
        found.push(ConfigLine {
            file: file.to_owned(),
            line: u32::try_from(number + 1).unwrap_or(u32::MAX),
            fields: fields.collect(),
        });
    }
    found
}

/// Units of systemd that watch over storage.
pub(super) fn units(source: &Source) -> Reading<Vec<Unit>> {
    let argv = [
        "systemctl",
        "list-units",
        "--all",
        "--type=service,timer,socket",
        "--plain",
        "--no-legend",
        "--no-pager",
        "--full",
    ];
    source.said(&argv).map(|text| text.lines().filter_map(unit).collect())
}

/// Does a line of the list tell of one that is wanted?
pub(crate) fn is_watcher(line: &str) -> bool {
    UNITS.iter().any(|start| line.trim_start().starts_with(start))
}

/// `NAME LOAD ACTIVE SUB DESCRIPTION`; those that are named by others and not there are left out.
fn unit(line: &str) -> Option<Unit> {
    let mut words = line.split_whitespace();
    let (name, load) = (words.next()?, words.next()?);
    let (active, sub) = (words.next()?.to_owned(), words.next()?.to_owned());
    (is_watcher(name) && load == "loaded").then(|| Unit { name: name.to_owned(), active, sub })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_files_are_understood() {
        let text = "# comment\nUUID=1 / ext4 defaults 0 1\n\n//nas/a /a cifs user=x,password=hunter2 0 0 # here\n";
        let found = lines("/etc/fstab", text, 4);
        assert_eq!((found.len(), found[1].line), (2, 4));
        assert_eq!(found[1].fields, ["//nas/a", "/a", "cifs", "user=x,password=-"]);
        assert_eq!(lines("m", "MAILADDR root@example.org\nARRAY /dev/md0", 9).len(), 1);
    }

    #[test]
    fn units_are_understood() {
        assert_eq!(unit("fstrim.timer loaded active waiting Discard unused blocks").unwrap().sub, "waiting");
        assert_eq!(unit("mdmonitor.service not-found inactive dead mdmonitor.service"), None);
        assert_eq!(unit("cron.service loaded active running Cron"), None);
    }
}
