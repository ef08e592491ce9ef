//! Requests of drives: a thread that finds all of a drive's out sleeps, and hands nothing to the others meanwhile.

use terms::machine::DriveKind;

use super::drive::{Set, pieces};
use crate::compiler::{Compiler, LARGEST};
use crate::flow::{Context, Flow, Waits};
use crate::network::{Part, Resource, Slot};
use crate::parameter::{Parameter, SWITCHES};
use crate::site::Class;

/// How operations fill the drives of a set: drives that one touches, and pieces that it has there.
#[derive(Debug, Default)]
pub(super) struct Fill {
    touched: f64,
    pieces: f64,
    choices: f64,
    alternates: f64,
    /// Is anything asked of them for which a thread may sleep?
    asked: bool,
    /// Threads that hand over.
    hands: f64,
}

/// Of a drive with a [`queue`] that is at work half of the time or more, all beyond its places wait, for a processor hands over
/// several at a time; of one that is at work less, as much fewer (40 workloads of `check-model --seed 271128`).
const OFTEN: f64 = 2.0;

impl Compiler<'_> {
    /// Drives that take turns are not all at work. A stream is at some of them; and who hands out pieces sleeps while all
    /// requests of a drive are out (`blk_mq_get_tag`), and hands none to the others meanwhile.
    pub(super) fn turns(
        &mut self,
        set: &Set,
        class: &Class,
        flow: &Flow,
        (value, worked): (u32, f64),
        fill: &mut Fill,
    ) {
        let alone = set.size < 1.5 && self.burst <= 0.0;
        let later = match flow.waits {
            Waits::Operation => false,
            // The flusher is a thread like another.
            Waits::Nobody => class.piece.is_none() || class.queue.is_some(),
            Waits::Room | Waits::Group => self.burst <= 0.0,
        };
        // What waits in a queue holds nobody back; but while a cipher keeps the processor nothing is taken from it.
        let flows = class.queue.is_some() && self.burst <= 0.0;
        if alone || class.kind == DriveKind::Hdd || later || flows {
            // What heads do not work on they read ahead, or have in their caches.
            return;
        }
        let piece = class.piece.unwrap_or(LARGEST);
        let own = flow.bytes * flow.batch;
        let run = if flow.random { flow.run.min(own) } else { flow.run.min(f64::MAX) }.max(flow.bytes);
        let share = (run / flow.bytes).min(flow.batch);
        let (visits, whole) = (flow.rate * set.size / share, (share * flow.bytes / piece).ceil());
        fill.asked = true;
        if flow.waits == Waits::Operation {
            fill.touched += visits;
            fill.pieces += visits * whole;
            fill.choices += visits * flow.choices;
            fill.alternates += visits * flow.alternates;
        }
        fill.hands = fill.hands.max(flow.hands.unwrap_or(self.jobs));
        // Of a run all but what is out already is waited for. Where there are two copies, a piece goes to the one that is idle, and
        // both are at work on the run.
        let all = (run / piece).ceil();
        let asleep = if flow.run.is_finite() { (1.0 - class.requests * flow.alternates / all).max(0.0) } else { 0.0 };
        let handing = flow.hands.unwrap_or(match flow.context {
            Context::Thread | Context::Completions { .. } => self.jobs,
            Context::Workers { servers, .. } | Context::Behind { servers, .. } => servers,
        });
        let times = (asleep * set.size / flow.copies / flow.alternates / handing).max(1.0 / flow.at_once);
        // Who writes the same to several drives waits for each of them, also for that which another thread keeps full.
        let handed = flow.copies > 1.5 || flow.thread.is_some();
        if times <= 1.0 && !handed && self.burst <= 0.0 {
            return;
        }
        let times = times.max(1.0);
        let station = self.network.station(Resource::Turns(set.class, set.number), set.size, 1.0, Slot::None);
        let part = Part::of(station, value, worked * flow.rate * times, "one after the other");
        self.network.add(self.site.parameters.values(), Part { by: [value, flow.unsure], ..part });
        if let Some(piece) = class.piece.filter(|_| handed) {
            self.held_back(set, flow, station, (1.0 - class.requests / (own / piece).ceil()).max(0.0), piece);
        }
    }

    /// md's threads hold back what they hand over until no request is left (`blk_start_plug` in `flush_pending_writes` of
    /// drivers/md/raid1-10.c and in `raid5d`): the drives have nothing to do until the thread has worked on all of it, and the
    /// thread nothing while they work. `share`: of that which is slept for.
    fn held_back(&mut self, set: &Set, flow: &Flow, station: u16, share: f64, piece: f64) {
        let values = self.site.parameters.values();
        if let Some(thread) = flow.thread {
            let busy = self.network.stations[usize::from(thread)].demand;
            self.network.add(values, Part::of(station, Parameter::One.place(), busy * share, "its thread's own work"));
        }
        let each = flow.rate * set.size * share;
        for (parameter, factor) in [(Parameter::FlashIo, pieces(flow.bytes, piece)), (Parameter::FlashByte, flow.bytes)]
        {
            let part = Part::of(station, parameter.place(), each * factor, "handed over while no drive works");
            self.network.add(values, Part { by: [parameter.place(), Parameter::CpuFactor.place()], ..part });
        }
    }

    /// Drives wait while a cipher keeps the processor.
    pub(super) fn kept_waiting(&mut self, set: &Set, fill: &Fill) {
        if fill.asked && self.burst > 0.0 {
            let station = self.network.station(Resource::Turns(set.class, set.number), set.size, 1.0, Slot::None);
            let part = Part::of(station, Parameter::One.place(), self.burst, "nothing is handed over");
            self.network.add(self.site.parameters.values(), part);
        }
    }

    /// Operations at random places fill one drive's requests before those of the others: with `a` of them on each drive the
    /// fullest has `a + sqrt(2 a ln n)` (the largest of `n` Poisson numbers), and who meets it sleeps. So does each further
    /// thread, with an operation of its own.
    pub(super) fn hold(&mut self, set: &Set, fill: &Fill) {
        let class = &self.site.classes[set.class as usize];
        let choices = fill.choices / fill.touched;
        let apart = set.size / fill.touched / choices;
        if fill.touched <= 0.0 || apart <= 1.01 || class.requests.is_infinite() {
            return;
        }
        let (pieces, requests) = (fill.pieces / fill.touched, class.requests * choices);
        // A drive of the lab is at work on all of its requests side by side, where the network has one after the other: of
        // operations that leave some of them, others may be there as well.
        let beside = if class.piece.is_some() { (requests - pieces).max(0.0) } else { 0.0 };
        let fullest = (requests + beside) / pieces + 1.0;
        let spread = (2.0 * apart.ln()).sqrt();
        let root = ((spread * spread + 4.0 * fullest).sqrt() - spread) / 2.0;
        // The pieces of one operation keep several drives at work.
        let drives = (fill.alternates / fill.touched).min(pieces).max(1.0);
        let held = (apart * root * root + fill.hands - 1.0) * drives;
        self.network.population = self.network.population.min(held.max(1.0));
    }

    /// Who sleeps for a request is woken, and meanwhile a worker hands over what is there (`blk_flush_plug`).
    ///
    /// Where drives are the bottleneck, all that find no request sleep. Where processors are, drives are seldom full, and as many
    /// sleep as a queue M/M/1/K turns away; between the two, as many as make processors as busy as the drive. What is written
    /// back later comes by the hundred, and always sleeps. Where a queue takes what comes, nobody sleeps, and waiting takes less.
    pub(super) fn woken(&mut self, set: &Set, flow: &Flow) {
        let class = &self.site.classes[set.class as usize];
        let Some(piece) = class.piece else { return };
        self.network.behind = flow.is_behind();
        let pieces = pieces(flow.bytes, piece);
        let visits = flow.rate * set.size * self.contention * pieces;
        let (all, each, why) = match class.queue {
            Some(_) => (visits, Parameter::FlashQueue, "waiting in the queue"),
            None => (visits * SWITCHES, Parameter::HandoffReadIo, "sleeping for a request"),
        };
        let slept =
            if flow.waits == Waits::Operation { self.slept((set, class), flow, pieces, (all, each)) } else { all };
        self.work(flow.context, each, slept, why);
    }

    /// How many of `all` waits there are for an access of so many pieces that an operation waits for.
    fn slept(&mut self, (set, class): (&Set, &Class), flow: &Flow, pieces: f64, (all, each): (f64, Parameter)) -> f64 {
        let places = class.queue.unwrap_or(class.requests);
        let over = if flow.random { set.size / flow.wide } else { 1.0 };
        let own = pieces * flow.batch;
        // Groups of accesses for each operation. Below one, only that share of operations asks this drive.
        let asking = (flow.rate * set.size / (flow.wide * flow.batch)).min(1.0);
        let out = self.depth * self.jobs * asking * own / over;
        let beyond = |requests: f64| (1.0 - places / requests.max(1.0)).max(0.0);
        let drive = self.network.station(Resource::Drive(set.class, set.number), set.size, 1.0, Slot::Own);
        let cores = self.network.station(Resource::Cores, 1.0, self.site.threads(), Slot::Own);
        let busy = |station: u16| self.network.stations[usize::from(station)].demand;
        if class.queue.is_some() {
            return all * beyond(out) * (OFTEN * busy(drive) / busy(cores)).min(1.0);
        }
        let parameters = &self.site.parameters;
        let each = parameters.get(each) * parameters.get(Parameter::CpuFactor) / self.site.threads();
        let room = (busy(drive) - busy(cores)) / each;
        // An access of more pieces than a drive has requests meets itself.
        let least = all * beyond(own).max(beyond(out) * turned_away(busy(drive) / busy(cores), places));
        (all * beyond(out)).min(room.max(least))
    }
}

/// Share that finds a queue full that holds so many, the one at work among them, at that utilization (M/M/1/K).
fn turned_away(utilization: f64, places: f64) -> f64 {
    let rho = utilization.min(0.999);
    let full = rho.powf(places);
    (1.0 - rho) * full / (1.0 - full * rho)
}
