//! What people post: the output of programs as text, in whatever mixture, as a machine in which nothing else was looked
//! at.
//!
//! Each kind of text is found by how it begins and ends where the next one begins. What it says becomes the files and
//! the program output that tell the same on the machine itself, so that all else reads it as it reads a capture, and
//! what no text says was not captured. A line that cannot be understood within a text makes what it would say unknown;
//! a text of no known kind is told of.

mod dmesg;
mod lspci;
mod mdstat;
mod zpool;

use std::collections::BTreeMap;

use crate::capture::Capture;

/// A kind of text that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `lspci -vv`.
    Lspci,
    /// `/proc/mdstat`.
    Mdstat,
    /// `zpool status`.
    Zpool,
    /// `dmesg`.
    Dmesg,
}

/// Does a line begin a text of a kind?
type Begins = fn(&str) -> bool;

impl Kind {
    const ALL: [(Self, Begins); 4] = [
        (Self::Mdstat, mdstat::begins),
        (Self::Zpool, zpool::begins),
        (Self::Lspci, lspci::begins),
        (Self::Dmesg, dmesg::begins),
    ];

    /// The command that prints it.
    #[must_use]
    pub const fn command(self) -> &'static str {
        match self {
            Self::Lspci => "lspci -vv",
            Self::Mdstat => "cat /proc/mdstat",
            Self::Zpool => "zpool status",
            Self::Dmesg => "dmesg",
        }
    }
}

/// A text of one kind within a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Its kind.
    pub kind: Kind,
    /// The file.
    pub file: String,
    /// Its first line, from 1.
    pub line: usize,
    /// How many devices, arrays, pools or messages it told of.
    pub told: usize,
}

/// What was read from texts.
#[derive(Debug, Default)]
pub struct Posted {
    /// The machine.
    pub machine: Capture,
    /// Where each part of it is from.
    pub pieces: Vec<Piece>,
    /// What could not be understood, and where: it is unknown, and nothing was guessed for it.
    pub refused: Vec<String>,
}

/// What the readers of single kinds write into.
#[derive(Debug, Default)]
struct Machine {
    files: BTreeMap<String, String>,
    links: BTreeMap<String, String>,
    directories: BTreeMap<String, Vec<String>>,
    runs: BTreeMap<String, String>,
    refused: Vec<String>,
}

impl Machine {
    /// A file. One that says something else already makes both unknown: two texts are of two machines, or of two times.
    fn file(&mut self, path: String, value: impl Into<String>) {
        let value = value.into();
        if let Some(other) = self.files.get(&path).filter(|other| **other != value) {
            self.refused.push(format!("`{path}` is `{other}` in one text and `{value}` in another"));
            self.files.remove(&path);
            return;
        }
        self.files.insert(path, value);
    }

    fn capture(mut self) -> Capture {
        // A text may be a part: what else is in these is not known, and each list has a name that says so.
        for (list, more) in [("/sys/bus/pci/devices", "others"), ("/sys/class/block", "loop-others")] {
            self.directories.get_mut(list).into_iter().for_each(|names| names.push(more.to_owned()));
        }
        Capture::from_texts(self.files, self.links, self.directories, self.runs)
    }
}

/// Reads texts, each with the name of its file.
#[must_use]
pub fn read<'t>(texts: impl IntoIterator<Item = (&'t str, &'t str)>) -> Posted {
    let mut machine = Machine::default();
    let mut posted = Posted::default();
    for (file, text) in texts {
        for (kind, line, piece) in pieces(text) {
            let Some(kind) = kind else {
                if piece.iter().any(|line| !line.trim().is_empty()) {
                    posted.refused.push(format!("{file}:{line}: this is the output of no program that is known here"));
                }
                continue;
            };
            let before = machine.refused.len();
            let told = match kind {
                Kind::Lspci => lspci::read(&piece, &mut machine),
                Kind::Mdstat => mdstat::read(&piece, &mut machine),
                Kind::Zpool => zpool::read(&piece, &mut machine),
                Kind::Dmesg => dmesg::read(&piece, &mut machine),
            };
            for refused in machine.refused.iter_mut().skip(before) {
                *refused = format!("{file}:{line}: {}: {refused}", kind.command());
            }
            posted.pieces.push(Piece { kind, file: file.to_owned(), line, told });
        }
    }
    posted.refused.append(&mut machine.refused);
    posted.machine = machine.capture();
    posted
}

/// Parts of a text, each with its kind and its first line.
fn pieces(text: &str) -> Vec<(Option<Kind>, usize, Vec<&str>)> {
    let mut all: Vec<(Option<Kind>, usize, Vec<&str>)> = Vec::new();
    // A number at the end of a text that ends in the middle of a line may be the beginning of another.
    let text = if text.ends_with(|c: char| c.is_ascii_digit()) {
        text.rsplit_once('\n').map_or("", |(whole, _)| whole)
    } else {
        text
    };
    for (at, line) in text.lines().map(|line| line.trim_end_matches('\r')).enumerate() {
        let kind = Kind::ALL.iter().find(|(_, begins)| begins(line)).map(|(kind, _)| *kind);
        // A prompt with a command ends what was printed before it.
        let prompt = ["$ ", "# "].iter().any(|sign| line.split_once(sign).is_some_and(|(who, _)| !who.contains(' ')));
        let open = all.last().and_then(|(kind, _, _)| *kind);
        let fresh = all.is_empty() || prompt || kind.is_some_and(|kind| open != Some(kind));
        if prompt {
            all.push((None, at + 1, Vec::new()));
        } else if fresh {
            all.push((kind, at + 1, vec![line]));
        } else if let Some((_, _, lines)) = all.last_mut() {
            lines.push(line);
        }
    }
    all
}

#[cfg(test)]
mod tests;
