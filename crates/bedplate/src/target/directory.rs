//! A directory as the target: what is there already is measured through files of its own, as people's tools do it, and
//! nothing else is touched. It needs no rights beyond writing there.

use std::collections::BTreeMap;

use host::{Beneath, Host, Rights};
use terms::spelling::spell_inline;
use terms::{Bytes, Cmd, Control, Design, LabSpec, MeasurePolicy, Name, Replicate, Stack};

use crate::address::Address;
use crate::cli::RunArguments;
use crate::exit::Failure;
use crate::settings::Settings;
use crate::site::Site;
use crate::studies::{self, Study};
use crate::target::prepared_run::PreparedRun;

/// What is measured where no profile is named: the test that most people know.
const PROFILE: &str = "kdiskmark";
/// Fewest MiB that are worth measuring on: less is all in a drive's cache.
const SMALLEST: u64 = 16;
/// Size of that test's file.
const SPAN: Bytes = Bytes::gib(1);

/// Finds what the directory stands on, and plans work in a new directory inside it.
pub(super) fn prepare(
    path: &str,
    address: &Address,
    arguments: &RunArguments,
    settings: &Settings,
) -> Result<PreparedRun, Failure> {
    if *address == Address::Lab {
        return Err(Failure::told(
            "error: a guest has no directory to measure\n\nhint: use `--on local` or `--on ssh://host`",
        ));
    }
    let site = Site::open(address, Rights::Person, settings)?;
    let path = existing(&site, path)?;
    refuse_others(&site, &path)?;
    let beneath = host::beneath(&site, &path)?;
    let stack = stack(&path, &beneath);
    let mut study = study(&path, stack.clone(), arguments, settings)?;
    studies::adjust(&mut study.design, arguments, settings)?;
    let policy = &mut study.design.measure;
    policy.replicate = Replicate::Single;
    policy.max_rounds = policy.rounds;
    policy.control = Control::Off;
    settings.printer.say(&format!("on: {}", beneath.in_words()));
    crate::room::for_jobs(&study.design.workloads, study.design.measure.span)?;
    room(&site, &path, study.design.measure.span)?;
    let inside = format!("{}/.bedplate-{}", path.trim_end_matches('/'), tag());
    let plan = plan::existing(&stack, &inside, &host::file_system_id(&site, &path)?)
        .map_err(|error| Failure::told(format!("error: {error}")))?;
    Ok(PreparedRun { study, plans: vec![plan], sources: Vec::new(), site: Some(site.with_drives(drives(&beneath))) })
}

/// The directory with every link followed, if files can be made in it.
fn existing(host: &dyn Host, path: &str) -> Result<String, Failure> {
    let missing = |error: host::HostError, what: &str| {
        if !error.is_not_found() {
            return Failure::from(error);
        }
        Failure::told(format!(
            "error: there is no {what} `{}`\n\nhint: `bedplate bench .` measures this one",
            spell_inline(path)
        ))
    };
    let found = host.resolve(path).map_err(|error| missing(error, "directory"))?;
    if !host.run(&Cmd::new(["test", "-d", &found]))?.ok() {
        return Err(Failure::told(format!(
            "error: `{}` is not a directory\n\nhint: name a directory, such as the one that it is in or where it is mounted",
            spell_inline(path)
        )));
    }
    host.list(&found)?;
    if host.run(&Cmd::new(["test", "-w", &found]))?.ok() {
        return Ok(found);
    }
    Err(Failure::told(format!("error: `{found}` cannot be written to\n\nhint: name a directory that is yours")))
}

/// Refuses, for root, a directory that somebody else could put another in the place of: what is written, and later taken
/// away, would then be in a place of their choice. Who called `sudo` may do as root what they like anyway.
fn refuse_others(host: &dyn Host, path: &str) -> Result<(), Failure> {
    let id = Cmd::new(["sh", "-c", "id -u; echo ${SUDO_UID:-0}"]);
    let ids = host.run_ok(&id)?.text();
    let mut ids = ids.lines();
    if ids.next() != Some("0") {
        return Ok(());
    }
    let person = ids.next().unwrap_or("0");
    let above = std::path::Path::new(path).ancestors().filter_map(|above| above.to_str());
    let mut stat = vec!["stat", "--format=%u %A %n", "--"];
    stat.extend(above);
    let told = host.run_ok(&Cmd::new(stat))?.text();
    match told.lines().find(|line| is_open_to_others(line, person)) {
        None => Ok(()),
        Some(line) => {
            let which = line.splitn(3, ' ').nth(2).unwrap_or(path);
            Err(Failure::Refused(format!(
                "refused: `{}` could be exchanged while root works in it, for somebody else may rename what is in `{}`\n\n\
                 hint: run it without `sudo`, as the owner of that directory; measuring a directory needs no root",
                spell_inline(path),
                spell_inline(which)
            )))
        }
    }
}

/// `0 drwxr-xr-x /`: is it neither root's nor the person's, or may others write into it and rename what is there?
fn is_open_to_others(line: &str, person: &str) -> bool {
    let mut words = line.splitn(3, ' ');
    let (owner, mode) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let at = |place: usize, letter: char| mode.chars().nth(place) == Some(letter);
    let shared = at(5, 'w') || at(8, 'w');
    // In a sticky directory everybody renames their own only (inode(7)).
    let sticky = at(9, 't') || at(9, 'T');
    !(owner == "0" || owner == person) || (shared && !sticky)
}

/// Tells this run's directory from every other: the time of day to the nanosecond, and who we are.
fn tag() -> String {
    format!("{:x}-{}", jiff::Timestamp::now().as_nanosecond(), std::process::id())
}

/// One stack of no layers that we made; what is there stands in its note.
fn stack(path: &str, beneath: &Beneath) -> Stack {
    let filesystem = if beneath.filesystem.is_empty() { "files" } else { &beneath.filesystem };
    let note = format!("{}, mounted at {} with {}", beneath.in_words(), beneath.mount, beneath.options);
    Stack { name: format!("{filesystem} at {path}"), note: Some(note), nodes: Vec::new() }
}

/// Workloads and policy of the study that was named, or those of the profile that most people know.
fn study(path: &str, stack: Stack, arguments: &RunArguments, settings: &Settings) -> Result<Study, Failure> {
    let question = format!("How fast is {path}?");
    if let Some(file) = &arguments.study {
        let mut study = studies::load_whole(file, settings)?;
        study.design = Design {
            question,
            stacks: vec![stack],
            sources: Vec::new(),
            setups: Vec::new(),
            feature_checks: Vec::new(),
            charts: Vec::new(),
            ..study.design
        };
        return Ok(study);
    }
    let workloads = spec::profile::named(PROFILE).unwrap_or_default();
    let design = Design {
        lab: LabSpec::new(0, Bytes(0)),
        setups: Vec::new(),
        stacks: vec![stack],
        sources: Vec::new(),
        workloads,
        feature_checks: Vec::new(),
        charts: Vec::new(),
        measure: MeasurePolicy { span: SPAN, ..MeasurePolicy::default() },
        question,
    };
    let text = format!("# No study: `bedplate run --dir {path}`, by default with the profile `{PROFILE}`.\n");
    Ok(Study { text, title: "directory".to_owned(), design })
}

/// Is there room for the file? A file system that is filled to the brim is slower, and stops whatever else writes.
fn room(host: &dyn Host, path: &str, span: Bytes) -> Result<(), Failure> {
    let (free, wanted) = (crate::room::free(host, path)?, crate::room::with_margin(span));
    if free >= wanted {
        return Ok(());
    }
    let largest = free.0 / 11 * 10 / Bytes::mib(1).0;
    let hint = if largest < SMALLEST {
        "name a directory with more room".to_owned()
    } else {
        format!("use `--span {largest}MiB` or less")
    };
    Err(Failure::told(format!(
        "error: not enough space at `{path}`: {wanted} are needed, {free} are free\n\nhint: {hint}"
    )))
}

/// Drives under the directory: their counters are watched, and nothing is written to them but through the files.
fn drives(beneath: &Beneath) -> build::Bindings {
    let named = beneath.drives.iter().filter_map(|drive| Some((Name::new(drive.as_str()).ok()?, drive)));
    named.map(|(name, drive)| (name, format!("/dev/{drive}"))).collect::<BTreeMap<_, _>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_could_exchange_is_told() {
        for (line, open) in [
            ("0 drwxr-xr-x /", false),
            ("0 drwxrwxrwt /tmp", false),
            ("0 drwxrwxrwx /srv/all", true),
            ("0 drwxrwxr-x /srv/group", true),
            ("1000 drwxr-xr-x /home/me", false),
            ("1001 drwxr-xr-x /home/them", true),
        ] {
            assert_eq!(is_open_to_others(line, "1000"), open, "{line}");
        }
    }

    #[test]
    fn a_directory_becomes_a_stack_that_says_what_it_stands_on() {
        let beneath = Beneath {
            mount: "/data".into(),
            filesystem: "ext4".into(),
            options: "rw".into(),
            source: "/dev/dm-0".into(),
            devices: vec!["dm-0 (crypt)".into(), "nvme0n1".into()],
            drives: vec!["nvme0n1".into()],
        };
        let stack = stack("/data/x", &beneath);
        assert_eq!(stack.name, "ext4 at /data/x");
        let note = stack.note.unwrap();
        assert!(note.contains("ext4 on dm-0 (crypt) on nvme0n1, mounted at /data with rw"), "{note}");
        let drives = drives(&beneath);
        assert_eq!(drives.values().collect::<Vec<_>>(), ["/dev/nvme0n1"]);
    }

    #[test]
    fn a_file_that_would_not_fit_is_refused_with_one_that_would() {
        let host = host::Local::new();
        room(&host, "/tmp", Bytes::mib(1)).unwrap();
        let Err(Failure::Told(text)) = room(&host, "/tmp", Bytes(u64::MAX / 2)) else { panic!("it fits") };
        assert!(text.contains("--span"), "{text}");
    }
}
