//! What a design is worth: its speed, its room, its safety, its life.

use std::collections::HashMap;

use capacity::DriveSize;
use durability::{Daily, DriveModel, Given, lifetime};
use model::solve::{Solution, relieved, solve};
use model::{Compiler, Conditions, Network, Site};
use terms::account::Purpose;
use terms::advice::Needs;
use terms::durability::Outlook;
use terms::{Bytes, BytesPerSecond, Name, Stack, Workload};

use crate::design::Layout;
use crate::likeness;
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
    pub design: Layout,
    /// Logarithm of the geometric mean of operations per second over the workloads.
    pub speed: f64,
    /// Bytes that can be written.
    pub available: Bytes,
    /// Probability of losing any data in a year, as it is believed.
    pub loss: f64,
    /// Years until the first drive is worn, as it is believed; endless where nothing was said.
    pub life: f64,
}

/// Logarithms of the geometric means of operations per second over the workloads.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Speeds {
    /// As it is.
    pub(crate) whole: f64,
    /// Were the jobs' threads never busy.
    pub(crate) relieved: f64,
}

/// Bytes of a design.
#[derive(Debug, Clone, Copy)]
struct Room {
    /// What can be written.
    available: Bytes,
    /// What is left for snapshots besides.
    snapshots: Bytes,
}

/// Scores designs one after the other; figures that several designs share are computed once.
#[derive(Debug)]
pub struct Judge<'a> {
    question: &'a Question<'a>,
    compiler: Compiler<'a>,
    names: Vec<Name>,
    room: HashMap<Layout, Option<Room>>,
    losses: HashMap<Layout, Option<f64>>,
    lives: HashMap<Layout, f64>,
}

impl<'a> Judge<'a> {
    /// For a question on a machine.
    #[must_use]
    pub fn new(question: &'a Question<'a>, site: &'a Site) -> Self {
        let names = question.drives.iter().map(|drive| drive.name.clone()).collect();
        Self {
            question,
            compiler: Compiler::new(site),
            names,
            room: HashMap::new(),
            losses: HashMap::new(),
            lives: HashMap::new(),
        }
    }

    /// The block of the drives.
    pub(crate) fn block(&self) -> Bytes {
        self.question.drives.iter().map(|drive| drive.lba).max().unwrap_or_default()
    }

    /// A design's figures, or why it does not serve.
    ///
    /// # Errors
    /// [`Unmet`]: what is missing of the needs, or that it does not fit on the drives.
    pub fn score(&mut self, design: &Layout) -> Result<Scored, Unmet> {
        let promise = self.promise(design)?;
        let speed = self.speeds(design).ok_or(Unmet::TooSmall)?.whole;
        Ok(Scored { speed, ..promise })
    }

    /// A design's figures but for its speed, which is left at nothing.
    pub(crate) fn promise(&mut self, design: &Layout) -> Result<Scored, Unmet> {
        let needs = self.question.needs;
        let available = self.room(design).ok_or(Unmet::TooSmall)?.available;
        if needs.capacity.is_some_and(|needed| available < needed) {
            return Err(Unmet::Capacity(available));
        }
        let life = self.life(design);
        if needs.life_years.is_some_and(|least| life < least) {
            return Err(Unmet::Life(life));
        }
        // Last, so that it is known what the risk alone rules out.
        let loss = self.loss(design).ok_or(Unmet::TooSmall)?;
        if needs.loss.is_some_and(|most| loss > most) {
            return Err(Unmet::Loss(loss));
        }
        Ok(Scored { design: *design, speed: 0.0, available, loss, life })
    }

    /// What can be written; `None` where it does not fit.
    fn room(&mut self, design: &Layout) -> Option<Room> {
        let (drives, names) = (self.question.drives, &self.names);
        let like = likeness::of_room(design);
        let account = || {
            capacity::account(&stack(&like, names), drives)
                .ok()
                .map(|account| Room { available: account.available, snapshots: account.used_for(Purpose::Snapshots) })
        };
        *self.room.entry(like).or_insert_with(account)
    }

    /// Does only what is left for snapshots rule a design out, which is a choice of the planner?
    pub(crate) fn keeps_too_much_free(&mut self, design: &Layout, unmet: Unmet) -> bool {
        let (Unmet::Capacity(_), Some(needed)) = (unmet, self.question.needs.capacity) else { return false };
        self.room(design).is_some_and(|room| room.available.0.saturating_add(room.snapshots.0) >= needed.0)
    }

    /// Probability of losing any data in a year. Bytes stored do not enter into it, and what headers take of alike drives is
    /// left out, so that designs that differ in no more have one figure.
    fn loss(&mut self, design: &Layout) -> Option<f64> {
        let (question, names) = (self.question, &self.names);
        let like = likeness::of_loss(design);
        let middle = || outlook(question, &stack(&like, names), Bytes(0)).map(|outlook| outlook.loss.any.middle);
        *self.losses.entry(like).or_insert_with(middle)
    }

    /// The probability of a loss that rules a design out, where that is no more than twice what is asked for and what is believed
    /// at best would not.
    pub(crate) fn barely_too_risky(&self, design: &Layout, unfit: Unmet) -> Option<f64> {
        let (Unmet::Loss(loss), Some(most)) = (unfit, self.question.needs.loss) else { return None };
        let outlook = outlook(self.question, &stack(design, &self.names), Bytes(0)).filter(|_| loss <= 2.0 * most)?;
        (outlook.loss.any.low <= most).then_some(loss)
    }

    /// Years until the first drive is worn.
    fn life(&mut self, design: &Layout) -> f64 {
        let (question, names) = (self.question, &self.names);
        if question.needs.daily.is_none() {
            return f64::INFINITY;
        }
        let like = likeness::of_life(design);
        let middle = || with(question, &stack(&like, names), Bytes(0), lifetime).map_or(f64::INFINITY, |of| of.middle);
        *self.lives.entry(like).or_insert_with(middle)
    }

    /// How fast it is; `None` where the machine lacks what it names.
    pub(crate) fn speeds(&mut self, design: &Layout) -> Option<Speeds> {
        let question = self.question;
        let count = u32::try_from(question.workloads.len()).ok().filter(|count| *count > 0)?;
        let mut sums = Speeds { whole: 0.0, relieved: 0.0 };
        let log = |solution: Solution| solution.throughput.max(f64::MIN_POSITIVE).ln();
        // In operations: the block is the same for every design.
        let each = |network: &Network| {
            sums.whole += log(solve(network));
            sums.relieved += log(relieved(network));
        };
        let stack = stack(design, &self.names);
        self.compiler.compile_each(&stack, question.workloads, &question.conditions, each).ok()?;
        Some(Speeds { whole: sums.whole / f64::from(count), relieved: sums.relieved / f64::from(count) })
    }
}

/// Why a design does not serve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Unmet {
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
    with(question, stack, available, durability::outlook)
}

/// Asks `durability` about a stack that holds so much, with what is taken for granted where nobody says more.
fn with<T>(question: &Question<'_>, stack: &Stack, available: Bytes, ask: impl Fn(&Given<'_>) -> T) -> T {
    let daily = question.needs.daily.map(|bytes| Daily::usual(question.workloads, bytes)).unwrap_or_default();
    let given = Given::usual(stack, question.models, available, question.rebuild, &daily);
    ask(&Given { common: question.needs.common, ..given })
}
