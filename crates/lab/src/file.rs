//! Files of a guest, from its directory on. QEMU is started in there and given no other names: what a path holds that
//! leads there, a comma for example, is nothing that its options could be mistaken about.

pub(crate) const KERNEL: &str = "kernel";
pub(crate) const IMAGE: &str = "initramfs";
pub(crate) const CONSOLE: &str = "console.log";
pub(crate) const OUTPUT: &str = "qemu.log";
/// Where QEMU may make files of its own: the sockets that it listens on, and the state of its devices.
pub(crate) const OWN: &str = "own";
pub(crate) const AGENT: &str = "own/agent.sock";
/// Where a guest that talks through a mailbox waits (crate::post).
pub(crate) const BELLS: [&str; 2] = ["bell-0", "bell-1"];

/// QEMU's monitor.
pub(crate) const MONITOR: &str = "own/monitor.sock";
/// Where QEMU writes the state of its devices to.
pub(crate) const DEVICES: &str = "own/devices";
/// Where it listens for that of another.
pub(crate) const INCOMING: &str = "own/incoming.sock";
/// What QEMU calls the memory of a guest whose memory is a file (memfd_create(2)).
pub(crate) const MEMORY: &str = "/memfd:memory";

/// The backing file of a drive.
pub(crate) fn drive(index: usize) -> String {
    format!("drive-{index}")
}
