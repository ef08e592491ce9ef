//! Damage to files: bits, pieces, words that readers stumble over. The same case is the same bytes each time.

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Most changes to one file.
const CHANGES: u32 = 6;
/// Longest piece that is cut, doubled or moved.
const PIECE: usize = 200;

/// What readers stumble over.
const WORDS: [&str; 56] = [
    "0",
    "-1",
    "1",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775808",
    "4294967295",
    "1e308",
    "1e999",
    "-0.0",
    "NaN",
    "inf",
    "0x",
    "1_000",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[[",
    "]]",
    "{",
    "}",
    "\\",
    "\\u0000",
    "\\ud800",
    "\u{0}",
    "\u{1b}[2J",
    "\u{9b}",
    "\u{202e}",
    "\u{feff}",
    "\u{10ffff}",
    "é",
    "\r",
    "\t",
    "\n",
    "\n\n",
    "=",
    "#",
    "|",
    "../",
    "/dev/zero",
    "$(canary)",
    "`canary`",
    "{drive:a}",
    "{evil:x}",
    "exec_prerun=canary",
    "exec_prer=canary",
    "ioengine=exec",
    "ioengine=/evil.so",
    "opendi=/",
    "64 MiB",
    "1 TiB",
    "%",
    "*",
    "link /a -> /a\n",
];

/// Damages files.
#[derive(Debug)]
pub(crate) struct Mutator {
    seed: u64,
    files: Vec<Vec<u8>>,
}

impl Mutator {
    /// Of these files. Another name gives other cases.
    pub(crate) fn new(name: &str, files: Vec<Vec<u8>>) -> Self {
        let seed = name.bytes().fold(17, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
        Self { seed, files }
    }

    /// The case of that number.
    pub(crate) fn case(&self, number: u64) -> Vec<u8> {
        let mut chance = ChaCha8Rng::seed_from_u64(self.seed ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut bytes = self.any(&mut chance).to_vec();
        // Mostly few: what is little damaged gets furthest.
        let few = chance.random_range(1..=CHANGES).min(chance.random_range(1..=CHANGES));
        for _ in 0..few {
            self.change(&mut bytes, &mut chance);
        }
        bytes
    }

    fn any(&self, chance: &mut ChaCha8Rng) -> &[u8] {
        &self.files[chance.random_range(0..self.files.len())]
    }

    fn change(&self, bytes: &mut Vec<u8>, chance: &mut ChaCha8Rng) {
        let at = chance.random_range(0..=bytes.len());
        let end = (at + chance.random_range(1..=PIECE)).min(bytes.len());
        match chance.random_range(0..9) {
            0 if at < bytes.len() => bytes[at] ^= 1 << chance.random_range(0..8),
            1 if at < bytes.len() => bytes[at] = chance.random(),
            2 => drop(bytes.drain(at..end)),
            3 => bytes.truncate(at),
            4 => {
                let piece = bytes[at..end].to_vec();
                let times = chance.random_range(1..20);
                bytes.splice(at..at, piece.repeat(times));
            }
            5 => {
                let other = self.any(chance);
                let from = chance.random_range(0..=other.len());
                let to = (from + PIECE).min(other.len());
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            6 => number(bytes, at, chance),
            _ => {
                let word = WORDS[chance.random_range(0..WORDS.len())];
                // Where a word is, in its place; otherwise between two.
                let stop = if chance.random() { word_end(bytes, at) } else { at };
                bytes.splice(at..stop, word.bytes());
            }
        }
    }
}

/// Puts another number in the place of the next.
fn number(bytes: &mut Vec<u8>, from: usize, chance: &mut ChaCha8Rng) {
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit).map(|at| from + at) else { return };
    let length = bytes[start..].iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len() - start);
    let text = match chance.random_range(0..4) {
        0 => "0".to_owned(),
        1 => u64::MAX.to_string(),
        2 => chance.random::<u64>().to_string(),
        _ => chance.random_range(0..100).to_string(),
    };
    bytes.splice(start..start + length, text.bytes());
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    let length = bytes[at..].iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(bytes.len() - at);
    at + length
}
