//! `bedplate teardown`

use std::collections::BTreeSet;

use build::{Authority, Claims, JournalEntry, Origin};
use claim::{ClaimError, Class, Consent, Examination, Identity, LockedDrive, in_command};
use host::Local;
use host::interrupt::Care;
use host::orphan::{self, Orphan};
use record::{RunReader, RunWriter};
use terms::spelling::{spell_inline, spell_path};
use terms::{Name, Plan};

use crate::cli::TeardownArguments;
use crate::commands::report;
use crate::exit::{Exit, Failure};
use crate::proof::Proof;
use crate::runner::{cleanup, happened};
use crate::settings::Settings;
use crate::site::{Site, plan_sha256};
use crate::target::drives::{self, Loss};

/// Takes down what a run left standing, from its journal; where that cannot be done, prints what a person must run.
///
/// Nothing is believed of a record that this person did not write on this machine, and nothing is taken away that is not
/// still what the run made.
pub(crate) fn teardown(arguments: &TeardownArguments, settings: &Settings) -> Result<Exit, Failure> {
    let reader = report::open(&arguments.run, settings).map_err(with_leftovers)?;
    let _care = Care::take();
    let name = reader.provenance().run.clone();
    let lines = reader.journal().map_err(|error| with_leftovers(error.into()))?;
    // What stands on a machine says so in its own lines, whatever the rest of the record says.
    if reader.provenance().place == "lab" && lines.iter().all(|line| line.get("origin").is_none()) {
        settings.printer.data(&format!("run `{name}` was in a guest, and all that stood in it went with it"))?;
        return Ok(Exit::Yes);
    }
    if !reader.has_journal()? {
        return Err(with_leftovers(Failure::told(format!(
            "error: run `{name}` has no journal any more, so nobody knows what it made"
        ))));
    }
    if lines.is_empty() {
        settings.printer.data(&format!("nothing of run `{name}` stands"))?;
        return Ok(Exit::Yes);
    }
    let proof = Proof::open(&settings.state)?;
    let past = proof.entries(&reader)?;
    let standing = build::standing(&past);
    let (Some(origin), false) =
        (standing.iter().rev().find_map(|slug| build::origin(&past, slug)), standing.is_empty())
    else {
        settings.printer.data(&format!("nothing of run `{name}` stands"))?;
        return Ok(Exit::Yes);
    };
    let plans = plans(&reader, &standing, &past)?;
    let (site, drives) = match found_again(origin, &plans, settings) {
        Ok(found) => found,
        Err(failure) => return Err(by_hand(failure, &plans, &past)),
    };
    let again = with_erase(&name, drives.iter().map(|(_, drive)| drive));
    let boots: Vec<&str> = standing.iter().filter_map(|slug| Some(build::origin(&past, slug)?.boot.as_str())).collect();
    let consent = Consent::given(&site, &[], &arguments.erase)?;
    consent.erases_only(&drives.iter().map(|(_, identity)| identity).collect::<Vec<_>>())?;
    same_boot(&site, &boots, &drives, &consent, &again)?;
    // One process writes into a record: a run that is still going on is not taken down beneath itself.
    let writer = RunWriter::resume(&reader)?;
    unchanged(&past, &proof, &reader)?;
    let proof = proof.of_run(&reader)?;
    let waiting = |line: &str| {
        settings.printer.say(&format!("waiting for programs that the run left running: {}", spell_inline(line)))
    };
    let boot = site.boot_id()?;
    if build::has_unmarked(&past, &boot) {
        none_at_work(&orphan::find(&site, None)?)?;
    }
    let ended = build::settle(&site, &build::owners(&past, &boot), &waiting)?;
    let drives = examined(&site, &drives)?;
    agreed(&drives, &consent, arguments.yes, settings)?;
    let claims = locked(&site, drives, &consent)?;
    for kind in claims.iter().filter_map(|(name, held)| Loss::of(name, held.permission()).event()) {
        // A full disk must not keep a stack standing.
        if let Err(failure) = happened(&writer, "", 0, kind) {
            settings.printer.say(failure.text().trim_end());
        }
    }
    let authority = Authority::held(&site, &claims);
    let down = cleanup::take_back(&authority, &plans, &past, &writer, Some(&proof));
    // Whoever reads it may be gone: nothing that has to be done waits for that.
    let printed = ended.iter().try_for_each(|line| settings.printer.data(&format!("ended  {}", spell_inline(line))));
    let hinted = |failure| match failure {
        Failure::Refused(text) => Failure::Refused(format!("{text}\n\nhint: if what is there may go, say `{again}`")),
        other => other,
    };
    for stack in down.map_err(hinted)? {
        settings.printer.data(&format!("down  {stack}"))?;
    }
    claims.values().filter_map(left_alone).try_for_each(|line| settings.printer.data(&line))?;
    printed.map(|()| Exit::Yes)
}

/// What is up on this machine under names that runs give, where the record that says so is not found, or cannot be read.
fn with_leftovers(failure: Failure) -> Failure {
    if !matches!(failure, Failure::Told(_) | Failure::Could(_) | Failure::Fatal(_)) {
        return failure;
    }
    let left = claim::left_by_runs(&Local::new()).unwrap_or_default();
    Failure::Told(left.iter().fold(failure.text(), |text, line| format!("{}\nhint: {line}", text.trim_end())))
}

/// A program that goes on could build again what is taken down: who cannot tell whose it is waits for it.
fn none_at_work(left: &[Orphan]) -> Result<(), Failure> {
    let Some(first) = left.first() else { return Ok(()) };
    let lines: Vec<String> = left.iter().map(|of| format!("process {}: {}", of.id, spell_inline(&of.line))).collect();
    Err(Failure::Refused(format!(
        "refused: programs of a killed run are still at work, and this journal does not tell whether they are of this run\n  because: {}\n\n\
         hint: wait until they end, or end each with all that it started: kill -- -{}",
        lines.join("\n  because: "),
        first.id
    )))
}

/// Refuses a journal that was added to before the record was locked: what was made ready here would not be all of it. What
/// is taken back is what was proven first, whatever lies there by now.
fn unchanged(past: &[JournalEntry], proof: &Proof, reader: &RunReader) -> Result<(), Failure> {
    if proof.entries(reader)? == past {
        return Ok(());
    }
    Err(Failure::Refused(format!(
        "refused: the journal of run `{0}` was written into since it was read\n\nhint: bedplate teardown {0}",
        in_command(&reader.provenance().run)
    )))
}

/// The machine of a run that is over, and its drives as they are now: each the very drive that may be written.
fn found_again(origin: &Origin, plans: &[Plan], settings: &Settings) -> Result<(Site, Vec<(Name, Identity)>), Failure> {
    let site = Site::of_origin(origin, settings)?;
    let mut drives = Vec::new();
    // Drives on which nothing stands are none of ours any more.
    let is_used = |name: &Name| plans.iter().any(|plan| plan.drives.contains(name));
    for (name, then) in origin.drives.iter().filter(|(name, _)| is_used(name)) {
        let now = match claim::resolve(&site, &then.id) {
            // What stands on it can be taken down, and what is on it when it is back.
            Err(ClaimError::NotFound { .. }) => continue,
            result => result?,
        };
        let differences = then.differences(&now);
        if !differences.is_empty() {
            return Err(Failure::Refused(format!(
                "refused: drive {} is not the one that the run used as `{name}`\n  because: {}\n\nhint: bedplate inspect",
                now.describe(),
                differences.join("\n  because: ")
            )));
        }
        drives.push((name.clone(), now));
    }
    Ok((site, drives))
}

/// What the journal says stands on drives surely does so only until the machine is started anew: what has no identifier of
/// its own is then known by nothing. A person has to say, drive by drive, that what is there may go.
fn same_boot(
    site: &Site,
    boots: &[&str],
    drives: &[(Name, Identity)],
    consent: &Consent,
    again: &str,
) -> Result<(), Failure> {
    let now = site.boot_id()?;
    if boots.iter().all(|boot| *boot == now) || drives.iter().all(|(_, identity)| consent.erases(identity)) {
        return Ok(());
    }
    Err(rebooted(&examined(site, drives)?, again))
}

/// Nobody agrees to lose what they were not told of.
fn rebooted(drives: &[(Name, Examination)], again: &str) -> Failure {
    let mut lines = Vec::new();
    for (name, Examination { identity, findings, .. }) in drives {
        let nothing = if findings.is_empty() { ": nothing was found on it" } else { "" };
        lines.push(format!("drive {name}: {}{nothing}", identity.describe()));
        lines.extend(findings.iter().map(|finding| format!("  {finding}")));
    }
    Failure::Refused(format!(
        "refused: the machine has rebooted since the run, and something else may be on its drives by now\n  because: {}\n\n\
         hint: if all of that may go, say `{again}`; a drive in use is refused all the same",
        lines.join("\n    ")
    ))
}

/// Drives of the run, each looked at from every side.
fn examined(site: &Site, drives: &[(Name, Identity)]) -> Result<Vec<(Name, Examination)>, Failure> {
    drives.iter().map(|(name, identity)| Ok((name.clone(), claim::examine(site, identity)?))).collect()
}

/// Tells what is on the drives that a person named, and has it confirmed. What comes onto one afterwards is not agreed to.
fn agreed(drives: &[(Name, Examination)], consent: &Consent, yes: bool, settings: &Settings) -> Result<(), Failure> {
    let losses: Vec<Loss<'_>> = losses(drives, consent);
    if losses.is_empty() { Ok(()) } else { drives::agreed(&losses, yes, settings) }
}

fn losses<'d>(drives: &'d [(Name, Examination)], consent: &Consent) -> Vec<Loss<'d>> {
    let named = drives.iter().filter(|(_, examination)| consent.erases(&examination.identity));
    let loss = |(name, examination): &'d (Name, Examination)| Loss {
        name,
        identity: &examination.identity,
        held: examination.of(Class::Holds).collect(),
    };
    named.map(loss).collect()
}

/// A drive that was named, and holds nothing of the run: what is on it is still on it.
fn left_alone(held: &LockedDrive<'_>) -> Option<String> {
    let Err(ClaimError::Refused(refusal)) = held.prove_blank() else { return None };
    let found: Vec<String> = refusal.findings.iter().map(|finding| format!("\n  {finding}")).collect();
    let drive = held.identity().describe();
    held.may_erase().then(|| format!("left  {drive}: it holds nothing of the run{}", found.concat()))
}

fn with_erase<'d>(run: &str, drives: impl Iterator<Item = &'d Identity>) -> String {
    let options: Vec<String> = drives.map(|drive| format!("--erase {}", in_command(&drive.id))).collect();
    format!("bedplate teardown {} {}", in_command(run), options.join(" "))
}

/// Locks on all drives. Before anything is taken from one, it is looked at under its lock.
fn locked<'s>(site: &'s Site, drives: Vec<(Name, Examination)>, consent: &Consent) -> Result<Claims<'s>, Failure> {
    let each = drives.into_iter().map(|(name, found)| Ok((name, claim::reclaim(site, found, consent)?)));
    each.collect()
}

/// The plans that were carried out, as they were carried out: a plan that was changed since is nobody's.
fn plans(reader: &RunReader, slugs: &[String], past: &[JournalEntry]) -> Result<Vec<Plan>, Failure> {
    let plan = |slug: &String| {
        let plan = reader.plan::<Plan>(slug)?;
        let digest = plan.as_ref().map(plan_sha256).transpose()?;
        let begun = build::origin(past, slug).map(|origin| &origin.plan_sha256);
        match plan {
            Some(plan) if digest.as_ref() == begun => Ok(plan),
            plan => Err(Failure::Refused(format!(
                "refused: the record {} the plan of `{slug}` that was begun\n\nhint: {} has what was run",
                if plan.is_some() { "holds another plan than" } else { "does not hold" },
                spell_path(&reader.dir().join("journal.jsonl"))
            ))),
        }
    };
    slugs.iter().map(plan).collect()
}

/// What a person has to do where the machine or a drive is not to be found. The commands name no nodes: other drives may have
/// those of the day of the run by now, and one that was found to have it is refused.
fn by_hand(failure: Failure, plans: &[Plan], past: &[JournalEntry]) -> Failure {
    let left = plans.iter().rev().flat_map(|plan| build::commands_then(plan, past));
    let left: Vec<String> = drives_then(plans, past).into_iter().chain(left).map(|line| format!("  {line}")).collect();
    let text = format!(
        "{}\nleft to do, in this order, with the nodes that the drives have now in the place of braces:\n{}",
        failure.text(),
        left.join("\n")
    );
    if matches!(failure, Failure::Refused(_)) { Failure::Refused(text) } else { Failure::Told(text) }
}

/// Which drives plans were last begun with, each once.
fn drives_then(plans: &[Plan], past: &[JournalEntry]) -> BTreeSet<String> {
    let begun = plans.iter().filter_map(|plan| build::origin(past, &plan.slug)).flat_map(|origin| &origin.drives);
    begun.map(|(name, drive)| format!("# {name}: {}, then {}", spell_inline(&drive.id), drive.node)).collect()
}

#[cfg(test)]
mod tests {
    use claim::Objection;
    use host::Devno;
    use terms::Bytes;

    use super::*;
    use crate::runner::cleanup::tests::{begun, writer};

    #[test]
    fn a_journal_that_was_added_to_before_the_record_was_locked_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let (writer, proof) = (writer(&home.path().join("runs")), Proof::open(&home.path().join("state")).unwrap());
        let reader = RunReader::open(writer.dir()).unwrap();
        let proof = proof.of_run(&reader).unwrap();
        proof.write(&begun("one"), &writer).unwrap();
        let past = proof.entries(&reader).unwrap();
        assert!(unchanged(&past, &proof, &reader).is_ok());
        proof.write(&begun("two"), &writer).unwrap();
        assert!(
            matches!(unchanged(&past, &proof, &reader), Err(Failure::Refused(told)) if told.contains("written into"))
        );
    }

    #[test]
    fn a_program_of_nobody_knows_whom_is_waited_for() {
        assert!(none_at_work(&[]).is_ok());
        let left = [Orphan { id: 41, line: "mdadm --create /dev/md/x\nhint: all is well".to_owned() }];
        let Err(Failure::Refused(text)) = none_at_work(&left) else { panic!() };
        assert!(text.contains("process 41: mdadm") && text.ends_with("kill -- -41"), "{text}");
        assert!(!text.contains("\nhint: all"), "{text}");
    }

    fn drive(id: &str) -> Identity {
        Identity {
            id: id.to_owned(),
            serial: None,
            wwid: None,
            model: None,
            size: Bytes::gib(1),
            logical_block: Bytes(512),
            devno: Devno { major: 8, minor: 0 },
            node: "/dev/sda".to_owned(),
            pci_path: None,
            file: None,
            part: None,
            names: Vec::new(),
        }
    }

    #[test]
    fn no_command_to_copy_names_a_node_that_another_drive_may_have() {
        let study = r#"
            question = "?"
            lab = { drives = [ { name = "a", size = "1 GiB" } ] }
            measure = { span = "32 MiB" }
            stack = [ { name = "s", layers = [ { ext4 = {}, on = "a" } ] } ]
        "#;
        let design = spec::parse(study).0.unwrap();
        let plan = plan::plan(&design.stacks[0], &plan::DriveSize::of_lab(&design.lab)).unwrap();
        let origin = Origin {
            place: "local".to_owned(),
            machine: None,
            boot: String::new(),
            owner: None,
            plan_sha256: String::new(),
            drives: plan.drives.iter().map(|name| (name.clone(), drive("nvme-X_1"))).collect(),
        };
        let stack = plan.slug.clone();
        let begin = JournalEntry::Begin { stack, round: 1, drives: Vec::new(), origin: Some(Box::new(origin)) };
        let steps = plan.steps.iter().map(|step| JournalEntry::Before {
            stack: plan.slug.clone(),
            step: step.id.clone(),
            line: String::new(),
            old: None,
            makes: Vec::new(),
        });
        let past: Vec<JournalEntry> = std::iter::once(begin).chain(steps).collect();
        let told = by_hand(Failure::Refused("it is another".to_owned()), &[plan], &past);
        let text = told.text();
        assert!(matches!(told, Failure::Refused(_)) && text.contains("# a: nvme-X_1, then /dev/sda\n"), "{text}");
        assert!(text.contains("wipefs --all '{drive:a}'") && text.matches("/dev/sda").count() == 1, "{text}");
    }

    #[test]
    fn after_a_new_start_nobody_is_asked_to_lose_what_was_not_told() {
        let found = |what: &str| Objection {
            class: Class::Holds,
            node: "/dev/sda".to_owned(),
            what: what.to_owned(),
            hint: String::new(),
            evidence: None,
        };
        let examination = |id: &str, findings| Examination { identity: drive(id), findings, partitions: Vec::new() };
        let names = ["a", "b"].map(|name| Name::new(name).unwrap());
        let examinations =
            [examination("nvme-X_1", vec![found("ext4, label `photos`")]), examination("nvme-X_2", vec![])];
        let drives: Vec<(Name, Examination)> = names.into_iter().zip(examinations).collect();
        let Failure::Refused(text) = rebooted(&drives, "bedplate teardown r --erase nvme-X_1") else { panic!() };
        let photos = text.find("holds: /dev/sda: ext4, label `photos`").unwrap();
        assert!(
            photos < text.find("hint: ").unwrap() && text.contains("nvme-X_1") && text.contains("nvme-X_2"),
            "{text}"
        );
        assert!(text.contains("nothing was found on it"), "{text}");
        assert!(losses(&drives, &Consent::default()).is_empty(), "nobody named one");
    }

    #[test]
    fn a_command_to_copy_has_no_more_words_than_it_says() {
        let drive = drive("serial=X; rm -rf ~");
        assert_eq!(with_erase("a run", [&drive].into_iter()), "bedplate teardown 'a run' --erase 'serial=X; rm -rf ~'");
    }
}
