//! Buffered I/O: what fio's options make of the page cache.

use super::{FioKey, Workload};

/// How operations meet the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageCache {
    /// Direct I/O goes past it.
    Direct,
    /// What it holds of the file is dropped before each pass over the span: fio's `invalidate`, which it has on by itself.
    Cold,
    /// It holds what there is room for: the file is read into it first, or nothing is dropped.
    Warm,
}

impl PageCache {
    /// In words, after those for the accesses; nothing for direct I/O.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Direct => "",
            Self::Cold => ", buffered",
            Self::Warm => ", buffered, warm",
        }
    }
}

impl Workload {
    /// How its operations, or those of any of its parts, meet the page cache.
    #[must_use]
    pub fn page_cache(&self) -> PageCache {
        let says = |words: &[(&str, &str)]| {
            self.all_keys().any(|FioKey { key, value }| words.contains(&(key.as_str(), value.as_str())))
        };
        if !says(&[("direct", "0"), ("ioengine", "mmap")]) {
            PageCache::Direct
        } else if says(&[("pre_read", "1"), ("invalidate", "0")]) {
            PageCache::Warm
        } else {
            PageCache::Cold
        }
    }

    /// Does the page cache take part?
    #[must_use]
    pub fn is_buffered(&self) -> bool {
        self.page_cache() != PageCache::Direct
    }
}
