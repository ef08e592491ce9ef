//! A fact that was read, or the reason why it could not be.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A fact that was read, or the reason why it was not. What could not be read is never taken for "all is well".
///
/// `Readout<Option<T>>` tells three things apart: it is so, there is none, nobody could look. In JSON a known fact is
/// the fact itself, and an unknown one is `{"unknown": "why"}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readout<T> {
    /// It was read.
    Known(T),
    /// It could not be read, and why.
    Unknown(String),
}

/// Why a fact that an older record does not have is unknown.
pub const NOT_LOOKED_AT: &str = "nobody looked";

impl<T> Readout<T> {
    /// It could not be read.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self::Unknown(why.into())
    }

    /// The fact, where it is known.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(fact) => Some(fact),
            Self::Unknown(_) => None,
        }
    }

    /// Why it is not known, where it is not.
    #[must_use]
    pub fn why_unknown(&self) -> Option<&str> {
        match self {
            Self::Known(_) => None,
            Self::Unknown(why) => Some(why),
        }
    }

    /// The fact made into another; the reason stays.
    pub fn map<U>(self, into: impl FnOnce(T) -> U) -> Readout<U> {
        match self {
            Self::Known(fact) => Readout::Known(into(fact)),
            Self::Unknown(why) => Readout::Unknown(why),
        }
    }

    /// The fact made into another that may itself be unknown.
    pub fn and_then<U>(self, into: impl FnOnce(T) -> Readout<U>) -> Readout<U> {
        match self {
            Self::Known(fact) => into(fact),
            Self::Unknown(why) => Readout::Unknown(why),
        }
    }

    /// The same, borrowed.
    pub fn as_ref(&self) -> Readout<&T> {
        match self {
            Self::Known(fact) => Readout::Known(fact),
            Self::Unknown(why) => Readout::Unknown(why.clone()),
        }
    }
}

impl<T> Default for Readout<T> {
    /// Nobody looked.
    fn default() -> Self {
        Self::Unknown(NOT_LOOKED_AT.to_owned())
    }
}

/// The only key of what is unknown.
#[derive(PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Key {
    Unknown,
}

/// A map and not a structure, for serde takes a list of one text for a structure of one text.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<Key, String>", into = "BTreeMap<Key, String>")]
#[derive(Clone)]
struct Missing(String);

impl TryFrom<BTreeMap<Key, String>> for Missing {
    type Error = &'static str;
    fn try_from(mut map: BTreeMap<Key, String>) -> Result<Self, Self::Error> {
        map.remove(&Key::Unknown).map(Self).ok_or("no reason")
    }
}

impl From<Missing> for BTreeMap<Key, String> {
    fn from(missing: Missing) -> Self {
        Self::from([(Key::Unknown, missing.0)])
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Wire<T> {
    Missing(Missing),
    Known(T),
}

impl<T: Serialize> Serialize for Readout<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Known(fact) => fact.serialize(serializer),
            Self::Unknown(why) => Missing(why.clone()).serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Readout<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Wire::deserialize(deserializer)? {
            Wire::Missing(Missing(why)) => Self::Unknown(why),
            Wire::Known(fact) => Self::Known(fact),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_and_their_absence_survive_json() {
        for (reading, text) in [
            (Readout::Known(Some(7_u64)), "7"),
            (Readout::Known(None), "null"),
            (Readout::unknown("not root"), r#"{"unknown":"not root"}"#),
        ] {
            assert_eq!(serde_json::to_string(&reading).unwrap(), text);
            assert_eq!(serde_json::from_str::<Readout<Option<u64>>>(text).unwrap(), reading);
        }
        for list in [vec![], vec!["raid1".to_owned()]] {
            let text = serde_json::to_string(&Readout::Known(list.clone())).unwrap();
            assert_eq!(serde_json::from_str::<Readout<Vec<String>>>(&text).unwrap(), Readout::Known(list));
        }
    }
}
