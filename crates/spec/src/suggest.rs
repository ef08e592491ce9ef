//! "Did you mean": the nearest of the words that would have been right.

use terms::Note;

/// Words that people use for a key of ours, because a tool calls it so.
const KNOWN_AS: &[(&str, &str)] = &[
    ("bs", "block"),
    ("blocksize", "block"),
    ("block_size", "block"),
    ("iodepth", "depth"),
    ("numjobs", "jobs"),
    ("threads", "jobs"),
    ("rw", "pattern"),
    ("rwmixread", "read_percent"),
    ("fsync", "fsync_every"),
    ("runtime", "window"),
    ("ramp_time", "settle"),
    ("repeat", "rounds"),
    ("md", "raid"),
    ("mdadm", "raid"),
    ("mdraid", "raid"),
    ("dm-raid", "raid"),
    ("luks2", "luks"),
    ("cryptsetup", "luks"),
    ("dm-crypt", "crypt"),
    ("dm-integrity", "integrity"),
    ("integritysetup", "integrity"),
    ("lvm2", "lvm"),
    ("zpool", "zfs"),
    ("capacity", "size"),
    ("sector_size", "sector"),
    ("chunk_size", "chunk"),
    ("key_size", "key_bits"),
    ("profile", "profiles"),
    ("stripe_size", "stripe"),
    ("raid0", "raid"),
    ("raid1", "raid"),
    ("raid5", "raid"),
    ("raid6", "raid"),
    ("raid10", "raid"),
    ("stripe", "single"),
    ("raid0", "striped"),
    ("dm-writecache", "writecache"),
    ("n2", "near"),
    ("f2", "far"),
    ("o2", "offset"),
];

/// Notes after which nobody is told any more what was likely meant: finding out takes as long as there are names, and a
/// text in which that much is wrong was not misspelt.
const LOOKED_INTO: usize = 50;
/// Words of a list that are named; the rest are counted.
const LISTED: usize = 40;

/// Is it worth finding out what was meant, after these notes?
pub(crate) const fn is_worth_it(notes: &[Note]) -> bool {
    notes.len() < LOOKED_INTO
}

/// Fewest letters of a beginning that stands for the whole.
const BEGINNING: usize = 3;

/// A question to stand in front of a hint, such as ``did you mean `ext4`? ``; nothing where no candidate is near.
#[must_use]
pub fn did_you_mean<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(word, candidates).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default()
}

/// The candidate that was most likely meant, if any is near enough, or begins like the word.
#[must_use]
pub fn nearest<'c>(word: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    // No word of ours is nearly as long.
    if word.len() > 200 {
        return None;
    }
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let plain = fold(word);
    let mut known = KNOWN_AS.iter().filter(|(theirs, _)| *theirs == plain.replace('_', "-") || *theirs == plain);
    if let Some(found) = known.find_map(|(_, ours)| candidates.iter().find(|candidate| *candidate == ours)) {
        return Some(found);
    }
    // A third of the letters may be wrong, and two words of one letter are never near.
    let most = (plain.chars().count().max(2) / 3).max(usize::from(plain.chars().count() > 1));
    let near = candidates
        .iter()
        .map(|candidate| (distance(&plain, &fold(candidate)), *candidate))
        .filter(|(far, _)| *far <= most)
        .min_by_key(|(far, _)| *far)
        .map(|(_, candidate)| candidate);
    let begins = |candidate: &&str| plain.chars().count() >= BEGINNING && fold(candidate).starts_with(&plain);
    near.or_else(|| candidates.into_iter().filter(begins).min_by_key(|candidate| candidate.len()))
}

/// What to do about a word that is none of the candidates: the one that was most likely meant, or what there is.
pub(crate) fn meant<'c>(
    word: &str,
    candidates: impl IntoIterator<Item = &'c str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(word, candidates).map_or_else(otherwise, |near| format!("did you mean `{near}`?"))
}

/// Case and the choice between dash and underscore are not spelling.
pub(crate) fn fold(word: &str) -> String {
    word.to_lowercase().replace('-', "_")
}

/// Letters to insert, remove, replace or swap with their neighbour to make `b` of `a`
/// (optimal string alignment, the restricted form of Damerau's distance).
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// A list as a sentence has it: `a`, `b` or `c`.
pub(crate) fn either<'c>(words: impl IntoIterator<Item = &'c str>) -> String {
    joined(words, "or")
}

/// A list as a sentence has it: `a`, `b` and `c`.
pub(crate) fn all_of<'c>(words: impl IntoIterator<Item = &'c str>) -> String {
    joined(words, "and")
}

fn joined<'c>(words: impl IntoIterator<Item = &'c str>, last: &str) -> String {
    let mut all = words.into_iter();
    let mut words: Vec<String> = all.by_ref().take(LISTED).map(|word| format!("`{word}`")).collect();
    match all.count() {
        0 => {}
        more => words.push(format!("{more} more")),
    }
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let keys = ["level", "chunk", "bitmap", "metadata", "layout", "block", "depth", "jobs"];
        for (word, meant) in [
            ("chnuk", Some("chunk")),
            ("Level", Some("level")),
            ("meta-data", Some("metadata")),
            ("bs", Some("block")),
            ("iodepth", Some("depth")),
            ("colour", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys), meant, "{word}");
        }
        assert_eq!(nearest("c", ["a", "b"]), None);
    }

    #[test]
    fn lists_read_as_sentences() {
        assert_eq!(either(["a", "b", "c"]), "`a`, `b` or `c`");
        assert_eq!(all_of(["a", "b"]), "`a` and `b`");
        assert_eq!(either(["a"]), "`a`");
    }
}
