//! What nobody else is to read in texts that machines tell of themselves: values under names that say so, and names with
//! passwords in front of addresses. It is left out; where that is doubtful, too.

/// Parts of names whose values are secret.
const NAMES: [&str; 8] = ["pass", "pwd", "psk", "key", "secret", "token", "cred", "chap"];
/// What stands before an address without slashes.
const SCHEMES: [&str; 6] = ["iscsi:", "nbd:", "nfs:", "nfs4:", "cifs:", "smb:"];
/// Words in which a colon and then an `@` are no password: subvolumes of btrfs, snapshots of ZFS.
const HARMLESS: [&str; 4] = ["rootflags=", "root=zfs:", "root=ZFS=", "bootfs="];

/// The words of a line, each without what is secret in it. Blanks between quotation marks are parts of words.
pub(crate) fn without_secrets(line: &str) -> String {
    let mut quoted = false;
    let is_between = |c: char| {
        quoted ^= c == '"';
        c == ' ' && !quoted
    };
    line.split(is_between).map(|word| without_login(&without_named(word))).collect::<Vec<_>>().join(" ")
}

/// A word without what follows a name that says it is secret. More may follow that belongs to it, so all of it goes.
fn without_named(word: &str) -> String {
    for (at, _) in word.match_indices('=') {
        let is_of_name = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let name = word[..at].rsplit(|c| !is_of_name(c)).next().unwrap_or_default().to_ascii_lowercase();
        if NAMES.iter().any(|part| name.contains(part)) {
            return format!("{}=-", &word[..at]);
        }
    }
    word.to_owned()
}

/// A word without `USER:PASSWORD` in front of an `@`, or whatever stands there behind `://`. Passwords may hold every
/// sign that addresses have, so all of it goes up to the last `@`.
pub(crate) fn without_login(word: &str) -> String {
    if HARMLESS.iter().any(|start| word.starts_with(start)) && !word.contains("://") {
        return word.to_owned();
    }
    let Some(end) = word.rfind('@') else { return word.to_owned() };
    let start = match word[..end].find("://") {
        Some(at) => at + 3,
        None => {
            let value = word[..end].find('=').map_or(0, |at| at + 1);
            let scheme = SCHEMES.iter().find(|scheme| word[value..end].starts_with(**scheme));
            let start = value + scheme.map_or(0, |scheme| scheme.len());
            if !word[start..end].contains(':') {
                return word.to_owned();
            }
            start
        }
    };
    format!("{}-{}", &word[..start], &word[end..])
}

/// A text without what stands between `://` and `@` in its words.
pub(crate) fn without_logins(text: &str) -> String {
    if !text.contains("://") {
        return text.to_owned();
    }
    let word = |word: &str| if word.contains("://") { without_login(word) } else { word.to_owned() };
    text.split_inclusive(char::is_whitespace).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What must not be read; masks have no letters.
    const SECRETS: [&str; 4] = ["hunter", "alice", "bob", "tr0ub4dor"];

    #[test]
    fn logins_are_left_out_whatever_the_option_is_called() {
        for (line, expect) in [
            (
                "netroot=iscsi:alice:hunter2@10.0.0.7::3260::iqn.2003-01.a:b",
                "netroot=iscsi:-@10.0.0.7::3260::iqn.2003-01.a:b",
            ),
            ("netroot=iscsi:alice:hunter2:bob:tr0ub4dor@10.0.0.7", "netroot=iscsi:-@10.0.0.7"),
            ("quiet ds=nocloud;s=https://alice:hunter2@host/x/ ro", "quiet ds=nocloud;s=https://-@host/x/ ro"),
            ("inst.ks=https://alice:hunter2@host/ks.cfg", "inst.ks=https://-@host/ks.cfg"),
            ("inst.repo=ftp://tr0ub4dor@host/", "inst.repo=ftp://-@host/"),
            ("x=https://alice:hun@ter/hunter://2@host/", "x=https://-@host/"),
            ("x=\"https://alice:hunter hunter@host/\" y", "x=\"https://-@host/\" y"),
            ("anything=alice:hunter,2=3@host", "anything=-@host"),
            ("//alice:hunter2@nas/share", "-@nas/share"),
            ("root=https://alice:hunter2@host/live.img", "root=https://-@host/live.img"),
            ("ds=nocloud;seedfrom=x;password=hunter2;h=alice", "ds=nocloud;seedfrom=x;password=-"),
            ("wifi.PSK=hunter2 rd.luks.key=/hunter quiet", "wifi.PSK=- rd.luks.key=- quiet"),
        ] {
            let masked = without_secrets(line);
            assert_eq!(masked, expect);
            assert!(!SECRETS.iter().any(|secret| masked.contains(secret)), "{masked}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for line in [
            "BOOT_IMAGE=/vmlinuz root=UUID=1-2 ro rootflags=compress=zstd:1,subvol=@ quiet",
            "root=zfs:pool/ROOT@before rw",
            "ip=10.0.0.7::10.0.0.1:255.255.255.0:host:eth0:none",
            "memmap=64M@16M console=ttyS0,115200n8",
            "inst.ks=https://host/ks.cfg",
            "nvme_core.default_ps_max_latency_us=0",
        ] {
            assert_eq!(without_secrets(line), line);
        }
        assert_eq!(without_logins("see https://host/a\nor x:y@z"), "see https://host/a\nor x:y@z");
        assert_eq!(without_logins("at https://a:b@host/\nx"), "at https://-@host/\nx");
    }
}
