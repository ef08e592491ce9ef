//! What of a program's output, or of a file, belongs in a capture: what somebody asks for, and no secret.

use serde_json::Value;

use crate::inspect::{configuration, kernel, mount, table, usage};
use crate::secret;

/// Lines of `cryptsetup luksDump` that say nothing of salts, digests and key material.
const LUKS: [&str; 11] = [
    "Version:",
    "UUID:",
    "Label:",
    "Flags:",
    "Data segments:",
    "offset:",
    "length:",
    "cipher:",
    "sector:",
    "PBKDF:",
    "Payload offset:",
];
const LUKS_1: [&str; 2] = ["Cipher name:", "Cipher mode:"];
/// Lines of `zdb -C` that tell the shape of a pool and not whose it is.
const ZDB: [&str; 7] = ["vdev_tree:", "type:", "id:", "path:", "ashift:", "children[", "is_log:"];
/// Lines of `dumpe2fs -h` that tell geometry.
const EXT: [&str; 9] = [
    "Filesystem volume name:",
    "Filesystem UUID:",
    "Filesystem features:",
    "Block size:",
    "Block count:",
    "Reserved block count:",
    "RAID stride:",
    "RAID stripe width:",
    "Inode size:",
];
/// Lines of `dmidecode` that tell nobody's machine apart from another of its kind.
const DMI_SECRET: [&str; 3] = ["Serial Number:", "Asset Tag:", "UUID:"];

/// Beginnings of keys of `smartctl`'s document that tell what a drive is and how it is, and not which one it is.
const SMART: [&str; 14] = [
    "smartctl",
    "smart_status",
    "temperature",
    "power_on_time",
    "ata_smart_attributes",
    "ata_smart_data",
    "ata_smart_self_test_log",
    "ata_sct_capabilities",
    "ata_sct_erc",
    "interface_speed",
    "endurance_used",
    "scsi_",
    "model_",
    "rotation_rate",
];

/// Standard output of a command with what is wanted of it. Standard error is kept.
pub(super) fn output(argv: &[String], text: &str) -> String {
    let words: Vec<&str> = argv.iter().map(String::as_str).collect();
    match words[..] {
        ["dmesg", ..] => each(&keep(text, kernel::is_notable), secret::without_secrets),
        ["systemctl", ..] => keep(text, configuration::is_watcher),
        ["cryptsetup", "luksDump", ..] => keep(text, |line| begins(line, &LUKS) || begins(line, &LUKS_1)),
        ["zdb", ..] => keep(text, |line| begins(line, &ZDB)),
        ["dumpe2fs", ..] => keep(text, |line| begins(line, &EXT)),
        ["dmidecode", ..] => keep(text, |line| !begins(line, &DMI_SECRET)),
        ["dmsetup", "table" | "status"] => each(text, mapping),
        ["smartctl", "-j", ..] => smart(text),
        ["df", ..] => keep(text, |line| usage(line).is_some()),
        _ => text.to_owned(),
    }
}

/// A file's content without what is secret in it.
pub(super) fn file(path: &str, text: &str) -> String {
    match path {
        "/proc/cmdline" => each(text, secret::without_secrets),
        "/etc/fstab" | "/etc/crypttab" | "/proc/self/mountinfo" | "/proc/mounts" => each(text, options),
        "/etc/mdadm/mdadm.conf" | "/etc/mdadm.conf" => {
            keep(text, |line| !["MAILADDR", "MAILFROM"].iter().any(|word| line.trim_start().starts_with(word)))
        }
        path if configuration::is_cron(path) => each(text, configuration::only_duty),
        // Whoever inspects needs to know only whether it is root.
        path if path.starts_with("/proc/") && path.ends_with("/status") => keep(text, |line| line.starts_with("Uid:")),
        _ => text.to_owned(),
    }
}

/// A document without all that nobody asks for. What is no document stays: it says why there is none.
fn smart(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut said)) => {
            said.retain(|key, _| SMART.iter().any(|start| key.starts_with(start)));
            Value::Object(said).to_string()
        }
        _ => text.to_owned(),
    }
}

fn begins(line: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| line.trim_start().starts_with(start))
}

fn keep(text: &str, wanted: impl Fn(&str) -> bool) -> String {
    text.split_inclusive('\n').filter(|line| wanted(line.trim_end_matches('\n'))).collect()
}

fn each(text: &str, change: impl Fn(&str) -> String) -> String {
    let line = |line: &str| match line.strip_suffix('\n') {
        Some(line) => change(line) + "\n",
        None => change(line),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// A line of a table, `NAME: START LENGTH KIND …`, without key.
fn mapping(line: &str) -> String {
    for (at, _) in line.match_indices(": ") {
        let mut words = line[at + 2..].splitn(4, ' ');
        let (start, length, kind) = (words.next(), words.next(), words.next());
        let number = |word: Option<&str>| word.is_some_and(|word| word.parse::<u64>().is_ok());
        if let (true, true, Some(kind)) = (number(start), number(length), kind) {
            let rest = table::without_key(kind, words.next().unwrap_or_default());
            let head = [start.unwrap_or_default(), length.unwrap_or_default(), kind].join(" ");
            return format!("{}: {head} {rest}", &line[..at]).trim_end().to_owned();
        }
    }
    line.to_owned()
}

fn options(line: &str) -> String {
    let options = |word: &str| word.split(',').map(mount::without_secret).collect::<Vec<_>>().join(",");
    let words = line.split(' ').map(|word| options(&secret::without_logins(word)));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argv(line: &str) -> Vec<String> {
        line.split(' ').map(ToOwned::to_owned).collect()
    }

    #[test]
    fn no_key_and_no_password_gets_through() {
        let key = "5ec3e7".repeat(20);
        let table = format!("root: 0 8 crypt aes-xts-plain64 {key} 0 259:1 32768\n");
        assert!(!output(&argv("dmsetup table"), &table).contains("5ec3e7"));
        let dump = format!("Version:  2\nKeyslots:\n  0: luks2\n\tSalt:       {key}\n\tPBKDF:      argon2id\n");
        assert_eq!(output(&argv("cryptsetup luksDump /dev/x"), &dump), "Version:  2\n\tPBKDF:      argon2id\n");
        let fstab = format!("//nas/a /a cifs rw,password={key} 0 0\n");
        assert_eq!(file("/etc/fstab", &fstab), "//nas/a /a cifs rw,password=- 0 0\n");
        assert_eq!(file("/etc/cron.d/x", &format!("0 0 * * * root KEY={key} zpool scrub a\n")), "zpool scrub\n");
        assert!(!file("/proc/cmdline", &format!("quiet luks.key={key}")).contains("5ec3e7"));
    }

    #[test]
    fn what_is_asked_for_stays() {
        assert_eq!(output(&argv("dmsetup status"), "a: 0 8 linear \n"), "a: 0 8 linear\n");
        assert_eq!(output(&argv("dmidecode -t memory"), "\tSize: 8 GB\n\tSerial Number: 1\n"), "\tSize: 8 GB\n");
        assert_eq!(output(&argv("lvm version"), "x\n"), "x\n");
        let said = r#"{"serial_number":"Z1","wwn":{"id":1},"smart_status":{"passed":true}}"#;
        assert_eq!(output(&argv("smartctl -j -x /dev/sda"), said), r#"{"smart_status":{"passed":true}}"#);
        assert_eq!(output(&argv("df -lPk"), "tmpfs 1 0 1 0% /run\n/dev/sda1 1 0 1 0% /\n"), "/dev/sda1 1 0 1 0% /\n");
    }
}
