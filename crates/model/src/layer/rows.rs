//! Rows of a parity array: which of them a write fills, and which it changes in part.

/// What a write at random changes of a parity array, in rows of chunks, on average over the places where it may begin.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rows {
    /// Rows of which all data is written.
    pub(super) whole: f64,
    /// Rows of which a part is.
    pub(super) parts: f64,
    /// Chunks that are read and written for these.
    pub(super) reads: f64,
    pub(super) writes: f64,
}

/// Places in each chunk where a write is looked at that may begin anywhere.
const ANYWHERE: f64 = 8.0;
/// Operations of which all rows are sought to be full: more are seldom under way.
const MOST_TRIED: u32 = 64;

impl Rows {
    /// Of a stream of writes of so many chunks, so many of them under way together on average, one at least. What fills no row to
    /// its end waits until the thread has nothing else to do (`raid5_activate_delayed`); then that row is written in two parts.
    pub(super) fn of_stream(chunks: f64, together: f64, data: f64, parity: f64) -> Self {
        let rows = chunks / data;
        let is_integer = |number: f64| (number - number.round()).abs() < 1e-9;
        let is_whole = |operations: f64| is_integer(rows * operations);
        let share = if together.is_infinite() {
            0.0
        } else if is_integer(together) {
            f64::from(u8::from(!is_whole(together)))
        } else {
            // Their number changes. One number in `every` fills its rows.
            (1..=MOST_TRIED).map(f64::from).find(|&every| is_whole(every)).map_or(1.0, |every| 1.0 - every.recip())
        };
        let broken = share / together;
        let half = data / 2.0;
        Self {
            whole: rows - broken,
            parts: 2.0 * broken,
            reads: 2.0 * broken * half,
            writes: 2.0 * broken * (half + parity),
        }
    }

    /// Of a stream of writes of so many chunks, of which so many chunks are under way. A row of pages whose data are all there at
    /// one moment is written whole, and its first and last lie `data - 1` chunks apart. All others are as each write by itself
    /// leaves them, and so are those rows, a share of all, for which the stripe cache has no room.
    pub(super) fn of_window(chunks: f64, window: f64, shifted: bool, data: f64, parity: f64, room: f64) -> Self {
        let met = |window: f64| ((window - (data - 1.0)) / chunks.max(1.0)).clamp(0.0, 1.0);
        let (alone, whole) = (Self::of(chunks, shifted, data, parity), met(chunks));
        if whole >= 1.0 {
            return alone;
        }
        let joined = room * (met(window) - whole) / (1.0 - whole);
        let left = 1.0 - joined;
        Self {
            whole: alone.whole * left + chunks / data * joined,
            parts: alone.parts * left,
            reads: alone.reads * left,
            writes: alone.writes * left,
        }
    }

    /// Of a write of so many chunks, over so many chunks of data in a row, at a multiple of its own size or anywhere.
    pub(super) fn of(chunks: f64, shifted: bool, data: f64, parity: f64) -> Self {
        // Multiples of what is no whole number of chunks begin all over them.
        let shifted = shifted || (chunks > 1.0 && chunks.fract() > 1e-9);
        let chunks = if shifted { chunks } else { chunks.ceil() };
        // Multiples of a size begin in a row where multiples of both do.
        let mut step = (chunks, data);
        while step.1 > 0.0 && !shifted {
            step = (step.1, step.0 % step.1);
        }
        let step = if shifted { ANYWHERE.recip() } else { step.0 };
        let share = step / data;
        let mut rows = Self::default();
        let mut start = if shifted { step / 2.0 } else { 0.0 };
        while start < data {
            let head = if start > 0.0 { (data - start).min(chunks) } else { 0.0 };
            let left = chunks - head;
            rows.part(head, share, data, parity);
            rows.whole += share * (left / data).floor();
            rows.part(left % data, share, data, parity);
            start += step;
        }
        // Of less than a chunk, what is read and written comes in parts of that size.
        let unit = chunks.min(1.0);
        Self { parts: rows.parts / unit, reads: rows.reads / unit, writes: rows.writes / unit, ..rows }
    }

    /// A share of writes that touch so many chunks of a row. Where that is no whole number, some of its pages have one more
    /// touched than the others, for a row is worked on page by page.
    fn part(&mut self, touched: f64, share: f64, data: f64, parity: f64) {
        let (few, more) = (touched.floor(), touched.fract());
        for (touched, share) in [(few, share * (1.0 - more)), (few + 1.0, share * more)] {
            if touched >= data {
                self.whole += share;
            } else if touched > 0.0 {
                // Either what is changed is read, data and parity, or all of the data that is not.
                self.parts += share;
                self.reads += share * (touched + parity).min(data - touched);
                self.writes += share * (touched + parity);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::count;

    #[test]
    fn a_write_at_random_changes_whole_rows_and_parts_of_rows() {
        let parts = |parts, reads, writes| Rows { whole: 0.0, parts, reads, writes };
        for (chunks, data, parity, expected) in [
            // Data and parity, or the one other member's data.
            (0.25, 4.0, 1.0, parts(1.0, 2.0, 2.0)),
            (1.0, 2.0, 1.0, parts(1.0, 1.0, 2.0)),
            // Two rows where it begins in the last chunk of three: one each of data and parity, twice.
            (2.0, 3.0, 1.0, parts(4.0 / 3.0, 2.0, 10.0 / 3.0)),
            // A row and a third of the next: from the second and third chunk on no row is whole, or the second is.
            (4.0, 3.0, 1.0, Rows { whole: 2.0 / 3.0, parts: 4.0 / 3.0, reads: 2.0, writes: 10.0 / 3.0 }),
            (6.0, 3.0, 1.0, Rows { whole: 2.0, ..Rows::default() }),
        ] {
            let rows = Rows::of(chunks, false, data, parity);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
            assert!(
                close(rows.whole, expected.whole)
                    && close(rows.parts, expected.parts)
                    && close(rows.reads, expected.reads)
                    && close(rows.writes, expected.writes),
                "{chunks} chunks over {data}: {rows:?}, not {expected:?}"
            );
        }
    }

    /// However a write lies, all that it changes is written, and each part's parity with it.
    #[test]
    fn no_chunk_is_lost_between_rows() {
        for data in 2..12 {
            for chunks in 1..40 {
                for shifted in [false, true] {
                    let (data, chunks) = (count(data), count(chunks) / if shifted { 3.0 } else { 1.0 });
                    let rows = Rows::of(chunks, shifted, data, 2.0);
                    let written = rows.whole * data + (rows.writes - rows.parts * 2.0) * chunks.min(1.0);
                    assert!((written - chunks).abs() < 1e-9, "{chunks} chunks over {data}, {shifted}: {rows:?}");
                }
            }
        }
    }

    /// Two whole rows where it begins with one; else one row of which all is written, and a part of those before and after it.
    #[test]
    fn a_write_that_begins_anywhere_leaves_parts_of_rows() {
        let rows = Rows::of(4.0, true, 2.0, 2.0);
        assert!(rows.whole > 1.0 && rows.whole < 2.0, "{rows:?}");
        assert!(rows.parts > 0.0 && rows.reads > 0.0, "{rows:?}");
        assert_eq!(Rows::of(4.0, false, 2.0, 2.0), Rows { whole: 2.0, ..Rows::default() });
    }
}
