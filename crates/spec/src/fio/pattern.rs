//! What `rw` may be, and why another is not measured.

use terms::{Note, Span};

use crate::suggest;

/// Why such an `rw` is not measured, and what to say in its place.
pub(super) fn unmeasured(rw: &str, place: Span, is_worth_it: bool) -> Note {
    let (plain, behind) = rw.split_once(':').map_or((rw, None), |(plain, behind)| (plain, Some(behind)));
    let near = suggest::nearest(plain, PATTERNS).filter(|near| *near == plain || behind.is_none() && is_worth_it);
    let why = match behind {
        Some(behind) if near.is_some() && !behind.is_empty() => {
            format!(": `{}` leaves out places or goes on from them, and no workload does", behind.escape_debug())
        }
        _ if plain.contains("trim") => ": no workload trims".to_owned(),
        _ => String::new(),
    };
    let near = near.filter(|_| !plain.contains("trim"));
    let hint = match near {
        Some(near) if behind.is_some() => format!("write rw={near}"),
        Some(near) => format!("did you mean `{near}`?"),
        None => "it takes read, write, randread, randwrite, rw or randrw".to_owned(),
    };
    Note::error("fio-rw", Some(place), format!("`rw={}` cannot be measured{why}", rw.escape_debug())).hint(hint)
}

/// What `rw` may be.
const PATTERNS: [&str; 7] = ["read", "write", "randread", "randwrite", "rw", "readwrite", "randrw"];
