//! The cage around QEMU: as whom it runs, what it may ask of the kernel, and what it can write.
//!
//! A guest may be taken over by what runs in it, and QEMU by the guest. So QEMU has a system call filter of its own and
//! cannot gain rights; where this program is root, QEMU is a user that nobody else is, in no group, and owns nothing but
//! the drives, the sockets and the console of its guests, and the state of devices where one is saved. Everything else in a
//! guest's directory is this program's. Of what QEMU could have put there it opens that state alone, and follows no link to it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::sync::OnceLock;

use host::{Host, Local};
use rustix::process::geteuid;
use terms::{Bytes, Cmd, LabSpec};

use crate::LabError;
use crate::accelerator::Accelerator;

/// Users that no account has: systemd gives them to services for as long as they run (`DynamicUser=`), in
/// <https://systemd.io/UIDS-GIDS/>.
const FIRST_USER: u32 = 61184;
const USERS: u32 = 65520 - FIRST_USER;

/// No system calls that a program gains rights by, starts programs by, raises its limits by, or that are obsolete.
const SANDBOX: &str = "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny";

/// What the console may write to its file where drives are smaller.
const CONSOLE: Bytes = Bytes::mib(64);

/// Who QEMU is where this program is root; `None` where it is whoever started this program. The same for all guests of
/// this program, because they meet at the enclosure's sockets.
fn user() -> Option<u32> {
    static USER: OnceLock<Option<u32>> = OnceLock::new();
    *USER.get_or_init(|| if geteuid().is_root() { unused_user() } else { None })
}

/// A user and group of that range that nothing on this machine is called after. There is none where root is a person's
/// own in a namespace of few users: QEMU is that person then.
fn unused_user() -> Option<u32> {
    let maps = ["uid", "gid"].map(|kind| Local::new().read_text(&format!("/proc/self/{kind}_map")).unwrap_or_default());
    let is_there = |id: &u32| maps.iter().all(|map| is_mapped(map, *id));
    let is_unused = |id: &u32| !["passwd", "group"].iter().any(|table| is_known(table, *id));
    let begin = std::process::id() % USERS;
    (0..USERS).map(|step| FIRST_USER + (begin + step) % USERS).filter(is_there).find(is_unused)
}

/// Has the namespace that user? A line is the first inside, the first outside, how many (user_namespaces(7)).
fn is_mapped(map: &str, id: u32) -> bool {
    map.lines().any(|line| {
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if id.checked_sub(first).is_some_and(|at| at < count))
    })
}

fn is_known(table: &str, id: u32) -> bool {
    Local::new().run(&Cmd::new(["getent", table, &id.to_string()])).is_ok_and(|outcome| outcome.ok())
}

/// Gives QEMU something that this program made.
pub(crate) fn give(path: &Path) -> Result<(), LabError> {
    let Some(user) = user() else { return Ok(()) };
    chown(path, Some(user), Some(user)).map_err(LabError::file("give QEMU", path))
}

/// Lets QEMU pass through a directory that it cannot list or write.
pub(crate) fn let_through(directory: &Path) -> Result<(), LabError> {
    const PASS: u32 = 0o001;
    let mode = fs::metadata(directory).map_err(LabError::file("look at", directory))?.permissions().mode();
    if user().is_none() || mode & PASS != 0 {
        return Ok(());
    }
    fs::set_permissions(directory, fs::Permissions::from_mode(mode | PASS)).map_err(LabError::file("open", directory))
}

/// The words before QEMU's own: it ends with this program, whatever ends it, has no other rights than these, leaves no
/// core, and writes no file that is larger than its largest drive, or than the guest's memory where that is a file. They
/// begin where QEMU's directory is.
pub(crate) fn around(spec: &LabSpec, accelerator: Accelerator, memory: Option<Bytes>) -> Vec<String> {
    let drives = spec.drives.iter().map(|drive| drive.size);
    let largest = drives.chain(memory).fold(CONSOLE, Bytes::max);
    let mut words = vec!["prlimit".to_owned(), "--core=0".to_owned(), format!("--fsize={}", largest.0)];
    words.extend(["setpriv", "--pdeathsig", "KILL", "--no-new-privs", "--inh-caps=-all"].map(str::to_owned));
    if let Some(user) = user() {
        words.extend([format!("--reuid={user}"), format!("--regid={user}"), groups(accelerator)]);
    }
    words.push("--".to_owned());
    words
}

/// No group, or the one that may use `/dev/kvm`.
fn groups(accelerator: Accelerator) -> String {
    let owner = || Local::new().run_ok(&Cmd::new(["stat", "--format=%g", "/dev/kvm"])).map(|outcome| outcome.text());
    match (accelerator == Accelerator::Kvm).then(owner) {
        // Root's own group would open more than that.
        Some(Ok(group)) if group != "0" => format!("--groups={group}"),
        _ => "--clear-groups".to_owned(),
    }
}

/// QEMU's own words.
pub(crate) const fn within() -> [&'static str; 2] {
    ["-sandbox", SANDBOX]
}

/// Puts a file of this machine where QEMU can read it: by a link where everybody may read it, else as a copy.
pub(crate) fn lend(from: &Path, to: &Path) -> Result<(), LabError> {
    let for_all = fs::metadata(from).is_ok_and(|metadata| metadata.mode() & 0o004 != 0);
    if for_all && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to).map_err(LabError::file("copy", from))?;
    give(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_of_few_users_has_none_to_spare() {
        for (map, expect) in [
            ("         0          0 4294967295\n", true),
            ("0 1000 1\n", false),
            ("0 1000 1\n1 100000 65536\n", true),
            ("0 1000 1\n1 100000 1000\n", false),
            ("", false),
            ("x y z", false),
        ] {
            assert_eq!(is_mapped(map, FIRST_USER), expect, "{map}");
        }
    }

    #[test]
    fn qemu_gains_no_rights_and_is_never_root() {
        let words = around(&LabSpec::new(1, Bytes::gib(1)), Accelerator::Tcg, None).join(" ");
        assert!(words.contains("--no-new-privs") && words.contains("--fsize=67108864"), "{words}");
        assert_eq!((words.contains("--reuid"), words.contains("--clear-groups")), (user().is_some(), user().is_some()));
        assert!(user().is_none_or(|user| (FIRST_USER..FIRST_USER + USERS).contains(&user)));
    }
}
