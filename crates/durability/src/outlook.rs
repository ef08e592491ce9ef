//! Everything that is to be expected of a stack over the years, from what is given.

use std::collections::BTreeMap;

use terms::account::LayerAccount;
use terms::durability::{Amplification, CommonCause, DriveClass, End, Healing, Outlook, Spread};
use terms::layer::ArrayState;
use terms::{Bytes, BytesPerSecond, Layer, Name, Nanos, Ref, Stack, Workload};

use crate::arrangement::{arranged, is_degraded};
use crate::healing::healed;
use crate::loss::{Circumstances, Hazards, loss};
use crate::parts::{Part, compared, parts, taken};
use crate::rebuild::{RESYNC_CAP, Speeds, rebuild, scrub};
use crate::writes::{Write, amplification, life};

/// Hours of a year.
const HOURS: f64 = 24.0 * 365.25;
/// Seconds of a year.
const YEAR: f64 = HOURS * 3600.0;
/// Where nothing looks for them, errors wait this many years: as long as the year that is looked at.
const UNSCRUBBED: f64 = 1.0;
/// What a silent corruption takes: most of those that CERN found were regions of 64 KiB (Panzer-Steindel, 2007).
const REGION: Bytes = Bytes::kib(64);
/// What an unreadable block takes where nothing says more: a page.
const BLOCK: Bytes = Bytes::kib(4);

/// A drive, as far as its durability goes.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveModel {
    /// The name that stacks use.
    pub name: Name,
    /// Its size.
    pub size: Bytes,
    /// Its kind, with anything replaced that is known better.
    pub class: DriveClass,
}

/// What is written in a day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Daily {
    /// How.
    pub write: Write,
    /// Bytes in a day, as users see them.
    pub bytes: Bytes,
}

/// What an outlook is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Given<'a> {
    /// The stack.
    pub stack: &'a Stack,
    /// The state that its arrays are in all year, where they have none by themselves.
    pub state: ArrayState,
    /// Its drives.
    pub drives: &'a [DriveModel],
    /// Its layers with their sizes, as `capacity` accounts for them. One that is not there is as large as the smallest that it
    /// rests on.
    pub layers: &'a [LayerAccount],
    /// What it can hold, as `capacity` accounts for it.
    pub available: Bytes,
    /// The share of that in use.
    pub used: f64,
    /// Speeds of rebuilding.
    pub speeds: Speeds,
    /// Time until a failed drive is replaced; nothing for a spare that waits.
    pub replace: Spread<Nanos>,
    /// Time between scrubs; none where nobody scrubs.
    pub scrubbed_every: Option<Nanos>,
    /// How much more often drives fail while one of theirs is missing.
    pub correlation: Spread<f64>,
    /// How often something takes all drives at once; nobody knows but the owner.
    pub common: CommonCause,
    /// What is written.
    pub daily: &'a [Daily],
}

/// Failures of drives that share batch, age, load and room: from independent to a hundred times, 10 believed.
pub const CORRELATION: Spread<f64> = Spread { low: 1.0, middle: 10.0, high: 100.0 };
/// Until a failed drive is replaced, where the owner says nothing: a spare that waits, a day, three.
pub const REPLACE: Spread<Nanos> =
    Spread { low: Nanos(0), middle: Nanos::seconds(86_400), high: Nanos::seconds(3 * 86_400) };

/// Between scrubs, where the owner says nothing: a month, as Debian's `mdcheck` and `zfs-zed` do by themselves.
const SCRUBBED: Nanos = Nanos::seconds(30 * 86_400);
/// Share of what can be written that is in use: most systems are kept below full and are not empty.
const USED: f64 = 0.5;
/// Share of a drive that is left to a rebuild: all of it at night, some of it by day.
const LEFT: Spread<f64> = Spread { low: 0.3, middle: 0.7, high: 1.0 };

impl Daily {
    /// So many bytes, as these workloads write them: each has a part by the share of its operations that write. Nothing where none
    /// writes.
    #[must_use]
    pub fn of(workloads: &[Workload], bytes: Bytes) -> Vec<Self> {
        let mut kinds: Vec<(Write, f64)> = Vec::new();
        for (write, share) in workloads.iter().flat_map(writes) {
            match kinds.iter_mut().find(|(known, _)| *known == write) {
                Some((_, known)) => *known += share,
                None => kinds.push((write, share)),
            }
        }
        let all: f64 = kinds.iter().map(|(_, share)| share).sum();
        let part = |share: f64| Bytes((bytes.as_f64() * share / all) as u64);
        kinds.into_iter().map(|(write, share)| Self { write, bytes: part(share) }).collect()
    }

    /// The same; where none writes, at random places in blocks of 16 KiB, as databases and virtual machines write.
    #[must_use]
    pub fn usual(workloads: &[Workload], bytes: Bytes) -> Vec<Self> {
        let daily = Self::of(workloads, bytes);
        let scattered = Self { write: Write { block: Bytes::kib(16), random: true, sync: false }, bytes };
        if daily.is_empty() { vec![scattered] } else { daily }
    }
}

/// How a workload writes, and its share of operations that do: of each of its parts, where it has several.
fn writes(work: &Workload) -> Vec<(Write, f64)> {
    let parts: Vec<Workload> = work.parts.iter().map(terms::Part::alone).collect();
    let each = if parts.is_empty() { std::slice::from_ref(work) } else { &parts };
    let count = each.len() as f64;
    let of = |work: &Workload| {
        let write = Write { block: work.block, random: work.pattern.random(), sync: work.flushed_every() == Some(1) };
        (write, (1.0 - work.pattern.read_share()) / count)
    };
    each.iter().map(of).filter(|(_, share)| *share > 0.0).collect()
}

impl<'a> Given<'a> {
    /// What is taken for granted where the owner says nothing, of drives that take so many bytes per second.
    #[must_use]
    pub const fn usual(
        stack: &'a Stack,
        drives: &'a [DriveModel],
        available: Bytes,
        speed: BytesPerSecond,
        daily: &'a [Daily],
    ) -> Self {
        let speeds = Speeds { drive: Spread::exactly(speed), left: LEFT, cap: RESYNC_CAP, thread: None };
        Self {
            stack,
            state: ArrayState::Whole,
            drives,
            layers: &[],
            available,
            used: USED,
            speeds,
            replace: REPLACE,
            scrubbed_every: Some(SCRUBBED),
            correlation: CORRELATION,
            common: CommonCause::ASSUMED,
            daily,
        }
    }
}

/// What is to be expected. `None` where the stack is not well formed or a drive of it is not among the given.
#[must_use]
pub fn outlook(given: &Given<'_>) -> Option<Outlook> {
    let stack = given.stack;
    let member = given.member()?;
    let healing = healed(stack, given.state);
    let other = if healing == Healing::Repaired { Healing::Unnoticed } else { Healing::Repaired };
    let amplification = given.amplification();
    Some(Outlook {
        stack: stack.name.clone(),
        degraded: stack.nodes.iter().any(|node| is_degraded(node, given.state)),
        healing,
        rebuild: rebuild(stack, member, given.used, &given.speeds),
        scrub: scrub(stack, member, given.used, &given.speeds),
        life_years: given.life(&amplification),
        unknown_life: given.unknown_life(),
        amplification,
        common: given.common,
        loss: loss(given.circumstances(healing)?.as_ref()),
        otherwise: loss(given.circumstances(other)?.as_ref()),
    })
}

/// Years until the first drive is worn, as in the [`outlook`]; `None` where nothing is written or nobody knows.
#[must_use]
pub fn lifetime(given: &Given<'_>) -> Option<Spread<f64>> {
    given.life(&given.amplification())
}

impl Given<'_> {
    /// What the stack makes of each kind of write.
    fn amplification(&self) -> Vec<Amplification> {
        self.daily.iter().map(|daily| amplification(self.stack, &daily.write)).collect()
    }

    fn drive(&self, name: &Name) -> Option<&DriveModel> {
        self.drives.iter().find(|drive| &drive.name == name)
    }

    /// Bytes of what a layer rests on.
    fn size(&self, on: &Ref) -> Option<Bytes> {
        match on {
            Ref::Drive(name) => self.drive(name).map(|drive| drive.size),
            Ref::Layer(name) => {
                let told = self.layers.iter().find(|entry| &entry.layer == name).map(|entry| entry.above);
                told.or_else(|| self.stack.node(name)?.on.iter().filter_map(|on| self.size(on)).min())
            }
        }
    }

    /// What is rebuilt or compared of the member of which most is used, which is the last to be whole again.
    fn member(&self) -> Option<Bytes> {
        let node = compared(self.stack).or_else(|| self.stack.top())?;
        let sizes: Vec<f64> = node.on.iter().map(|on| self.size(on).map(Bytes::as_f64)).collect::<Option<_>>()?;
        taken(&node.layer, &sizes).into_iter().reduce(f64::max).map(|most| Bytes(most as u64))
    }

    /// What the stack has of its layers and drives.
    fn parts(&self) -> BTreeMap<&Name, Part> {
        parts(self.stack, |on| self.size(on).unwrap_or_default().as_f64())
    }

    /// Circumstances at both ends and in between, were wrong data treated so.
    #[must_use]
    pub fn circumstances(&self, healing: Healing) -> Option<Spread<Circumstances>> {
        let at = |end| self.at(end, healing);
        Some(Spread { low: at(End::Low)?, middle: at(End::Middle)?, high: at(End::High)? })
    }

    fn at(&self, end: End, healing: Healing) -> Option<Circumstances> {
        // Losses of groups that share drives are not independent, and there is no rule for that.
        let names = arranged(self.stack, self.state).filter(|names| !names.shares_drives())?;
        if names.drives().into_iter().any(|name| self.drive(name).is_none()) {
            return None;
        }
        let none = Hazards { failures: 0.0, unreadable: 0.0, latent: 0.0, silent: 0.0, waiting: 0.0 };
        let parts = self.parts();
        let held = |name: &Name| parts.get(name).map_or(1.0, |part| part.held);
        let drives = names.map(&|name| self.drive(name).map_or(none, |drive| self.hazards(drive, held(name), end)));
        let rebuilding = rebuild(self.stack, self.member()?, self.used, &self.speeds);
        let rebuilding = rebuilding.map_or(0.0, |time| time.at(end).as_seconds());
        Some(Circumstances {
            drives,
            window: (self.replace.at(end).as_seconds() + rebuilding) / YEAR,
            correlation: self.correlation.at(end),
            common: self.common.rate.at(end),
            healing,
            stored: self.available.as_f64() * self.used,
            block: self.block().as_f64(),
            region: REGION.as_f64(),
        })
    }

    /// Those of a drive of which the stack holds so much: errors elsewhere on it take nothing of the stack.
    fn hazards(&self, drive: &DriveModel, held: f64, end: End) -> Hazards {
        let class = &drive.class;
        // On average an error waits half the time between scrubs.
        let half = |every: Nanos| (every.as_seconds() / 2.0 / YEAR).min(UNSCRUBBED);
        let waits = self.scrubbed_every.map_or(UNSCRUBBED, half);
        let read = held * drive.size.as_f64() * if self.reads_all() { 1.0 } else { self.used };
        let in_reading = read * 8.0 * class.unreadable_per_bit.at(end);
        let (latent, silent) = (held * class.latent_per_year.at(end), held * class.silent_per_year.at(end));
        Hazards {
            failures: class.failures_per_year.at(end),
            unreadable: in_reading + latent * waits,
            latent: latent + in_reading,
            silent,
            waiting: silent * waits,
        }
    }

    /// Does a rebuild read all of a drive, used or not?
    fn reads_all(&self) -> bool {
        !compared(self.stack).is_some_and(|node| node.layer.traits().tree)
    }

    /// What is lost with one unreadable block.
    fn block(&self) -> Bytes {
        let of = |layer: &Layer| if let Layer::Zfs(zfs) = layer { Some(zfs.recordsize) } else { None };
        self.stack.top().and_then(|top| of(&top.layer)).unwrap_or(BLOCK)
    }

    /// Years until the first drive is worn, each by what goes to it.
    fn life(&self, amplification: &[Amplification]) -> Option<Spread<f64>> {
        let written = |of: fn(&Spread<f64>) -> f64| {
            let each = self.daily.iter().zip(amplification);
            each.map(|(daily, amplification)| daily.bytes.as_f64() * of(&amplification.total)).sum::<f64>()
        };
        let written = Spread { low: written(|f| f.low), middle: written(|f| f.middle), high: written(|f| f.high) };
        let lives = self.wearing().filter_map(|(drive, endurance, part)| {
            let endurance = endurance.map(|writes| writes * drive.size.as_f64());
            life(endurance, written, part.written?)
        });
        lives.min_by(|a, b| a.middle.total_cmp(&b.middle))
    }

    /// Drives that wear, of which nobody knows how much goes to them.
    fn unknown_life(&self) -> Vec<Name> {
        let unknown = self.wearing().filter(|(_, _, part)| part.written.is_none() && !self.daily.is_empty());
        unknown.map(|(drive, _, _)| drive.name.clone()).collect()
    }

    /// Drives that wear: how often each may be written, and its part.
    fn wearing(&self) -> impl Iterator<Item = (&DriveModel, Spread<f64>, Part)> {
        self.parts().into_iter().filter_map(|(name, part)| {
            let drive = self.drive(name)?;
            Some((drive, drive.class.drive_writes?, part))
        })
    }
}
