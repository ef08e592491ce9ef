//! Words of a plan's commands: text, and places where a machine's own names are put in.
//!
//! What is text and what is a place is decided when a word is made, and not by looking for braces in it: text that comes
//! from a study stays text whatever it holds.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::name::Name;

/// One word of a command.
///
/// In JSON and in plans for reading it is a text in which `{drive:a}` stands for the node of drive `a`, and a brace that
/// is meant is doubled: `{{`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Word(Vec<Piece>);

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Piece {
    /// What stands there as it is.
    Text(String),
    /// What is put in when the word is used.
    Place(Placeholder),
}

/// What is put in.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Placeholder {
    /// `{drive:a}`: the node of a drive.
    Drive(Name),
    /// `{part:a}`, `{part:a:2}`: the node of its first partition, of its second.
    Partition(Name, u32),
    /// `{controller:a}`: the node of its NVMe controller.
    Controller(Name),
    /// `{sysof:a}`: its directory in sysfs.
    SysfsOf(Name),
    /// `{sys:/dev/…}`: the directory in sysfs of a node that the plan makes.
    Sysfs(String),
    /// `{uuid:x}`: the identifier that is drawn for a layer when the plan is carried out.
    Uuid(Name),
}

/// A placeholder that could not be filled in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("nothing is known for `{0}`")]
pub struct Unresolved(pub String);

/// Partitions that a table has room for (UEFI 2.10, 5.3.2: 16,384 bytes of entries of 128).
pub(crate) const GPT_ENTRIES: u32 = 128;

/// Characters of nodes that plans make.
fn is_of_node(c: char) -> bool {
    c.is_ascii_alphanumeric() || "/._-+".contains(c)
}

impl Placeholder {
    /// The drive that it is of, where it is of one.
    #[must_use]
    pub const fn drive(&self) -> Option<&Name> {
        match self {
            Self::Drive(name) | Self::Partition(name, _) | Self::Controller(name) | Self::SysfsOf(name) => Some(name),
            Self::Sysfs(_) | Self::Uuid(_) => None,
        }
    }

    /// Reads what stands between braces.
    fn parse(inside: &str) -> Option<Self> {
        let (kind, argument) = inside.split_once(':')?;
        let name = || Name::new(argument).ok();
        match kind {
            "drive" => name().map(Self::Drive),
            "part" => match argument.split_once(':') {
                None => Some(Self::Partition(name()?, 1)),
                Some((drive, number)) => {
                    let number = number.parse().ok().filter(|number| (2..=GPT_ENTRIES).contains(number))?;
                    Some(Self::Partition(Name::new(drive).ok()?, number))
                }
            },
            "controller" => name().map(Self::Controller),
            "sysof" => name().map(Self::SysfsOf),
            "uuid" => name().map(Self::Uuid),
            "sys" if argument.starts_with('/') && argument.chars().all(is_of_node) => {
                Some(Self::Sysfs(argument.to_owned()))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drive(name) => write!(f, "{{drive:{name}}}"),
            Self::Partition(name, 1) => write!(f, "{{part:{name}}}"),
            Self::Partition(name, number) => write!(f, "{{part:{name}:{number}}}"),
            Self::Controller(name) => write!(f, "{{controller:{name}}}"),
            Self::SysfsOf(name) => write!(f, "{{sysof:{name}}}"),
            Self::Sysfs(node) => write!(f, "{{sys:{node}}}"),
            Self::Uuid(layer) => write!(f, "{{uuid:{layer}}}"),
        }
    }
}

impl Word {
    fn place(place: Placeholder) -> Self {
        Self(vec![Piece::Place(place)])
    }

    /// The node of a drive.
    #[must_use]
    pub fn drive(name: &Name) -> Self {
        Self::place(Placeholder::Drive(name.clone()))
    }

    /// A partition of a drive; the first has number 1.
    #[must_use]
    pub fn partition(name: &Name, number: u32) -> Self {
        Self::place(Placeholder::Partition(name.clone(), number))
    }

    /// The NVMe controller of a drive.
    #[must_use]
    pub fn controller(name: &Name) -> Self {
        Self::place(Placeholder::Controller(name.clone()))
    }

    /// The directory of a drive in sysfs.
    #[must_use]
    pub fn sysfs_of(name: &Name) -> Self {
        Self::place(Placeholder::SysfsOf(name.clone()))
    }

    /// The directory in sysfs of a node that the plan makes. Characters that no such node has are left out.
    #[must_use]
    pub fn sysfs(node: &str) -> Self {
        Self::place(Placeholder::Sysfs(node.chars().filter(|c| is_of_node(*c)).collect()))
    }

    /// The identifier that this build of a layer is known by.
    #[must_use]
    pub fn uuid(layer: &Name) -> Self {
        Self::place(Placeholder::Uuid(layer.clone()))
    }

    /// Is it of a drive: its node, a partition of it?
    #[must_use]
    pub fn is_of_drive(&self) -> bool {
        self.places().any(|place| place.drive().is_some())
    }

    /// The same with more behind it.
    #[must_use]
    pub fn then(mut self, more: impl Into<Self>) -> Self {
        for piece in more.into().0 {
            match (self.0.last_mut(), piece) {
                (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
                (_, piece) => self.0.push(piece),
            }
        }
        self
    }

    /// Its parts in order; no two texts stand side by side, and none is empty.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        &self.0
    }

    /// The whole word, where nothing has to be put in.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// What has to be put in.
    pub fn places(&self) -> impl Iterator<Item = &Placeholder> {
        self.0.iter().filter_map(|piece| if let Piece::Place(place) = piece { Some(place) } else { None })
    }

    /// Puts in what `fill` says of each placeholder.
    ///
    /// # Errors
    /// [`Unresolved`] for the first placeholder that `fill` does not know.
    pub fn resolve(&self, mut fill: impl FnMut(&Placeholder) -> Option<String>) -> Result<String, Unresolved> {
        let mut out = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Place(place) => out.push_str(&fill(place).ok_or_else(|| Unresolved(place.to_string()))?),
            }
        }
        Ok(out)
    }

    /// Reads a word as plans have it in JSON.
    ///
    /// # Errors
    /// [`Unresolved`] for the first placeholder that is none, or is not closed.
    pub fn parse(text: &str) -> Result<Self, Unresolved> {
        let mut word = Self::default();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            word = word.then(before);
            if let Some(more) = after.strip_prefix('{') {
                word = word.then("{");
                rest = more;
                continue;
            }
            let (inside, more) = after.split_once('}').ok_or_else(|| Unresolved(after.to_owned()))?;
            let place = Placeholder::parse(inside).ok_or_else(|| Unresolved(inside.to_owned()))?;
            word.0.push(Piece::Place(place));
            rest = more;
        }
        Ok(word.then(rest))
    }
}

/// Text, whatever it holds.
impl<S: Into<String>> From<S> for Word {
    fn from(text: S) -> Self {
        let text = text.into();
        Self(if text.is_empty() { Vec::new() } else { vec![Piece::Text(text)] })
    }
}

impl PartialEq<str> for Word {
    fn eq(&self, text: &str) -> bool {
        self.text() == Some(text)
    }
}

impl PartialEq<&str> for Word {
    fn eq(&self, text: &&str) -> bool {
        self == *text
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Text(text) => f.write_str(&text.replace('{', "{{"))?,
                Piece::Place(place) => place.fmt(f)?,
            }
        }
        Ok(())
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn words_are_filled_in() {
        let fill = |place: &Placeholder| (*place == Placeholder::Drive(name("a"))).then(|| "/dev/nvme0n1".to_owned());
        let word = Word::from("x").then(Word::drive(&name("a"))).then("y");
        assert_eq!(word.resolve(fill), Ok("x/dev/nvme0n1y".to_owned()));
        assert_eq!(Word::drive(&name("b")).resolve(fill), Err(Unresolved("{drive:b}".to_owned())));
        assert_eq!(Word::from("plain").resolve(fill), Ok("plain".to_owned()));
    }

    #[test]
    fn text_with_braces_stays_text() {
        for text in ["{drive:a}", "aes{drive:a}$(touch x)", "{", "}", "{{", "{{{", "a}b{", ""] {
            let word = Word::from(text);
            assert_eq!(word.text(), Some(text));
            assert_eq!(word.resolve(|_| None), Ok(text.to_owned()));
            let json = serde_json::to_string(&word).unwrap();
            assert_eq!(serde_json::from_str::<Word>(&json).unwrap(), word, "{json}");
            let mixed = Word::from(text).then(Word::drive(&name("a"))).then(text);
            assert_eq!(Word::parse(&mixed.to_string()).unwrap(), mixed, "{mixed}");
        }
    }

    /// As records have held them from the beginning.
    #[test]
    fn words_of_old_plans_are_read() {
        for text in [
            "{drive:a}",
            "{part:c-1}",
            "{part:c:2}",
            "X-mount.mkdir,commit=5,device={drive:b}",
            "{sys:/dev/md/bp-x-raid}/md/max_read_errors",
            "{sysof:a}/queue/scheduler",
            "{controller:a}",
            "--layout=near",
        ] {
            let word: Word = serde_json::from_str(&format!("\"{text}\"")).unwrap();
            assert_eq!(word.to_string(), text);
        }
        for text in
            ["{drive:a", "{host:a}", "{drive:}", "{drive:a b}", "{sys:$(x)}", "{part:c:1}", "{part:c:129}", "{}"]
        {
            assert!(serde_json::from_str::<Word>(&format!("\"{text}\"")).is_err(), "{text}");
        }
    }
}
