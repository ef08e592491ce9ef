//! From a stack and a workload to a network: a walk from the top of the stack down to its drives.
//!
//! Each layer turns what it is asked for into what it asks of those below, and adds what it takes of processors,
//! threads and locks on the way. The lists are kept from one design to the next.

use terms::machine::DriveKind;
use terms::workload::{Engine, Load, Method};
use terms::{Layer, Ref, Stack, Workload};

use crate::cached::Shares;
use crate::calls::{hands_over_reads, taken_at_once};
use crate::compiler::{Compiler, Conditions, LARGEST, count, number, precise};
use crate::fault::{Fault, has_rules};
use crate::flow::{Context, Flow};
use crate::layer::drive::pieces;
use crate::network::{Network, Resource};
use crate::page_cache::{NEAR, TRIES, is_zfs};
use crate::parameter::Parameter;
use crate::site::Site;
use crate::solve::solve;
use crate::symmetry::{Below, Names, SymmetryClasses};

/// Largest request that many NVMe drives take, in bytes: an MDTS of 7, 2^7 pages of 4 KiB (NVM Express Base
/// Specification, Identify Controller), as those of QEMU have. Others take a quarter of it or four times as much.
const LARGEST_NVME: f64 = 524_288.0;
/// First kernel whose device-mapper passes on whole what it is given, and no longer cuts it for the drive ("dm: fix bio splitting
/// and its bio completion order for regular IO" ee1dfad5325f).
const PASSED_WHOLE: (u32, u32) = (5, 9);
/// Workers of a ring for each processor, where its entries are not fewer (`IORING_REGISTER_IOWQ_MAX_WORKERS` in
/// io_uring_register(2)).
const URING_WORKERS: f64 = 4.0;

impl<'a> Compiler<'a> {
    /// For this machine.
    #[must_use]
    pub fn new(site: &'a Site) -> Self {
        Self {
            site,
            network: Network::default(),
            conditions: Conditions::default(),
            flows: Vec::new(),
            asked: vec![Vec::new(); site.drives.len()],
            used: Vec::new(),
            completes: Vec::new(),
            below: Vec::new(),
            starts: Vec::new(),
            heights: Vec::new(),
            order: Vec::new(),
            here: 0,
            times: 1.0,
            symmetry: SymmetryClasses::default(),
            wide: 1.0,
            jobs: 1.0,
            depth: 1.0,
            one_by_one: None,
            cached: None,
            falls_back: false,
            shares: Shares::ALL,
            every: None,
            flushed: None,
            writes: 0.0,
            contention: 1.0,
            ease: 1.0,
            burst: 0.0,
            writeback: 0.0,
            cold: false,
        }
    }

    /// Makes the network of a stack under a workload.
    ///
    /// # Errors
    /// [`Fault`], where the stack names what the machine does not have.
    pub fn compile(&mut self, stack: &Stack, work: &Workload, conditions: &Conditions) -> Result<&Network, Fault> {
        self.resolve(stack)?;
        self.load(stack, work, conditions);
        Ok(&self.network)
    }

    /// Makes the network of a stack under each of several workloads, and hands one after the other over.
    ///
    /// # Errors
    /// [`Fault`], where the stack names what the machine does not have.
    pub fn compile_each(
        &mut self,
        stack: &Stack,
        workloads: &[Workload],
        conditions: &Conditions,
        mut each: impl FnMut(&Network),
    ) -> Result<(), Fault> {
        self.resolve(stack)?;
        for work in workloads {
            self.load(stack, work, conditions);
            each(&self.network);
        }
        Ok(())
    }

    /// The network of the stack that was resolved.
    fn load(&mut self, stack: &Stack, work: &Workload, conditions: &Conditions) {
        self.fill(stack, work, conditions, Shares::ALL);
        if !self.follows_speed(stack, work) {
            return;
        }
        let mut slowly = self.pace_of_drives();
        let mut done = slowly;
        for _ in 0..TRIES {
            let Some(shares) = self.shares(stack, work, slowly, done) else { break };
            if shares.missed < 1.0 && shares.written < 1.0 {
                // The more reads are answered, the more time drives have for what is written.
                self.fill(stack, work, conditions, Shares { written: 1.0, ..shares });
                slowly = self.pace_of_drives();
            }
            self.fill(stack, work, conditions, shares);
            let before = std::mem::replace(&mut done, solve(&self.network).throughput);
            if (done / before - 1.0).abs() < NEAR {
                break;
            }
        }
    }

    /// Operations a second where all that is written goes on to the drives. Sets `writeback`: the longest that anybody but the caller
    /// takes for one, for the caller's own time is in the operation already.
    fn pace_of_drives(&mut self) -> f64 {
        let solved = solve(&self.network).throughput;
        let of_callers = |of| matches!(of, Resource::Cores | Resource::Thread | Resource::Memory);
        let others = self.network.stations.iter().filter(|station| !of_callers(station.resource));
        self.writeback = others.map(|station| station.demand).fold(0.0, f64::max).min(1.0 / solved);
        solved
    }

    /// The same, where such shares of what caches are asked for go on to the drives.
    fn fill(&mut self, stack: &Stack, work: &Workload, conditions: &Conditions, shares: Shares) {
        self.begin(stack, work, conditions, shares);
        self.demand_of_calls(stack, work);
        self.calls_of_flushes(stack);
        self.ask_top(stack.nodes.len() - 1, work);
        let order = std::mem::take(&mut self.order);
        let mut rest = order.as_slice();
        while let Some(&first) = rest.first() {
            let height = self.heights[first];
            let end = rest.iter().position(|&at| self.heights[at] != height).unwrap_or(rest.len());
            let (level, lower) = rest.split_at(end);
            self.walk(stack, level);
            rest = lower;
        }
        self.order = order;
        self.demand_of_drives();
        self.demand_of_flushes(stack, work);
        self.resynchronise(stack);
        self.symmetry.share(&mut self.network);
        self.even_streams(work);
    }

    /// Walks over nodes of one height: what is above them has asked, and none rests on another.
    fn walk(&mut self, stack: &Stack, level: &[usize]) {
        for &at in level {
            self.symmetry.locate(at, &self.flows);
        }
        for &at in level {
            let Some(units) = self.symmetry.units(at) else { continue };
            let mut flows = std::mem::take(&mut self.flows[at]);
            self.here = at;
            self.times = units;
            let mut flushed = self.every;
            for flow in &flows {
                self.wide = flow.wide;
                self.flushed = if flow.write { flushed.take() } else { None };
                self.network.behind = flow.is_behind();
                self.layer(stack, at, flow);
            }
            flows.clear();
            self.flows[at] = flows;
        }
        self.network.behind = false;
        self.wide = 1.0;
        self.times = 1.0;
    }

    fn begin(&mut self, stack: &Stack, work: &Workload, conditions: &Conditions, shares: Shares) {
        for drive in self.used.drain(..) {
            self.asked[drive as usize].clear();
        }
        self.network.clear();
        self.conditions = Conditions { span: work.reach_of(conditions.span), ..*conditions };
        for flows in &mut self.flows {
            flows.clear();
        }
        if self.flows.len() < stack.nodes.len() {
            self.flows.resize(stack.nodes.len(), Vec::new());
        }
        self.jobs = f64::from(work.jobs.max(1));
        self.depth = if work.engine == Engine::Psync { 1.0 } else { f64::from(work.depth.max(1)) };
        self.network.given = f64::from(work.jobs.max(1)) * self.depth;
        self.one_by_one = None;
        if work.engine == Engine::IoUring && work.read_share() > 0.0 && is_zfs(stack) {
            // ZFS has no asynchronous way in, and io_uring leaves what would wait to workers of its own.
            // Writes of a file are done one after the other, but where its file system takes several at once
            // (`io_prep_async_work` and `FMODE_DIO_PARALLEL_WRITE` in Linux).
            let workers = self.depth.min(URING_WORKERS * self.site.threads());
            self.one_by_one = Some(self.jobs);
            (self.jobs, self.depth) = (self.jobs * workers, 1.0);
        }
        self.every = work.flushed_every().map(|every| f64::from(every.max(1)));
        self.writes = 1.0 - work.read_share();
        self.shares = shares;
        self.burst = 0.0;
        self.cached = self.through_cache(stack, work);
        self.falls_back = self.falls_back(stack, work);
        if self.cached.is_some() {
            self.depth = self.depth_through_cache(work);
        } else if self.falls_back {
            // Who writes waits for it, and asks for nothing more meanwhile.
            self.depth = (1.0 - self.writes) * self.depth + self.writes;
        }
        (self.contention, self.ease) = self.crowded(stack, work);
        self.network.population = self.jobs * self.depth;
        if let Load::Rate(rate) = work.load {
            self.network.arrivals = Some(precise(rate));
        }
        self.network.bytes = work.block.as_f64();
        self.network.cut = self.pieces(stack, work);
        // Where workers take the pieces, several work on one operation, and while one piece is at work the drive has
        // another. Elsewhere all wait for the same, one after the other, and ZFS cuts by its own rules.
        let handed = self.completes.iter().any(Option::is_some);
        // A drive of the lab has the first piece at work while the others are handed over. Who encrypts in the call itself takes
        // whole requests, and its work and the drive's come one after the other (`crypt_convert`).
        let encrypts = stack.nodes.iter().any(|node| node.layer.traits().encrypts);
        if let Some(piece) = self.piece().filter(|_| handed || !encrypts) {
            self.network.pieces = pieces(work.block.as_f64(), piece);
        }
        // Windows of a stream through the page cache are under way side by side; who reads at random waits for all of its pieces.
        // Those of a cipher overlap with drives as windows do (`bedplate check-model --seed 22 --advised encrypted`).
        let waits = work.pattern.random() && !work.pattern.writes() && !encrypts;
        let windows = self.cached.is_some() && !waits;
        if is_zfs(stack) || windows {
            self.network.pieces = 1.0;
        } else if handed {
            self.network.pieces = self.network.pieces.max(self.network.cut);
        }
        self.symmetry.begin();
    }

    /// Into how many pieces the block layer cuts an operation.
    fn pieces(&self, stack: &Stack, work: &Workload) -> f64 {
        let of_drive = match self.first_drive().map(|drive| self.class_of(drive).kind) {
            Some(DriveKind::Nvme | DriveKind::NvmeEnterprise | DriveKind::Optane) => LARGEST_NVME,
            _ => LARGEST,
        };
        let whole = Some(stack).filter(|_| self.site.kernel_from(PASSED_WHOLE));
        let cuts = self.site.kernel_from(crate::layer::crypt::CUTS);
        let largest = whole.and_then(|stack| taken_at_once(stack, work, cuts)).unwrap_or(of_drive);
        (work.block.as_f64() / largest).ceil().max(1.0)
    }

    /// Finds what each node rests on, and what follows from it: who is alike, where reads come back.
    fn resolve(&mut self, stack: &Stack) -> Result<(), Fault> {
        if stack.nodes.is_empty() {
            return Err(Fault::Empty);
        }
        has_rules(stack)?;
        self.cold = false;
        self.completes.clear();
        self.symmetry.clear();
        self.below.clear();
        self.starts.clear();
        self.heights.clear();
        let names = Names::of(stack);
        for (at, node) in stack.nodes.iter().enumerate() {
            let start = self.below.len();
            self.starts.push(start);
            let mut returns = None;
            let mut height = 0;
            for under in &node.on {
                let below = match under {
                    Ref::Drive(name) => {
                        let drive = self.site.drive(name.as_str()).ok_or_else(|| Fault::NoDrive(name.to_string()))?;
                        self.cold |= self.class_of(drive).kind != DriveKind::Ram;
                        Below::Drive(drive)
                    }
                    Ref::Layer(name) => {
                        let place = names.find(stack, at, name).ok_or_else(|| Fault::NoLayer(name.to_string()))?;
                        returns = returns.or(self.completes[place]);
                        height = height.max(self.heights[place] + 1);
                        Below::Layer(place)
                    }
                };
                self.below.push(below);
            }
            self.symmetry.meet(stack, node, &self.below, &self.starts, &self.site.drives);
            self.completes.push(if hands_over_reads(&node.layer) { number(at) } else { returns });
            self.heights.push(height);
        }
        self.starts.push(self.below.len());
        self.order.clear();
        self.order.extend((0..stack.nodes.len()).rev());
        // Most are in this order already, which costs one look at each.
        self.order.sort_by_key(|&at| std::cmp::Reverse(self.heights[at]));
        Ok(())
    }

    pub(crate) fn class_of(&self, drive: u32) -> &'a crate::site::Class {
        &self.site.classes[self.site.drives[drive as usize] as usize]
    }

    fn ask_top(&mut self, top: usize, work: &Workload) {
        let reads = work.read_share();
        let random = work.pattern.random() && work.method == Method::Fio;
        for (write, rate) in [(false, reads), (true, 1.0 - reads)] {
            if rate > 0.0 {
                let seeks = if !random && work.jobs > 1 { self.between_streams(write, self.jobs) } else { 0.0 };
                let flow = Flow { rate, seeks, ..Flow::new(write, random, work.block.as_f64()) };
                let flow = self.beyond_cache(top, flow);
                self.network.written += if write { flow.rate * flow.bytes } else { 0.0 };
                self.flows[top].push(flow);
            }
        }
    }

    fn layer(&mut self, stack: &Stack, at: usize, flow: &Flow) {
        let node = &stack.nodes[at];
        match &node.layer {
            Layer::Raid(raid) => self.array(stack, at, &crate::layer::array::Array::of_md(raid, node.on.len()), flow),
            Layer::Luks(luks) => self.luks(stack, at, luks, flow),
            Layer::Crypt(crypt) => self.crypt(at, crypt, flow),
            Layer::Integrity(integrity) => self.integrity(at, integrity, flow),
            Layer::Lvm(lvm) => self.volume(stack, at, lvm, flow),
            Layer::Btrfs(btrfs) => self.btrfs(stack, at, btrfs, flow),
            Layer::Zfs(zfs) => self.zfs(stack, at, zfs, flow),
            // What costs nothing by itself. Jobs on several bare drives are spread over them.
            _ => {
                let rate = flow.rate / count(node.on.len().max(1));
                for which in 0..node.on.len() {
                    self.ask(which, Flow { rate, ..*flow });
                }
            }
        }
    }

    /// Asks the `which`th of what the node rests on that is looked at.
    pub(crate) fn ask(&mut self, which: usize, flow: Flow) {
        if flow.rate <= 0.0 || flow.bytes <= 0.0 {
            return;
        }
        let mut next = Some(self.here);
        while let Some(at) = next {
            match self.below[self.starts[at] + which] {
                Below::Drive(drive) => {
                    let list = &mut self.asked[drive as usize];
                    if list.is_empty() {
                        self.used.push(drive);
                    }
                    join(list, flow);
                }
                Below::Layer(place) => join(&mut self.flows[place], flow),
            }
            next = self.symmetry.next(at);
        }
    }

    /// Bytes that the drives below take at once, where they are the lab's own.
    pub(crate) fn piece(&self) -> Option<f64> {
        self.first_drive().and_then(|drive| self.class_of(drive).piece)
    }

    /// The first drive of the stack.
    pub(crate) fn first_drive(&self) -> Option<u32> {
        self.below.iter().find_map(|below| match below {
            Below::Drive(drive) => Some(*drive),
            Below::Layer(_) => None,
        })
    }

    /// Does a node rest on drives alone?
    pub(crate) fn is_on_drives(&self, at: usize) -> bool {
        self.below[self.starts[at]..self.starts[at + 1]].iter().all(|under| matches!(under, Below::Drive(_)))
    }

    /// Where reads come back from below a node.
    pub(crate) fn completion(&self, at: usize, flow: &Flow) -> Context {
        let below = &self.below[self.starts[at]..self.starts[at + 1]];
        let hands_over = below.iter().any(|under| match under {
            Below::Layer(place) => self.completes[*place].is_some(),
            Below::Drive(_) => false,
        });
        if hands_over { Context::Completions { node: self.symmetry.of(at), servers: self.jobs } } else { flow.context }
    }

    /// Workers of a node: one for each job, or so many as a value says.
    pub(crate) fn workers(&self, at: usize, over: Parameter) -> Context {
        Context::Workers { node: self.symmetry.of(at), servers: self.jobs, over: over.place(), bound: false }
    }

    /// Is data that comes from below new to the cache?
    pub(crate) const fn is_cold(&self) -> bool {
        self.cold
    }
}

/// Adds a flow to a list, to one of its kind where there is one.
fn join(list: &mut Vec<Flow>, flow: Flow) {
    match list.iter_mut().find(|other| other.is_like(&flow)) {
        Some(other) => other.rate += flow.rate,
        None => list.push(flow),
    }
}
