//! cryptsetup(8).

use super::{Call, Did, blank_device, broken, device, done, fail, free_device, say};
use crate::device::{Kind, Mapping, Tags, Target};
use crate::state::{State, mixed};

/// Where data begin behind a LUKS2 header (LUKS2 On-Disk Format, 2).
const START: u64 = 16 << 20;
/// Where the model keeps what proves a key, within the area of key slots.
const PROOF: u64 = 64 << 10;
/// Statuses (cryptsetup(8), RETURN CODES): no permission is a wrong key, 4 a wrong device, 5 one that is busy.
const WRONG_KEY: i32 = 2;
const WRONG_DEVICE: i32 = 4;
const BUSY: i32 = 5;

pub(crate) fn cryptsetup(state: &mut State, call: &Call<'_>) -> Did {
    match call.word(1) {
        "luksFormat" => format(state, call),
        "open" => open(state, call),
        "close" => close(state, call.last()),
        "erase" => erase(state, call.last()),
        "benchmark" => say(
            "# Tests are approximate using memory only (no storage IO).\n#     Algorithm |       Key |      Encryption |      Decryption\n        aes-xts        512b      2000.0 MiB/s      2000.0 MiB/s\n",
        ),
        other => Err(fail(1, format!("Unknown action {other}."))),
    }
}

/// A number for a key.
pub(crate) fn number_of(key: &[u8]) -> u64 {
    key.chunks(8).fold(7, |sum, word| mixed(sum ^ word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))))
}

/// The volume's own key is drawn; here the identifier stands for what is drawn, and the passphrase proves itself.
fn volume_key(uuid: &str) -> u64 {
    number_of(uuid.as_bytes())
}

fn format(state: &mut State, call: &Call<'_>) -> Did {
    let name = free_device(state, call.last())
        .map_err(|_| fail(BUSY, format!("Device {} is in use. Cannot proceed with format operation.", call.last())))?;
    let uuid = call.value("--uuid").unwrap_or_default().to_owned();
    let tagged = call.value("--integrity").is_some();
    // A format with tags writes all of the device, so that every tag is right.
    let size = state.size(&name);
    state.erase(&name, 0, if tagged { size } else { START }).map_err(|error| broken(&error))?;
    state.sign(&name, "crypto_LUKS", &uuid).map_err(|error| broken(&error))?;
    let block = call.number("--sector-size").unwrap_or_else(|| state.devices[&name].block);
    let header = [number_of(call.stdin).to_le_bytes(), block.to_le_bytes(), u64::from(tagged).to_le_bytes()].concat();
    state.write(&name, PROOF, &header).map_err(|error| broken(&error))?;
    done()
}

fn word_at(state: &mut State, name: &str, place: u64) -> u64 {
    let bytes = state.read(name, place, 8).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn open(state: &mut State, call: &Call<'_>) -> Did {
    let kind = call.value("--type").unwrap_or("luks2");
    let tries = call.has("--test-passphrase");
    let (node, mapping) = if tries { (call.last(), "") } else { (call.word(call.argv.len() - 2), call.last()) };
    let name = if tries || call.has("--shared") {
        device(state, node)?
    } else {
        free_device(state, node)
            .map_err(|_| fail(BUSY, format!("Cannot use device {node} which is in use (already mapped or mounted).")))?
    };
    let size = state.size(&name);
    let (uuid, key, start, block, end) = match kind {
        "plain" => {
            let block = call.number("--sector-size").unwrap_or(512);
            ("PLAIN".to_owned(), number_of(call.stdin), 0, block, size / block * block)
        }
        "tcrypt" => {
            if word_at(state, &name, 64) != number_of(call.stdin) {
                return Err(fail(WRONG_KEY, "No device header detected with this passphrase."));
            }
            ("TCRYPT".to_owned(), number_of(call.stdin) ^ 1, 128 << 10, 512, size - (256 << 10))
        }
        _ => {
            let found = state.signatures(&name).into_iter().find(|found| found.kind == "crypto_LUKS");
            let Some(uuid) = found.and_then(|found| found.uuid) else {
                return Err(fail(1, format!("Device {node} is not a valid LUKS device.")));
            };
            if word_at(state, &name, PROOF) != number_of(call.stdin) {
                return Err(fail(WRONG_KEY, "No key available with this passphrase."));
            }
            let block = word_at(state, &name, PROOF + 8);
            (
                format!("LUKS2-{}", uuid.replace('-', "")),
                volume_key(&uuid),
                START,
                block,
                (size - START) / block * block,
            )
        }
    };
    if tries {
        return done();
    }
    if state.links.contains_key(&format!("/dev/mapper/{mapping}")) {
        return Err(fail(BUSY, format!("Device {mapping} already exists.")));
    }
    let block = block.max(state.devices[&name].block);
    let tagged = kind == "luks2" && word_at(state, &name, PROOF + 16) == 1;
    let (of, start, end) = if tagged {
        let tags = Tags { of: name.clone(), start, block, tag: 32, apart: None };
        let inner = format!("{mapping}_dif");
        let size = tags.provided(end);
        let below = add_mapping(state, &inner, &format!("CRYPT-SUBDEV-{inner}"), size, block, Target::Integrity(tags));
        (below, 0, size)
    } else {
        (name, start, end)
    };
    add_mapping(state, mapping, &format!("CRYPT-{uuid}-{mapping}"), end, block, Target::Crypt { of, start, key });
    done()
}

/// Adds a mapping under its name, and gives what the kernel calls it.
pub(crate) fn add_mapping(state: &mut State, name: &str, uuid: &str, size: u64, block: u64, target: Target) -> String {
    let node = state.free_name(0.., |number| format!("dm-{number}"));
    let mapping = Mapping { name: name.to_owned(), uuid: uuid.to_owned(), suspended: false, target };
    state.add(&node, size, block, Kind::Mapping(mapping));
    state.links.insert(format!("/dev/mapper/{name}"), node.clone());
    node
}

/// Takes a mapping away, and one beneath it that was made with it.
pub(crate) fn close(state: &mut State, name: &str) -> Did {
    let Some(node) = state.device_at(&format!("/dev/mapper/{name}")) else {
        return Err(fail(WRONG_DEVICE, format!("Device {name} is not active.")));
    };
    if state.is_claimed(&node) || state.processes.iter().any(|process| process.device == node) {
        return Err(fail(BUSY, format!("Device {name} is still in use.")));
    }
    state.remove(&node);
    if let Some(inner) = state.device_at(&format!("/dev/mapper/{name}_dif")) {
        state.remove(&inner);
    }
    done()
}

fn erase(state: &mut State, node: &str) -> Did {
    let name = device(state, node)?;
    if !state.signatures(&name).iter().any(|found| found.kind == "crypto_LUKS") {
        return Err(fail(1, format!("Device {node} is not a valid LUKS device.")));
    }
    state.erase(&name, PROOF, 24).map_err(|error| broken(&error))?;
    done()
}

/// tcplay: a header and its copy, which look like noise.
pub(crate) fn tcplay(state: &mut State, key: &[u8], node: &str) -> Did {
    let name = blank_device(state, node)?;
    let size = state.size(&name);
    let header: Vec<u8> = (0..64_u64).flat_map(|word| mixed(number_of(key) ^ word).to_le_bytes()).collect();
    for place in [0, size - (128 << 10)] {
        state.write(&name, place, &header).map_err(|error| broken(&error))?;
    }
    state.write(&name, 64, &number_of(key).to_le_bytes()).map_err(|error| broken(&error))?;
    done()
}
