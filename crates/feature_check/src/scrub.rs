//! Reading and comparing all that a stack holds, with the means of its layers.

use terms::layer::Lvm;
use terms::{Cmd, Layer, LayerNode, Name, Nanos};

use crate::error::FeatureCheckError;
use crate::scene::{Scene, WHOLE};
use crate::wiring;

/// Scrubs by every layer that can, the lowest first, and says what each found.
pub(crate) fn scrub(scene: &Scene<'_>) -> Result<Vec<String>, FeatureCheckError> {
    let mut said = Vec::new();
    for node in scene.nodes() {
        match &node.layer {
            Layer::Raid(_) if node.layer.is_redundant() => said.push(md(scene, node)?),
            Layer::Lvm(lvm) if node.layer.is_redundant() => said.push(lvm_raid(scene, &node.name, lvm)?),
            Layer::Btrfs(_) => said.push(btrfs(scene)?),
            Layer::Zfs(_) => said.push(zfs(scene)?),
            _ => {}
        }
    }
    if scene.nodes().iter().any(|node| node.layer.is_redundant()) {
        return Ok(said);
    }
    for node in scene.nodes().iter().filter(|node| node.layer.traits().checksums.are_tags()) {
        if let Some(device) = scene.device(&node.name)? {
            said.push(read_all(scene, node, &device)?);
        }
    }
    if said.is_empty() {
        said.push("No layer can scrub.".to_owned());
    }
    Ok(said)
}

/// md's `check` counts, its `repair` makes members alike (kernel, Documentation/admin-guide/md.rst).
fn md(scene: &Scene<'_>, node: &LayerNode) -> Result<String, FeatureCheckError> {
    let directory = array(scene, &node.name)?;
    let checked = md_action(scene, &directory, "check", "md reads all members and compares them.")?;
    let repaired = md_action(scene, &directory, "repair", "md makes members alike that differ.")?;
    Ok(format!("md `check` counted {checked} sectors that differ, `repair` {repaired}."))
}

/// The directory of an array in sysfs.
pub(crate) fn array(scene: &Scene<'_>, layer: &Name) -> Result<String, FeatureCheckError> {
    let device = scene.device(layer)?.ok_or_else(|| FeatureCheckError::Strange(format!("`{layer}` makes no array")))?;
    Ok(format!("/sys/class/block/{}/md", wiring::kernel_name(scene, &device)?))
}

fn md_action(scene: &Scene<'_>, directory: &str, action: &str, why: &str) -> Result<String, FeatureCheckError> {
    let host = scene.subject.host;
    scene.echo(why, action, &format!("{directory}/sync_action"))?;
    await_md(scene, directory)?;
    let mismatches = host.read_text(&format!("{directory}/mismatch_cnt"))?;
    scene.seen(format!("mismatch_cnt is {mismatches}"));
    Ok(mismatches)
}

/// Waits until an array does nothing.
pub(crate) fn await_md(scene: &Scene<'_>, directory: &str) -> Result<(), FeatureCheckError> {
    // Right after it was asked, an array may still say that it is idle.
    scene.subject.host.pause(std::time::Duration::from_millis(300))?;
    scene.await_that("md", WHOLE, || Ok(scene.subject.host.read_text(&format!("{directory}/sync_action"))? == "idle"))
}

/// The same of LVM (lvmraid(7), "Scrubbing").
fn lvm_raid(scene: &Scene<'_>, layer: &Name, lvm: &Lvm) -> Result<String, FeatureCheckError> {
    let volume = volume(scene, layer)?;
    let checked = lvm_action(scene, &volume, "check")?;
    let repaired = lvm_action(scene, &volume, "repair")?;
    let mut says = format!("LVM's `check` counted {checked} mismatches, `repair` {repaired}.");
    if lvm.integrity.is_some() {
        let argv = ["lvs", "--all", "--noheadings", "--options", "lv_name,integritymismatches", group(&volume)];
        let told = scene.run_ok("How often checksums did not fit.", &Cmd::new(argv))?.text();
        let legs = told.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        let legs: Vec<String> = legs.filter(|line| line.contains("rimage") && line.contains(' ')).collect();
        says.push_str(&format!(" Checksums that did not fit: {}.", legs.join(", ")));
    }
    Ok(says)
}

fn lvm_action(scene: &Scene<'_>, volume: &str, action: &str) -> Result<String, FeatureCheckError> {
    let why = "LVM reads all legs of the volume and compares them.";
    scene.run_ok(why, &Cmd::new(["lvchange", "--syncaction", action, volume]))?;
    scene.subject.host.pause(std::time::Duration::from_millis(300))?;
    let field = |name: &str| {
        let cmd = Cmd::new(["lvs", "--noheadings", "--options", name, volume]);
        Ok::<_, FeatureCheckError>(scene.subject.host.run_ok(&cmd)?.text().trim().to_owned())
    };
    scene.await_that("LVM's scrubbing", WHOLE, || Ok(field("raid_sync_action")? == "idle"))?;
    let mismatches = field("raid_mismatch_count")?;
    scene.seen(format!("{mismatches} mismatches"));
    Ok(mismatches)
}

/// `group/volume` of a layer of LVM.
pub(crate) fn volume(scene: &Scene<'_>, layer: &Name) -> Result<String, FeatureCheckError> {
    let device = scene.device(layer)?.unwrap_or_default();
    let name = device.strip_prefix("/dev/").filter(|name| name.contains('/'));
    name.map(str::to_owned).ok_or_else(|| FeatureCheckError::Strange(format!("`{layer}` makes no volume")))
}

/// The group of a volume.
pub(crate) fn group(volume: &str) -> &str {
    volume.split('/').next().unwrap_or(volume)
}

/// btrfs-scrub(8): status 3 where errors are left.
fn btrfs(scene: &Scene<'_>) -> Result<String, FeatureCheckError> {
    let directory = scene.target().path();
    let cmd = Cmd::new(["btrfs", "scrub", "start", "-B", "-R", directory]).limit(WHOLE);
    let outcome = scene.run("btrfs reads all copies of everything and compares them with their checksums.", &cmd)?;
    let told = outcome.text();
    let field = |name: &str| {
        let line = told.lines().find_map(|line| line.trim().strip_prefix(name)?.strip_prefix(':'));
        line.map_or_else(|| "an unknown number of".to_owned(), |value| value.trim().to_owned())
    };
    Ok(format!(
        "btrfs scrub found {} checksum errors, put {} right and left {}.",
        field("csum_errors"),
        field("corrected_errors"),
        field("uncorrectable_errors")
    ))
}

/// zpool-scrub(8).
fn zfs(scene: &Scene<'_>) -> Result<String, FeatureCheckError> {
    let Some(pool) = scene.pool() else { return Err(FeatureCheckError::Strange("the plan has no pool".to_owned())) };
    let cmd = Cmd::new(["zpool", "scrub", "-w", &pool]).limit(WHOLE);
    scene.run_ok("ZFS reads all copies of everything and compares them with their checksums.", &cmd)?;
    let status = scene.run_ok("What it found.", &Cmd::new(["zpool", "status", "-v", "-p", &pool]))?.text();
    let line = |name: &str| {
        let found = status.lines().find_map(|line| line.trim().strip_prefix(name));
        found.map(|text| text.trim().to_owned())
    };
    let scan = line("scan:").map(|text| text.split(" on ").next().unwrap_or_default().to_owned());
    let errors = line("errors:").unwrap_or_default();
    Ok(format!("zpool: {}; {}.", scan.unwrap_or_default(), errors.trim_end_matches(['.', ':'])))
}

/// A layer that checks and has no copy: reading all of it is all the scrubbing there is.
fn read_all(scene: &Scene<'_>, node: &LayerNode, device: &str) -> Result<String, FeatureCheckError> {
    let cmd = Cmd::new(vec![
        "dd".to_owned(),
        format!("if={device}"),
        "of=/dev/null".to_owned(),
        "bs=64K".to_owned(),
        "iflag=direct".to_owned(),
        "conv=noerror".to_owned(),
        // With `none` dd says nothing of errors that it passes over.
        "status=noxfer".to_owned(),
    ]);
    let why = "Nothing scrubs: all of the mapping is read instead, past errors.";
    let outcome = scene.run(why, &cmd.limit(Nanos(WHOLE.0)))?;
    let errors = outcome.error_text().lines().filter(|line| line.contains("error reading")).count();
    scene.seen(format!("{errors} reads failed"));
    Ok(format!(
        "Reading all of {} failed in {errors} places; there is nothing to repair them from.",
        node.layer.title()
    ))
}
