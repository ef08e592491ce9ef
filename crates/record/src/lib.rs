//! The record of a run: a directory that is only ever added to, and a throw-away catalogue over many of them.
//!
//! ```text
//! runs/<run>/
//!   provenance.json  study.toml  inventory.json
//!   plans/<slug>.json  plans/<slug>.sh
//!   journal.jsonl  events.jsonl            one JSON object per line
//!   builds/<round>-<slug>.json
//!   cells/<round>-<slug>-<workload>/       cell.json and the raw files
//!   sealed.json                            SHA-256 of every file, written once, last
//!   lock                                   who writes; not part of the record
//! ```
//!
//! What holds at any moment, also after `kill -9` and power loss:
//! - a file or cell is there whole or not at all: it is written under a name beginning with `.new-`, synced, renamed;
//! - nothing is edited: writing again puts `.2`, `.3` … beside, and readers take the newest;
//! - a line without its line end was never written: readers pass over it, the next writer cuts it;
//! - one process writes, any number read.
//!
//! A record may come from anybody. Below its directory only regular files of bounded size are opened, and through no
//! link.

mod beside;
mod durable;
mod error;
mod folder;
mod layout;
mod lines;
mod lock;
mod naming;
mod reader;
mod seal;
mod writer;

pub mod catalogue;

pub use beside::{put_beside, read_beside};
pub use error::RecordError;
pub use naming::run_name;
pub use reader::{Attempt, RunReader};
pub use seal::sha256_hex;
pub use writer::{RunWriter, put_report};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
