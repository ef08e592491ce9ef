//! Files in which people name drives, and the services that watch over storage.

use terms::inventory::{CRON_WORDS, ConfigLine, Configuration, Pool, Readout, SystemdUnit, Vdev};

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
pub(super) fn read(source: &Source, pools: &Readout<Vec<Pool>>) -> Configuration {
    Configuration {
        fstab: table(source, &["/etc/fstab"], 4),
        // The third field is a file with a key or a word; its content is never looked at.
        crypttab: table(source, &["/etc/crypttab"], 4),
        mdadm: table(source, &["/etc/mdadm/mdadm.conf", "/etc/mdadm.conf"], usize::MAX),
        cron: cron(source),
        zpool_paths: pools.as_ref().and_then(|pools| {
            let mut paths = Vec::new();
            for pool in pools {
                match &pool.vdevs {
                    Readout::Known(vdevs) => collect(vdevs, &mut paths),
                    Readout::Unknown(why) => return Readout::Unknown(why.clone()),
                }
            }
            Readout::Known(paths)
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
fn table(source: &Source, files: &[&str], most: usize) -> Readout<Option<Vec<ConfigLine>>> {
    for file in files {
        match source.text(file) {
            Readout::Known(None) => {}
            read => return read.map(|text| text.map(|text| lines(file, &text, most))),
        }
    }
    Readout::Known(None)
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

/// Directories of tables, and of scripts that are run as often as their names say (cron(8)).
const TABLES: &str = "/etc/cron.d";
const SCRIPTS: [&str; 4] = ["/etc/cron.hourly", "/etc/cron.daily", "/etc/cron.weekly", "/etc/cron.monthly"];

/// Lines of tables and scripts of cron that scrub or trim. Where one of them could not be read all are unknown: it may
/// be the one that does.
fn cron(source: &Source) -> Readout<Vec<ConfigLine>> {
    let mut files = vec!["/etc/crontab".to_owned()];
    for directory in std::iter::once(TABLES).chain(SCRIPTS) {
        match source.names(directory) {
            // cron passes over names with a dot, such as what packages leave behind (cron(8), run-parts(8)).
            Readout::Known(names) => files.extend(
                names
                    .into_iter()
                    .flatten()
                    .filter(|name| !name.contains('.'))
                    .map(|name| format!("{directory}/{name}")),
            ),
            Readout::Unknown(why) => return Readout::Unknown(why),
        }
    }
    let mut found = Vec::new();
    for file in files {
        match source.text(&file) {
            Readout::Known(text) => found.extend(duties(&file, &text.unwrap_or_default())),
            Readout::Unknown(why) => return Readout::Unknown(why),
        }
    }
    Readout::Known(found)
}

fn duties(file: &str, text: &str) -> Vec<ConfigLine> {
    let duty = |(number, line): (usize, &str)| {
        let line = is_duty(line).then_some(line)?;
        Some(ConfigLine {
            file: file.to_owned(),
            line: u32::try_from(number + 1).unwrap_or(u32::MAX),
            fields: CRON_WORDS.iter().filter(|word| line.contains(**word)).map(|word| (*word).to_owned()).collect(),
        })
    };
    text.lines().enumerate().filter_map(duty).collect()
}

/// Does a line of cron do something that is looked for? One that steps back where systemd runs leaves it to a timer.
pub(crate) fn is_duty(line: &str) -> bool {
    let line = line.trim();
    !line.starts_with('#') && !line.contains("/run/systemd/system") && CRON_WORDS.iter().any(|word| line.contains(word))
}

/// A line of cron with nothing left of it but the words that are looked for.
pub(crate) fn only_duty(line: &str) -> String {
    if !is_duty(line) {
        return String::new();
    }
    CRON_WORDS.iter().filter(|word| line.contains(**word)).copied().collect::<Vec<_>>().join(" ")
}

/// Is it a file of cron?
pub(crate) fn is_cron(path: &str) -> bool {
    path == "/etc/crontab" || path.starts_with("/etc/cron.")
}

/// Units of systemd that watch over storage.
pub(super) fn units(source: &Source) -> Readout<Vec<SystemdUnit>> {
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
fn unit(line: &str) -> Option<SystemdUnit> {
    let mut words = line.split_whitespace();
    let (name, load) = (words.next()?, words.next()?);
    let (active, sub) = (words.next()?.to_owned(), words.next()?.to_owned());
    (is_watcher(name) && load == "loaded").then(|| SystemdUnit { name: name.to_owned(), active, sub })
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
    fn lines_of_cron_are_told_by_their_words_and_nothing_else_is_kept() {
        let text = "MAILTO=root\n# zpool scrub\n57 0 * * 0 root /usr/share/mdadm/checkarray --cron --all\n\
                    1 1 1 * * root [ -d /run/systemd/system ] || fstrim -a\n2 2 * * * me backup --password=hunter2\n";
        let found = duties("/etc/cron.d/mdadm", text);
        assert_eq!((found.len(), found[0].line, &found[0].fields[..]), (1, 3, &["checkarray".to_owned()][..]));
        assert_eq!(only_duty("2 2 * * * me backup --password=hunter2"), "");
        assert_eq!(only_duty("0 2 * * * root TOKEN=hunter2 zpool scrub tank"), "zpool scrub");
        assert!(is_cron("/etc/cron.d/zfsutils-linux") && is_cron("/etc/crontab") && !is_cron("/etc/fstab"));
    }

    #[test]
    fn units_are_understood() {
        assert_eq!(unit("fstrim.timer loaded active waiting Discard unused blocks").unwrap().sub, "waiting");
        assert_eq!(unit("mdmonitor.service not-found inactive dead mdmonitor.service"), None);
        assert_eq!(unit("cron.service loaded active running Cron"), None);
    }
}
