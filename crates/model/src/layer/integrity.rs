//! dm-integrity: tags between the data, and what keeps both in step.

use terms::layer::{Integrity, IntegrityMode, IntegrityTag};

use crate::compiler::{Compiler, count, precise};
use crate::flow::{Context, Flow, Waits};
use crate::parameter::Parameter;

/// Sector that the times of the table were measured with, in bytes.
const TABLE_SECTOR: f64 = 4096.0;
/// Bytes written to the journal for each byte of data: the data, its tag and the sector numbers.
const JOURNALLED: f64 = 1.01;
/// What is written of a buffer of tags is a multiple of so many bytes (`DM_BUFIO_WRITE_ALIGN` in drivers/md/dm-bufio.c).
const ALIGNED: f64 = 4096.0;
/// Data between two runs of tags: 32768 sectors, the default of `interleave_sectors`.
const INTERLEAVE: f64 = 16.0 * 1_048_576.0;
/// What is written to the journal before it is written back: half of 64 MiB, the default `journal_watermark` of the
/// largest default journal (device-mapper documentation).
const WRITTEN_BACK: f64 = 32.0 * 1_048_576.0;
/// Largest request of a commit, in bytes: 256 pages (`BIO_MAX_VECS`).
const REQUEST: f64 = 1_048_576.0;
/// A buffer of tags, in bytes: 128 sectors, the default of `buffer_sectors`.
const BUFFER: f64 = 65_536.0;

/// Share of the memory that holds tags.
const HELD: f64 = 0.02;

/// What decides about the extra accesses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tags {
    /// Bytes of a tag.
    pub(crate) size: f64,
    /// Bytes that it protects.
    pub(crate) sector: f64,
    pub(crate) journal: bool,
    pub(crate) bitmap: bool,
    /// Seconds after which a bitmap is flushed.
    pub(crate) flush: f64,
}

/// Who waits for the data at its own place, of those that waited for the write.
const fn written_back(tags: &Tags, waits: Waits) -> Waits {
    match waits {
        Waits::Operation if tags.journal => Waits::Room,
        waits => waits,
    }
}

/// A section of the journal, which is written whole: its bytes, and the sectors of data that it has room for
/// (`calculate_journal_section_size` in drivers/md/dm-integrity.c). Eight of its blocks of 512 bytes hold entries: where a
/// sector belongs, the last eight bytes of each of its blocks, its tag.
fn section(tags: &Tags) -> (f64, f64) {
    const RAW: f64 = 512.0;
    const WORD: f64 = 8.0;
    const BLOCKS_OF_ENTRIES: f64 = 8.0;
    let blocks = tags.sector / RAW;
    let entry = ((WORD + WORD * blocks + tags.size) / WORD).ceil() * WORD;
    let entries = ((RAW - WORD) / entry).floor() * BLOCKS_OF_ENTRIES;
    ((entries * blocks + BLOCKS_OF_ENTRIES) * RAW, entries)
}

/// What is written to the journal for a write: of many, one after the other, in requests as large as one holds
/// (`rw_journal_sectors` in drivers/md/dm-integrity.c, `do_region` in drivers/md/dm-io.c). What has to be safe after so many
/// writes is in sections that are written whole (`integrity_commit`).
fn journalled(tags: &Tags, flow: &Flow, safe_after: Option<f64>) -> Flow {
    let whole = safe_after.map_or(0.0, |writes| {
        let (bytes, sectors) = section(tags);
        let writes = writes.max(1.0);
        (writes * flow.bytes / tags.sector / sectors).ceil() * bytes / writes
    });
    let bytes = (flow.bytes * JOURNALLED).max(whole);
    let together = (REQUEST / bytes).clamp(1.0, safe_after.map_or(f64::INFINITY, |writes| writes.max(1.0)));
    Flow { random: false, paged: false, bytes: bytes * together, rate: flow.rate / together, ..*flow }
}

/// Workers of each processor that hand reads to the drive and wait for each (`offload_wq` and `METADATA_WORKQUEUE_MAX_ACTIVE`
/// in drivers/md/dm-integrity.c).
const READERS: f64 = 16.0;

struct Times {
    io: Parameter,
    byte: Parameter,
}

const fn times(mode: IntegrityMode, write: bool) -> Times {
    let (io, byte) = match (mode, write) {
        (IntegrityMode::Journal, false) => (Parameter::JournalReadIo, Parameter::JournalReadByte),
        (IntegrityMode::Journal, true) => (Parameter::JournalWriteIo, Parameter::JournalWriteByte),
        (IntegrityMode::NoJournal, false) => (Parameter::NoJournalReadIo, Parameter::NoJournalReadByte),
        (IntegrityMode::NoJournal, true) => (Parameter::NoJournalWriteIo, Parameter::NoJournalWriteByte),
        (IntegrityMode::Bitmap, false) => (Parameter::BitmapReadIo, Parameter::BitmapReadByte),
        (IntegrityMode::Bitmap, true) => (Parameter::BitmapWriteIo, Parameter::BitmapWriteByte),
    };
    Times { io, byte }
}

impl Compiler<'_> {
    pub(crate) fn integrity(&mut self, at: usize, layer: &Integrity, flow: &Flow) {
        let below = self.checksums(at, layer.mode, layer.tag, layer.sector.as_f64(), flow);
        let tags = Tags {
            size: f64::from(layer.tag.size()),
            sector: layer.sector.as_f64(),
            journal: layer.mode == IntegrityMode::Journal,
            bitmap: layer.mode == IntegrityMode::Bitmap,
            flush: layer.bitmap_flush.as_seconds(),
        };
        self.protected(&tags, below, 1);
    }

    /// Processor time of tags; what is asked below then comes from workers.
    pub(crate) fn checksums(
        &mut self,
        at: usize,
        mode: IntegrityMode,
        tag: IntegrityTag,
        sector: f64,
        flow: &Flow,
    ) -> Flow {
        let workers = self.workers(at, Parameter::One);
        // Its workqueues are made without `WQ_UNBOUND` (`dm_integrity_ctr` in drivers/md/dm-integrity.c): work is done by the
        // processor that asked for it.
        // A thread of the kernel that hands on what a job asked for asks on a processor of its own.
        let bound = match (workers, flow.context) {
            (Context::Workers { node, servers, over, .. }, Context::Thread | Context::Workers { bound: true, .. })
                if flow.thread.is_none() =>
            {
                Context::Workers { node, servers, over, bound: true }
            }
            _ => workers,
        };
        let Times { io, byte } = times(mode, flow.write);
        let bytes = flow.rate * flow.bytes;
        self.work(bound, io, flow.rate * flow.requests() * self.contention, "tags, hand-off, range lock");
        // What is read is checked when all of it is there (`integrity_metadata`).
        self.network.entire = !flow.write && flow.batch <= 1.0;
        self.work(workers, byte, bytes, "checksum");
        self.network.entire = false;
        let more = bytes / sector - bytes / TABLE_SECTOR;
        if more > 0.0 {
            self.work(workers, Parameter::TagSector, more, "more sectors than of 4 KiB");
            if mode == IntegrityMode::Journal && flow.write {
                self.work(workers, Parameter::JournalSector, more, "their entries in the journal");
            }
        }
        match tag {
            IntegrityTag::Crc32c => {}
            IntegrityTag::Xxhash64 => self.work(workers, Parameter::Xxhash, bytes, "xxhash64 in place of CRC-32C"),
            IntegrityTag::Sha256 => self.work(workers, Parameter::Sha256, bytes, "SHA-256 in place of CRC-32C"),
        }
        if flow.write {
            return Flow { context: bound, toucher: None, ..*flow };
        }
        // Each member of an array has workers of its own, and whoever hands out pieces to members never sleeps for a drive.
        let hands = self.is_on_drives(at).then_some(READERS);
        let at_most = READERS * self.jobs.min(self.site.threads());
        Flow { context: bound, toucher: Some(workers), hands, at_most, ..*flow }
    }

    /// Sends accesses for data, tags, journal and bitmap to the first `to` members, with the seeks between them.
    pub(crate) fn protected(&mut self, tags: &Tags, flow: Flow, to: usize) {
        // What lies before the data, and between its runs, is no multiple of anything (`ic->initial_sectors`).
        let flow = Flow { shifted: true, ..flow };
        let each = |of: &mut Self, flow: Flow| (0..to).for_each(|which| of.ask(which, flow));
        let overhead = 1.0 + tags.size / tags.sector;
        if !flow.write {
            each(self, flow);
            self.tag_reads(tags, &flow, each);
            return;
        }
        // All jobs that wait for a flush wait for the same.
        let asked = flow.waits;
        let safe_after = self.flushed.map(|every| every * self.jobs * flow.rate / self.writes);
        if let Some(writes) = safe_after {
            let flushes = flow.rate / writes;
            self.work(flow.context, Parameter::IntegrityFlush, flushes * count(to), "flush of tags or journal");
            if !tags.journal {
                // Whoever asks for a flush waits until the dirty tags are written (`dm_integrity_flush_buffers`): none are left
                // to be written later.
                let (dirty, bytes) = self.dirty(tags, &flow, writes);
                // The data first: a layer below counts a flush with the first of what it is asked to write.
                each(self, flow);
                each(self, Flow { random: true, bytes, rate: flushes * dirty, seeks: 0.0, ..flow });
                return;
            }
        }
        let to_journal = |flow: &Flow| {
            let waits = if safe_after.is_some() { asked } else { flow.waits };
            Flow { waits, ..journalled(tags, flow, safe_after) }
        };
        if !flow.random {
            // Out to the tags and back for each run of data; out to the journal and back for each time it is written
            // back; out to the bitmap and back for each region.
            let runs = 2.0 / INTERLEAVE;
            let extra = match (tags.journal, tags.bitmap) {
                (true, _) => 2.0 / WRITTEN_BACK,
                (_, true) => 2.0 / INTERLEAVE,
                _ => 0.0,
            };
            let seeks = flow.seeks + flow.bytes * (runs + extra);
            let waits = written_back(tags, flow.waits);
            // Tags are accesses besides: an access of data is no larger for them.
            each(self, Flow { rate: flow.rate * overhead, seeks: seeks / overhead, waits, ..flow });
            if tags.journal {
                each(self, to_journal(&Flow { waits, ..flow }));
            }
            return;
        }
        // What is in the journal is written back later, by each member in its own time.
        let flow = Flow { waits: written_back(tags, flow.waits), ..flow };
        each(self, flow);
        if tags.journal {
            // A write has ended when it lies in the journal's own memory; that goes to the drive with the next commit, or
            // with what asks to be safe (`__journal_read_write` and `integrity_commit` in drivers/md/dm-integrity.c).
            each(self, to_journal(&flow));
            self.network.backlog = self.network.backlog.max(WRITTEN_BACK / (flow.bytes * JOURNALLED));
        }
        self.tag_reads(tags, &flow, each);
        let extra = self.tag_writes(tags, &flow);
        let bytes = (INTERLEAVE * tags.size / tags.sector).min(BUFFER);
        each(self, Flow { bytes, rate: flow.rate * extra, ..flow });
    }

    /// Buffers of tags that so many writes leave dirty, and what is written of each: from the first to the last that changed
    /// (`dm_bufio_mark_partial_buffer_dirty`), which of places at random are (k - 1) / (k + 1) of it apart.
    fn dirty(&self, tags: &Tags, flow: &Flow, writes: f64) -> (f64, f64) {
        if !flow.random {
            return (writes.min(1.0), writes.max(1.0) * flow.bytes * tags.size / tags.sector + ALIGNED);
        }
        let (all, buffer) = self.buffers(tags);
        let dirty = all * (1.0 - (-writes / all).exp());
        let each = (writes / dirty).max(1.0);
        (dirty, (buffer * (each - 1.0) / (each + 1.0) + ALIGNED).min(buffer.max(ALIGNED)))
    }

    /// Tags of random accesses that dm-bufio does not hold are read first, a buffer at a time. All its clients share 2 % of the
    /// memory (`DM_BUFIO_MEMORY_PERCENT` in drivers/md/dm-bufio.c); members that hold the same have tags each.
    fn tag_reads(&mut self, tags: &Tags, flow: &Flow, each: impl Fn(&mut Self, Flow)) {
        let Some(memory) = self.site.machine.memory.size.filter(|_| flow.random) else { return };
        let (buffers, bytes) = self.buffers(tags);
        let copies = if flow.write { flow.copies } else { flow.choices };
        let missed = 1.0 - HELD * memory.as_f64() / (buffers * bytes * copies);
        if missed > 0.0 {
            each(self, Flow { write: false, bytes, rate: flow.rate * missed, ..*flow });
        }
    }

    /// How many buffers hold the tags of what is worked on, and the bytes of each: tags lie in runs, one for so much data.
    fn buffers(&self, tags: &Tags) -> (f64, f64) {
        let run = INTERLEAVE * tags.size / tags.sector;
        let of_run = (run / BUFFER).ceil();
        ((self.conditions.span.as_f64() / INTERLEAVE).ceil().max(1.0) * of_run, run / of_run)
    }

    /// Buffers of tags that are written for each random write: each dirty one once in every round of writing back.
    fn tag_writes(&self, tags: &Tags, flow: &Flow) -> f64 {
        let (blocks, _) = self.buffers(tags);
        let writes = if tags.journal {
            WRITTEN_BACK / (flow.bytes * JOURNALLED)
        } else if tags.bitmap {
            // As many as the drives take meanwhile.
            let each = self.first_drive().map(|drive| {
                let class = self.class_of(drive);
                self.site.parameters.value(class.write_op).max(self.site.parameters.value(class.write) * flow.bytes)
            });
            tags.flush / each.unwrap_or(1.0)
        } else {
            return 0.0;
        };
        // Of so many writes to so many blocks, these are hit at least once.
        blocks * (1.0 - (-writes / blocks.max(1.0)).exp()) / writes.max(precise(1))
    }
}
