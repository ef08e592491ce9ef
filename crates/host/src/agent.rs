//! The other end of [`Remote`](crate::Remote): does on its machine what the stream asks.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use terms::Outcome;

use crate::wire::{self, Envelope, Request, Response};
use crate::{CounterSample, Host, HostError, Needle, NeedleHit, interrupt};

/// Serves one asker until it goes away. Programs run in threads of their own, so that files and the clock can be read
/// meanwhile; everything else is answered at once, because a thread for each would be the dearer part.
///
/// # Errors
/// Where the stream fails. An asker that goes away between messages is no error.
pub fn serve<H: Host + 'static>(
    build: &str,
    host: H,
    mut input: impl Read,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let desk = Arc::new(Desk { build: build.to_owned(), host, output: Mutex::new(output) });
    let mut running: HashMap<u64, Arc<AtomicBool>> = HashMap::new();
    while let Some((Envelope { id, message }, blobs)) = wire::receive::<Envelope<Request>>(&mut input)? {
        // A flag that only we still hold belongs to a program that has ended.
        running.retain(|_, flag| Arc::strong_count(flag) > 1);
        match message {
            // What takes its time has a thread of its own.
            Request::Run { .. } => {
                let (desk, flag) = (Arc::clone(&desk), Arc::<AtomicBool>::default());
                running.insert(id, Arc::clone(&flag));
                thread::spawn(move || interrupt::with_flag(flag, || desk.serve(id, message, blobs)));
            }
            Request::Cancel { id: wanted } => {
                if let Some(flag) = running.get(&wanted) {
                    flag.store(true, Ordering::Relaxed);
                }
                desk.serve(id, message, blobs);
            }
            message => desk.serve(id, message, blobs),
        }
    }
    Ok(())
}

/// The same, one after the other: while a program runs nothing is heard, and so it cannot be cancelled.
///
/// # Errors
/// As [`serve`].
pub fn serve_in_turn<H: Host>(build: &str, host: H, mut input: impl Read, output: impl Write) -> io::Result<()> {
    let desk = Desk { build: build.to_owned(), host, output: Mutex::new(output) };
    while let Some((Envelope { id, message }, blobs)) = wire::receive::<Envelope<Request>>(&mut input)? {
        desk.serve(id, message, blobs);
    }
    Ok(())
}

/// Where questions are answered, one answer on the stream at a time.
struct Desk<H, W> {
    build: String,
    host: H,
    output: Mutex<W>,
}

impl<H: Host, W: Write> Desk<H, W> {
    fn serve(&self, id: u64, request: Request, blobs: Vec<Vec<u8>>) {
        let (message, blobs) = answer(&self.build, &self.host, request, blobs);
        let blobs: Vec<&[u8]> = blobs.iter().map(Vec::as_slice).collect();
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        // If the asker is gone, the reading side sees it too and ends.
        if let Err(error) = wire::send(&mut *output, &Envelope { id, message }, &blobs)
            && error.kind() == io::ErrorKind::InvalidInput
        {
            // Nothing of it was sent. The asker waits for an answer all the same.
            let message = Response::Fault { errno: None, text: error.to_string() };
            let _ = wire::send(&mut *output, &Envelope { id, message }, &[]);
        }
    }
}

fn answer(build: &str, host: &dyn Host, request: Request, blobs: Vec<Vec<u8>>) -> (Response, Vec<Vec<u8>>) {
    let blob = blobs.into_iter().next().unwrap_or_default();
    let answer = match request {
        Request::Hello { .. } => Ok((Response::Hello { build: build.to_owned() }, Vec::new())),
        Request::Run { mut cmd, sampling } => {
            cmd.stdin = blob;
            host.run_sampled(&cmd, &sampling).map(ran)
        }
        Request::Read { path } => host.read(&path).map(|bytes| (Response::Content, vec![bytes])),
        Request::Write { path } => host.write(&path, &blob).map(|()| (Response::Done, Vec::new())),
        Request::List { path } => host.list(&path).map(|names| (Response::Names { names }, Vec::new())),
        Request::Resolve { path } => host.resolve(&path).map(|path| (Response::Path { path }, Vec::new())),
        Request::ReadAt { path, offset, length } => {
            host.read_at(&path, offset, length).map(|bytes| (Response::Content, vec![bytes]))
        }
        Request::DeviceNumber { path } => {
            host.device_number(&path).map(|devno| (Response::Device { devno }, Vec::new()))
        }
        Request::OpenExclusively { path } => {
            host.open_exclusively(&path).map(|exclusivity| (Response::Opened { exclusivity }, Vec::new()))
        }
        Request::Hold { path } => host.hold(&path).map(|hold| (Response::Held { hold }, Vec::new())),
        Request::Release { hold } => host.release(hold).map(|()| (Response::Done, Vec::new())),
        Request::Find { path, offset, length, keep, lengths } => {
            let texts = wire::split(&blob, &lengths);
            host.find(&path, &Needle { texts: &texts, offset, length, keep }).map(found)
        }
        Request::Cancel { .. } => Ok((Response::Done, Vec::new())),
        Request::Pause { nanos } => host.pause(nanos.to_duration()).map(|()| (Response::Done, Vec::new())),
        Request::Now => host.now().map(|nanos| (Response::Time { nanos }, Vec::new())),
    };
    answer.unwrap_or_else(|error| (fault(&error), Vec::new()))
}

fn ran((outcome, samples): (Outcome, Vec<CounterSample>)) -> (Response, Vec<Vec<u8>>) {
    let (stdout, stderr) = (outcome.stdout, outcome.stderr);
    let outcome = Outcome { stdout: Vec::new(), stderr: Vec::new(), ..outcome };
    let lengths = |sample: &CounterSample| sample.files.iter().map(|file| file.as_ref().map(Vec::len)).collect();
    let heads = samples.iter().map(|sample| (sample.at, lengths(sample))).collect();
    let read = samples.into_iter().flat_map(|sample| sample.files).flatten().flatten().collect();
    (Response::Ran { outcome, samples: heads }, vec![stdout, stderr, read])
}

fn found(all: Vec<NeedleHit>) -> (Response, Vec<Vec<u8>>) {
    let offsets = all.iter().map(|found| found.offset).collect();
    let lengths = all.iter().map(|found| found.bytes.len()).collect();
    (Response::Found { offsets, lengths }, vec![all.into_iter().flat_map(|found| found.bytes).collect()])
}

fn fault(error: &HostError) -> Response {
    let cause = match error {
        HostError::File { source, .. } | HostError::Start { source, .. } => Some(source),
        _ => None,
    };
    Response::Fault {
        errno: cause.and_then(io::Error::raw_os_error),
        text: cause.map_or_else(|| error.to_string(), ToString::to_string),
    }
}
