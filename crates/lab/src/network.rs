//! The two private networks between guests and their enclosure: QEMU carries their frames over sockets in the
//! enclosure's directory, and nothing of this machine's own networks is in reach.
//!
//! The enclosure listens and the guests connect, so all ends go with their processes. Addresses exist inside the
//! guests alone. With several guests the enclosure's QEMU is the switch, too: a hub for each port, with the enclosure's
//! card and a socket for each guest.

use std::path::Path;
use std::time::{Duration, Instant};

use host::{Host, HostError, Local, interrupt};
use terms::Cmd;

use crate::LabError;
use crate::file;

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
    /// Drives are used here: the number of the host, from 0.
    Initiator(u8),
}

impl End {
    const fn number(self) -> u8 {
        match self {
            Self::Enclosure => 1,
            Self::Initiator(host) => 2 + host,
        }
    }

    /// The address of this end on a port's network.
    pub(crate) fn address(self, port: u8) -> String {
        format!("10.0.{port}.{}", self.number())
    }

    /// The card's address: locally administered (IEEE 802, the second bit), unique among all ends.
    fn card(self, port: u8) -> String {
        format!("02:00:00:00:{port:02x}:{:02x}", self.number())
    }
}

/// Where a host is reached by the others: its address on the first port's network.
pub(crate) fn address(host: u8) -> String {
    End::Initiator(host).address(PORTS[0])
}

/// QEMU's arguments for one host's end of both networks; the sockets are in `directory`.
pub(crate) fn host_arguments(directory: &Path, host: u8) -> Vec<String> {
    let each = PORTS.iter().flat_map(|port| {
        let link = ["-netdev".to_owned(), wire(directory, *port, host, &format!("net{port}"), "off")];
        link.into_iter().chain(card(End::Initiator(host), *port))
    });
    each.collect()
}

/// The same for the enclosure's end of so many hosts.
pub(crate) fn enclosure_arguments(directory: &Path, hosts: u8) -> Vec<String> {
    PORTS
        .iter()
        .flat_map(|port| switched(directory, *port, hosts).into_iter().chain(card(End::Enclosure, *port)))
        .collect()
}

/// What the enclosure's card of a port is plugged into: the wire to the only host, or a hub with a wire to each.
fn switched(directory: &Path, port: u8, hosts: u8) -> Vec<String> {
    let netdev = |what: String| ["-netdev".to_owned(), what];
    if hosts == 1 {
        return netdev(wire(directory, port, 0, &format!("net{port}"), "on")).into();
    }
    let to_card = netdev(format!("hubport,id=net{port},hubid={port}"));
    let to_hosts = (0..hosts).flat_map(|host| {
        let id = format!("wire{port}-{host}");
        let plugged = format!("hubport,id=plug{port}-{host},hubid={port},netdev={id}");
        [netdev(wire(directory, port, host, &id, "on")), netdev(plugged)].concat()
    });
    to_card.into_iter().chain(to_hosts).collect()
}

/// One end of the wire between a port and a host.
fn wire(directory: &Path, port: u8, host: u8, id: &str, server: &str) -> String {
    format!("stream,id={id},server={server},addr.type=unix,addr.path={}", socket(directory, port, host))
}

fn card(end: End, port: u8) -> [String; 2] {
    // Without its own firmware: nobody boots from it.
    let card = format!("virtio-net-pci,netdev=net{port},mac={},host_mtu={MTU},romfile=", end.card(port));
    ["-device".to_owned(), card]
}

/// As both ends see it, each from the directory of its own guest, which is beside the enclosure's. No other socket of this
/// machine is called the same: directories of guests have names of their own.
fn socket(directory: &Path, port: u8, host: u8) -> String {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    format!("../{name}/{}/port-{port}-{host}.sock", file::OWN)
}

/// Waits until QEMU listens on every socket: a guest that connects earlier would never have a link. The kernel lists
/// sockets, and a connection made to try would be the only one that QEMU takes.
pub(crate) fn await_listening(directory: &Path, hosts: u8) -> Result<(), LabError> {
    let sockets: Vec<String> = (0..hosts).flat_map(|host| PORTS.map(|port| socket(directory, port, host))).collect();
    let start = Instant::now();
    loop {
        let listed = Local::new().read_text("/proc/net/unix")?;
        if sockets.iter().all(|socket| is_listening(&listed, socket)) {
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
    // What a host says to its own address goes this way.
    guest.run_ok(&Cmd::new(["ip", "link", "set", "dev", "lo", "up"]))?;
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
        let directory = Path::new("/lab");
        for (argv, server, length) in
            [(enclosure_arguments(directory, 1), "server=on", 8), (host_arguments(directory, 0), "server=off", 8)]
        {
            let backends: Vec<&String> = argv.iter().filter(|word| word.starts_with("stream,")).collect();
            assert_eq!((backends.len(), argv.len()), (2, length));
            assert!(backends.iter().all(|word| word.contains(server) && word.contains("addr.path=../lab/own/port-")));
        }
    }

    #[test]
    fn several_hosts_meet_at_a_hub_for_each_port() {
        let line = enclosure_arguments(Path::new("/lab"), 2).join(" ");
        for part in [
            "hubport,id=net1,hubid=1 ",
            "hubport,id=plug1-1,hubid=1,netdev=wire1-1",
            "hubport,id=plug2-0,hubid=2,netdev=wire2-0",
            "stream,id=wire2-1,server=on,addr.type=unix,addr.path=../lab/own/port-2-1.sock",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
        let second = host_arguments(Path::new("/lab"), 1).join(" ");
        assert!(second.contains("server=off,addr.type=unix,addr.path=../lab/own/port-2-1.sock"), "{second}");
    }

    #[test]
    fn no_two_cards_have_one_address() {
        let ends = [End::Enclosure, End::Initiator(0), End::Initiator(1)];
        let cards: Vec<String> = ends.iter().flat_map(|end| PORTS.map(|port| end.card(port))).collect();
        assert!(cards.iter().enumerate().all(|(at, card)| !cards[at + 1..].contains(card)));
    }
}
