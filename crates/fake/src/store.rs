//! Bytes of a drive, kept only where something was written.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes that are kept together: a page.
pub(crate) const PAGE: u64 = 4096;

/// Bytes of a drive. Copies share what neither has changed since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Store(BTreeMap<u64, Arc<Vec<u8>>>);

impl Store {
    pub(crate) fn read(&self, offset: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        for (number, page) in self.0.range(offset / PAGE..(offset + length as u64).div_ceil(PAGE)) {
            let start = number * PAGE;
            let from = offset.max(start);
            let until = (offset + length as u64).min(start + PAGE);
            bytes[(from - offset) as usize..(until - offset) as usize]
                .copy_from_slice(&page[(from - start) as usize..(until - start) as usize]);
        }
        bytes
    }

    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            let place = offset + at as u64;
            let within = (place % PAGE) as usize;
            let piece = &bytes[at..bytes.len().min(at + PAGE as usize - within)];
            self.write_page(place / PAGE, within, piece);
            at += piece.len();
        }
    }

    fn write_page(&mut self, number: u64, within: usize, piece: &[u8]) {
        let is_zero = piece.iter().all(|byte| *byte == 0);
        if is_zero && !self.0.contains_key(&number) {
            return;
        }
        let page = self.0.entry(number).or_insert_with(|| Arc::new(vec![0; PAGE as usize]));
        Arc::make_mut(page)[within..within + piece.len()].copy_from_slice(piece);
        // Equal drives are equal however they came to be so.
        if is_zero && page.iter().all(|byte| *byte == 0) {
            self.0.remove(&number);
        }
    }

    /// Is every byte of a range zero?
    pub(crate) fn is_zero(&self, offset: u64, length: u64) -> bool {
        self.0.range(offset / PAGE..(offset + length).div_ceil(PAGE)).next().is_none()
            || self.read(offset, length as usize).iter().all(|byte| *byte == 0)
    }

    /// Makes a range zero.
    pub(crate) fn erase(&mut self, offset: u64, length: u64) {
        let end = offset.saturating_add(length);
        let (first, last) = (offset.div_ceil(PAGE), end / PAGE);
        if first >= last {
            self.write(offset, &vec![0; length as usize]);
            return;
        }
        let whole: Vec<u64> = self.0.range(first..last).map(|(number, _)| *number).collect();
        for number in whole {
            self.0.remove(&number);
        }
        self.write(offset, &vec![0; (first * PAGE - offset) as usize]);
        self.write(last * PAGE, &vec![0; (end - last * PAGE) as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_where_they_were_written_and_zeros_are_nothing() {
        let mut store = Store::default();
        store.write(PAGE - 2, b"abcd");
        assert_eq!(store.read(PAGE - 3, 6), b"\0abcd\0");
        let before = store.clone();
        store.write(7 * PAGE + 5, b"x");
        assert_ne!(store, before);
        store.erase(PAGE, 20 * PAGE);
        assert_eq!(store.read(PAGE - 2, 4), b"ab\0\0");
        store.erase(0, PAGE);
        assert!(store == Store::default() && store.is_zero(0, 30 * PAGE));
    }
}
