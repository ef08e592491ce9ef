//! The lab: a QEMU guest with emulated drives and PCIe topology, running this machine's own kernel and tools.
//!
//! A guest is one body of the [`Host`](host::Host) door. It knows nothing of layers. Its programs are this machine's:
//! shared read-only under an overlay in memory, or copied into its initial file system where its clock is its own. Its drives
//! are files that go with it, or in its memory. It sees nothing else of this machine, and QEMU is in a cage. When a guest
//! ends, however it ends, no process, file or mount of it stays.

mod accelerator;
mod archive;
mod boot;
mod cage;
pub mod check;
mod closure;
mod console;
mod disk;
mod enclosure;
mod error;
mod file;
mod flash;
mod guest;
mod guest_spec;
mod image;
pub mod init;
mod kernel;
mod limit;
mod machine;
mod mailbox;
mod modules;
mod monitor;
mod network;
mod post;
mod probe;
mod ram;
mod saved;
mod scratch;
mod share;
mod start;
mod vmlinux;
mod within;

pub use accelerator::Accelerator;
pub use boot::boot;
pub use error::LabError;
pub use guest::Guest;
pub use guest_spec::GuestSpec;
pub use kernel::{GuestKernel, releases};
pub use machine::{BROUGHT, Console, SATA_PORTS, serial_of};
pub use probe::emulator;
pub use saved::Saves;
pub use scratch::sweep;
