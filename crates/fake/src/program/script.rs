//! Fixed scripts that are given to `sh -c`, each known by a line of it.

use super::look::ROOT;
use super::{Call, Did, Reply, bcache, crypt, done, fail, program, say, writecache};
use crate::state::{Process, State};

/// What looks into every process (`/proc/*/fd`, `/proc/*/ns/mnt`).
pub(crate) const LOOK: &str = "for process in /proc/[0-9]*";
/// What looks for files that are open or mapped, its own among them.
pub(crate) const OPEN_FILES: &str = "find -L /proc/[0-9]*/fd";

/// What asks whether a file system is frozen, and leaves it as it is.
pub(crate) const FREEZE: &str = "fsfreeze --freeze";

pub(crate) fn sh(state: &mut State, call: &Call<'_>) -> Did {
    let script = call.word(2);
    let (first, second) = (call.word(4).to_owned(), call.word(5).to_owned());
    let is = |part: &str| script.contains(part);
    if script.starts_with(LOOK) {
        return look(state);
    }
    if is(OPEN_FILES) {
        return files(state);
    }
    if is("tcplay --create") {
        return crypt::tcplay(state, &passphrase(call.stdin), &first);
    }
    if is("--type tcrypt") {
        return tcrypt(state, call);
    }
    if is("blkdiscard --zeroout --length 131072") {
        return forget(state, &first);
    }
    if is("register_quiet && top=") {
        return bcache::up(state, &first, &second);
    }
    if is("register_quiet && set=") {
        return bcache::attach(state, &first, &second);
    }
    if is("$at/set/unregister") {
        return bcache::leave(state, &first);
    }
    if is("$at/detach") {
        return bcache::detach(state, &first);
    }
    if is("$at/stop") {
        return bcache::stop(state, &first, &second);
    }
    if is(" writecache s ") {
        return writecache::create(state, &first, &second, call.word(6));
    }
    if is("flush_on_suspend") {
        return crypt::close(state, &first);
    }
    if is(r#"echo "$2" > "$1""#) {
        return crate::tree::set(state, &first, &second)
            .map(|()| Reply::default())
            .map_err(|error| fail(1, error.to_string()));
    }
    if is(FREEZE) {
        let asks = |verb: &str| ["fsfreeze", verb, &first].map(str::to_owned);
        super::mount::freeze(state, &Call { argv: &asks("--freeze"), stdin: &[] })?;
        return super::mount::freeze(state, &Call { argv: &asks("--unfreeze"), stdin: &[] });
    }
    if is("dir=$1; shift;") {
        let argv = call.argv[5..].to_vec();
        return match program(state, &argv[0]) {
            Some(program) => program(state, &Call { argv: &argv, stdin: call.stdin }),
            None => Err(fail(127, format!("sh: {}: not found", argv[0]))),
        };
    }
    Err(fail(127, format!("sh: no such script is known: {script}")))
}

/// `sha256sum | cut`: a text for a key.
fn passphrase(key: &[u8]) -> Vec<u8> {
    format!("{:016x}", crypt::number_of(key)).into_bytes()
}

fn tcrypt(state: &mut State, call: &Call<'_>) -> Did {
    let argv: Vec<String> = ["cryptsetup", "open", "--type", "tcrypt"]
        .map(str::to_owned)
        .into_iter()
        .chain(call.argv[4..].iter().cloned())
        .collect();
    crypt::cryptsetup(state, &Call { argv: &argv, stdin: &passphrase(call.stdin) })
}

fn forget(state: &mut State, node: &str) -> Did {
    const HEADER: u64 = 128 << 10;
    let name = super::free_device(state, node)?;
    let size = state.size(&name);
    state
        .erase(&name, 0, HEADER)
        .and_then(|()| state.erase(&name, size - HEADER, HEADER))
        .map_err(|error| super::broken(&error))?;
    done()
}

/// Files that processes have open.
fn files(state: &State) -> Did {
    let files = state.processes.iter().filter(|process| process.device.starts_with('/'));
    let line = |process: &Process| {
        let inode = super::look::inode(process.device.as_bytes());
        format!("open {ROOT} {inode} /proc/{}/fd/3\n", process.id)
    };
    say(format!(
        "own 1\nopen {ROOT} 1 /proc/1/fd/9\nopen {ROOT} 2 /proc/1/map_files/1-2\n{}end\n",
        files.map(line).collect::<String>()
    ))
}

fn look(state: &State) -> Did {
    let mut text = String::new();
    for process in &state.processes {
        if let Some(device) = state.devices.get(&process.device) {
            text.push_str(&format!("block {:x}:{:x} /proc/{}/fd/3\n", device.number.0, device.number.1, process.id));
        }
    }
    text.push_str("rights 000001ffffffffff\nwithin pid:[4026531836]\nnamespace 4026531841 /proc/1/ns/mnt\nend\n");
    say(text)
}
