//! Solving a network: approximate mean value analysis, with bounds for what nobody queues at.
//!
//! Bard and Schweitzer's fixed point: an operation that arrives finds what is there on average, less its own share,
//! `Q(N - 1) ≈ (N - 1)/N × Q(N)`. Stations with several servers are split after Seidmann: a queue of `D/m` and a delay
//! of `D (m - 1)/m`. Where all operations of a station take as long, an arrival waits only for what is left of the one at
//! work (Reiser, *A queueing network analysis of computer communication networks with window flow control*, 1979):
//! `R = D (1 + Q - U (1 - c²)/2)`. A job's thread serves that job alone: with `n` operations under way in each of the jobs, one
//! that arrives there sees `(n - 1)/n` of what is there on average (Reiser and Lavenberg, *Mean-value analysis of closed multichain
//! queuing networks*, 1980: each job is a class). On random networks of one class it is off by 1 % on average and 7 % at most; see
//! [`exact`](crate::exact).

use crate::network::{BOUND, Network, Resource, Resync, Serial, Station};

/// Largest number of slots: drives in a few sets, threads, locks.
pub const SLOTS: usize = 32;
/// The fixed point is reached when throughput, and what waits where, change by a smaller share.
const CLOSE: f64 = 1e-6;
/// Shortest time of an operation, in seconds, so that no division is by zero.
const SHORTEST: f64 = 1e-12;
/// Rounds of the fixed point at most.
const ROUNDS: u32 = 400;

/// Demands in the shape in which they are solved: one entry for each slot.
#[derive(Debug, Clone, Copy)]
pub struct Demands {
    /// Slots in use.
    pub len: usize,
    /// Seconds of each unit for one operation.
    pub demand: [f64; SLOTS],
    /// Seconds that it adds to a piece of an operation with nothing else under way, over all units.
    pub residence: [f64; SLOTS],
    /// Seconds by which the last piece of an operation comes after the first, where this is the slowest.
    pub following: [f64; SLOTS],
    /// Share of the busy time of each unit that an arrival waits less than behind exponential times.
    pub even: [f64; SLOTS],
    /// Classes that have units of their own there: jobs where it is their threads, otherwise 1.
    pub classes: [f64; SLOTS],
    /// Time in which nothing is used.
    pub delay: f64,
    /// Least seconds between two operations, by what nobody queues at.
    pub bound: f64,
    /// Pieces of an operation that go their ways by themselves.
    pub pieces: f64,
}

/// Throughput and where the time goes, for one network and population.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Solution {
    /// Operations per second.
    pub throughput: f64,
    /// Seconds of one operation.
    pub response: f64,
    /// Requests of a resynchronisation per second.
    pub resync: f64,
}

impl Demands {
    /// The demands of a network at the values of its book.
    #[must_use]
    pub fn of(network: &Network) -> Self {
        Self::made(network, network.delay, network.pieces, |_, station| (station.demand, station.residence))
    }

    /// The demands of a network with this delay, and what each station has to do for one operation and adds to its time.
    #[inline]
    pub(crate) fn made(network: &Network, delay: f64, pieces: f64, of: impl Fn(usize, &Station) -> (f64, f64)) -> Self {
        let mut demands = Self {
            len: usize::from(network.slots).min(SLOTS),
            demand: [0.0; SLOTS],
            residence: [0.0; SLOTS],
            following: [0.0; SLOTS],
            even: [0.0; SLOTS],
            classes: [1.0; SLOTS],
            delay,
            bound: 0.0,
            pieces,
        };
        for (place, station) in network.stations.iter().enumerate() {
            let (demand, residence) = of(place, station);
            let whole = residence * station.whole / station.residence.max(SHORTEST);
            let [rest, whole] = [(residence - whole, pieces), (whole, network.cut.min(pieces))].map(|(of, pieces)| {
                // Pieces are at different units. Each takes a unit's whole time, and together they count once.
                let piece = of * station.units * station.apart.min(pieces) / pieces;
                (piece, piece * (pieces / station.abreast.min(pieces) - 1.0))
            });
            let (piece, following) = (rest.0 + whole.0, rest.1 + whole.1);
            demands.put(station, demand, piece, following);
            demands.correct(station.resource, piece, station.servers);
        }
        demands
    }

    fn put(&mut self, station: &Station, demand: f64, residence: f64, following: f64) {
        let slot = usize::from(station.slot);
        if station.slot == BOUND || slot >= self.len {
            self.bound = self.bound.max(demand);
            return;
        }
        if demand > self.demand[slot] {
            self.demand[slot] = demand;
            self.even[slot] = station.even;
        }
        if residence > self.residence[slot] {
            self.residence[slot] = residence;
        }
        self.following[slot] = self.following[slot].max(following);
        if station.resource == Resource::Thread {
            self.classes[slot] = station.units;
        }
    }

    /// Share of what is at a station on average that an arrival sees of its own class, with so many pieces under way.
    fn seen(&self, at: usize, pieces: f64) -> f64 {
        let own = (pieces / self.classes[at]).max(1.0);
        (own - 1.0) / own
    }

    /// Seidmann's delay; and processor time is in the cores and in the thread that it runs in, but passes once.
    fn correct(&mut self, resource: Resource, residence: f64, servers: f64) {
        match resource {
            Resource::Cores => self.delay -= residence,
            _ => self.delay += residence * (servers - 1.0).max(0.0),
        }
    }

    /// The largest demand of one unit: nothing can be faster than one operation in that time.
    #[must_use]
    pub fn largest(&self) -> f64 {
        self.demand[..self.len].iter().copied().fold(self.bound, f64::max)
    }

    /// Seconds of an operation with nothing else under way: its first piece passes all stations, and the others follow
    /// it at the pace of the slowest.
    #[must_use]
    pub fn alone(&self) -> f64 {
        self.residence[..self.len].iter().sum::<f64>() + self.delay + self.followed()
    }

    /// Seconds by which the last piece of an operation comes after the first.
    fn followed(&self) -> f64 {
        self.following[..self.len].iter().copied().fold(0.0, f64::max)
    }
}

/// Solves a network at the values of its book.
#[must_use]
pub fn solve(network: &Network) -> Solution {
    solve_demands(network, &Demands::of(network))
}

/// Solves a network as though the threads of its jobs took no time: with encryption, a volume or a file system on top,
/// however much of their work these hand to others, in whatever pieces, it goes no faster. A file system spares md's thread, too.
#[must_use]
pub fn relieved(network: &Network) -> Solution {
    // An operation that is not cut uses all units of a station at once.
    let whole = |station: &Station| station.residence / station.apart.min(network.cut);
    let mut demands = Demands::made(network, network.delay, network.cut, |_, station| (station.demand, whole(station)));
    demands.delay -= network.spared;
    let relieved = |resource| matches!(resource, Resource::Thread | Resource::Serial(Serial::Mirror, _));
    let threads = network.stations.iter().filter(|station| relieved(station.resource));
    for slot in threads.map(|station| usize::from(station.slot)) {
        if slot < demands.len {
            (demands.demand[slot], demands.residence[slot], demands.following[slot]) = (0.0, 0.0, 0.0);
        }
    }
    solve_demands(network, &demands)
}

pub(crate) fn solve_demands(network: &Network, demands: &Demands) -> Solution {
    let solution = match network.resync {
        None => closed(demands, network.population),
        Some(resync) => beside(network, demands, resync),
    };
    match network.arrivals {
        Some(rate) => open(demands, rate, solution),
        None => solution,
    }
}

/// Throughput of a closed loop: `population` operations are always in flight. Stations queue segments, and an operation is
/// done when all its segments are; on average that is as if each segment were followed by another at once.
#[must_use]
pub fn closed(demands: &Demands, population: f64) -> Solution {
    let demand = &demands.demand[..demands.len];
    let residence = &demands.residence[..demands.len];
    let largest = demands.largest();
    let least = if largest > 0.0 { 1.0 / largest } else { f64::INFINITY };
    let pieces = population * demands.pieces;
    let mut all = [0.0; SLOTS];
    let queue = &mut all[..demands.len];
    let mut x = (population / demands.alone().max(SHORTEST)).min(least);
    for (queue, demand) in queue.iter_mut().zip(demand) {
        *queue = (x * demand).min(pieces);
    }
    for _ in 0..ROUNDS {
        // The queue of a unit is what is under way in it, so that the one at work is part of it.
        let ahead = |at: usize, queue: f64, x: f64| {
            demands.seen(at, pieces) * (queue - demands.even[at] * (x * demand[at]).min(1.0).min(queue))
        };
        let inside = (0..queue.len()).map(|at| residence[at] * (1.0 + ahead(at, queue[at], x)));
        let next = population / (demands.delay + inside.sum::<f64>()).max(SHORTEST);
        let mut change = (next - x).abs() / next;
        let before = std::mem::replace(&mut x, next);
        for at in 0..queue.len() {
            let was = queue[at];
            queue[at] = x * demand[at] * (1.0 + ahead(at, was, before));
            // Throughput alone stands still where it turns, too, while requests go on from one queue to another.
            change = change.max((queue[at] - was).abs() / pieces);
        }
        if change < CLOSE {
            break;
        }
    }
    // Pieces that follow one another are under way together, but no operation ends before its last piece.
    let throughput = x.min(least).min(population / demands.alone().max(SHORTEST));
    Solution { throughput, response: population / throughput, resync: 0.0 }
}

/// Operations that arrive at random moments at a given rate: `R = Σ D/(1 - U)`, and of `D U/(1 - U)` only the share
/// `(1 + c²)/2` where times vary less (Pollaczek and Khinchine).
fn open(demands: &Demands, rate: f64, most: Solution) -> Solution {
    if rate >= most.throughput {
        return most;
    }
    let wait = |at: usize| {
        let busy = (rate * demands.demand[at]).min(0.999);
        demands.residence[at] * (1.0 + (1.0 - demands.even[at]) * busy / (1.0 - busy))
    };
    let response = demands.delay + (0..demands.len).map(wait).sum::<f64>() + demands.followed();
    Solution { throughput: rate, response, resync: most.resync }
}

/// With a second class beside: a resynchronisation, which has its own requests under way and a cap.
///
/// The cap is a think time; it is found by halving, for the kernel sleeps just long enough to keep to it.
fn beside(network: &Network, demands: &Demands, resync: Resync) -> Solution {
    let (mut low, mut high) = (0.0, resync.cap * resync.depth * 2.0);
    let mut best = two(network, demands, resync, 0.0);
    if best.resync <= 1.0 / resync.cap {
        return best;
    }
    for _ in 0..24 {
        let think = f64::midpoint(low, high);
        best = two(network, demands, resync, think);
        if best.resync > 1.0 / resync.cap { low = think } else { high = think }
    }
    best
}

/// Two classes: Schweitzer's fixed point, each class seeing its own requests less one share.
fn two(network: &Network, demands: &Demands, resync: Resync, think: f64) -> Solution {
    let len = demands.len;
    let mut second = [0.0; SLOTS];
    for station in &network.stations {
        if station.slot != BOUND && usize::from(station.slot) < len {
            second[usize::from(station.slot)] = match station.resource {
                Resource::Drive(..) => resync.drive,
                Resource::Serial(crate::network::Serial::Parity, _) => resync.serial,
                _ => second[usize::from(station.slot)],
            };
        }
    }
    let (n, m) = (network.population * demands.pieces, resync.depth);
    let least = 1.0 / demands.largest().max(SHORTEST);
    let quickest = network.population / demands.alone().max(SHORTEST);
    let (mut own, mut other) = ([0.0; SLOTS], [0.0; SLOTS]);
    let (mut x, mut y) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        let (mut response, mut longest) = (demands.delay, 0.0_f64);
        for at in 0..len {
            response += demands.residence[at] * (1.0 + own[at] * demands.seen(at, n) + other[at]);
            let here = second[at] * (1.0 + other[at] * (m - 1.0) / m + own[at]);
            // Members are read and written side by side: the slowest counts.
            longest = longest.max(here);
        }
        let next = (network.population / response.max(SHORTEST)).min(least).min(quickest);
        let beside = m / (think + longest).max(SHORTEST);
        let mut change = (next - x).abs() / next + (beside - y).abs() / beside;
        (x, y) = (next, beside);
        for at in 0..len {
            let mine = x * demands.demand[at] * (1.0 + own[at] * demands.seen(at, n) + other[at]);
            let theirs = y * second[at] * (1.0 + other[at] * (m - 1.0) / m + own[at]);
            // Both rates may stand still at a bound while queues still grow.
            change = change.max((mine - own[at]).abs() / n).max((theirs - other[at]).abs() / m);
            own[at] = f64::midpoint(own[at], mine);
            other[at] = f64::midpoint(other[at], theirs);
        }
        if change < CLOSE {
            break;
        }
    }
    Solution { throughput: x, response: network.population / x, resync: y }
}
