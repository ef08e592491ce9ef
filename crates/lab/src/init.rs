//! The guest's first process: this same program, found in the initial file system as `/init`.
//!
//! It inserts the modules that came with it, puts each directory that is shared with it under an overlay in memory, and
//! serves its port, or its mailbox, until whoever booted it goes away; then it switches the guest off.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use std::thread;
use std::time::Duration;

use host::{Local, agent};
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, finit_module, reboot};

use crate::disk::inside;
use crate::image::MODULE_DIRECTORY;
use crate::machine::Mode;
use crate::mailbox::{self, Mailbox};
use crate::probe::PROBE_WORDS;
use crate::share;

/// LVM's settings in a guest without udev: make device nodes itself, start no monitor, keep no lists of devices. It takes
/// only devices of drivers that it knows by name (lvm.conf(5), `devices/types`), and `null_blk` is none of them.
const LVM_CONFIG: &str = "\
devices { dir = \"/dev\" scan = [ \"/dev\" ] obtain_device_list_from_udev = 0 external_device_info_source = \"none\" use_devicesfile = 0 types = [ \"nullb\", 16 ] }
activation { udev_sync = 0 udev_rules = 0 monitoring = 0 verify_udev_operations = 0 }
backup { backup = 0 archive = 0 }
global { use_lvmpolld = 0 }
";

/// What every program in the guest finds in its environment.
const ENVIRONMENT: [(&str, &str); 6] = [
    ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
    ("HOME", "/root"),
    ("TERM", "linux"),
    ("DM_DISABLE_UDEV", "1"),
    ("MDADM_NO_UDEV", "1"),
    ("LVM_SYSTEM_DIR", "/run/bedplate/lvm"),
];

/// Is this process the first of a lab guest?
#[must_use]
pub fn is_first_process() -> bool {
    std::process::id() == 1 && Path::new("/").join(MODULE_DIRECTORY).is_dir()
}

/// Lives the whole life of the guest's first process and never comes back.
pub fn live(build: &str) -> ! {
    if let Err(error) = serve(build) {
        say(&format!("bedplate: {error}"));
    }
    let _ = reboot(RebootCommand::PowerOff);
    loop {
        thread::sleep(Duration::from_secs(3600));
    }
}

fn serve(build: &str) -> io::Result<()> {
    mount_at("devtmpfs", "/dev", "devtmpfs", "")?;
    mount_at("proc", "/proc", "proc", "")?;
    mount_at("sysfs", "/sys", "sysfs", "")?;
    let line = fs::read_to_string("/proc/cmdline")?;
    let asked = |mode: Mode| line.split_whitespace().any(|word| word == mode.word());
    if asked(Mode::Probe) {
        say(PROBE_WORDS);
        return Ok(());
    }
    insert_modules()?;
    mount_memory()?;
    if asked(Mode::Shared) {
        mount_shared()?;
    }
    fs::create_dir_all("/run/bedplate/lvm")?;
    fs::write("/run/bedplate/lvm/lvm.conf", LVM_CONFIG)?;
    inside::serve().map_err(|error| with_what("serve the hard disks", error))?;
    let env = ENVIRONMENT.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let host = Local::with_env(env.collect());
    if asked(Mode::Apart) {
        let mailbox = Mailbox::open().map_err(|error| with_what("open the mailbox", error))?;
        let input = BufReader::with_capacity(mailbox::LONGEST, mailbox.clone());
        return agent::serve_in_turn(build, host, input, mailbox);
    }
    let port = port()?;
    agent::serve(build, host, Patient::new(port.try_clone()?), port)
}

fn insert_modules() -> io::Result<()> {
    let mut files: Vec<_> = fs::read_dir(Path::new("/").join(MODULE_DIRECTORY))?.flatten().map(|e| e.path()).collect();
    files.sort();
    for path in files {
        let (name, told) = inside::MODULE;
        let is_told = path.to_string_lossy().ends_with(&format!("-{name}.ko"));
        match finit_module(File::open(&path)?, if is_told { told } else { c"" }, 0) {
            Ok(()) | Err(rustix::io::Errno::EXIST) => {}
            Err(errno) => return Err(with_what(&format!("insert {}", path.display()), errno.into())),
        }
    }
    Ok(())
}

/// Memory wherever a guest writes.
fn mount_memory() -> io::Result<()> {
    for directory in ["/run", "/tmp", "/var/tmp", "/mnt", "/dev/shm"] {
        fs::create_dir_all(directory)?;
        mount_at("tmpfs", directory, "tmpfs", "")?;
    }
    fs::create_dir_all("/run/lock")?;
    fs::create_dir_all("/dev/pts")?;
    mount_at("devpts", "/dev/pts", "devpts", "")
}

/// The shared directories: each read-only over 9p, under an overlay in memory.
fn mount_shared() -> io::Result<()> {
    // What is a directory on this machine is one here, and what is a link is a link.
    for directory in share::shared() {
        let tag = share::tag(directory);
        mount_at(&tag, directory, "9p", "trans=virtio,version=9p2000.L,msize=512000,cache=loose")?;
        let [upper, work] = ["upper", "work"].map(|part| format!("/run/bedplate/{tag}/{part}"));
        fs::create_dir_all(&upper)?;
        fs::create_dir_all(&work)?;
        let layers = format!("lowerdir={directory},upperdir={upper},workdir={work}");
        mount_at("overlay", directory, "overlay", &layers)?;
    }
    Ok(())
}

/// The port to whoever booted us, by the name that QEMU was given.
fn port() -> io::Result<File> {
    for _ in 0..500 {
        for entry in fs::read_dir("/sys/class/virtio-ports").into_iter().flatten().flatten() {
            let name = fs::read_to_string(entry.path().join("name")).unwrap_or_default();
            if name.trim() == "bedplate" {
                return OpenOptions::new().read(true).write(true).open(Path::new("/dev").join(entry.file_name()));
            }
        }
        thread::sleep(Duration::from_millis(10));
    }
    Err(io::Error::other("no port named bedplate"))
}

/// A port that nobody listens to yet reads as ended; wait for the first word, and believe an end only after it.
struct Patient<R> {
    inner: R,
    heard: bool,
}

impl<R> Patient<R> {
    const fn new(inner: R) -> Self {
        Self { inner, heard: false }
    }
}

impl<R: Read> Read for Patient<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.inner.read(buffer)?;
            if count > 0 || self.heard || buffer.is_empty() {
                self.heard |= count > 0;
                return Ok(count);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
}

fn mount_at(source: &str, target: &str, kind: &str, data: &str) -> io::Result<()> {
    let data = std::ffi::CString::new(data).map_err(io::Error::other)?;
    mount(source, target, kind, MountFlags::empty(), Some(data.as_c_str()))
        .map_err(|errno| with_what(&format!("mount {kind} at {target}"), errno.into()))
}

fn with_what(what: &str, error: io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("could not {what}: {error}"))
}

fn say(text: &str) {
    if let Ok(mut console) = OpenOptions::new().write(true).open("/dev/console") {
        let _ = writeln!(console, "{text}");
    }
}
