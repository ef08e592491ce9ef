//! Drives: how long each works for what it is asked, over which links, and what the driver takes.

use terms::machine::DriveKind;

use super::turns::Fill;
use crate::calls::driver;
use crate::compiler::{Compiler, count};
use crate::flash::is_flash;
use crate::flow::{Flow, PAGE, Waits};
use crate::network::{BOUND, DELAY, Part, Resource, Slot};
use crate::parameter::{Parameter, QUEUE};
use crate::site::Class;

/// Requests side by side that the elevator sends to a drive before it looks at another place (`fifo_batch` in
/// block/mq-deadline.c).
const BATCH: f64 = 16.0;

/// Drives of one class that are asked for the same.
pub(super) struct Set {
    pub(super) class: u32,
    pub(super) number: u32,
    pub(super) size: f64,
    first: u32,
}

impl Compiler<'_> {
    /// Adds what the drives, their links and their driver take.
    pub(crate) fn demand_of_drives(&mut self) {
        let used = std::mem::take(&mut self.used);
        let mut sets: [Option<Set>; 16] = Default::default();
        let mut rest: Vec<Set> = Vec::new();
        let mut found = 0;
        for &drive in &used {
            let class = self.site.drives[drive as usize];
            let same =
                |set: &&mut Set| set.class == class && self.asked[set.first as usize] == self.asked[drive as usize];
            if let Some(set) = sets.iter_mut().flatten().chain(&mut rest).find(same) {
                set.size += 1.0;
                continue;
            }
            let set = Set { class, number: found, size: 1.0, first: drive };
            match sets.get_mut(found as usize) {
                Some(place) => *place = Some(set),
                None => rest.push(set),
            }
            found += 1;
        }
        for set in sets.iter().flatten().chain(&rest) {
            let flows = std::mem::take(&mut self.asked[set.first as usize]);
            let mut fill = Fill::default();
            for flow in &flows {
                self.drive(set, flow, &mut fill);
            }
            self.kept_waiting(set, &fill);
            self.hold(set, &fill);
            self.asked[set.first as usize] = flows;
        }
        // Once it is known what is short.
        for set in sets.iter().flatten().chain(&rest) {
            let flows = std::mem::take(&mut self.asked[set.first as usize]);
            flows.iter().for_each(|flow| self.woken(set, flow));
            self.asked[set.first as usize] = flows;
        }
        self.network.behind = false;
        self.used = used;
    }

    fn drive(&mut self, set: &Set, flow: &Flow, fill: &mut Fill) {
        let class = &self.site.classes[set.class as usize];
        self.network.behind = flow.is_behind();
        let share = residence(flow);
        if flow.write {
            self.network.write_bytes += flow.rate * flow.bytes * set.size;
        }
        if flow.waits == Waits::Operation {
            self.network.population = self.network.population.min((flow.at_most / flow.rate).max(1.0));
        }
        let drive = self.network.station(Resource::Drive(set.class, set.number), set.size, 1.0, Slot::Own);
        self.network.stations[usize::from(drive)].even = if flow.apart { 1.0 } else { class.even };
        let worked = self.service(class, drive, flow, set.size);
        self.turns(set, class, flow, worked, fill);
        let slot = self.network.stations[usize::from(drive)].slot;
        let (apart, abreast) = self.side_by_side(flow, set.size);
        self.network.spread(drive, apart, abreast);
        if let Some(ways) = class.link {
            let resource = if flow.write {
                Resource::LinkDown(set.class, set.number)
            } else {
                Resource::LinkUp(set.class, set.number)
            };
            let link = self.network.station(resource, set.size, 1.0, Slot::With(slot));
            self.network.spread(link, apart, abreast);
            let part = Part::of(link, ways[usize::from(flow.write)], flow.rate * flow.bytes, "bytes over its link");
            self.network.add(self.site.parameters.values(), Part { share, ..part });
        }
        self.shared(class, flow, set.size);
        self.driver(class, flow, set.size);
    }

    /// Drives that have different pieces of one read at the same time, and drives that work on them: as many more as there are copies
    /// to choose from. A piece may be spread over several drives itself.
    fn side_by_side(&self, flow: &Flow, size: f64) -> (f64, f64) {
        if flow.write || flow.waits != Waits::Operation {
            return (1.0, 1.0);
        }
        let each = (self.network.bytes / self.network.pieces / flow.run).clamp(1.0, flow.wide.max(1.0));
        let apart = flow.wide.max(1.0) / each;
        (apart, (apart * flow.alternates).min(size).max(apart))
    }

    /// The drive's own time, and what an operation takes there with nothing else under way.
    /// `size`: how many drives alike share the operations. Gives what it works for one access: a value, and how often that.
    fn service(&mut self, class: &Class, station: u16, flow: &Flow, size: f64) -> (u32, f64) {
        let values = self.site.parameters.values();
        let sustained = self.conditions.sustained;
        let (byte, operation) = match (flow.write, sustained) {
            (false, _) => (class.read, class.read_op),
            (true, false) => (class.write, class.write_op),
            (true, true) => (class.sustained, class.sustained_op),
        };
        // A command takes the drive's controller no longer where the next one is beside it: as many as it was rated with, be they
        // reads or writes, are surely possible.
        let command = if values[class.read_op as usize] < values[class.write_op as usize] {
            class.read_op
        } else {
            class.write_op
        };
        // Branches of one operation wait for the slowest: the mean of the largest of k lies between 1 and the harmonic
        // number of k, by how far their times spread. A drive that waits meanwhile has others to serve, but heads lose the
        // order in which they were sorted. What is asked for in order a hard disk has in its cache before, or takes into it:
        // how long the head is on its way spreads nothing there. Nor does it in a group, which ends with the last of many
        // accesses of each drive: their sums are nearly the same.
        let is_hdd = class.kind == DriveKind::Hdd;
        let through_cache = is_hdd && !flow.random;
        let joined = !through_cache && flow.waits == Waits::Operation;
        let branches = if joined { 1.0 + class.spread * (harmonic(flow.wide) - 1.0) } else { 1.0 };
        let (rate, share) =
            if is_hdd { (flow.rate * branches, residence(flow)) } else { (flow.rate, residence(flow) * branches) };
        let one = Parameter::One.place();
        let each = |value: u32, factor: f64, why| Part {
            by: [value, flow.unsure],
            share,
            ..Part::of(station, one, factor * rate, why)
        };
        // Flash that is full has room made for each page that is written anywhere, whether one or many come at once: by bytes
        // its writes at random are as slow in large blocks as in small ones.
        // A drive that kept up 84 k of 4 KiB, 345 MB/s, of 634 MB/s in order, kept up as much of 16, 128 and 1024 KiB (SNIA's test,
        // published in 2018).
        let is_full = flow.write && sustained && is_flash(class.kind) && class.keeps_up;
        let moved = if is_full { (flow.bytes / PAGE).max(1.0) } else { 1.0 };
        // The rating is of writes all over it, and those are what it keeps up.
        let within = if flow.write && !sustained { class.within(values, self.conditions.span.as_f64()) } else { 1.0 };
        let mut worked = (byte, flow.bytes);
        if flow.random && is_hdd {
            // What a journal writes back waits by the thousand.
            let queued =
                if flow.waits == Waits::Operation { self.network.population * flow.rate.min(1.0) } else { QUEUE };
            // A cache that may keep writes has as many to sort, whoever waits, until it is flushed.
            let way = usize::from(flow.write);
            let keeps = flow.write && class.cached && !class.told_alone[way];
            let kept = if keeps { self.every.unwrap_or(QUEUE) } else { 1.0 };
            let queued = queued.max(kept).clamp(1.0, QUEUE);
            let reach = class.reach(self.conditions.span.as_f64());
            let far = |told: bool| if told { 1.0 } else { reach };
            let alone = values[class.unsorted[way] as usize] * far(class.told_alone[way]);
            let sorted = values[operation as usize] * far(class.told[way]);
            // Heads travel less when there is more to choose from: a power law between one and a full queue.
            let times = (alone / sorted).max(1.0).powf(1.0 - queued.ln() / QUEUE.ln());
            let times = times * far(class.told[way]);
            self.network.add(values, each(operation, times, "random operations, sorted by the drive"));
            self.network.add(values, each(byte, (flow.bytes - 4096.0).max(0.0), "bytes beyond 4 KiB"));
            worked = (operation, times);
        } else if let Some(piece) = class.piece {
            let pieces = pieces(flow.bytes, piece);
            self.network.add(values, each(operation, pieces, "pieces that it takes at once"));
            worked = (operation, pieces);
        } else if flow.random && values[operation as usize] * moved * within > values[byte as usize] * flow.bytes {
            let part = if within < 1.0 { Parameter::PartOfFlash.place() } else { flow.unsure };
            let times = (moved * within).max(values[command as usize] / values[operation as usize]);
            let work = each(operation, times, "random operations");
            self.network.add(values, Part { by: [operation, part], ..work });
            worked = (operation, times);
        } else if !is_hdd && values[command as usize] > values[byte as usize] * flow.bytes {
            self.network.add(values, each(command, 1.0, "operations, in whatever order"));
            worked = (command, 1.0);
        } else {
            self.network.add(values, each(byte, flow.bytes, "bytes"));
            if is_hdd && flow.passes > 1.0 {
                // Others read meanwhile, and nobody waits for it.
                let passed = each(byte, flow.bytes * (flow.passes - 1.0), "parity that its head passes over");
                self.network.add(values, Part { share: 0.0, ..passed });
            }
        }
        if is_hdd {
            self.network.add(values, each(class.position, flow.seeks, "seeks"));
            return worked;
        }
        let alone = match (flow.write, flow.random) {
            (true, _) => class.write_delay,
            (false, true) => class.read_delay,
            (false, false) => class.ahead,
        };
        if flow.waits != Waits::Operation {
            return worked;
        }
        // An operation is at one of the drives, whichever: all of them together have it as often as it comes.
        let apart = flow.rate * size / (flow.wide * flow.batch);
        // Where each piece takes as long, its bytes are in that time; in order those of 4 KiB.
        let inside = match (flow.random, class.piece) {
            (_, Some(piece)) => values[operation as usize] * pieces(flow.bytes, piece),
            (true, None) => values[operation as usize] * within,
            (false, None) => values[command as usize].max(values[byte as usize] * flow.bytes.min(PAGE)),
        };
        let inside = inside.min(values[alone as usize]);
        // What the station already has of it is taken off.
        let left = 1.0 - inside / values[alone as usize];
        self.network.add(values, Part::of(DELAY, alone, apart * left, "an operation alone on the drive"));
        worked
    }

    /// Seeks for each access of several streams: they are in several places, and the head goes from one to the next once for
    /// what of each waits side by side. A cache that may keep writes has a queue of all streams to sort: the head comes to each
    /// of them once in that, by shorter ways the more there are.
    pub(crate) fn between_streams(&self, write: bool, streams: f64) -> f64 {
        let beside = 1.0 / self.depth.min(BATCH);
        let Some(drive) = self.first_drive().filter(|_| write) else { return beside };
        let class = self.class_of(drive);
        if class.kind != DriveKind::Hdd || !class.cached {
            return beside;
        }
        let values = self.site.parameters.values();
        let sorted = (values[class.write_op as usize] / values[class.position as usize]).min(1.0);
        // Until it is flushed.
        let queue = (self.every.unwrap_or(QUEUE) * self.jobs).clamp(1.0, QUEUE);
        beside.min(streams.min(queue) / queue * sorted.powf(queue.ln() / QUEUE.ln()))
    }

    /// The same where so many drives have it: as many streams keep one each (`is_sequential` in drivers/md/raid1.c;
    /// `find_live_mirror` in fs/btrfs/volumes.c takes it from the process), and no head goes from one to another.
    pub(super) fn streams_of_copies(&self, flow: Flow, copies: f64) -> Flow {
        if flow.random || self.jobs < 1.5 || self.jobs > copies {
            return flow;
        }
        Flow { seeks: (flow.seeks - self.between_streams(flow.write, self.jobs)).max(0.0), apart: true, ..flow }
    }

    /// Uplinks and memory.
    fn shared(&mut self, class: &Class, flow: &Flow, size: f64) {
        let values = self.site.parameters.values();
        let bytes = flow.rate * flow.bytes * size;
        let mut next = class.uplink;
        let mut hops = 0;
        while let Some(at) = next
            && hops < 8
        {
            let uplink = &self.site.uplinks[at as usize];
            let station = self.network.station(Resource::Uplink(at, flow.write), 1.0, 1.0, Slot::None);
            debug_assert_eq!(self.network.stations[usize::from(station)].slot, BOUND);
            let way = uplink.ways[usize::from(flow.write)];
            self.network.add(values, Part::of(station, way, bytes, "bytes of all drives behind it"));
            if let Some(trip) = uplink.round_trip {
                self.network
                    .add(values, Part::of(DELAY, trip, flow.rate * size / (flow.wide * flow.batch), "there and back"));
            }
            if uplink.tcp {
                let visits = flow.rate * size * self.contention;
                self.work(flow.context, Parameter::TcpIo, visits, "TCP, an operation");
                self.work(flow.context, Parameter::TcpByte, bytes, "TCP, its bytes");
            }
            next = uplink.behind;
            hops += 1;
        }
        if class.kind == DriveKind::Ram {
            self.memory(bytes * 2.0, "copied by the RAM drive");
        } else {
            self.memory(bytes, "moved by the drives");
        }
    }

    /// Processor time of the driver, and the first touch of what was read.
    fn driver(&mut self, class: &Class, flow: &Flow, size: f64) {
        let visits = flow.rate * size * self.contention;
        if let Some(piece) = class.piece {
            let pieces = pieces(flow.bytes, piece);
            self.work(flow.context, Parameter::FlashIo, visits * pieces, "queue and timer");
            self.work(flow.context, Parameter::FlashByte, flow.rate * size * flow.bytes, "its copy");
        } else if class.kind == DriveKind::Ram {
            // The first drive's are in what a page takes that is written back.
            let further = (flow.requests() - 1.0) * (1.0 - 1.0 / flow.copies);
            self.work(flow.context, Parameter::RamIo, visits * (1.0 + further), "the RAM drive");
            self.work(flow.context, Parameter::RamByte, flow.rate * size * flow.bytes, "its copy");
        } else {
            self.work(flow.context, driver(class.kind), visits, "driver and interrupt");
        }
        if let Some(toucher) = flow.toucher
            && self.is_cold()
            && class.kind != DriveKind::Ram
        {
            self.work(toucher, Parameter::ColdByte, flow.rate * size * flow.bytes, "first touch of the data");
        }
    }
}

/// Pieces for one access of a drive that takes so many bytes at once, each of which it has as long. The last may be a small
/// one. None are joined, whether the drive has a queue or not.
pub(crate) fn pieces(bytes: f64, piece: f64) -> f64 {
    (bytes / piece).ceil().max(1.0)
}

/// What of a flow's work counts in the time of an operation: what goes on side by side once, what is done later not.
fn residence(flow: &Flow) -> f64 {
    if flow.waits != Waits::Operation { 0.0 } else { 1.0 / flow.wide }
}

/// The harmonic number of `k`, between whole numbers in a straight line.
pub(crate) fn harmonic(k: f64) -> f64 {
    /// Euler and Mascheroni's constant.
    const GAMMA: f64 = 0.577_215_664_901_532_9;
    if k <= 1.0 {
        return 1.0;
    }
    if k < 40.0 {
        let whole = (1..40).map(count).take_while(|n| *n <= k);
        return whole.map(f64::recip).sum::<f64>() + k.fract() / (k.floor() + 1.0);
    }
    k.ln() + GAMMA + 0.5 / k
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of 16 KiB are two pieces of a drive that takes 12 at once.
    #[test]
    fn the_last_piece_takes_as_long_as_the_others() {
        for (kib, expected) in [(4.0, 1.0), (12.0, 1.0), (16.0, 2.0)] {
            let is = pieces(kib * 1024.0, 12.0 * 1024.0);
            assert!((is - expected).abs() < 1e-9, "{kib}: {is}");
        }
    }

    #[test]
    fn the_slowest_of_many_takes_longer() {
        assert!((harmonic(1.0) - 1.0).abs() < 1e-9);
        assert!((harmonic(2.0) - 1.5).abs() < 1e-9);
        assert!((harmonic(40.0) - 4.278_543).abs() < 1e-3);
        assert!((harmonic(1.5) - 1.25).abs() < 1e-9, "no step where an access reaches one drive more");
    }
}
