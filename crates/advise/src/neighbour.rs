//! What differs by one choice, and why it lost.

use terms::Bytes;
use terms::advice::{Needs, Neighbour};
use terms::layer::{BtrfsChecksum, IntegrityMode, RaidLevel, Volume, ZfsCompression, ZfsLayout};
use terms::units::significant;

use crate::design::{Cipher, Files, Joint, Layout, Logical, Under};
use crate::score::{Judge, Scored, Unmet};
use crate::space::{CHECKSUMS, is_listed};
use crate::stack::title;

/// Differences of speed that are not told.
const EQUAL: f64 = 0.03;

/// What a neighbour says that is never advised: less than one that a need rules out, more than one that does not fit.
const NEVER_LISTED: f64 = 1.8;

/// The neighbours that say most about a design: those that need rules out first, then by how much they differ.
#[must_use]
pub(crate) fn neighbours(
    judge: &mut Judge<'_>,
    needs: &Needs,
    best: &Scored,
    drives: usize,
    most: usize,
) -> Vec<Neighbour> {
    let mut told: Vec<(f64, Neighbour)> = Vec::new();
    for (change, design) in variants(&best.design, drives) {
        let mut barely_too_risky = None;
        let (weight, why) = if !design.under.survives_power_cut() {
            (NEVER_LISTED, "a power cut would leave sectors that cannot be read".to_owned())
        } else if !is_listed(&design, judge.block()) {
            continue;
        } else if let Some(why) = missing(&design, needs) {
            (2.0, why)
        } else {
            match judge.score(&design) {
                Err(unfit) => {
                    let is_simpler = design.burden() < best.design.burden();
                    barely_too_risky = judge.barely_too_risky(&design, unfit).filter(|_| is_simpler);
                    (1.5, words(unfit))
                }
                Ok(scored) => compare(&scored, best),
            }
        };
        told.push((weight, Neighbour { change, why, barely_too_risky }));
    }
    told.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    told.into_iter().map(|(_, neighbour)| neighbour).take(most).collect()
}

/// A need that the choices alone rule out.
fn missing(design: &Layout, needs: &Needs) -> Option<String> {
    if needs.encryption && !design.is_encrypted() {
        return Some("it would not be encrypted".to_owned());
    }
    if design.survives() < needs.survives as usize {
        return Some(format!("it would survive {} and not {} drives", design.survives(), needs.survives));
    }
    if needs.repairs && !design.repairs() {
        return Some("wrong data from a drive would not be put right".to_owned());
    }
    (needs.snapshots && !design.has_snapshots()).then(|| "it would have no snapshots".to_owned())
}

fn words(unfit: Unmet) -> String {
    match unfit {
        Unmet::TooSmall => "it does not fit on the drives".to_owned(),
        Unmet::Capacity(available) => format!("it holds {available}"),
        Unmet::Loss(loss) => format!("it loses data once in {} years", significant(1.0 / loss)),
        Unmet::Life(life) => format!("a drive is worn after {} years", significant(life)),
    }
}

/// How it compares, and how much that says.
fn compare(scored: &Scored, best: &Scored) -> (f64, String) {
    let speed = (scored.speed - best.speed).exp();
    let room = scored.available.as_f64() / best.available.as_f64().max(1.0);
    let loss = scored.loss / best.loss.max(f64::MIN_POSITIVE);
    let life = scored.life / best.life;
    let mut parts = Vec::new();
    let mut tell = |ratio: f64, margin: f64, what: &str| {
        if ratio.is_finite() && (ratio.ln()).abs() > margin {
            parts.push(format!("{} × {what}", significant(ratio)));
        }
    };
    tell(speed, EQUAL, "the speed");
    tell(room, 0.01, "the capacity");
    tell(loss, 0.2, "the risk");
    tell(life, 0.1, "the life");
    let weight = speed.ln().abs() + room.ln().abs();
    if parts.is_empty() {
        let more = scored.design.burden() > best.design.burden();
        let why = if more { "no measurable difference, and more to build" } else { "no measurable difference" };
        return (0.0, why.to_owned());
    }
    (weight, parts.join(", "))
}

type Variant = (String, Layout);

/// Designs that differ by one choice, with the choice in words.
fn variants(design: &Layout, drives: usize) -> Vec<Variant> {
    let mut all = Vec::new();
    for members in [design.members.wrapping_sub(1), design.members + 1] {
        if (1..=drives).contains(&members) {
            all.push((format!("{members} drives"), Layout { members, ..*design }));
        }
    }
    all.extend(of_cipher(design));
    all.extend(of_under(design));
    all.extend(of_joint(design));
    all.extend(of_volume(design));
    all.extend(of_files(design));
    all.retain(|(_, other)| other != design);
    all
}

fn of_cipher(design: &Layout) -> Vec<Variant> {
    let swap = |cipher: Cipher| {
        let other = if cipher.sector == Bytes(512) { Bytes::kib(4) } else { Bytes(512) };
        let way = if cipher.inline { "encryption in workers" } else { "encryption inline" };
        [
            (format!("encryption sectors of {other}"), Cipher { sector: other, ..cipher }),
            (way.to_owned(), Cipher { inline: !cipher.inline, ..cipher }),
        ]
    };
    match (design.over, design.under) {
        (Some(cipher), _) => {
            let mut all: Vec<Variant> =
                swap(cipher).into_iter().map(|(text, over)| (text, Layout { over: Some(over), ..*design })).collect();
            all.push(("no encryption".to_owned(), Layout { over: None, ..*design }));
            if design.under == Under::Nothing && design.members > 1 {
                let below = Layout { over: None, under: Under::Luks(cipher), ..*design };
                all.push(("encryption on each drive".to_owned(), below));
            }
            all
        }
        (None, Under::Luks(cipher)) => {
            let mut all: Vec<Variant> = swap(cipher)
                .into_iter()
                .map(|(text, cipher)| (text, Layout { under: Under::Luks(cipher), ..*design }))
                .collect();
            let above = Layout { over: Some(cipher), under: Under::Nothing, ..*design };
            all.push(("encryption of the whole".to_owned(), above));
            all
        }
        _ => Vec::new(),
    }
}

fn of_under(design: &Layout) -> Vec<Variant> {
    let of = |under: Under| Layout { under, ..*design };
    match design.under {
        Under::Nothing => vec![(
            "checksums (dm-integrity) on each drive".to_owned(),
            of(Under::Integrity(IntegrityMode::Journal, Bytes::kib(4))),
        )],
        Under::Integrity(mode, sector) => {
            let modes = [IntegrityMode::Journal, IntegrityMode::NoJournal, IntegrityMode::Bitmap];
            let word = |mode| match mode {
                IntegrityMode::Journal => "checksums with a journal",
                IntegrityMode::NoJournal => "checksums without a journal",
                IntegrityMode::Bitmap => "checksums with a bitmap",
            };
            let other = if sector == Bytes(512) { Bytes::kib(4) } else { Bytes(512) };
            let mut all: Vec<Variant> = modes
                .into_iter()
                .filter(|of| *of != mode)
                .map(|mode| (word(mode).to_owned(), of(Under::Integrity(mode, sector))))
                .collect();
            all.push((format!("checksums of {other}"), of(Under::Integrity(mode, other))));
            all.push(("no checksums on the drives".to_owned(), of(Under::Nothing)));
            all
        }
        Under::Luks(_) => vec![("no encryption".to_owned(), of(Under::Nothing))],
        Under::Sealed(sector) => {
            let cipher = Cipher { sector, inline: false };
            vec![("encryption that is not authenticated".to_owned(), of(Under::Luks(cipher)))]
        }
    }
}

fn of_joint(design: &Layout) -> Vec<Variant> {
    let of = |joint: Joint| Layout { joint, ..*design };
    match design.joint {
        Joint::Alone => Vec::new(),
        Joint::Md { level, chunk } => {
            let mut all = other_sizes(chunk, |chunk| of(Joint::Md { level, chunk: Some(chunk) }), "chunk");
            let levels = [RaidLevel::Raid0, RaidLevel::Raid1, RaidLevel::Raid10, RaidLevel::Raid5, RaidLevel::Raid6];
            all.extend(levels.into_iter().filter(|of| *of != level).map(|level| {
                let chunk = (level != RaidLevel::Raid1).then(|| chunk.unwrap_or(Bytes::kib(512)));
                (format!("RAID-{}", level.number()), of(Joint::Md { level, chunk }))
            }));
            all
        }
        Joint::Lvm { volume, stripe, integrity } => {
            let mut all =
                other_sizes(stripe, |stripe| of(Joint::Lvm { volume, stripe: Some(stripe), integrity }), "stripe");
            let volumes = [Volume::Striped, Volume::Raid1, Volume::Raid10, Volume::Raid5, Volume::Raid6];
            all.extend(volumes.into_iter().filter(|of| *of != volume).map(|volume| {
                let stripe = (volume != Volume::Raid1).then(|| stripe.unwrap_or(Bytes::kib(64)));
                let integrity = integrity.filter(|_| volume.is_raid());
                (format!("LVM {}", volume.word()), of(Joint::Lvm { volume, stripe, integrity }))
            }));
            all
        }
        Joint::Btrfs { data, metadata, checksum } => {
            let others = CHECKSUMS.into_iter().filter(|of| *of != checksum);
            let variant = |sum: BtrfsChecksum| {
                (format!("checksums by {}", sum.word()), of(Joint::Btrfs { data, metadata, checksum: sum }))
            };
            others.map(variant).collect()
        }
        Joint::Zfs { layout, record, compression } => {
            let mut all = other_sizes(Some(record), |record| of(Joint::Zfs { layout, record, compression }), "record");
            let ways = [ZfsCompression::Off, ZfsCompression::Lz4, ZfsCompression::Zstd];
            all.extend(ways.into_iter().filter(|of| *of != compression).map(|compression| {
                (format!("compression {}", compression.word()), of(Joint::Zfs { layout, record, compression }))
            }));
            all.extend(
                ZfsLayout::ALL.into_iter().filter(|of| *of != layout).map(|layout| {
                    (format!("layout {}", layout.word()), of(Joint::Zfs { layout, record, compression }))
                }),
            );
            all
        }
    }
}

/// A quarter as large, and four times.
fn other_sizes(size: Option<Bytes>, of: impl Fn(Bytes) -> Layout, what: &str) -> Vec<Variant> {
    let Some(size) = size else { return Vec::new() };
    [Bytes(size.0 / 4), Bytes(size.0 * 4)].map(|size| (format!("a {what} of {size}"), of(size))).to_vec()
}

fn of_volume(design: &Layout) -> Vec<Variant> {
    let of = |volume: Option<Logical>| Layout { volume, ..*design };
    match design.volume {
        None => vec![("a volume group".to_owned(), of(Some(Logical::Linear)))],
        Some(Logical::Linear) => vec![
            ("no volume group".to_owned(), of(None)),
            ("a thin volume".to_owned(), of(Some(Logical::Thin(Bytes::kib(64))))),
        ],
        Some(Logical::Thin(_)) => vec![("a thick volume".to_owned(), of(Some(Logical::Linear)))],
    }
}

fn of_files(design: &Layout) -> Vec<Variant> {
    let Some(own) = design.files else { return Vec::new() };
    [Files::Ext4, Files::Xfs, Files::Btrfs(BtrfsChecksum::Crc32c)]
        .into_iter()
        .filter(|files| *files != own)
        .map(|files| {
            let other = Layout { files: Some(files), ..*design };
            (
                title(&Layout {
                    members: 1,
                    joint: Joint::Alone,
                    under: Under::Nothing,
                    over: None,
                    volume: None,
                    ..other
                })
                .replace(" on 1 drive", ""),
                other,
            )
        })
        .collect()
}
