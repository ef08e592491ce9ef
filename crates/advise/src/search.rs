//! The search: every design is looked at, and the speed is computed of those that may be among the best.
//!
//! Whether a design meets the needs is known from figures that many designs share. Its speed takes far longer, and most
//! designs are beaten by one that was found before even at the most that they could reach: volumes, file systems and
//! encryption on top of an array, or of a drive, never make it faster than it is with nothing but a plain file system on
//! it, unless they hand work of the jobs' threads to others, and then no faster than were these threads never busy. (Tests
//! of `model` hold both.) Such a design is counted and left out; the front is that of all designs, which a test holds
//! against a search that leaves none out.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use model::Site;
use terms::layer::BtrfsChecksum;

use crate::design::{Files, Joint, Layout};
use crate::front::{Beaten, simplest};
use crate::likeness::of_speed;
use crate::score::{Judge, Question, Scored, Speeds, Unmet};
use crate::space::parts;

/// What rounding of solutions may add, as a logarithm: that of the tests of `model`.
const SLACK: f64 = 1e-3;

/// What a search found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Found {
    /// Designs that were looked at.
    pub designs: u64,
    /// Those that meet the needs.
    pub fitting: u64,
    /// Those that do not, only because they leave room for snapshots.
    pub kept_free: u64,
    /// Those that do not, only because of their risk.
    pub risky: u64,
    /// Those of which the speed was computed.
    pub solved: u64,
    /// Those of them that were not known to be beaten; the front of all is among them.
    pub best: Vec<Scored>,
    /// The simplest of all that meet the needs.
    pub simplest: Option<Scored>,
    /// The one of them with the least probability of a loss.
    pub safest: Option<Scored>,
}

impl Found {
    /// What several searches found together.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.designs += other.designs;
        self.fitting += other.fitting;
        self.kept_free += other.kept_free;
        self.risky += other.risky;
        self.solved += other.solved;
        self.best.extend(other.best);
        self.simplest = simplest(self.simplest.iter().chain(&other.simplest));
        self.safest = safest(self.safest.iter().chain(&other.safest));
        self
    }
}

/// Designs in parts, for several searches at once: whoever is free takes the next. Those with the most drives come first,
/// because what they find rules out most of the rest.
#[derive(Debug)]
pub struct LayoutQueue<'a> {
    parts: Vec<&'a [Layout]>,
    next: AtomicUsize,
}

impl<'a> LayoutQueue<'a> {
    /// Of a list of designs.
    #[must_use]
    pub fn new(designs: &'a [Layout]) -> Self {
        Self { parts: parts(designs).rev().collect(), next: AtomicUsize::new(0) }
    }

    /// Searches what nobody else has taken, until nothing is left.
    #[must_use]
    pub fn search(&self, question: &Question<'_>, site: &Site) -> Found {
        let mut search = Search::new(question, site);
        while let Some(part) = self.parts.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            search.look(part);
        }
        search.finish()
    }
}

/// A search that is under way.
#[derive(Debug)]
pub struct Search<'a> {
    judge: Judge<'a>,
    beaten: Beaten,
    /// Speeds on the same drives, by likeness.
    speeds: HashMap<Layout, f64>,
    /// The last base without and with btrfs on top, and what designs on it reach at most.
    bases: [Option<(Layout, Option<Speeds>)>; 2],
    found: Found,
}

impl<'a> Search<'a> {
    /// For a question on a machine.
    #[must_use]
    pub fn new(question: &'a Question<'a>, site: &'a Site) -> Self {
        Self {
            judge: Judge::new(question, site),
            beaten: Beaten::default(),
            speeds: HashMap::new(),
            bases: [None; 2],
            found: Found::default(),
        }
    }

    /// Looks at designs; the more of those with the same drives and the same on each are together, the faster.
    pub fn look(&mut self, designs: &[Layout]) {
        self.speeds.clear();
        for design in designs {
            self.found.designs += 1;
            if let Some(scored) = self.weigh(design) {
                self.beaten.learn(&scored);
                self.found.best.push(scored);
            }
        }
    }

    /// What was found.
    #[must_use]
    pub fn finish(self) -> Found {
        self.found
    }

    /// Its figures, unless it does not serve, or is beaten and neither simple nor safe.
    fn weigh(&mut self, design: &Layout) -> Option<Scored> {
        let promise = match self.judge.promise(design) {
            Ok(promise) => promise,
            Err(unmet) => {
                self.found.risky += u64::from(matches!(unmet, Unmet::Loss(_)));
                self.found.kept_free += u64::from(self.judge.keeps_too_much_free(design, unmet));
                return None;
            }
        };
        let most = self.most(design)?;
        self.found.fitting += 1;
        let is_simple = self.found.simplest.is_none_or(|known| design.burden() <= known.design.burden());
        let is_safe = self.found.safest.is_none_or(|known| promise.loss < known.loss);
        if !is_simple && !is_safe && self.beaten.knows(&Scored { speed: most, ..promise }) {
            return None;
        }
        let scored = Scored { speed: self.speed(design)?, ..promise };
        if is_simple {
            self.found.simplest = simplest(self.found.simplest.iter().chain([&scored]));
        }
        if is_safe {
            self.found.safest = Some(scored);
        }
        Some(scored)
    }

    /// What its speed is at most.
    fn most(&mut self, design: &Layout) -> Option<f64> {
        let own = matches!(design.joint, Joint::Btrfs { .. } | Joint::Zfs { .. });
        // What copies on write makes writes at random places sequential, which hard disks like.
        let files = match design.files {
            Some(Files::Btrfs(_)) => Files::Btrfs(BtrfsChecksum::Crc32c),
            _ => Files::Xfs,
        };
        let plain = Layout { volume: None, files: (!own).then_some(files), ..*design };
        let base = Layout { over: None, ..plain };
        let known = self.bases[slot(&base)].filter(|(known, _)| *known == base);
        let speeds = known.map_or_else(|| self.bounds(base), |(_, speeds)| speeds)?;
        let hands_over = design.over.is_some_and(|cipher| !cipher.inline);
        let most = if hands_over { speeds.relieved } else { speeds.whole };
        // Under the same encryption, volumes and file systems only add.
        let below = self.speeds.get(&plain).copied().unwrap_or(f64::INFINITY);
        Some(most.min(below) + SLACK)
    }

    fn bounds(&mut self, base: Layout) -> Option<Speeds> {
        self.found.solved += 1;
        let speeds = self.judge.speeds(&base);
        if let Some(speeds) = &speeds {
            self.speeds.insert(base, speeds.whole);
        }
        self.bases[slot(&base)] = Some((base, speeds));
        speeds
    }

    fn speed(&mut self, design: &Layout) -> Option<f64> {
        let like = of_speed(design);
        if let Some(known) = self.speeds.get(&like) {
            return Some(*known);
        }
        self.found.solved += 1;
        let speed = self.judge.speeds(&like)?.whole;
        self.speeds.insert(like, speed);
        Some(speed)
    }
}

/// The one with the least probability of a loss; of several the simplest.
fn safest<'a>(scored: impl Iterator<Item = &'a Scored> + Clone) -> Option<Scored> {
    let least = scored.clone().map(|one| one.loss).min_by(f64::total_cmp)?;
    simplest(scored.filter(|one| one.loss <= least))
}

/// Where the last base of its kind is kept.
const fn slot(base: &Layout) -> usize {
    matches!(base.files, Some(Files::Btrfs(_))) as usize
}
