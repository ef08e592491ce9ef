//! What cannot be meant or cannot be measured of a whole job.

use terms::Note;

use super::job::{Job, Work};
use super::together::TOGETHER;

/// Bytes that a drive takes at once at least: what passes by the page cache begins and ends at multiples of it.
const SECTOR: u64 = 512;

impl Job {
    /// Notes what is wrong in the job. Nothing follows from a value that could not be read: that was told.
    pub(super) fn check(&self, notes: &mut Vec<Note>) {
        let mut error = |code, message: String, hint: &str| {
            notes.push(Note::error(code, Some(self.place), message).hint(hint));
        };
        let Work { size, increment, pattern, .. } = &self.work;
        let name = self.name.escape_debug();
        let block = self.block();
        if pattern.reads() && pattern.writes() && self.work.blocks[0] != self.work.blocks[1] {
            let message = format!("`{name}` reads and writes blocks of two sizes: a workload has one");
            error("fio-blocks", message, "give both one size");
        }
        if self.is_off_its_blocks() {
            let message =
                format!("`{name}` has bs_is_seq_rand: fio puts its random blocks at multiples of the size in order");
            error("fio-blocks", message, "give both one size, or leave bs_is_seq_rand out");
        }
        if let Some((what, hint)) = self.contradiction().filter(|_| !self.is_unsure(&TOGETHER)) {
            error("fio-bad-value", format!("`{name}` has {what}"), hint);
        }
        if let Some((what, bytes)) = self.misaligned() {
            let message = format!("`{name}` works past the page cache with {what} {bytes} bytes: no drive takes these");
            let hint = "write multiples of 512 bytes; fio reads `KiB` as 1000 and `k` as 1024";
            error("fio-bad-value", message, hint);
        }
        if self.locks && !self.work.direct && !self.is_unsure(&["direct", "buffered", "lockmem"]) {
            let message = format!("`{name}` locks memory: less is left for the page cache, and it goes through that");
            error("fio-bad-value", message, "leave lockmem out, or say direct=1");
        }
        let is_sized = !self.is_unsure(&["bs", "numjobs", "size", "filesize"]);
        // Clones on one file go over the same blocks.
        let clones = if self.has_parts() { u64::from(self.jobs) } else { 1 };
        let least = block.0.saturating_mul(clones);
        let whole = self.size().and_then(|size| size.0.checked_mul(clones)?.checked_add(self.work.offset.0));
        if is_sized && self.size().is_some() && whole.is_none() {
            let message = format!("`{name}` works on more bytes than can be counted");
            error("fio-bad-value", message, "make the size smaller");
        }
        if let Some(span) = self.span().filter(|span| is_sized && span.0 < least) {
            let message = format!("`{name}` works on {span}: its blocks are larger");
            error("fio-bad-value", message, "make the size larger, or the blocks smaller");
        }
        let is_apart = is_sized && !self.is_unsure(&["offset_increment"]);
        if is_apart && self.jobs > 1 && increment.is_some_and(|step| step.0 > 0 && size.is_none_or(|size| step < size))
        {
            let message = format!("the jobs of `{name}` begin within one another's parts");
            error("fio-offset", message, "make offset_increment as large as size, or leave it out");
        }
        if is_sized && self.work.offset.0 > 0 && self.size().is_none() {
            let message = format!("`{name}` begins within its file and does not say how much of it it works on");
            error("fio-offset", message, "say size; an offset in bytes lies within the span that is filled");
        }
        if self.by_clock && self.work.runtime.is_none() && !self.is_unsure(&["runtime"]) {
            error("fio-bad-value", format!("`{name}` is time_based and has no runtime"), "add runtime=60");
        }
    }

    /// What begins or ends within a sector, where it passes by the page cache; and its bytes.
    fn misaligned(&self) -> Option<(&'static str, u64)> {
        // fio ends with the last whole block; clones behind one another begin where the one before them ends.
        let begins_behind = self.jobs > 1 && self.has_parts();
        let found = [
            ("blocks of", Some(self.block())),
            ("an offset of", Some(self.work.offset)),
            ("an offset_increment of", self.work.increment),
            ("parts of", self.size().filter(|_| begins_behind)),
        ];
        let found = found.into_iter().filter_map(|(what, bytes)| Some((what, bytes?.0)));
        let mut found = found.filter(|(_, bytes)| self.work.direct && !bytes.is_multiple_of(SECTOR));
        found.next()
    }
}
