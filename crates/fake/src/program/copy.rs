//! dd(1) and cmp(1).

use super::{Call, Did, Reply, broken, done, fail, say};
use crate::state::State;

/// Reads are in pieces of so many bytes.
const PIECE: u64 = 1 << 20;

/// An operand of dd.
fn operand<'a>(call: &'a Call<'_>, name: &str) -> Option<&'a str> {
    call.argv.iter().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn bytes(text: &str) -> u64 {
    let (number, unit) = match text.strip_suffix(['K', 'M']) {
        Some(number) => (number, if text.ends_with('K') { 1 << 10 } else { 1 << 20 }),
        None => (text, 1),
    };
    number.parse::<u64>().unwrap_or(0) * unit
}

/// Bytes of a file or device from a place; fewer only at its end.
fn part(state: &mut State, path: &str, offset: u64, length: u64) -> Result<Vec<u8>, Reply> {
    if path == "/dev/zero" {
        return Ok(vec![0; length as usize]);
    }
    if let Some(name) = state.device_at(path) {
        return state.read(&name, offset, length).map_err(|error| broken(&error));
    }
    match state.file(path) {
        Some(Ok(content)) => {
            let from = (offset as usize).min(content.len());
            Ok(content[from..content.len().min(from.saturating_add(usize::try_from(length).unwrap_or(usize::MAX)))]
                .to_vec())
        }
        Some(Err(error)) => Err(broken(&error)),
        None => Err(fail(1, format!("'{path}': No such file or directory"))),
    }
}

pub(crate) fn dd(state: &mut State, call: &Call<'_>) -> Did {
    let block = operand(call, "bs").map_or(512, bytes);
    let in_bytes =
        |flags: &str, unit: &str| operand(call, flags).is_some_and(|flags| flags.split(',').any(|flag| flag == unit));
    let skip = operand(call, "skip").map_or(0, bytes) * if in_bytes("iflag", "skip_bytes") { 1 } else { block };
    let seek = operand(call, "seek").map_or(0, bytes) * if in_bytes("oflag", "seek_bytes") { 1 } else { block };
    let count = operand(call, "count").map(|count| bytes(count) * block);
    let passes_over = operand(call, "conv").is_some_and(|conv| conv.contains("noerror"));
    if passes_over {
        return read_all(state, operand(call, "if").unwrap_or_default(), block);
    }
    let content = match operand(call, "if") {
        Some(path) => part(state, path, skip, count.unwrap_or(u64::MAX / 2))?,
        None => call.stdin.to_vec(),
    };
    let Some(to) = operand(call, "of") else { return say(content) };
    match state.device_at(to) {
        Some(name) => state.write(&name, seek, &content),
        None => state.file_write(to, seek, &content),
    }
    .map_err(|error| broken(&error))?;
    done()
}

/// All of a device, past errors, each of which is told.
fn read_all(state: &mut State, path: &str, block: u64) -> Did {
    let name = super::device(state, path)?;
    let size = state.size(&name);
    let mut said = String::new();
    for at in (0..size).step_by(block as usize) {
        if state.read(&name, at, block).is_err() {
            said.push_str(&format!("dd: error reading '{path}': Invalid or incomplete multibyte or wide character\n"));
        }
    }
    Ok(Reply { status: i32::from(!said.is_empty()), stderr: said, ..Reply::default() })
}

/// 0 is alike, 1 differs or ends early, 2 is trouble (cmp(1)).
pub(crate) fn cmp(state: &mut State, call: &Call<'_>) -> Did {
    let (one, other) = (call.word(call.argv.len() - 2).to_owned(), call.last().to_owned());
    let skips =
        call.value("--ignore-initial").unwrap_or("0:0").split_once(':').map_or((0, 0), |(a, b)| (bytes(a), bytes(b)));
    let length = call.number("--bytes").unwrap_or(u64::MAX / 2);
    let trouble = |reply: Reply| Reply { status: 2, ..reply };
    // Whole drives are compared with nothing in pieces.
    let piece = if other == "/dev/zero" { PIECE } else { length };
    let mut at = 0;
    while at < length {
        let step = piece.min(length - at);
        if let (Some(name), "/dev/zero") = (state.device_at(&one), other.as_str())
            && state.is_blank(&name, skips.0 + at, step)
        {
            at += step;
            continue;
        }
        let a = part(state, &one, skips.0 + at, step).map_err(trouble)?;
        let b = part(state, &other, skips.1 + at, step).map_err(trouble)?;
        if a != b {
            return Err(fail(1, format!("{one} {other} differ")));
        }
        if a.len() < step as usize {
            return done();
        }
        at += step;
    }
    done()
}
