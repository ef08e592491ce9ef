//! The wire: what is said on it, and whether QEMU understands it.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use host::{Host, Local, find_program};
use terms::Cmd;

use super::*;

const SIZE: u64 = 64 << 20;

fn disk() -> (tempfile::TempDir, Disk) {
    let directory = tempfile::tempdir().unwrap();
    let (image, socket) = (directory.path().join("image"), directory.path().join("socket"));
    File::create(&image).unwrap().set_len(SIZE).unwrap();
    let disk = Disk::start(&image, &socket, Bytes(SIZE), &Spindle::default()).unwrap();
    (directory, disk)
}

/// A client by hand: it says what it has to say and reads exactly what must come back.
fn expect(stream: &mut UnixStream, say: &[&[u8]], hear: &[&[u8]]) {
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(&say.concat()).unwrap();
    let wanted = hear.concat();
    let mut heard = vec![0; wanted.len()];
    stream.read_exact(&mut heard).unwrap();
    assert_eq!(heard, wanted);
}

const HELLO: [&[u8]; 3] = [b"NBDMAGIC", b"IHAVEOPT", &[0, 3]];
const FLAGS: [u8; 2] = [0, 0b1_1101];

fn ask(kind: u8, flags: u8, cookie: u64, from: u64, len: u32) -> Vec<u8> {
    let head = [0x25, 0x60, 0x95, 0x13, 0, flags, 0, kind];
    [&head[..], &cookie.to_be_bytes(), &from.to_be_bytes(), &len.to_be_bytes()].concat()
}

fn told(code: u32, cookie: u64) -> Vec<u8> {
    [&[0x67, 0x44, 0x66, 0x98][..], &code.to_be_bytes(), &cookie.to_be_bytes()].concat()
}

fn option(number: u32, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(data.len()).unwrap();
    [b"IHAVEOPT", &number.to_be_bytes()[..], &len.to_be_bytes(), data].concat()
}

fn option_told(number: u32, kind: u32, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(data.len()).unwrap();
    let magic = [0, 3, 0xe8, 0x89, 4, 0x55, 0x65, 0xa9];
    [&magic[..], &number.to_be_bytes(), &kind.to_be_bytes(), &len.to_be_bytes(), data].concat()
}

/// A client that is past the handshake, by the oldest way to ask for an export.
fn client(disk: &Disk) -> UnixStream {
    let mut stream = UnixStream::connect(&disk.socket).unwrap();
    expect(&mut stream, &[], &HELLO);
    expect(&mut stream, &[&[0, 0, 0, 3], &option(1, b"any")], &[&SIZE.to_be_bytes(), &FLAGS]);
    stream
}

#[test]
fn the_handshake_describes_the_drive_and_refuses_what_it_does_not_know() {
    let (_directory, disk) = disk();
    let mut stream = UnixStream::connect(&disk.socket).unwrap();
    expect(&mut stream, &[], &HELLO);
    let unknown = 1u32 << 31 | 1;
    expect(&mut stream, &[&[0, 0, 0, 3], &option(8, &[])], &[&option_told(8, unknown, &[])]);
    // No name, one piece of information: block sizes.
    let go = [0, 0, 0, 0, 0, 1, 0, 3];
    let export = [&[0, 0][..], &SIZE.to_be_bytes(), &FLAGS].concat();
    let blocks = [&[0, 3][..], &512u32.to_be_bytes(), &4096u32.to_be_bytes(), &(32u32 << 20).to_be_bytes()].concat();
    let answers = [option_told(7, 3, &export), option_told(7, 3, &blocks), option_told(7, 1, &[])];
    expect(&mut stream, &[&option(7, &go)], &[&answers.concat()]);
    expect(&mut stream, &[&ask(3, 0, 5, 0, 0)], &[&told(0, 5)]);
}

#[test]
fn bytes_written_are_read_and_what_lies_outside_is_refused() {
    let (_directory, disk) = disk();
    let mut stream = client(&disk);
    expect(&mut stream, &[&ask(1, 0, 1, 4096, 512), &[7; 512]], &[&told(0, 1)]);
    expect(&mut stream, &[&ask(0, 0, 2, 4096, 1024)], &[&told(0, 2), &[7; 512], &[0; 512]]);
    expect(&mut stream, &[&ask(1, 1, 3, SIZE - 512, 512), &[8; 512]], &[&told(0, 3)]);
    expect(&mut stream, &[&ask(1, 0, 4, SIZE, 512), &[9; 512]], &[&told(28, 4)]);
    expect(&mut stream, &[&ask(0, 0, 5, u64::MAX, 512)], &[&told(22, 5)]);
    expect(&mut stream, &[&ask(6, 0, 6, 0, 512)], &[&told(22, 6)]);
    // The next client finds what the last left.
    stream.write_all(&ask(2, 0, 0, 0, 0)).unwrap();
    let mut second = client(&disk);
    expect(&mut second, &[&ask(0, 0, 1, SIZE - 512, 512)], &[&told(0, 1), &[8; 512]]);
}

#[test]
fn a_client_that_talks_nonsense_loses_its_connection_and_nothing_else() {
    let (_directory, disk) = disk();
    let mut stream = client(&disk);
    stream.write_all(&[0xff; 64]).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // Closed, whether or not it read everything first; a time that ran out is neither.
    let over = stream.read(&mut [0; 1]).map_err(|error| error.kind());
    assert!(matches!(over, Ok(0) | Err(ErrorKind::ConnectionReset)), "{over:?}");
    drop(stream);
    expect(&mut client(&disk), &[&ask(3, 0, 1, 0, 0)], &[&told(0, 1)]);
}

#[test]
fn nothing_is_left_when_it_ends() {
    let (directory, disk) = disk();
    let stream = client(&disk);
    let threads: Vec<_> = disk.threads.iter().map(|thread| thread.thread().id()).collect();
    assert_eq!(threads.len(), 2);
    drop(disk);
    // It waited for both threads, with a client still there.
    assert!(!directory.path().join("socket").exists());
    drop(stream);
}

#[test]
fn random_places_take_longer_than_places_in_order() {
    let (_directory, disk) = disk();
    let mut stream = client(&disk);
    let mut time = |places: &[u64]| {
        let start = Instant::now();
        for place in places {
            expect(&mut stream, &[&ask(0, 0, 1, *place, 4096)], &[&told(0, 1), &[0; 4096]]);
        }
        start.elapsed()
    };
    let ordered: Vec<u64> = (0..40).map(|at| at * 4096).collect();
    let far: Vec<u64> = (0..40).map(|at| at * 29 % 40 * (SIZE / 40)).collect();
    let (ordered, far) = (time(&ordered), time(&far));
    assert!(far > ordered * 3, "{far:?} {ordered:?}");
}

/// QEMU itself, without a guest, its block layer spoken to through its monitor.
#[test]
fn qemu_reads_what_it_wrote() {
    let host = Local::new();
    if find_program(&host, "qemu-system-x86_64").unwrap().is_none() {
        // Where it is not installed there is nobody to ask: the tests that boot guests insist on it.
        return;
    }
    let (_directory, disk) = disk();
    let node = format!("driver=nbd,node-name=d0,server.type=unix,server.path={}", disk.socket.display());
    let argv = ["qemu-system-x86_64", "-nodefaults", "-display", "none", "-machine", "none", "-monitor", "stdio"];
    let cmd = Cmd::new(argv.into_iter().chain(["-blockdev", &node]));
    let says =
        ["write -P 0x5a 1M 256k", "write -f -P 0x3c 40M 4k", "flush", "read -P 0x5a 1M 256k", "read -P 0x3c 40M 4k"];
    let lines: String = says.iter().map(|say| format!("qemu-io d0 \"{say}\"\n")).collect();
    let heard = host.run_ok(&cmd.stdin(format!("{lines}qemu-io d0 \"read -P 0x11 0 4k\"\nquit\n"))).unwrap().text();
    assert_eq!(heard.matches("wrote").count(), 2, "{heard}");
    assert_eq!(heard.matches("read ").count() - heard.matches("\"read ").count(), 3, "{heard}");
    // What is not there is noticed: the comparison is one.
    assert_eq!(heard.matches("verification failed").count(), 1, "{heard}");
}
