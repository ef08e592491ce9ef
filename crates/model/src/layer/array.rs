//! Arrays of md, and those that LVM makes with the same code: striping, mirrors, parity.

use terms::Stack;
use terms::layer::{ArrayState, Bitmap, Lvm, Raid, Raid10Layout, RaidLevel, STRIPE_CACHE, Volume};

use super::bitmap::{Marked, REGION_OF_LVM, REGION_OF_MD, VISITS};
use super::rows::Rows;
use crate::compiler::{Compiler, count};
use crate::flow::{Flow, PAGE, Waits};
use crate::network::{Resource, Serial, Slot};
use crate::parameter::{Parameter, QUEUE, SWITCHES};

/// First kernel without the stripe lock on reads (commit 97ae27252f49).
const LOCKLESS: (u32, u32) = (5, 14);
/// First kernel in which each processor counts what is under way in an array by itself ("md: Change active_io to percpu"
/// 72adae23a72c, in md's branch for 6.3 since February 2023). Linux 6.1.53 took it too, which a version of two numbers does not tell.
const COUNTED_APART: (u32, u32) = (6, 3);
/// First kernel whose RAID-1 wakes nobody where nobody waits ("md/raid1: Prevent unnecessary call to wake_up() in fast path").
const QUIET: (u32, u32) = (6, 6);
/// First kernel whose RAID-10 reads from the flash drive with the least to do ("md/raid10: read balance chooses idlest disk for SSD").
const BALANCED: (u32, u32) = (5, 3);
/// Hardware threads with which barriers of mirrors took what the table has; with 56 that of RAID-1 took half as long.
const CROWD: f64 = 256.0;
/// Hardware threads with which the lock of a parity array took what the table has: 1.17 M reads a second, on one EPYC. On 96 cores it
/// let 1.6 to 2.0 M through, so it takes no longer among more. With 64 threads of two slower Xeons it let 1.90 M through (RAID-6 of 12
/// NVMe drives, Linux 4.11), and the root of their number says 1.64 M: one point, and a guess between.
const READERS: f64 = 128.0;
/// Accesses of members for a row of RAID-5 of which a part is written: data and parity, read and written.
const CHANGE: f64 = 4.0;
/// Copies of RAID-10.
const COPIES: f64 = 2.0;
/// Bytes of a request at most: as much as 256 stripes hold of one member (`RAID5_MAX_REQ_STRIPES` in drivers/md/raid5.h).
const REQUEST: f64 = 1_048_576.0;
/// Bytes of a request from which on the parity thread hands over what it held back (`BLK_PLUG_FLUSH_SIZE` in block/blk.h).
const PLUG: f64 = 131_072.0;

/// An array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Array {
    level: RaidLevel,
    members: f64,
    chunk: f64,
    bitmap: bool,
    /// Bytes for which a bit of it stands: of a member where there is parity, of the array elsewhere.
    region: f64,
    far: bool,
    /// Threads that work on parity.
    threads: f64,
    /// Are these workers, to which the array's own thread hands rows?
    grouped: bool,
    /// Stripes in memory, of one page for each member.
    stripes: f64,
}

impl Array {
    pub(crate) fn of_md(raid: &Raid, members: usize) -> Self {
        Self {
            level: raid.level,
            members: count(members),
            chunk: raid.chunk.as_f64().max(PAGE),
            bitmap: raid.bitmap == Bitmap::Internal && raid.level != RaidLevel::Raid0,
            region: REGION_OF_MD,
            far: raid.layout == Raid10Layout::Far,
            threads: f64::from(raid.group_threads.max(1)),
            grouped: raid.group_threads > 0,
            stripes: f64::from(raid.stripe_cache),
        }
    }

    /// `None` for a volume that is linear.
    pub(crate) fn of_lvm(lvm: &Lvm, members: usize) -> Option<Self> {
        let level = match lvm.volume {
            Volume::Linear => return None,
            Volume::Striped => RaidLevel::Raid0,
            Volume::Raid1 => RaidLevel::Raid1,
            Volume::Raid10 => RaidLevel::Raid10,
            Volume::Raid5 => RaidLevel::Raid5,
            Volume::Raid6 => RaidLevel::Raid6,
        };
        let chunk = lvm.stripe.as_f64().max(PAGE);
        Some(Self {
            level,
            members: count(members),
            chunk,
            bitmap: lvm.volume.is_raid(),
            region: REGION_OF_LVM,
            far: false,
            threads: 1.0,
            grouped: false,
            stripes: f64::from(STRIPE_CACHE),
        })
    }

    const fn parity(&self) -> f64 {
        match self.level {
            RaidLevel::Raid5 => 1.0,
            RaidLevel::Raid6 => 2.0,
            _ => 0.0,
        }
    }

    fn marked(&self) -> Marked {
        let (parity, members) = (self.parity(), self.members);
        let (data, accesses) = match self.level {
            RaidLevel::Raid1 => (1.0, members),
            RaidLevel::Raid5 | RaidLevel::Raid6 => (members - parity, VISITS * (1.0 + parity)),
            _ => (1.0, COPIES),
        };
        Marked { region: self.region * data, accesses: accesses / members, by_thread: parity > 0.0 }
    }
}

/// A flow over some of the members, the same for each.
struct Spread {
    flow: Flow,
    /// How many members it goes to, from the first.
    to: usize,
}

impl Compiler<'_> {
    pub(crate) fn array(&mut self, stack: &Stack, at: usize, array: &Array, flow: &Flow) {
        let mut asked = [const { None::<Spread> }; 3];
        // md cuts what comes to what its members take at once, whatever lies between (`md_submit_bio`, and
        // `blk_stack_limits` in block/blk-settings.c); the device mapper does not.
        let largest = matches!(stack.nodes[at].layer, terms::Layer::Raid(_)).then(|| self.piece()).flatten();
        let in_rows = array.parity() > 0.0 && flow.write;
        let cut = |flow: Flow| {
            let times = largest.map_or(1.0, |largest| (flow.bytes / largest).ceil().max(1.0));
            Flow { bytes: flow.bytes / times, rate: flow.rate * times, batch: flow.batch * times, ..flow }
        };
        // A file system holds back what it writes and submits it itself (`blk_start_plug` in `__iomap_dio_rw`, `raid1_unplug`).
        let plugged = stack.top().is_some_and(|top| top.layer.is_file_system());
        // What is written with parity comes whole: raid5.c sets its own limit.
        let marks = self.array_costs(at, array, &if in_rows { *flow } else { cut(*flow) }, plugged);
        self.spread(stack, at, array, flow, &mut asked);
        let node = &stack.nodes[at];
        self.fetch_heads(node.on.len(), marks);
        let turns = self.turns_of(array, flow, node.on.len());
        // A RAM drive has no queue in which parts of an operation could become one request.
        let largest = if self.is_in_memory() && !in_rows { Some(array.chunk) } else { largest };
        let cut = |flow: Flow| {
            let times = largest.map_or(1.0, |largest| (flow.bytes / largest).ceil().max(1.0));
            Flow { bytes: flow.bytes / times, rate: flow.rate * times, batch: flow.batch * times, ..flow }
        };
        for Spread { flow: each, to } in asked.into_iter().flatten() {
            let flow = cut(Flow { run: turns.0.min(flow.run), at_once: turns.1 * flow.at_once, ..each });
            let to = to.min(node.on.len());
            // Members of LVM's arrays may have dm-integrity under them.
            if let terms::Layer::Lvm(terms::layer::Lvm { integrity: Some(integrity), .. }) = &node.layer {
                self.volume_integrity(at, integrity, to, flow);
                continue;
            }
            for which in 0..to {
                self.ask(which, self.least_busy(at, which, to, flow));
            }
        }
    }

    /// How members take turns: bytes that one gets before the next does, and the share of them that is asked at a time.
    ///
    /// A stream is at one place, and what of it is under way covers so many chunks: as many members work at a time. Streams
    /// of several jobs are each at a place of their own.
    fn turns_of(&self, array: &Array, flow: &Flow, members: usize) -> (f64, f64) {
        let members = count(members);
        let wide = match array.level {
            // What is read in order stays with one member; rows are worked on page by page.
            RaidLevel::Raid1 => return (f64::MAX, 1.0),
            RaidLevel::Raid5 | RaidLevel::Raid6 if flow.write => return (PAGE, 1.0),
            RaidLevel::Raid10 if !array.far => members / 2.0,
            _ => members,
        };
        if flow.random {
            return (array.chunk, 1.0);
        }
        let window = flow.bytes * (self.depth * flow.rate.min(1.0)).max(1.0);
        let covered = 1.0 + (window - flow.bytes.min(array.chunk)) / array.chunk;
        (array.chunk, 1.0 - (1.0 - (covered / wide).min(1.0)).powf(self.jobs))
    }

    /// What an array takes of processors and locks. Gives how many marks of its bitmap there are for each operation.
    fn array_costs(&mut self, at: usize, array: &Array, flow: &Flow, plugged: bool) -> f64 {
        // Each part of a chunk goes its own way (`bio_split` in `raid0_make_request`, `raid10_make_request` and
        // `chunk_aligned_read`); a mirror has no chunks, and what is written with parity is counted in rows.
        let chunks = match (array.level, flow.write) {
            (RaidLevel::Raid1, _) | (RaidLevel::Raid5 | RaidLevel::Raid6, true) => 1.0,
            _ => flow.chunks(array.chunk),
        }
        .max(flow.requests());
        if flow.write && !plugged && matches!(array.level, RaidLevel::Raid1 | RaidLevel::Raid10) {
            // md's thread is woken, and the caller where the drive would have answered in its call.
            let switches = if self.is_cold() { 1.0 } else { 2.0 };
            let share = flow.rate * switches / 2.0 / (flow.wide * flow.batch);
            self.delay(Parameter::HandoffRead.place(), share, "handed to md's thread");
            let spared = if self.network.behind { 0.0 } else { share };
            self.network.spared += self.site.parameters.get(Parameter::HandoffRead) * spared * self.times;
        }
        let flow = &Flow { rate: flow.rate * chunks, ..*flow };
        self.work(flow.context, Parameter::MdIo, flow.rate * self.contention, "md");
        match (array.level, flow.write) {
            (RaidLevel::Raid1 | RaidLevel::Raid10, true) if plugged => {
                self.work(flow.context, Parameter::MirrorWrite, flow.rate, "handed to the members");
            }
            // Whoever writes to a mirror leaves it to md's thread (`raid1_write_request`, `raid10_write_request`).
            (RaidLevel::Raid1 | RaidLevel::Raid10, true) => {
                self.serial(Serial::Mirror, at, Parameter::MirrorWrite, flow.rate, "handed to the members");
                self.cores(Parameter::MirrorWrite, flow.rate, "md's thread");
            }
            _ => {}
        }
        let barrier = match array.level {
            RaidLevel::Raid1 if !self.site.kernel_from(QUIET) => Some(Parameter::BarrierWake),
            RaidLevel::Raid10 => Some(Parameter::BarrierCount),
            _ => None,
        };
        // What all processors write to passes from one to the other.
        let among = |most: f64| (self.site.threads() / most).sqrt();
        let (contention, readers) = (among(CROWD), among(READERS).min(1.0));
        if let Some(lock) = barrier {
            self.serial(Serial::ArrayLock, at, lock, flow.rate * contention, "its barrier");
        }
        match (array.level, flow.write) {
            (RaidLevel::Raid0, _) if !self.site.kernel_from(COUNTED_APART) => {
                self.serial(Serial::ArrayLock, at, Parameter::StripeLock, flow.rate, "counting operations");
            }
            (RaidLevel::Raid5 | RaidLevel::Raid6, false) => {
                let new = self.site.kernel_from(LOCKLESS);
                let (lock, times) =
                    if new { (Parameter::ParityReadNew, 1.0) } else { (Parameter::ParityReadOld, readers) };
                self.serial(Serial::ArrayLock, at, lock, flow.rate * times, "stripe lock");
            }
            _ => {}
        }
        if flow.write && array.bitmap {
            self.serial(Serial::Bitmap, at, Parameter::BitmapLock, flow.rate, "counting writes in regions");
            return self.mark_regions(at, &array.marked(), flow);
        }
        0.0
    }

    fn spread(&mut self, stack: &Stack, at: usize, array: &Array, flow: &Flow, asked: &mut [Option<Spread>; 3]) {
        let members = stack.nodes[at].on.len();
        let gone = if self.conditions.state == ArrayState::Degraded && array.level != RaidLevel::Raid0 { 1 } else { 0 };
        let here = members - gone.min(members - 1);
        match array.level {
            RaidLevel::Raid0 => asked[0] = Some(striped(flow, array.chunk, members)),
            RaidLevel::Raid1 => mirror(self, array, flow, here, self.is_hdd(stack), asked),
            RaidLevel::Raid10 => striped_mirrors(self, array, flow, members, here, self.is_hdd(stack), asked),
            RaidLevel::Raid5 | RaidLevel::Raid6 if flow.write => self.parity_write(at, array, flow, here, asked),
            RaidLevel::Raid5 | RaidLevel::Raid6 => self.parity_read(array, flow, members, here, asked),
        }
    }

    fn parity_read(
        &mut self,
        array: &Array,
        flow: &Flow,
        members: usize,
        here: usize,
        asked: &mut [Option<Spread>; 3],
    ) {
        let mut whole = striped(flow, array.chunk, members);
        whole.to = here;
        if here == members {
            whole.flow.passes *= array.members / (array.members - array.parity());
        } else {
            // What the lost member held is computed from all others: for each of its pieces one read of each of them.
            let lost = whole.flow.rate * whole.flow.bytes;
            self.work(flow.context, Parameter::ParityByte, lost * (array.members - 1.0), "what the lost member held");
            whole.flow.rate *= 2.0;
        }
        asked[0] = Some(whole);
    }

    fn parity_write(&mut self, at: usize, array: &Array, flow: &Flow, here: usize, asked: &mut [Option<Spread>; 3]) {
        let parity = array.parity();
        let data = array.members - parity;
        let stripe = data * array.chunk;
        let bytes = flow.rate * flow.bytes;
        // Bytes in flight are held in the stripe cache, a page of each member for each of its stripes.
        if flow.waits == Waits::Operation {
            let cached = array.stripes * PAGE * data / flow.bytes;
            self.network.population = self.network.population.min(cached.max(1.0));
        }
        self.memory(bytes * 3.5, "copied into stripes, read for parity");
        // One thread does it all unless more are asked for (`group_thread_cnt`, 0 by default): it copies, reckons and submits.
        self.parity_work(at, array, Parameter::ParityCopy, bytes, "copied into stripes");
        // What is written back later comes by the thousand.
        let later = matches!(flow.waits, Waits::Nobody | Waits::Group);
        let side_by_side = (self.depth * flow.rate.min(1.0)).max(1.0);
        let streamed = self.is_in_memory() && !later && !flow.random && flow.bytes * side_by_side >= stripe;
        let chunks = flow.bytes / array.chunk;
        let rows = if streamed {
            // A RAM drive has written when the call returns, so that the thread runs out of work and takes up rows that are not full.
            let together = if flow.waits == Waits::Operation { side_by_side } else { f64::INFINITY };
            Rows::of_stream(chunks, together, data, parity)
        } else if flow.random || (self.is_in_memory() && !later) {
            // Those at random meet nobody.
            Rows::of(chunks, flow.shifted, data, parity)
        } else {
            // Where the cache has room for the rows of a chunk, those wait there until what follows fills them.
            let held = array.stripes * PAGE >= array.chunk;
            // All streams share it: rows for which one has no room left are written in parts.
            let each = array.stripes * PAGE * data / array.chunk / self.jobs.max(1.0);
            let room = if later { 1.0 } else { (each / (data - 1.0 + chunks.max(1.0))).min(1.0) };
            let under_way = match (held, later) {
                (false, _) => 0.0,
                (true, true) => f64::INFINITY,
                // Of an `fsync`, all that it waits for.
                (true, false) => {
                    (self.depth * self.writes * self.network.bytes).max(flow.bytes * flow.batch) / array.chunk
                }
            };
            Rows::of_window(chunks, under_way.max(chunks), flow.shifted, data, parity, room)
        };
        // Of a part of a chunk, so many bytes of each member that is touched.
        let piece = flow.bytes.min(array.chunk);
        let part = if streamed { array.chunk } else { piece };
        let (read, written) = (rows.reads * part, rows.whole * array.members * array.chunk + rows.writes * part);
        // The thread's time grows with the pages that it reads and writes (`handle_stripe`), whatever the level.
        self.parity_work(at, array, Parameter::ParityMember, flow.rate * (read + written), "pages of members");
        let request = (flow.bytes / flow.requests()).min(REQUEST) / PAGE;
        let passed = bytes / PAGE * request / 2.0;
        self.parity_work(
            at,
            array,
            Parameter::ParityWalk,
            passed,
            "pages of a request that are passed to find another",
        );
        let pages = (part / PAGE).max(1.0);
        if !self.is_in_memory() {
            // The thread sleeps while the drives read, and again while they write (`md_wakeup_thread` in `raid5_release_stripe`).
            // That takes a processor, and the thread only while it has nothing to do.
            let woken = flow.rate * rows.parts * VISITS * SWITCHES;
            self.cores(Parameter::HandoffReadIo, woken, "waiting for the drives");
        }
        if array.grouped {
            let handed = flow.rate * rows.parts * VISITS;
            self.cores(Parameter::HandoffReadIo, handed, "rows that are handed to workers");
        }
        let first = flow.rate * (rows.reads + rows.writes) / CHANGE;
        self.parity_work(at, array, Parameter::ParityPart, first, "rows of which a part is written");
        // Of rows side by side, accesses of a member become one request; each row is still looked at for what is read and
        // again for what is written.
        let further = flow.rate * rows.parts * (pages - 1.0) * VISITS;
        self.parity_work(at, array, Parameter::ParityVisit, further, "further rows beside them");
        let is_part = !streamed && rows.parts > 0.0;
        // Parts of rows that follow one another lie side by side, but where each has to reach the platter before it is answered. What
        // is written follows what was read: a head goes from one to the other, once for as many as the drive sorts.
        let is_apart = flow.random || (is_part && self.writes_through());
        let seeks = flow.seeks + if is_part && !is_apart { QUEUE.recip() } else { 0.0 };
        let thread = self.network.station(
            Resource::Serial(Serial::Parity, self.symmetry.of(at)),
            1.0,
            self.parity_threads(array),
            Slot::Own,
        );
        let each = |write: bool, bytes: f64| {
            // What one member gets of an operation lies side by side.
            let wide = (bytes / piece).clamp(1.0, count(here));
            let rate = flow.rate * wide.min(bytes / piece) / count(here);
            let bytes = bytes / (bytes / piece).min(wide);
            // The thread works before the drives read, and again before they write. Each time all of its work is added, which is
            // more than it does: drawn at random, two seeds of the lab are nearer to that than to half of it.
            Flow {
                write,
                random: is_apart,
                seeks,
                bytes,
                rate,
                wide: flow.wide * wide,
                paged: true,
                shifted: false,
                thread: Some(thread),
                ..*flow
            }
        };
        // Rows that are whole are handed over in pieces. Of a mix, and of what is whole in part, that much less is.
        let whole = match (is_part, flow.random) {
            (false, _) => 1.0,
            (true, true) => 0.0,
            (true, false) => (rows.whole * data / chunks).min(1.0),
        };
        if !self.network.behind {
            let cut = 1.0 + ((flow.bytes / data / PLUG).ceil() - 1.0) * whole * flow.rate.min(1.0);
            (self.network.pieces, self.network.cut) = (self.network.pieces.max(cut), self.network.cut.max(cut));
        }
        let share = count(here) / array.members;
        asked[0] = Some(Spread { flow: each(true, written * share), to: here });
        if read > 0.0 {
            asked[1] = Some(Spread { flow: each(false, read * share), to: here });
        }
    }
}

impl Compiler<'_> {
    /// Time of the parity thread, or of those it hands its work to, as many as there are processors at most.
    fn parity_work(&mut self, at: usize, array: &Array, parameter: Parameter, factor: f64, why: &'static str) {
        self.cores(parameter, factor, why);
        self.serial_by(Serial::Parity, at, self.parity_threads(array), parameter, factor, why);
    }

    fn parity_threads(&self, array: &Array) -> f64 {
        array.threads.min(self.site.threads())
    }
}

/// Pieces of a chunk over all members. Several that one member gets of an operation lie side by side there, and become one
/// request while the submitter holds them back (`blk_attempt_plug_merge` in block/blk-merge.c).
fn striped(flow: &Flow, chunk: f64, members: usize) -> Spread {
    let n = count(members);
    // An access that is cut for where it begins is no quicker for it.
    let wide = (flow.bytes / chunk).max(1.0).min(n);
    let each = Flow {
        bytes: flow.bytes / wide,
        rate: flow.rate * wide / n,
        wide: flow.wide * wide,
        seeks: flow.seeks / wide,
        shifted: false,
        ..*flow
    };
    Spread { flow: each, to: members }
}

fn mirror(of: &Compiler<'_>, array: &Array, flow: &Flow, here: usize, is_hdd: bool, asked: &mut [Option<Spread>; 3]) {
    if flow.write {
        let each = Flow { wide: flow.wide * count(here), copies: count(here), ..*flow };
        asked[0] = Some(Spread { flow: each, to: here });
        if array.bitmap {
            let rate = flow.rate * of.site.parameters.get(Parameter::BitmapShare);
            asked[1] = Some(Spread { flow: Flow { random: true, bytes: PAGE, rate, ..each }, to: here });
        }
        return;
    }
    // One stream stays with one member where heads would travel, and goes to an idle one where none do (`read_balance` in
    // drivers/md/raid1.c), but where that tells no optimal size, as a RAM drive; several streams, or random ones, spread.
    let stays = is_hdd || of.tells_no_size();
    let to = if flow.random || of.jobs > 1.0 || !stays { here } else { 1 };
    let each = Flow { rate: flow.rate / count(to), choices: count(to), ..*flow };
    asked[0] = Some(Spread { flow: if is_hdd { of.streams_of_copies(each, count(here)) } else { each }, to });
}

fn striped_mirrors(
    of: &Compiler<'_>,
    array: &Array,
    flow: &Flow,
    members: usize,
    here: usize,
    is_hdd: bool,
    asked: &mut [Option<Spread>; 3],
) {
    let halves = (members / 2).max(1);
    if flow.write {
        // Far copies lie in the other half of their drives (`__raid10_find_phys`): what each job writes in order is at two places.
        let apart = if array.far && is_hdd && !flow.random { of.between_streams(true, COPIES * of.jobs) } else { 0.0 };
        let mut each = striped(&Flow { seeks: flow.seeks.max(apart), ..*flow }, array.chunk, halves);
        each.flow.rate *= count(halves) * 2.0 / count(members);
        // Where one drive of a pair is lost, what goes to that pair is written once: the others do as much as before.
        each.flow.wide *= 2.0 * count(here) / count(members);
        each.flow.copies = 2.0;
        each.to = here;
        if array.bitmap {
            let rate = each.flow.rate * of.site.parameters.get(Parameter::BitmapShare);
            asked[1] = Some(Spread { flow: Flow { random: true, bytes: PAGE, rate, ..each.flow }, to: here });
        }
        asked[0] = Some(each);
        return;
    }
    // Near copies: one stream reads one of each pair where heads would travel, and whichever drive has least to do where
    // none does (`read_balance` in drivers/md/raid10.c); far copies are read as a stripe over all.
    let all = flow.random || of.jobs > 1.0 || array.far || !is_hdd;
    let (whole, to) = if all { (members, here) } else { (halves, halves) };
    // A lost member's pieces go to those that are left, and stay as many.
    let mut each = striped(flow, array.chunk, whole);
    each.flow.alternates = if all && !array.far { 2.0 } else { 1.0 };
    // One that has nothing to do was always preferred; which has less of those that do, where no head travels, is newer.
    each.flow.choices = if is_hdd || of.site.kernel_from(BALANCED) { each.flow.alternates } else { 1.0 };
    each.flow.rate *= count(whole) / count(to);
    asked[0] = Some(Spread { to, ..each });
}
