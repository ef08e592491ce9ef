//! Hands a socket to the kernel's own client of the protocol, which makes a drive of it.
//!
//! Generic netlink, so that no process has to stay in an ioctl for as long as the drive is there. Names and numbers are
//! those of `include/uapi/linux/nbd-netlink.h`, `genetlink.h` and `netlink.h`; all numbers are in the order of this machine.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket_with};
use terms::Bytes;

/// Message types: `NLMSG_ERROR`, and the family that knows all others (`GENL_ID_CTRL`).
const ERROR: u16 = 2;
const CONTROL: u16 = 16;
/// `NLM_F_REQUEST`, `NLM_F_ACK`.
const FLAGS: u16 = 1 | 4;

const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;

const NBD_CMD_CONNECT: u8 = 1;
const NBD_ATTR_INDEX: u16 = 1;
const NBD_ATTR_SIZE_BYTES: u16 = 2;
const NBD_ATTR_BLOCK_SIZE_BYTES: u16 = 3;
const NBD_ATTR_SERVER_FLAGS: u16 = 5;
const NBD_ATTR_SOCKETS: u16 = 7;
const NBD_ATTR_BACKEND_IDENTIFIER: u16 = 10;
const NBD_SOCK_ITEM: u16 = 1;
const NBD_SOCK_FD: u16 = 1;

/// Heads of a message (`nlmsghdr`, `genlmsghdr`), and of an attribute (`nlattr`).
const HEADS: usize = 16 + 4;
const ATTRIBUTE: usize = 4;

/// What the kernel is told of a drive.
#[derive(Debug)]
pub(super) struct Export<'a> {
    /// `/dev/nbdN`.
    pub(super) index: u32,
    pub(super) size: Bytes,
    pub(super) block: Bytes,
    /// Transmission flags.
    pub(super) flags: u16,
    /// What `/sys/block/nbdN/backend` says.
    pub(super) serial: &'a str,
}

/// Makes the drive; what is asked of it comes by the other end of `socket`.
///
/// # Errors
/// Where the kernel has no such drives, or refuses this one.
pub(super) fn connect(socket: BorrowedFd<'_>, export: &Export<'_>) -> io::Result<()> {
    let own = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, Some(netlink::GENERIC))?;
    let mut kernel = File::from(own);
    let name = attribute(CTRL_ATTR_FAMILY_NAME, b"nbd\0");
    let told = ask(&mut kernel, CONTROL, CTRL_CMD_GETFAMILY, &name)?;
    let family = value(&told, CTRL_ATTR_FAMILY_ID).and_then(|id| Some(u16::from_ne_bytes(id.try_into().ok()?)));
    let family = family.ok_or_else(|| io::Error::other("the kernel does not say what nbd's number is"))?;
    let socket = attribute(NBD_SOCK_FD, &socket.as_raw_fd().to_ne_bytes());
    let attributes = [
        attribute(NBD_ATTR_INDEX, &export.index.to_ne_bytes()),
        attribute(NBD_ATTR_SIZE_BYTES, &export.size.0.to_ne_bytes()),
        attribute(NBD_ATTR_BLOCK_SIZE_BYTES, &export.block.0.to_ne_bytes()),
        attribute(NBD_ATTR_SERVER_FLAGS, &u64::from(export.flags).to_ne_bytes()),
        attribute(NBD_ATTR_SOCKETS, &attribute(NBD_SOCK_ITEM, &socket)),
        attribute(NBD_ATTR_BACKEND_IDENTIFIER, format!("{}\0", export.serial).as_bytes()),
    ];
    ask(&mut kernel, family, NBD_CMD_CONNECT, &attributes.concat()).map(drop)
}

/// Asks, and waits until the kernel has acknowledged it. Gives the attributes of its answer.
fn ask(kernel: &mut File, family: u16, command: u8, attributes: &[u8]) -> io::Result<Vec<u8>> {
    kernel.write_all(&message(family, command, attributes))?;
    let mut told = Vec::new();
    loop {
        let mut buffer = [0; 8192];
        let count = kernel.read(&mut buffer)?;
        let mut rest = buffer.get(..count).unwrap_or_default();
        while let Some((kind, body, after)) = next_message(rest) {
            if kind == ERROR {
                return match body.first_chunk().map_or(0, |code| i32::from_ne_bytes(*code)) {
                    0 => Ok(told),
                    code => Err(io::Error::from_raw_os_error(-code)),
                };
            }
            // Behind the head of the family.
            told = body.get(4..).unwrap_or_default().to_vec();
            rest = after;
        }
    }
}

fn message(family: u16, command: u8, attributes: &[u8]) -> Vec<u8> {
    let mut message = length(HEADS + attributes.len()).to_ne_bytes().to_vec();
    message.extend(family.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    // Number of the message, number of the port: one question at a time, and the kernel knows whose it is.
    message.extend([0; 8]);
    // Command, version, and two that are reserved.
    message.extend([command, 1, 0, 0]);
    message.extend(attributes);
    message
}

/// An attribute with its padding.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut attribute = short(ATTRIBUTE + value.len()).to_ne_bytes().to_vec();
    attribute.extend(kind.to_ne_bytes());
    attribute.extend(value);
    attribute.resize(attribute.len().next_multiple_of(4), 0);
    attribute
}

/// Type and body of the message that begins there, and what comes after it.
fn next_message(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let len = u32::from_ne_bytes(*bytes.first_chunk()?) as usize;
    let kind = u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?);
    Some((kind, bytes.get(16..len)?, bytes.get(len.next_multiple_of(4)..).unwrap_or_default()))
}

/// The value of the first attribute of that kind.
fn value(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let len = usize::from(u16::from_ne_bytes(*attributes.first_chunk()?));
        let kind = u16::from_ne_bytes(attributes.get(2..4)?.try_into().ok()?);
        let value = attributes.get(ATTRIBUTE..len)?;
        if kind == wanted {
            return Some(value);
        }
        attributes = attributes.get(len.next_multiple_of(4)..)?;
    }
}

/// Messages are of some hundred bytes.
fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

fn short(bytes: usize) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found_behind_others_and_nothing_is_read_beyond_the_end() {
        let all = [attribute(2, b"nbd\0"), attribute(7, b"abc"), attribute(1, &25u16.to_ne_bytes())].concat();
        assert_eq!(value(&all, 7), Some(&b"abc"[..]));
        assert_eq!(value(&all, 1), Some(&25u16.to_ne_bytes()[..]));
        assert_eq!((value(&all, 3), value(&all[..9], 7), value(&[0; 16], 1)), (None, None, None));
    }

    #[test]
    fn messages_follow_one_another() {
        let two = [message(16, 3, &attribute(2, b"nbd\0")), message(2, 0, &[])].concat();
        let (kind, body, rest) = next_message(&two).unwrap();
        assert_eq!((kind, body.len(), rest.len()), (16, 12, 20));
        assert_eq!(next_message(rest).map(|(kind, ..)| kind), Some(2));
        assert!(next_message(&two[..27]).is_none(), "a message that is cut is none");
    }
}
