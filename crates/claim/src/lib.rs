//! May this drive be touched? Two questions, and the answer to both is no until it is proven.
//!
//! *Identity*: [`resolve`] turns what a person wrote into an [`Identity`], and [`confirm`] asks again whether it is still
//! the same drive. *Freedom*: [`examine`] lists everything that speaks against using it. A [`Permission`] is made from
//! both and from the person's [`Consent`] in this invocation, and from nothing else; [`LockedDrive`] is a permission
//! with a lock on the drive.
//!
//! Nothing here writes, and no device is opened for writing.

mod by_id;
mod candidates;
mod consent;
mod device;
mod doubt;
mod error;
mod examination;
mod examine;
mod family;
mod file_id;
mod fitness;
mod identity;
mod log;
mod mark;
mod mounted;
mod name;
mod ours;
mod permission;
mod resolve;
mod samples;
mod signature;
mod survey;
mod usage;
mod writable;

pub use candidates::{Candidate, candidates, id_of, left_by_runs};
pub use consent::Consent;
pub use error::{ClaimError, Refusal};
pub use examination::{Class, Evidence, Examination, Objection, Owner, UNCHECKED};
pub use examine::{examine, examine_nodes};
pub use file_id::{FileId, FilePart};
pub use identity::{Identity, PartitionOf};
pub use mark::WrittenMark;
pub use mounted::was_mounted;
pub use name::in_command;
pub use ours::{INTEGRITY_BELOW, Ours, devno_of, members, node_of_devno, signatures};
pub use permission::{LockedDrive, Permission, reclaim};
pub use resolve::{confirm, resolve};
pub use signature::places_of_marks;
pub use survey::registries::made_of;
pub use writable::{Writable, is_memory};
