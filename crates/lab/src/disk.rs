//! Hard disks: each a file of this machine, served to QEMU over a socket and as late as a head would be. Under a
//! virtual clock each is in the guest, served to its own kernel ([`inside`]).
//!
//! QEMU speaks the network block device protocol with it ([`protocol`]); one thread reads what QEMU asks for, another
//! keeps the drive ([`queue`]), sleeps until the head is done and answers. How long the head takes is
//! [`terms::spindle`]'s. What is in the volatile cache is in this program's memory alone: it is lost with the power.

mod ahead;
mod cache;
pub(crate) mod inside;
mod netlink;
mod platter;
mod protocol;
mod queue;

use std::fs::{self, File};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SendError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use terms::{Bytes, LabDrive, LabDriveKind, LabSpec, Nanos, Spindle};

use crate::cage;
use crate::error::LabError;
use crate::file;
use platter::Platter;
use protocol::Request;
use queue::{Ask, Queue};

/// A drive at work; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Disk {
    socket: PathBuf,
    stop: Arc<AtomicBool>,
    client: Arc<Mutex<Option<UnixStream>>>,
    threads: Vec<JoinHandle<()>>,
}

/// Which request of which client.
#[derive(Debug, Clone, Copy)]
struct Ticket {
    client: u32,
    cookie: u64,
}

/// From the thread that listens to the one that keeps the drive.
enum Message {
    Client(u32, UnixStream),
    Ask(Instant, Ticket, Ask),
    Refused(Ticket, u32),
}

/// The socket of a drive, inside a guest's directory.
pub(crate) fn socket(index: usize) -> String {
    format!("head-{index}.sock")
}

/// Starts every hard disk of a guest whose head is served outside of it; its file `drive-N` is there already.
///
/// # Errors
/// Where a socket cannot be made or a file not be opened.
pub(crate) fn start(directory: &Path, spec: &LabSpec) -> Result<Vec<Disk>, LabError> {
    let is_hdd = |drive: &LabDrive| drive.kind == LabDriveKind::Hdd && !spec.is_within(drive);
    let hdd = spec.drives.iter().enumerate().filter(|(_, drive)| is_hdd(drive));
    hdd.map(|(index, drive)| {
        let spindle = drive.spindle.unwrap_or_default();
        Disk::start(&directory.join(file::drive(index)), &directory.join(socket(index)), drive.size, &spindle)
    })
    .collect()
}

impl Disk {
    fn start(image: &Path, socket: &Path, size: Bytes, spindle: &Spindle) -> Result<Self, LabError> {
        let file = File::options().read(true).write(true).open(image).map_err(LabError::file("open", image))?;
        let listener = UnixListener::bind(socket).map_err(LabError::file("listen on", socket))?;
        cage::give(socket)?;
        let stop = Arc::new(AtomicBool::new(false));
        let client = Arc::new(Mutex::new(None));
        let (send, receive) = mpsc::channel();
        let queue = Queue::new(spindle, size, Platter::File(file));
        let listening = Listening { size: size.0, stop: Arc::clone(&stop), client: Arc::clone(&client), send };
        let start = |name: &str, body: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.to_owned()).spawn(body).map_err(LabError::file("serve", image))
        };
        let mut disk = Self { socket: socket.to_owned(), stop, client, threads: Vec::new() };
        disk.threads.push(start("drive-head", Box::new(move || keep(queue, &receive)))?);
        disk.threads.push(start("drive-wire", Box::new(move || listening.serve(&listener)))?);
        Ok(disk)
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        if let Some(client) = self.client.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = client.shutdown(Shutdown::Both);
        }
        // Whoever waits for a client gets one, and sees that it is over.
        let awake = UnixStream::connect(&self.socket).is_ok();
        let _ = fs::remove_file(&self.socket);
        if awake {
            self.threads.drain(..).for_each(|thread| drop(thread.join()));
        }
    }
}

/// The side of the wire.
struct Listening {
    size: u64,
    stop: Arc<AtomicBool>,
    client: Arc<Mutex<Option<UnixStream>>>,
    send: Sender<Message>,
}

impl Listening {
    /// Serves one client after the other until it is told to stop. A client that goes away in the middle, or talks
    /// nonsense, loses its connection and nothing else.
    fn serve(&self, listener: &UnixListener) {
        let mut number = 0;
        while let Ok((mut stream, _)) = listener.accept() {
            if let Ok(own) = stream.try_clone() {
                *self.client.lock().unwrap_or_else(PoisonError::into_inner) = Some(own);
            }
            if self.stop.load(Ordering::SeqCst) {
                return;
            }
            number += 1;
            let _ = self.serve_one(number, &mut stream);
            // Others have it open too: it is over for all of them.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    fn serve_one(&self, client: u32, stream: &mut UnixStream) -> std::io::Result<()> {
        if !protocol::greet(stream, self.size)? {
            return Ok(());
        }
        self.send.send(Message::Client(client, stream.try_clone()?)).map_err(gone)?;
        pass_on(client, stream, self.size, &self.send)
    }
}

/// Passes on what a client asks for, until it has enough.
fn pass_on(client: u32, stream: &mut UnixStream, size: u64, send: &Sender<Message>) -> std::io::Result<()> {
    loop {
        let ticket = |cookie| Ticket { client, cookie };
        let (cookie, ask) = match protocol::request(stream, size)? {
            Request::Disconnect => return Ok(()),
            Request::Refused { cookie, code } => {
                send.send(Message::Refused(ticket(cookie), code)).map_err(gone)?;
                continue;
            }
            Request::Ask(cookie, ask) => (cookie, ask),
        };
        send.send(Message::Ask(Instant::now(), ticket(cookie), ask)).map_err(gone)?;
    }
}

fn gone(_: SendError<Message>) -> std::io::Error {
    std::io::ErrorKind::BrokenPipe.into()
}

/// Keeps a drive until nobody can ask it for anything any more.
fn keep(mut queue: Queue<Ticket>, receive: &Receiver<Message>) {
    let begin = Instant::now();
    let time = |at: Instant| Nanos::from(at.saturating_duration_since(begin));
    let mut client: Option<(u32, UnixStream)> = None;
    loop {
        let message = match queue.next() {
            None => receive.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(at) => {
                let left = at.0.saturating_sub(time(Instant::now()).0);
                receive.recv_timeout(Nanos(left).to_duration())
            }
        };
        match message {
            Ok(Message::Client(number, stream)) => client = Some((number, stream)),
            Ok(Message::Ask(at, ticket, ask)) => queue.submit(time(at), ticket, ask),
            Ok(Message::Refused(ticket, code)) => {
                if let Some((_, stream)) = client.as_mut().filter(|(number, _)| *number == ticket.client) {
                    let _ = protocol::refuse(stream, ticket.cookie, code);
                }
            }
            Err(RecvTimeoutError::Timeout) => queue.advance(time(Instant::now())),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        for done in queue.answers() {
            // An answer to a client that is gone is nobody's.
            if let Some((_, stream)) = client.as_mut().filter(|(number, _)| *number == done.ticket.client) {
                let result = done.result.and_then(|range| range.map(|range| queue.bytes(&range)).transpose());
                let _ = protocol::answer(stream, done.ticket.cookie, &result.map(Option::unwrap_or_default));
            }
        }
    }
}

#[cfg(test)]
mod tests;
