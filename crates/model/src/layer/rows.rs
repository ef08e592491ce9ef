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

impl Rows {
    /// Of a stream of writes of so many chunks, so many of them under way together. What fills no row to its end waits until the
    /// thread has nothing else to do (`raid5_activate_delayed`); then that row is written in two parts.
    pub(super) fn of_stream(chunks: f64, together: f64, data: f64, parity: f64) -> Self {
        let (rows, together) = (chunks / data, chunks / data * together);
        let is_whole = together.is_infinite() || (together - together.round()).abs() < 1e-9;
        let broken = if is_whole { 0.0 } else { rows / together };
        let half = data / 2.0;
        Self {
            whole: rows - broken,
            parts: 2.0 * broken,
            reads: 2.0 * broken * half,
            writes: 2.0 * broken * (half + parity),
        }
    }

    /// Of a write of so many chunks, at a multiple of its own size, over so many chunks of data in a row.
    pub(super) fn of(chunks: f64, data: f64, parity: f64) -> Self {
        let mut rows = Self::default();
        let mut part = |touched: f64, share: f64| {
            if touched > 0.0 {
                // Either what is changed is read, data and parity, or all of the data that is not.
                rows.parts += share;
                rows.reads += share * (touched + parity).min(data - touched);
                rows.writes += share * (touched + parity);
            }
        };
        if chunks <= 1.0 {
            part(1.0, 1.0);
            return rows;
        }
        let chunks = chunks.ceil();
        // Multiples of a size begin in a row where multiples of both do.
        let mut step = (chunks, data);
        while step.1 > 0.0 {
            step = (step.1, step.0 % step.1);
        }
        let starts = data / step.0;
        let share = 1.0 / starts;
        let (mut start, mut whole) = (0.0, 0.0);
        while start < data {
            let head = if start > 0.0 { (data - start).min(chunks) } else { 0.0 };
            let left = chunks - head;
            part(head, share);
            whole += share * (left / data).floor();
            part(left % data, share);
            start += step.0;
        }
        Self { whole, ..rows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::count;

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
            let rows = Rows::of(chunks, data, parity);
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
                let (data, chunks) = (count(data), count(chunks));
                let rows = Rows::of(chunks, data, 2.0);
                let written = rows.whole * data + rows.writes - rows.parts * 2.0;
                assert!((written - chunks).abs() < 1e-9, "{chunks} chunks over {data}: {rows:?}");
            }
        }
    }
}
