//! What a design is worth: its speed, its room, its safety, its life.

use std::collections::HashMap;

use capacity::DriveSize;
use durability::{Daily, DriveModel, Given};
use model::{Compiler, Conditions, Site, solve::solve};
use terms::advice::Needs;
use terms::durability::Outlook;
use terms::layer::{BtrfsChecksum, ZfsCompression};
use terms::{Bytes, BytesPerSecond, Name, Stack, Workload};

use crate::design::{Cipher, Design, Files, Joint, Under};
use crate::stack::stack;

/// What a search is about.
#[derive(Debug, Clone)]
pub struct Question<'a> {
    /// What is needed.
    pub needs: &'a Needs,
    /// Drives, alike.
    pub drives: &'a [DriveSize],
    /// How long they last.
    pub models: &'a [DriveModel],
    /// What the stack has to do, each as important as the others.
    pub workloads: &'a [Workload],
    /// What predictions are about.
    pub conditions: Conditions,
    /// What a rebuild can write to a drive.
    pub rebuild: BytesPerSecond,
}

/// A design with its figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// The design.
    pub design: Design,
    /// Logarithm of the geometric mean of operations per second over the workloads.
    pub speed: f64,
    /// Bytes that can be written.
    pub available: Bytes,
    /// Probability of losing any data in a year, as it is believed.
    pub loss: f64,
    /// Years until the first drive is worn, as it is believed; endless where nothing was said.
    pub life: f64,
}

/// What does not depend on chunks, sectors and flags: computed once for all designs that differ in those alone.
#[derive(Debug, Clone, PartialEq)]
struct Lasting {
    loss: f64,
    life: f64,
}

/// Scores designs one after the other.
#[derive(Debug)]
pub struct Judge<'a> {
    question: &'a Question<'a>,
    compiler: Compiler<'a>,
    names: Vec<Name>,
    room: HashMap<Design, Option<Bytes>>,
    lasting: HashMap<Design, Option<Lasting>>,
}

impl<'a> Judge<'a> {
    /// For a question on a machine.
    #[must_use]
    pub fn new(question: &'a Question<'a>, site: &'a Site) -> Self {
        let names = question.drives.iter().map(|drive| drive.name.clone()).collect();
        Self { question, compiler: Compiler::new(site), names, room: HashMap::new(), lasting: HashMap::new() }
    }

    /// The block of the drives.
    pub(crate) fn block(&self) -> Bytes {
        self.question.drives.iter().map(|drive| drive.lba).max().unwrap_or_default()
    }

    /// A design's figures, or why it does not serve.
    ///
    /// # Errors
    /// [`Unfit`]: what is missing of the needs, or that it does not fit on the drives.
    pub fn score(&mut self, design: &Design) -> Result<Scored, Unfit> {
        let needs = self.question.needs;
        let available = self.room(design).ok_or(Unfit::TooSmall)?;
        if needs.capacity.is_some_and(|needed| available < needed) {
            return Err(Unfit::Capacity(available));
        }
        let lasting = self.lasting(design).ok_or(Unfit::TooSmall)?;
        if needs.loss.is_some_and(|most| lasting.loss > most) {
            return Err(Unfit::Loss(lasting.loss));
        }
        if needs.life_years.is_some_and(|least| lasting.life < least) {
            return Err(Unfit::Life(lasting.life));
        }
        let speed = self.speed(&stack(design, &self.names)).ok_or(Unfit::TooSmall)?;
        Ok(Scored { design: *design, speed, available, loss: lasting.loss, life: lasting.life })
    }

    /// What can be written; `None` where it does not fit. That of the design's [`footprint`], which is off by a chunk.
    fn room(&mut self, design: &Design) -> Option<Bytes> {
        let (drives, names) = (self.question.drives, &self.names);
        let footprint = footprint(design);
        let room = self.room.entry(footprint);
        *room.or_insert_with(|| {
            capacity::account(&stack(&footprint, names), drives).ok().map(|account| account.available)
        })
    }

    fn speed(&mut self, stack: &Stack) -> Option<f64> {
        let mut sum = 0.0;
        for work in self.question.workloads {
            let network = self.compiler.compile(stack, work, &self.question.conditions).ok()?;
            // In operations: the block is the same for every design.
            sum += solve(network).throughput.max(f64::MIN_POSITIVE).ln();
        }
        let count = u32::try_from(self.question.workloads.len()).ok().filter(|count| *count > 0)?;
        Some(sum / f64::from(count))
    }

    /// Losses depend on neither chunks nor records, lives on both: without a word of what is written there are no lives,
    /// and one answer serves for many more designs.
    fn lasting(&mut self, design: &Design) -> Option<Lasting> {
        let key = if self.question.needs.daily.is_some() { shape(design) } else { footprint(design) };
        if let Some(known) = self.lasting.get(&key) {
            return known.clone();
        }
        let available = self.room(&key)?;
        let found = outlook(self.question, &stack(&key, &self.names), available).map(|outlook| Lasting {
            loss: outlook.loss.any.middle,
            life: outlook.life_years.map_or(f64::INFINITY, |life| life.middle),
        });
        self.lasting.insert(key, found.clone());
        found
    }
}

/// Why a design does not serve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unfit {
    /// It does not fit on the drives.
    TooSmall,
    /// So much can be written.
    Capacity(Bytes),
    /// So probable is a loss in a year.
    Loss(f64),
    /// So many years until the first drive is worn.
    Life(f64),
}

/// What is to be expected of a stack over the years.
#[must_use]
pub(crate) fn outlook(question: &Question<'_>, stack: &Stack, available: Bytes) -> Option<Outlook> {
    let daily = question.needs.daily.map(Daily::scattered);
    let given = Given::usual(stack, question.models, available, question.rebuild, daily.as_slice());
    durability::outlook(&given)
}

/// A design without what takes no room either: record sizes, compression, the kind of checksum, for which btrfs keeps the
/// same room whatever it is; and without chunks and stripes, to which devices are rounded.
fn footprint(design: &Design) -> Design {
    let shape = shape(design);
    let joint = match shape.joint {
        Joint::Md { level, chunk, bitmap } => Joint::Md { level, chunk: chunk.map(|_| Bytes::kib(512)), bitmap },
        Joint::Lvm { volume, stripe, integrity } => {
            Joint::Lvm { volume, stripe: stripe.map(|_| Bytes::kib(64)), integrity }
        }
        // Without copy-on-write nothing is put right, which is no question of room but of loss.
        Joint::Btrfs { data, metadata, copy_on_write, .. } => {
            Joint::Btrfs { data, metadata, checksum: BtrfsChecksum::Crc32c, copy_on_write }
        }
        Joint::Zfs { layout, .. } => Joint::Zfs { layout, record: Bytes::kib(128), compression: ZfsCompression::Off },
        Joint::Alone => Joint::Alone,
    };
    Design { joint, ..shape }
}

/// Stands for every way of encrypting.
const USUAL: Cipher = Cipher { sector: Bytes::kib(4), inline: false };

/// A design without what decides speed alone: flags, bitmaps (their room is kept free anyway), sectors of the encryption
/// of the whole, checksums of a file system. Chunks and record sizes stay, because they decide what is written.
fn shape(design: &Design) -> Design {
    let under = match design.under {
        // Its sector is the block of what is above, which may have to be small.
        Under::Luks(cipher) => Under::Luks(Cipher { inline: false, ..cipher }),
        other => other,
    };
    let joint = match design.joint {
        Joint::Md { level, chunk, .. } => Joint::Md { level, chunk, bitmap: true },
        other => other,
    };
    let files = design.files.map(|files| match files {
        Files::Btrfs(_) => Files::Btrfs(BtrfsChecksum::Crc32c),
        other => other,
    });
    Design { under, joint, over: design.over.map(|_| USUAL), files, ..*design }
}
