//! Is what is stored hidden from whoever holds the drives?

use terms::layer::CryptFormat;
use terms::{Act, Cmd, Layer, LayerNode, Showing};

use crate::Came;
use crate::data::{Data, settle};
use crate::error::FeatureCheckError;
use crate::replace::fresh_key;
use crate::scene::Scene;
use crate::search;

/// cryptsetup's status for a key that opens nothing (cryptsetup(8), RETURN CODES).
const REFUSED: i32 = 2;

/// Writes marks, looks for them on the bare drives and above the encryption, and tries other keys.
pub(crate) fn hold(scene: &Scene<'_>) -> Result<Came, FeatureCheckError> {
    let data = Data::new(scene, "encryption", 0);
    data.write(scene)?;
    settle(scene)?;
    let mut on_drives = 0;
    for drive in &scene.subject.plan.drives {
        let why = format!("What was written is looked for on all of drive `{drive}`.");
        on_drives += count(scene, &why, &scene.drive(drive)?, &data)?;
    }
    let layers: Vec<&LayerNode> = scene.nodes().iter().filter(|node| node.layer.traits().encrypts).collect();
    if on_drives > 0 {
        let beside = if layers.is_empty() { "" } else { ", although a layer encrypts" };
        return Ok((Some(Showing::Readable), format!("{on_drives} marks stand readable on the drives{beside}.")));
    }
    let mut above = 0;
    for node in &layers {
        if let Some(mapping) = scene.device(&node.name)? {
            let why = "The control: above the encryption the same search finds them.";
            above += count(scene, why, &mapping, &data)?;
        }
    }
    if above == 0 {
        let says = "The marks were found neither on the drives nor above the encryption, so the search shows nothing.";
        return Ok((None, says.to_owned()));
    }
    let mut opened = Vec::new();
    for node in &layers {
        if !refuses(scene, node, &data)? {
            opened.push(node.name.to_string());
        }
    }
    if !opened.is_empty() {
        return Ok((Some(Showing::Readable), format!("Another key opens {}.", opened.join(", "))));
    }
    let says = format!(
        "No mark is found on the drives; above the encryption the same search finds {above}. Another key is refused ({} of \
         {} tried).",
        layers.len(),
        layers.len()
    );
    Ok((Some(Showing::Hidden), says))
}

fn count(scene: &Scene<'_>, why: &str, node: &str, data: &Data) -> Result<usize, FeatureCheckError> {
    Ok(search::find(scene, why, node, &[data.mark()], 0)?.values().map(Vec::len).sum())
}

/// Is another key of no use?
fn refuses(scene: &Scene<'_>, node: &LayerNode, data: &Data) -> Result<bool, FeatureCheckError> {
    let argv: &[&str] = match &node.layer {
        Layer::Luks(_) => &LUKS,
        Layer::Crypt(crypt) if crypt.format == CryptFormat::TrueCrypt => &TRUECRYPT,
        _ => return plain(scene, node, data),
    };
    let Some(below) = node.on.first() else { return Ok(false) };
    let device = scene.device_of(below)?;
    // As text, for a passphrase that ends nowhere within.
    let key = fresh_key(scene.subject.host)?.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let cmd = Cmd::new(argv.iter().copied().chain([device.as_str()])).stdin(key.as_bytes()[..PASSPHRASE].to_vec());
    let outcome = scene.run("A random key that is not the stack's own is tried.", &cmd)?;
    let refused = outcome.status == REFUSED;
    scene.seen(match outcome.status {
        REFUSED => "refused",
        0 => "the key opens it",
        _ => "cryptsetup failed for another reason",
    });
    if refused || outcome.ok() {
        return Ok(refused);
    }
    Err(FeatureCheckError::Strange(format!("cryptsetup neither took nor refused the key: {}", outcome.error_text())))
}

/// What tries a key and opens nothing.
const LUKS: [&str; 8] =
    ["cryptsetup", "open", "--batch-mode", "--type", "luks2", "--test-passphrase", "--key-file", "-"];
/// The same of a TrueCrypt volume, whose passphrase comes as text.
const TRUECRYPT: [&str; 7] =
    ["cryptsetup", "open", "--batch-mode", "--type", "tcrypt", "--disable-veracrypt", "--test-passphrase"];
/// Characters of a passphrase, no more than TrueCrypt takes.
const PASSPHRASE: usize = 64;

/// A mapping without a header opens with any key; with another one it is noise.
fn plain(scene: &Scene<'_>, node: &LayerNode, data: &Data) -> Result<bool, FeatureCheckError> {
    let steps = scene.subject.plan.steps.iter().filter(|step| step.layer == node.name);
    let mut open = steps.filter_map(|step| match &step.act {
        Act::Run(command) if command.key.is_some() => Some((step, command)),
        _ => None,
    });
    let Some((step, command)) = open.next_back() else { return Ok(false) };
    let mut cmd = scene.command(&step.id, command)?;
    let Some(name) = cmd.argv.pop() else { return Ok(false) };
    let other = format!("{name}-other");
    cmd.argv.splice(2..2, ["--readonly".to_owned(), "--shared".to_owned()]);
    cmd.argv.push(other.clone());
    cmd.stdin = fresh_key(scene.subject.host)?;
    scene.run_ok("There is no header that could refuse a key: another one is used beside the stack's own.", &cmd)?;
    let found =
        count(scene, "What another key makes of the drive is searched.", &format!("/dev/mapper/{other}"), data)?;
    scene.run_ok("It is closed again.", &Cmd::new(["cryptsetup", "close", &other]))?;
    Ok(found == 0)
}
