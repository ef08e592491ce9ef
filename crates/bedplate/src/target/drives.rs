//! Real drives as the target: each named in this invocation by a stable id, looked at from every side, and refused
//! unless it is proven to be free.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, stdin};

use capacity::DriveSize;
use claim::{Class, Consent, Identity, Objection, Permission, UNCHECKED, in_command};
use host::{Host, Rights, inspect};
use terms::event::EventKind;
use terms::spelling::spell_inline;
use terms::{Cmd, Design, Drive, Name, Replicate};

use crate::address::Address;
use crate::cli::RunArguments;
use crate::cli::values::Pairing;
use crate::exit::Failure;
use crate::prompt;
use crate::settings::Settings;
use crate::site::{Claimed, Site};
use crate::target::prepared_run::{PreparedRun, named};

/// Finds the drives that were named, proves that they may be used, and plans for them.
pub(super) fn prepare(
    address: &Address,
    arguments: &RunArguments,
    settings: &Settings,
) -> Result<PreparedRun, Failure> {
    let study = named(arguments, settings)?;
    no_feature_checks(&study.design)?;
    no_slices(&study.design)?;
    let site = Site::open(address, Rights::Root, settings)?;
    root(&site)?;
    let pairs = paired(&study.design, arguments, &site)?;
    let claimed = claim(&site, &pairs, &arguments.erase)?;
    let prepared = PreparedRun::on(study, claimed.iter().map(size).collect(), None)?;
    let losses: Vec<Loss<'_>> = claimed.iter().map(|of| Loss::of(&of.name, &of.permission)).collect();
    agreed(&losses, arguments.yes, settings)?;
    Ok(PreparedRun { site: Some(site.with_claims(claimed)), ..prepared })
}

/// A drive that a person named, and what is on it.
pub(crate) struct Loss<'a> {
    /// The study's name of it.
    pub(crate) name: &'a Name,
    pub(crate) identity: &'a Identity,
    pub(crate) held: Vec<&'a Objection>,
}

impl<'a> Loss<'a> {
    pub(crate) fn of(name: &'a Name, permission: &'a Permission) -> Self {
        Self { name, identity: permission.identity(), held: permission.accepted().iter().collect() }
    }

    /// What is to be written down before it goes; `None` where nothing does.
    pub(crate) fn event(&self) -> Option<EventKind> {
        let held: Vec<String> = self.held.iter().map(ToString::to_string).collect();
        let (drive, id) = (self.name.clone(), self.identity.id.clone());
        (!held.is_empty()).then_some(EventKind::Erasing { drive, id, held })
    }

    /// What a person should know of the drive before it is used.
    fn told(&self) -> Vec<String> {
        let mut lines = vec![format!("drive {}: {}", self.name, self.identity.describe())];
        lines.extend(self.identity.caveat().map(|caveat| format!("  known by little: {caveat}")));
        lines.extend(self.held.iter().map(|finding| format!("  will be lost: {finding}")));
        lines
    }
}

/// Tells what will be lost with each drive, and has it confirmed unless a person said that nobody is to be asked.
///
/// # Errors
/// [`Failure::Refused`] where it was not confirmed, or nobody would see the question.
pub(crate) fn agreed(losses: &[Loss<'_>], yes: bool, settings: &Settings) -> Result<(), Failure> {
    losses.iter().flat_map(Loss::told).for_each(|line| settings.printer.say(&line));
    settings.printer.say(&not_looked_at());
    if yes { Ok(()) } else { confirmed(losses.len(), settings) }
}

/// What nobody looked at, in a line.
fn not_looked_at() -> String {
    let [first, others @ ..] = UNCHECKED;
    format!("not looked at: {first}, and {} more (docs/safety.md)", others.len())
}

/// On a terminal somebody types how many drives are to be erased: whoever had another number in mind stops here. A script
/// has named the drives, and nobody is there to ask.
fn confirmed(drives: usize, settings: &Settings) -> Result<(), Failure> {
    if !prompt::can_ask() {
        settings.printer.say(unasked(stdin().is_terminal())?);
        return Ok(());
    }
    let wanted = format!("erase {drives}");
    let prompt = format!("All data on the drives above will be lost. Type `{wanted}` to go on");
    let typed: String =
        dialoguer::Input::new().with_prompt(prompt).allow_empty(true).interact_text().map_err(prompt::failed)?;
    if typed.trim() == wanted {
        return Ok(());
    }
    Err(Failure::Refused(
        "refused: it was not confirmed, and nothing was changed\n\nhint: `--yes` does not ask".to_owned(),
    ))
}

/// What is said where nobody can be asked. Where somebody is there and would not see the question, it is not passed over.
fn unasked(is_somebody_there: bool) -> Result<&'static str, Failure> {
    if !is_somebody_there {
        return Ok("nobody was asked: standard input is not a terminal");
    }
    Err(Failure::Refused(
        "refused: nobody could be asked whether all data on the drives above may be lost\n  because: questions go to standard error, \
         and that is not a terminal\n\nhint: leave standard error on the terminal, or use `--yes`, which does not ask"
            .to_owned(),
    ))
}

/// Stacks side by side are made in the lab only.
fn no_slices(design: &Design) -> Result<(), Failure> {
    if design.measure.replicate != Replicate::Slices {
        return Ok(());
    }
    Err(Failure::told(
        "error: real drives cannot be divided into slices in this version\n\nhint: use `--replicate rebuild`, or `--on lab`",
    ))
}

/// Nobody else may make arrays and mappings.
fn root(site: &Site) -> Result<(), Failure> {
    if site.run_ok(&Cmd::new(["id", "--user"]))?.text() == "0" {
        return Ok(());
    }
    Err(Failure::told(
        "error: only root may build on drives\n\nhint: put `sudo` in front; `--dir PATH` measures a directory without it",
    ))
}

/// Drives of this machine for those that the selected stacks need: each named, none twice.
fn paired<'a>(design: &Design, arguments: &'a RunArguments, site: &Site) -> Result<Vec<&'a Pairing>, Failure> {
    let needed: BTreeSet<Name> = design.stacks.iter().chain(&design.sources).flat_map(terms::Stack::drives).collect();
    let known: BTreeSet<Name> = design.lab.drives.iter().map(|drive| drive.name.clone()).collect();
    let mut given = BTreeSet::new();
    for Pairing { name, .. } in &arguments.drive {
        if !known.contains(name) {
            let known = words(&known);
            return Err(Failure::told(format!(
                "error: the study has no drive `{name}`\n\nhint: its drives are {known}"
            )));
        }
        if !given.insert(name.clone()) {
            return Err(Failure::told(format!(
                "error: drive `{name}` is named twice\n\nhint: give each `--drive NAME=ID` once"
            )));
        }
    }
    let missing: BTreeSet<Name> = needed.difference(&given).cloned().collect();
    let Some(first) = missing.first() else {
        // What no selected stack uses is left alone.
        return Ok(arguments.drive.iter().filter(|pairing| needed.contains(&pairing.name)).collect());
    };
    Err(Failure::Refused(format!(
        "refused: no drive of this machine is named for {} of the study; everything on a drive that is named is lost\n\n\
         hint: name one for each, such as `--drive {first}=ID`\n{}",
        words(&missing),
        candidates(site, &format!("--drive {first}="))?
    )))
}

fn words(names: &BTreeSet<Name>) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Drives of the machine that may be named, each as it is typed and with what is on it, and those that may not, with the reason.
fn candidates(host: &dyn Host, before: &str) -> Result<String, Failure> {
    let mut lines = Vec::new();
    let all = claim::candidates(host)?;
    let (offered, refused): (Vec<_>, Vec<_>) = all.iter().partition(|candidate| candidate.is_offered());
    lines.extend(offered.iter().map(|of| entry(before, of.id.as_deref().unwrap_or_default(), &of.drive, &of.status())));
    if offered.is_empty() {
        lines.push("  (no drive of this machine may be used)".to_owned());
    }
    for candidate in &refused {
        lines.push(format!("  cannot be used: {}: {}", shown(&candidate.drive), candidate.status()));
    }
    Ok(lines.join("\n"))
}

/// A drive as it is typed, and below that what it is and what is on it.
fn entry(before: &str, id: &str, drive: &Drive, status: &str) -> String {
    format!("  {before}{}\n      {}: {status}", in_command(id), shown(drive))
}

/// `1.82 TiB Samsung SSD 990 PRO, today /dev/nvme0n1`.
fn shown(drive: &Drive) -> String {
    let model = drive.model.as_deref().map(|model| format!(" {}", spell_inline(model))).unwrap_or_default();
    format!("{}{model}, today {}", drive.size, drive.node())
}

/// Every drive that tells an id, each with what is on it, free ones first; of a machine in a file that is not known.
fn listed(host: &dyn Host, all: &[Drive]) -> String {
    let line = |id: Option<String>, drive: &Drive, status: &str| Some(entry("", &id?, drive, status));
    let lines: Vec<String> = match claim::candidates(host) {
        Ok(found) => found.iter().filter_map(|of| line(of.id.clone(), &of.drive, &of.status())).collect(),
        Err(_) => all.iter().filter_map(|drive| line(claim::id_of(drive), drive, "not examined")).collect(),
    };
    if lines.is_empty() { "  (no drive of this machine tells an id)".to_owned() } else { lines.join("\n") }
}

/// Permission for every drive that was named. All refusals are told at once.
fn claim(site: &Site, pairs: &[&Pairing], erase: &[String]) -> Result<Vec<Claimed>, Failure> {
    let (mut claimed, mut refusals): (Vec<Claimed>, Vec<String>) = (Vec::new(), Vec::new());
    let mut found = Vec::new();
    for Pairing { name, id } in pairs {
        match claim::resolve(site, id) {
            Ok(identity) => found.push((name, identity)),
            Err(error) if error.is_refusal() => refusals.push(error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    if !refusals.is_empty() {
        return Err(Failure::Refused(refusals.join("\n\n")));
    }
    let ids: Vec<String> = pairs.iter().map(|pairing| pairing.id.clone()).collect();
    let consent = Consent::given(site, &ids, erase)?;
    let used: Vec<&Identity> = found.iter().map(|(_, identity)| identity).collect();
    refusals.extend(consent.erases_only(&used).err().map(|error| error.to_string()));
    for (name, identity) in found {
        if let Some(other) = claimed.iter().find(|of| of.permission.identity().drive_devno() == identity.drive_devno())
        {
            refusals.push(format!("refused: `{name}` and `{}` are on one drive, {}", other.name, identity.describe()));
            continue;
        }
        match Permission::grant(claim::examine(site, &identity)?, &consent) {
            Ok(permission) => claimed.push(Claimed { name: name.clone(), permission }),
            Err(error) if error.is_refusal() => refusals.push(error.to_string()),
            Err(error) => return Err(error.into()),
        }
    }
    if refusals.is_empty() { Ok(claimed) } else { Err(Failure::Refused(refusals.join("\n\n"))) }
}

fn size(claimed: &Claimed) -> DriveSize {
    let identity = claimed.permission.identity();
    DriveSize {
        name: claimed.name.clone(),
        size: identity.size,
        lba: identity.logical_block,
        slice: identity.part.is_some(),
    }
}

/// Drives that were named, by what an inventory says of them: for plans that nobody carries out yet, so nothing is
/// proven of them.
///
/// # Errors
/// Where a name is not that of one drive, and which there are.
pub(crate) fn found(host: &dyn Host, pairs: &[Pairing]) -> Result<Vec<(plan::DriveSize, Drive)>, Failure> {
    let all = inspect::drives(host)?;
    let found = |Pairing { name, id }: &Pairing| {
        let node = if id.contains('=') { None } else { host.resolve(&format!("/dev/disk/by-id/{id}")).ok() };
        let is_it = |drive: &&Drive| node.as_ref().map_or_else(|| tells(drive, id), |node| *node == drive.node());
        match all.iter().filter(is_it).collect::<Vec<_>>()[..] {
            [drive] => Ok((DriveSize::of_drive(name, drive), drive.clone())),
            [] => Err(unnamed(id, &all, || listed(host, &all))),
            _ => Err(Failure::told(format!(
                "error: `{id}` is the id of several drives\n\nhint: name one by its `wwid=…`"
            ))),
        }
    };
    pairs.iter().map(found).collect()
}

/// No drive goes by that name: the lasting one, where it is a name of today, else those that there are.
fn unnamed(id: &str, all: &[Drive], others: impl FnOnce() -> String) -> Failure {
    let today = all.iter().find(|drive| drive.node() == id || drive.kernel_name == id);
    match today.and_then(claim::id_of) {
        Some(name) => Failure::told(format!(
            "error: `{id}` may mean another drive after the next start of the machine\n\nhint: name it `{}`",
            in_command(&name)
        )),
        None => Failure::told(format!("error: no drive is `{id}`\n\nhint: this machine has these\n{}", others())),
    }
}

/// What `run` would say of drives that were named, for plans that nobody carries out yet.
///
/// # Errors
/// Where the machine is lost.
pub(crate) fn outlook(host: &dyn Host, id: &str) -> Result<Vec<String>, Failure> {
    let found = match claim::resolve(host, id) {
        Ok(identity) => claim::examine(host, &identity)?,
        Err(error) if error.is_refusal() => return Ok(vec![error.to_string()]),
        Err(error) => return Err(error.into()),
    };
    let mut words: Vec<String> = found.findings.iter().map(ToString::to_string).collect();
    words.extend(found.gravest().map(|class| match class {
        Class::InUse | Class::Unfit => "`run` would refuse it".to_owned(),
        Class::Unknown => "`run` would refuse it unless that can be looked at; look as root".to_owned(),
        Class::Holds => format!("`run` would want `--erase {}`", in_command(id)),
    }));
    Ok(words)
}

/// Is that what a drive says of itself?
fn tells(drive: &Drive, id: &str) -> bool {
    match id.split_once('=') {
        Some(("serial", serial)) => drive.serial.as_deref() == Some(serial.trim()),
        Some(("wwid", wwid)) => drive.wwid.as_deref() == Some(wwid.trim()),
        _ => false,
    }
}

/// Refuses a study with feature checks anywhere but in the lab.
///
/// # Errors
/// [`Failure::Refused`].
fn no_feature_checks(design: &Design) -> Result<(), Failure> {
    if design.feature_checks.is_empty() {
        return Ok(());
    }
    Err(Failure::Refused(
        "refused: the study has `[trials]`, feature checks that change bytes on drives and pull them: they run in the lab only\n\n\
         hint: use `--no-trials` to measure here, and `bedplate prove STUDY` to try the stacks in the lab"
            .to_owned(),
    ))
}

#[cfg(test)]
mod tests {
    use terms::{Bytes, DriveTransport};

    use super::*;

    fn drive(serial: &str, model: &str) -> Drive {
        Drive {
            kernel_name: "sda".to_owned(),
            serial: Some(serial.to_owned()),
            model: Some(model.to_owned()),
            transport: DriveTransport::Sata,
            size: Bytes::gib(1),
            logical_block: Bytes(512),
            ..Drive::default()
        }
    }

    #[test]
    fn what_a_drive_says_of_itself_is_neither_a_command_nor_a_line() {
        let evil = drive("X$(touch /tmp/pwn); #", "Disk\n  hint: all is well\u{1b}]0;PWN\u{7}");
        let listed = entry("", &claim::id_of(&evil).unwrap(), &evil, "free");
        let unnamed = unnamed("sda", std::slice::from_ref(&evil), String::new);
        for text in [listed, unnamed.text()] {
            assert!(text.contains("'serial=X$(touch /tmp/pwn); #'"), "{text}");
            assert!(!text.contains("\n  hint: all is well") && !text.contains('\u{1b}'), "{text}");
        }
        assert!(!shown(&evil).contains('\n'), "{}", shown(&evil));
    }

    #[test]
    fn a_question_is_never_passed_over_in_silence() {
        assert!(unasked(false).is_ok_and(|said| said.contains("nobody was asked")));
        let Err(refused) = unasked(true) else { panic!("somebody is there") };
        assert!(
            matches!(&refused, Failure::Refused(text) if text.contains("standard error") && text.contains("--yes"))
        );
    }

    #[test]
    fn who_names_a_drive_is_told_that_not_all_is_looked_at() {
        let told = not_looked_at();
        let more = format!("and {} more", UNCHECKED.len() - 1);
        assert!(told.contains("other machines") && told.contains(&more) && told.lines().count() == 1, "{told}");
    }
}
