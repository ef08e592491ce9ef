//! What is said between this program and its agent: framed messages over any byte stream.
//!
//! A message is a JSON head and a list of blobs: `u32 head length, head, u32 blob count, (u32 length, blob)…`,
//! all numbers big-endian. The first exchange carries both build ids; different builds do not talk on.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use terms::{Cmd, Nanos, Outcome};

use crate::{Devno, Exclusivity, Hold, Sampling};

/// Most bytes of a message, its head and all blobs together: more is a broken stream, not a message. What is read of a
/// file at a time is no longer either.
pub(crate) const LONGEST: u32 = 256 << 20;

/// What is asked of the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "ask")]
pub enum Request {
    /// Who are you? Always first.
    Hello {
        /// The asker's build id.
        build: String,
    },
    /// Run a program; the blob is its standard input.
    Run {
        /// The program.
        cmd: Cmd,
        /// What is read while it runs.
        sampling: Sampling,
    },
    /// Read a file.
    Read {
        /// Which.
        path: String,
    },
    /// Write the blob into a file.
    Write {
        /// Which.
        path: String,
    },
    /// List a directory.
    List {
        /// Which.
        path: String,
    },
    /// Follow all links of a path.
    Resolve {
        /// Which.
        path: String,
    },
    /// The monotonic clock.
    Now,
    /// Wait for so long by the machine's own clock.
    Pause {
        /// How long.
        nanos: Nanos,
    },
    /// Read part of a file.
    ReadAt {
        /// Which.
        path: String,
        /// From which byte.
        offset: u64,
        /// How many bytes.
        length: u32,
    },
    /// Find texts, which the blob holds one after the other.
    Find {
        /// Where.
        path: String,
        /// From which byte.
        offset: u64,
        /// Up to how many bytes from there.
        length: u64,
        /// Bytes to give back of each place.
        keep: u32,
        /// Lengths of the texts.
        lengths: Vec<usize>,
    },
    /// Tell the number of a block device.
    DeviceNumber {
        /// Which.
        path: String,
    },
    /// Open a device for oneself alone, and close it.
    OpenExclusively {
        /// Which.
        path: String,
    },
    /// Keep a device open under a lock.
    Hold {
        /// Which.
        path: String,
    },
    /// Let a held device go.
    Release {
        /// Which.
        hold: u64,
    },
    /// End the program that the request of this number runs. It is answered like any other; so is the ended request.
    Cancel {
        /// The number.
        id: u64,
    },
}

/// What the agent answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "answer")]
pub enum Response {
    /// To `Hello`.
    Hello {
        /// The agent's build id.
        build: String,
    },
    /// To `Run`; the blobs are standard output, standard error, and all that was read meanwhile.
    Ran {
        /// Status and time, with empty output.
        outcome: Outcome,
        /// When files were read, and how long each was; `None` for what could not be read.
        samples: Vec<(Nanos, Vec<Option<usize>>)>,
    },
    /// To `Read`; the blob is the content.
    Content,
    /// To `Write`.
    Done,
    /// To `List`.
    Names {
        /// Sorted.
        names: Vec<String>,
    },
    /// To `Resolve`.
    Path {
        /// Without links.
        path: String,
    },
    /// To `Now`.
    Time {
        /// Monotonic.
        nanos: Nanos,
    },
    /// To `Find`; the blob holds the bytes of all places one after the other.
    Found {
        /// Where they begin.
        offsets: Vec<u64>,
        /// How many bytes are given back of each.
        lengths: Vec<usize>,
    },
    /// To `DeviceNumber`.
    Device {
        /// Absent where something else is there.
        devno: Option<Devno>,
    },
    /// To `OpenExclusively`.
    Opened {
        /// What came of it.
        exclusivity: Exclusivity,
    },
    /// To `Hold`.
    Held {
        /// Absent where somebody else has it locked.
        hold: Option<Hold>,
    },
    /// It did not work: the system's error number if there was one, and its text.
    Fault {
        /// `errno`.
        errno: Option<i32>,
        /// The text.
        text: String,
    },
}

/// A message with the number that ties an answer to its question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// The number.
    pub id: u64,
    /// The message.
    pub message: T,
}

/// Writes a message and its blobs.
///
/// # Errors
/// Where the stream fails; [`io::ErrorKind::InvalidInput`] where the message is too long, and nothing of it was written.
pub fn send<T: Serialize>(stream: &mut impl Write, message: &T, blobs: &[&[u8]]) -> io::Result<()> {
    let head = serde_json::to_vec(message).map_err(io::Error::other)?;
    let mut frame = Vec::with_capacity(head.len() + 16);
    put(&mut frame, &head)?;
    frame.extend_from_slice(&length(blobs.len())?.to_be_bytes());
    for blob in blobs {
        put(&mut frame, blob)?;
    }
    length(frame.len())?;
    stream.write_all(&frame)?;
    stream.flush()
}

/// Reads a message and its blobs; `None` where the stream ended between messages.
///
/// # Errors
/// Where the stream fails, ends inside a message, or says nonsense.
pub fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<Option<(T, Vec<Vec<u8>>)>> {
    let mut first = [0; 1];
    if stream.read(&mut first)? == 0 {
        return Ok(None);
    }
    let mut rest = [0; 3];
    stream.read_exact(&mut rest)?;
    let mut left = LONGEST;
    let head = take(stream, u32::from_be_bytes([first[0], rest[0], rest[1], rest[2]]), &mut left)?;
    let message = serde_json::from_slice(&head).map_err(io::Error::other)?;
    let count = number(stream)?;
    if count > 8 {
        return Err(io::Error::other("more blobs than any message has"));
    }
    let mut blob = |_| number(stream).and_then(|size| take(stream, size, &mut left));
    let blobs = (0..count).map(&mut blob).collect::<io::Result<_>>()?;
    Ok(Some((message, blobs)))
}

/// Texts of these lengths, which stand one after the other; fewer where there are too few bytes.
#[must_use]
pub fn split(bytes: &[u8], lengths: &[usize]) -> Vec<Vec<u8>> {
    let mut rest = bytes;
    let text = |length: &usize| {
        let (text, left) = rest.split_at_checked(*length)?;
        rest = left;
        Some(text.to_vec())
    };
    lengths.iter().map_while(text).collect()
}

fn length(count: usize) -> io::Result<u32> {
    u32::try_from(count).ok().filter(|count| *count <= LONGEST).ok_or_else(too_long)
}

fn too_long() -> io::Error {
    let text = format!("more than {} MiB, the most that a message may have", LONGEST >> 20);
    io::Error::new(io::ErrorKind::InvalidInput, text)
}

fn put(frame: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    frame.extend_from_slice(&length(bytes.len())?.to_be_bytes());
    frame.extend_from_slice(bytes);
    Ok(())
}

fn number(stream: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}

/// A part of that size; `left` is how much the message may still have.
fn take(stream: &mut impl Read, size: u32, left: &mut u32) -> io::Result<Vec<u8>> {
    *left = left.checked_sub(size).ok_or_else(too_long)?;
    // Grows with what really comes, so that a broken length cannot ask for all memory at once.
    let mut bytes = Vec::new();
    stream.take(u64::from(size)).read_to_end(&mut bytes)?;
    if bytes.len() == size as usize { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back_whole() {
        let mut stream = Vec::new();
        let message = Envelope { id: 7, message: Request::Write { path: "/x".into() } };
        send(&mut stream, &message, &[b"content", b""]).unwrap();
        let (back, blobs): (Envelope<Request>, _) = receive(&mut stream.as_slice()).unwrap().unwrap();
        assert_eq!((back, blobs), (message, vec![b"content".to_vec(), Vec::new()]));
    }

    #[test]
    fn broken_streams_are_errors_not_panics() {
        let mut stream = Vec::new();
        send(&mut stream, &Envelope { id: 1, message: Request::Now }, &[b"abc"]).unwrap();
        for cut in 1..stream.len() {
            assert!(receive::<Envelope<Request>>(&mut &stream[..cut]).is_err(), "cut at {cut}");
        }
        assert!(receive::<Envelope<Request>>(&mut &b""[..]).unwrap().is_none());
        assert!(receive::<Envelope<Request>>(&mut &[0xff; 64][..]).is_err());
    }

    #[test]
    fn all_parts_of_a_message_together_have_a_bound() {
        let half = vec![0; LONGEST as usize / 2];
        let mut sent = Vec::new();
        let error = send(&mut sent, &1, &[&half, &half]).unwrap_err();
        assert_eq!((error.kind(), sent.len()), (io::ErrorKind::InvalidInput, 0));
        // Sizes that each are small enough, from somebody who does not keep to it.
        let mut left = LONGEST;
        assert!(take(&mut half.as_slice(), LONGEST / 2, &mut left).is_ok());
        let error = take(&mut half.as_slice(), LONGEST / 2 + 1, &mut left).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
