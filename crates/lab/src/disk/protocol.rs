//! The part of the network block device protocol that QEMU speaks with a drive: fixed newstyle, simple replies.
//!
//! Source: `doc/proto.md` of github.com/NetworkBlockDevice/nbd; names below are those of that document. All numbers are
//! big-endian. Neither TRIM nor WRITE_ZEROES is offered: a hard disk writes its zeroes.

use std::borrow::Cow;
use std::io::{self, IoSlice, Read, Write};

use super::queue::Ask;

const NBDMAGIC: u64 = 0x4e42_444d_4147_4943;
const IHAVEOPT: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const SIMPLE_REPLY: u32 = 0x6744_6698;

/// Handshake flags: `FIXED_NEWSTYLE` and `NO_ZEROES`, of either side.
const FIXED_NEWSTYLE: u16 = 1;
const NO_ZEROES: u16 = 2;

/// Transmission flags: `HAS_FLAGS`, `SEND_FLUSH`, `SEND_FUA`, `ROTATIONAL`.
pub(super) const TRANSMISSION: u16 = 1 | CACHE | 1 << 4;
/// Those of a drive with a volatile cache.
pub(super) const CACHE: u16 = 1 << 2 | 1 << 3;

const OPT_EXPORT_NAME: u32 = 1;
const OPT_ABORT: u32 = 2;
const OPT_INFO: u32 = 6;
const OPT_GO: u32 = 7;

const REP_ACK: u32 = 1;
const REP_INFO: u32 = 3;
const REP_ERR_UNSUP: u32 = 1 << 31 | 1;
const INFO_EXPORT: u16 = 0;
const INFO_BLOCK_SIZE: u16 = 3;

const CMD_READ: u16 = 0;
const CMD_WRITE: u16 = 1;
const CMD_DISC: u16 = 2;
const CMD_FLUSH: u16 = 3;
const CMD_FLAG_FUA: u16 = 1;

/// Error numbers of the protocol.
const EIO: u32 = 5;
const EINVAL: u32 = 22;
const ENOSPC: u32 = 28;

/// The smallest block, the one that serves best, and the largest: sectors of the guest, its pages, and what fits a
/// request of an AHCI drive (65536 sectors).
const BLOCK_SIZES: [u32; 3] = [512, 4096, 32 << 20];
/// Options are names and lists of a few numbers.
const LONGEST_OPTION: u32 = 8192;

/// What a client asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// What it wants of the drive, and the cookie of the answer.
    Ask(u64, Ask),
    /// What cannot be done, and the error it gets.
    Refused { cookie: u64, code: u32 },
    /// The client is done.
    Disconnect,
}

/// Agrees with a client. `false`: it went away again.
///
/// # Errors
/// Where the connection breaks, or it does not speak the protocol.
pub(super) fn greet(stream: &mut (impl Read + Write), size: u64) -> io::Result<bool> {
    let mut hello = Vec::new();
    hello.extend(NBDMAGIC.to_be_bytes());
    hello.extend(IHAVEOPT.to_be_bytes());
    hello.extend((FIXED_NEWSTYLE | NO_ZEROES).to_be_bytes());
    stream.write_all(&hello)?;
    let client = u32::from_be_bytes(take(stream)?);
    let no_zeroes = client & u32::from(NO_ZEROES) != 0;
    loop {
        if u64::from_be_bytes(take(stream)?) != IHAVEOPT {
            return Err(nonsense("an option without its magic number"));
        }
        let option = u32::from_be_bytes(take(stream)?);
        let data = option_data(stream)?;
        match option {
            OPT_EXPORT_NAME => {
                let mut answer = size.to_be_bytes().to_vec();
                answer.extend(TRANSMISSION.to_be_bytes());
                answer.resize(if no_zeroes { 10 } else { 134 }, 0);
                stream.write_all(&answer)?;
                return Ok(true);
            }
            OPT_INFO | OPT_GO => {
                describe(stream, option, size, &data)?;
                if option == OPT_GO {
                    return Ok(true);
                }
            }
            OPT_ABORT => {
                reply(stream, option, REP_ACK, &[])?;
                return Ok(false);
            }
            _ => reply(stream, option, REP_ERR_UNSUP, &[])?,
        }
    }
}

fn option_data(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let len = u32::from_be_bytes(take(stream)?);
    if len > LONGEST_OPTION {
        return Err(nonsense("an option that is too long"));
    }
    bytes(stream, len)
}

/// What the export is. Every name is the name of the only one.
fn describe(stream: &mut impl Write, option: u32, size: u64, data: &[u8]) -> io::Result<()> {
    let mut export = INFO_EXPORT.to_be_bytes().to_vec();
    export.extend(size.to_be_bytes());
    export.extend(TRANSMISSION.to_be_bytes());
    reply(stream, option, REP_INFO, &export)?;
    if wants(data, INFO_BLOCK_SIZE) {
        let mut sizes = INFO_BLOCK_SIZE.to_be_bytes().to_vec();
        sizes.extend(BLOCK_SIZES.iter().flat_map(|size| size.to_be_bytes()));
        reply(stream, option, REP_INFO, &sizes)?;
    }
    reply(stream, option, REP_ACK, &[])
}

/// Is that information among those asked for? Length of the name, the name, their number, and they.
fn wants(data: &[u8], what: u16) -> bool {
    let Some((len, rest)) = data.split_first_chunk() else { return false };
    let list = rest.get(u32::from_be_bytes(*len) as usize..).and_then(|rest| rest.get(2..)).unwrap_or_default();
    list.chunks_exact(2).any(|pair| pair == what.to_be_bytes())
}

fn reply(stream: &mut impl Write, option: u32, kind: u32, data: &[u8]) -> io::Result<()> {
    let mut answer = OPTION_REPLY.to_be_bytes().to_vec();
    answer.extend(option.to_be_bytes());
    answer.extend(kind.to_be_bytes());
    answer.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    answer.extend(data);
    stream.write_all(&answer)
}

/// Reads the next request of a client of a drive of that size.
///
/// # Errors
/// Where the connection breaks, or what came is no request.
pub(super) fn request(stream: &mut impl Read, size: u64) -> io::Result<Request> {
    // At once: each read is a call of the kernel.
    let header: [u8; 28] = take(stream)?;
    let header = &mut &header[..];
    if u32::from_be_bytes(take(header)?) != REQUEST {
        return Err(nonsense("a request without its magic number"));
    }
    let flags = u16::from_be_bytes(take(header)?);
    let kind = u16::from_be_bytes(take(header)?);
    let cookie = u64::from_be_bytes(take(header)?);
    let from = u64::from_be_bytes(take(header)?);
    let len = u32::from_be_bytes(take(header)?);
    let inside = from.checked_add(u64::from(len)).is_some_and(|end| end <= size);
    let fits = len <= BLOCK_SIZES[2];
    Ok(match kind {
        CMD_READ if inside && fits => Request::Ask(cookie, Ask::Read { from, len }),
        CMD_READ => Request::Refused { cookie, code: EINVAL },
        CMD_WRITE if fits => {
            let data = bytes(stream, len)?;
            match inside {
                true => Request::Ask(cookie, Ask::Write { from, data, through: flags & CMD_FLAG_FUA != 0 }),
                false => Request::Refused { cookie, code: ENOSPC },
            }
        }
        CMD_WRITE => return Err(nonsense("a write larger than was agreed")),
        CMD_FLUSH => Request::Ask(cookie, Ask::Flush),
        CMD_DISC => Request::Disconnect,
        _ => Request::Refused { cookie, code: EINVAL },
    })
}

/// Answers a request.
///
/// # Errors
/// Where the connection breaks.
pub(super) fn answer(stream: &mut impl Write, cookie: u64, result: &io::Result<Cow<'_, [u8]>>) -> io::Result<()> {
    match result {
        Ok(data) => send(stream, cookie, 0, data),
        Err(error) if error.kind() == io::ErrorKind::StorageFull => send(stream, cookie, ENOSPC, &[]),
        Err(_) => send(stream, cookie, EIO, &[]),
    }
}

/// Answers a request that was refused.
///
/// # Errors
/// Where the connection breaks.
pub(super) fn refuse(stream: &mut impl Write, cookie: u64, code: u32) -> io::Result<()> {
    send(stream, cookie, code, &[])
}

fn send(stream: &mut impl Write, cookie: u64, code: u32, data: &[u8]) -> io::Result<()> {
    let mut header = [0; 16];
    header[..4].copy_from_slice(&SIMPLE_REPLY.to_be_bytes());
    header[4..8].copy_from_slice(&code.to_be_bytes());
    header[8..].copy_from_slice(&cookie.to_be_bytes());
    // Both in one call, and without a copy of a large answer.
    let mut parts = &mut [IoSlice::new(&header), IoSlice::new(data)][..];
    while !parts.is_empty() {
        match stream.write_vectored(parts) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => IoSlice::advance_slices(&mut parts, written),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn take<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// So many bytes, into memory that nobody wrote zeros to before.
fn bytes(stream: &mut impl Read, len: u32) -> io::Result<Vec<u8>> {
    let mut data = Vec::with_capacity(len as usize);
    stream.take(u64::from(len)).read_to_end(&mut data)?;
    if data.len() < len as usize { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(data) }
}

fn nonsense(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
