//! A design as a stack, and as the text that a study has for it. Both say the same: a test reads the text back.

use std::fmt::Write as _;

use terms::layer::{
    Btrfs, BtrfsProfile, CryptFlags, Ext4, Integrity, Luks, LuksIntegrity, Lvm, LvmIntegrity, Raid, Volume, Xfs, Zfs,
    ZfsCompression,
};
use terms::layer::{BtrfsChecksum, IntegrityMode};
use terms::{Bytes, Layer, LayerNode, Name, Ref, Stack};

use crate::design::{Cipher, Files, Joint, Layout, Logical, Under};

/// The stack of a design on drives, of which it takes the first.
#[must_use]
pub fn stack(design: &Layout, drives: &[Name]) -> Stack {
    let mut builder = Builder { nodes: Vec::with_capacity(design.members + 4), on: Vec::new() };
    builder.on = drives.iter().take(design.members).cloned().map(Ref::Drive).collect();
    if let Some(layer) = under(design.under) {
        builder.on_each(&layer);
    }
    for layer in [joint(design.joint), design.over.map(luks), design.volume.map(volume), design.files.map(files)]
        .into_iter()
        .flatten()
    {
        builder.on_all(layer);
    }
    Stack { name: title(design), note: None, nodes: builder.nodes }
}

struct Builder {
    nodes: Vec<LayerNode>,
    /// What the next layer rests on.
    on: Vec<Ref>,
}

impl Builder {
    fn push(&mut self, name: &str, layer: Layer, on: Vec<Ref>) -> Option<Ref> {
        // Kinds and drives are names already.
        let name = Name::new(name).ok()?;
        self.nodes.push(LayerNode { name: name.clone(), layer, on, special: Vec::new() });
        Some(Ref::Layer(name))
    }

    fn on_each(&mut self, layer: &Layer) {
        let below = std::mem::take(&mut self.on);
        let single = below.len() == 1;
        for one in below {
            let name =
                if single { layer.kind().to_owned() } else { format!("{}-{}", layer.kind(), one.name().as_str()) };
            let made = self.push(&name, layer.clone(), vec![one]);
            self.on.extend(made);
        }
    }

    fn on_all(&mut self, layer: Layer) {
        let (name, below) = (layer.kind(), std::mem::take(&mut self.on));
        let made = self.push(name, layer, below);
        self.on.extend(made);
    }
}

fn luks(cipher: Cipher) -> Layer {
    let flags =
        CryptFlags { no_read_workqueue: cipher.inline, no_write_workqueue: cipher.inline, ..CryptFlags::default() };
    Layer::Luks(Luks { sector: Some(cipher.sector), flags, ..Luks::default() })
}

fn under(under: Under) -> Option<Layer> {
    match under {
        Under::Nothing => None,
        Under::Integrity(mode, sector) => Some(Layer::Integrity(Integrity { mode, sector, ..Integrity::default() })),
        Under::Luks(cipher) => Some(luks(cipher)),
        Under::Sealed(sector) => Some(Layer::Luks(Luks {
            sector: Some(sector),
            integrity: Some(LuksIntegrity::HmacSha256),
            ..Luks::default()
        })),
    }
}

fn joint(joint: Joint) -> Option<Layer> {
    Some(match joint {
        Joint::Alone => return None,
        Joint::Md { level, chunk } => {
            Layer::Raid(Raid { level, chunk: chunk.unwrap_or(Raid::default().chunk), ..Raid::default() })
        }
        Joint::Lvm { volume, stripe, integrity } => Layer::Lvm(Lvm {
            volume,
            stripe: stripe.unwrap_or(Lvm::default().stripe),
            integrity: integrity.map(|(mode, block)| LvmIntegrity { block, mode }),
            ..Lvm::default()
        }),
        Joint::Btrfs { data, metadata, checksum } => {
            Layer::Btrfs(Btrfs { data, metadata, checksum, ..Btrfs::default() })
        }
        Joint::Zfs { layout, record, compression } => {
            Layer::Zfs(Zfs { layout, recordsize: record, compression, ..Zfs::default() })
        }
    })
}

fn volume(volume: Logical) -> Layer {
    let thin_chunk = match volume {
        Logical::Linear => None,
        Logical::Thin(chunk) => Some(chunk),
    };
    Layer::Lvm(Lvm { thin_chunk, ..Lvm::default() })
}

fn files(files: Files) -> Layer {
    match files {
        Files::Ext4 => Layer::Ext4(Ext4::default()),
        Files::Xfs => Layer::Xfs(Xfs::default()),
        Files::Btrfs(checksum) => Layer::Btrfs(Btrfs { checksum, metadata: BtrfsProfile::Dup, ..Btrfs::default() }),
    }
}

/// A name from top to bottom, with the choices that are not the usual ones.
#[must_use]
pub fn title(design: &Layout) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend(design.files.map(|of| files(of).title()));
    parts.extend(design.volume.map(|of| volume(of).title()));
    parts.extend(design.over.map(|_| "LUKS2".to_owned()));
    let joined = joint(design.joint).map(|layer| match &layer {
        Layer::Zfs(zfs) if zfs.recordsize != Zfs::default().recordsize => {
            format!("{}, {} records", layer.title(), zfs.recordsize)
        }
        _ => layer.title(),
    });
    parts.extend(joined);
    parts.extend(under(design.under).map(|layer| layer.title()));
    let drives = if design.members == 1 { "1 drive".to_owned() } else { format!("{} drives", design.members) };
    if parts.is_empty() { drives } else { format!("{} on {drives}", parts.join(" on ")) }
}

/// The layers as a study has them, one to a line.
#[must_use]
pub fn layers(design: &Layout, drives: &[Name]) -> String {
    let on: Vec<String> = drives.iter().take(design.members).map(|name| format!("\"{name}\"")).collect();
    let mut on = Some(if on.len() == 1 { on.concat() } else { format!("[{}]", on.join(", ")) });
    let mut text = String::new();
    let parts = [
        under_text(design.under),
        joint_text(design.joint),
        design.over.map(luks_text),
        design.volume.map(volume_text),
        design.files.map(files_text),
    ];
    for part in parts.into_iter().flatten() {
        let rests = on.take().map(|on| format!(", on = {on}")).unwrap_or_default();
        let _ = writeln!(text, "    {{ {part}{rests} }},");
    }
    text
}

/// Sizes as studies write them.
fn size(bytes: Bytes) -> String {
    if bytes.0.is_multiple_of(1024) { format!("\"{} KiB\"", bytes.0 / 1024) } else { format!("\"{} B\"", bytes.0) }
}

fn luks_text(cipher: Cipher) -> String {
    let inline = if cipher.inline { ", no_read_workqueue = true, no_write_workqueue = true" } else { "" };
    format!("luks = {{ sector = {}{inline} }}", size(cipher.sector))
}

const fn mode_word(mode: IntegrityMode) -> &'static str {
    match mode {
        IntegrityMode::Journal => "journal",
        IntegrityMode::NoJournal => "no-journal",
        IntegrityMode::Bitmap => "bitmap",
    }
}

fn under_text(under: Under) -> Option<String> {
    match under {
        Under::Nothing => None,
        Under::Integrity(mode, sector) => {
            Some(format!("integrity = {{ mode = \"{}\", sector = {} }}", mode_word(mode), size(sector)))
        }
        Under::Luks(cipher) => Some(luks_text(cipher)),
        Under::Sealed(sector) => Some(format!("luks = {{ sector = {}, integrity = \"hmac-sha256\" }}", size(sector))),
    }
}

fn joint_text(joint: Joint) -> Option<String> {
    Some(match joint {
        Joint::Alone => return None,
        Joint::Md { level, chunk } => {
            let chunk = chunk.map(|chunk| format!(", chunk = {}", size(chunk))).unwrap_or_default();
            format!("raid = {{ level = {}{chunk} }}", level.number())
        }
        Joint::Lvm { volume, stripe, integrity } => lvm_text(volume, stripe, integrity),
        Joint::Btrfs { data, metadata, checksum } => {
            format!(
                "btrfs = {{ data = \"{}\", metadata = \"{}\", checksum = \"{}\" }}",
                data.word(),
                metadata.word(),
                checksum.word()
            )
        }
        Joint::Zfs { layout, record, compression } => {
            let compression = match compression {
                ZfsCompression::Off => String::new(),
                other => format!(", compression = \"{}\"", other.word()),
            };
            format!("zfs = {{ layout = \"{}\", recordsize = {}{compression} }}", layout.word(), size(record))
        }
    })
}

fn lvm_text(volume: Volume, stripe: Option<Bytes>, integrity: Option<(IntegrityMode, Bytes)>) -> String {
    let stripe = stripe.map(|stripe| format!(", stripe = {}", size(stripe))).unwrap_or_default();
    let integrity = integrity
        .map(|(mode, block)| format!(", integrity = {{ mode = \"{}\", block = {} }}", mode_word(mode), size(block)));
    format!("lvm = {{ volume = \"{}\"{stripe}{} }}", volume.word(), integrity.unwrap_or_default())
}

fn volume_text(volume: Logical) -> String {
    match volume {
        Logical::Linear => "lvm = {}".to_owned(),
        Logical::Thin(chunk) => format!("lvm = {{ thin_chunk = {} }}", size(chunk)),
    }
}

fn files_text(files: Files) -> String {
    match files {
        Files::Ext4 => "ext4 = {}".to_owned(),
        Files::Xfs => "xfs = {}".to_owned(),
        Files::Btrfs(BtrfsChecksum::Crc32c) => "btrfs = {}".to_owned(),
        Files::Btrfs(checksum) => format!("btrfs = {{ checksum = \"{}\" }}", checksum.word()),
    }
}
