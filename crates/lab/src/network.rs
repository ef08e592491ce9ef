//! The two private networks between a guest and its enclosure: QEMU carries their frames over sockets in the
//! enclosure's directory, and nothing of this machine's own networks is in reach.
//!
//! The enclosure listens and the guest connects, so both ends go with their processes. Addresses exist inside the
//! guests alone.

use std::path::Path;
use std::time::{Duration, Instant};

use host::{Host, HostError, Local, interrupt};
use terms::Cmd;

use crate::LabError;
use crate::machine::inside;

/// Ports of the enclosure, each on a network of its own.
pub(crate) const PORTS: [u8; 2] = [1, 2];
/// The TCP port that the NVMe target listens on: the one that IANA gave to NVMe over fabrics.
pub(crate) const SERVICE: &str = "4420";
/// Bytes of the largest frame's content: jumbo frames, as storage networks have them. Every frame costs an emulated
/// processor the same, whatever is in it.
const MTU: u16 = 9000;
/// How long QEMU may take to listen, and a guest to find its cards.
const PATIENCE: Duration = Duration::from_secs(10);

/// Which end of both networks a guest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Drives are here.
    Enclosure,
    /// Drives are used here.
    Initiator,
}

impl End {
    const fn number(self) -> u8 {
        match self {
            Self::Enclosure => 1,
            Self::Initiator => 2,
        }
    }

    /// The address of this end on a port's network.
    pub(crate) fn address(self, port: u8) -> String {
        format!("10.0.{port}.{}", self.number())
    }

    /// The card's address: locally administered (IEEE 802, the second bit), unique among both ends.
    fn card(self, port: u8) -> String {
        format!("02:00:00:00:{port:02x}:{:02x}", self.number())
    }
}

/// QEMU's arguments for one end of both networks; the sockets are in `directory`.
pub(crate) fn arguments(directory: &Path, end: End) -> Vec<String> {
    let server = if end == End::Enclosure { "on" } else { "off" };
    let each = PORTS.iter().flat_map(|port| {
        let path = socket(directory, *port);
        [
            "-netdev".to_owned(),
            format!("stream,id=net{port},server={server},addr.type=unix,addr.path={path}"),
            "-device".to_owned(),
            // Without its own firmware: nobody boots from it.
            format!("virtio-net-pci,netdev=net{port},mac={},host_mtu={MTU},romfile=", end.card(*port)),
        ]
    });
    each.collect()
}

fn socket(directory: &Path, port: u8) -> String {
    inside(directory, &format!("port-{port}.sock"))
}

/// Waits until QEMU listens on both sockets: a guest that connects earlier would never have a link. The kernel lists
/// sockets, and a connection made to try would be the only one that QEMU takes.
pub(crate) fn await_listening(directory: &Path) -> Result<(), LabError> {
    let start = Instant::now();
    loop {
        let listed = Local::new().read_text("/proc/net/unix")?;
        if PORTS.iter().all(|port| is_listening(&listed, &socket(directory, *port))) {
            return Ok(());
        }
        interrupt::check()?;
        if start.elapsed() > PATIENCE {
            let what = format!("the enclosure's QEMU did not listen within {} s", PATIENCE.as_secs());
            return Err(LabError::Boot { what, console: String::new() });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A line of `/proc/net/unix`: address, count, protocol, flags, type, state, inode, path. The flag is `__SO_ACCEPTCON`
/// (include/linux/net.h).
fn is_listening(listed: &str, path: &str) -> bool {
    const ACCEPTS: u32 = 1 << 16;
    let mut lines = listed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines.any(|fields| {
        let flags = fields.get(3).and_then(|flags| u32::from_str_radix(flags, 16).ok());
        fields.get(7) == Some(&path) && flags.is_some_and(|flags| flags & ACCEPTS != 0)
    })
}

/// Gives both cards of a guest their addresses and switches them on.
pub(crate) fn set_up(guest: &dyn Host, end: End) -> Result<(), LabError> {
    guest.run_ok(&Cmd::new(["modprobe", "virtio_net"]))?;
    for port in PORTS {
        let card = interface(guest, end, port)?;
        guest.run_ok(&Cmd::new(["ip", "address", "add", &format!("{}/24", end.address(port)), "dev", &card]))?;
        guest.run_ok(&Cmd::new(["ip", "link", "set", &card, "up"]))?;
    }
    Ok(())
}

/// Switches a card off or on; it keeps its address.
pub(crate) fn switch(guest: &dyn Host, end: End, port: u8, up: bool) -> Result<(), HostError> {
    let card = found(guest, end, port)?.unwrap_or_default();
    guest.run_ok(&Cmd::new(["ip", "link", "set", "dev", &card, if up { "up" } else { "down" }])).map(drop)
}

/// What the guest calls the card of a port, if it is there by now.
fn found(guest: &dyn Host, end: End, port: u8) -> Result<Option<String>, HostError> {
    let is_it = |name: &String| {
        let address = guest.read_text(&format!("/sys/class/net/{name}/address")).unwrap_or_default();
        address == end.card(port)
    };
    Ok(guest.list("/sys/class/net")?.into_iter().find(is_it))
}

/// The same, waited for.
fn interface(guest: &dyn Host, end: End, port: u8) -> Result<String, LabError> {
    let start = Instant::now();
    loop {
        if let Some(name) = found(guest, end, port)? {
            return Ok(name);
        }
        if start.elapsed() > PATIENCE {
            return Err(LabError::Drives(format!("the network card of port {port} did not appear")));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_listens_when_the_kernel_says_so() {
        let listed = "Num       RefCount Protocol Flags    Type St Inode Path\n\
                      0000000000000000: 00000002 00000000 00010000 0001 01 23 /l/port-1.sock\n\
                      0000000000000000: 00000003 00000000 00000000 0001 03 24 /l/port-2.sock\n";
        assert!(is_listening(listed, "/l/port-1.sock"));
        assert!(!is_listening(listed, "/l/port-2.sock") && !is_listening(listed, "/l/port"));
    }

    #[test]
    fn networks_are_sockets_in_the_directory_and_nothing_else() {
        for (end, server) in [(End::Enclosure, "server=on"), (End::Initiator, "server=off")] {
            let argv = arguments(Path::new("/lab"), end);
            let backends: Vec<&String> = argv.iter().filter(|word| word.starts_with("stream,")).collect();
            assert_eq!((backends.len(), argv.len()), (2, 8));
            assert!(backends.iter().all(|word| word.contains(server) && word.contains("addr.path=/lab/port-")));
        }
        let cards: Vec<String> =
            [End::Enclosure, End::Initiator].iter().flat_map(|end| PORTS.map(|port| end.card(port))).collect();
        assert!(cards.iter().enumerate().all(|(at, card)| !cards[at + 1..].contains(card)));
    }
}
