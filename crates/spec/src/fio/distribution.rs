//! Where in a file random operations go: the values of `random_distribution` and of `file_service_type`, held to what fio
//! takes of them (`str_random_distribution_cb`, `zone_split_ddir` and `str_fst_cb` in its `options.c`).

use super::units::{self, Base};

/// Fewest zones that are too many: fio's `ZONESPLIT_MAX`.
const ZONES: usize = 256;

/// What may stand behind the word that a value begins with.
#[derive(Clone, Copy)]
enum Behind {
    /// Whatever it is, fio does not read it.
    Nothing,
    /// A number that is to be so, and in words; a place of the centre may follow.
    Number(fn(f64) -> bool, &'static str),
    /// Shares of operations, each with a share of the file, or with bytes of it.
    Zones { bytes: bool },
}

// fio refuses the very number 1, and none beside it.
const ZIPF: Behind = Behind::Number(|theta| theta.to_bits() != 1.0_f64.to_bits(), "a number other than 1");
const PARETO: Behind = Behind::Number(|power| power > 0.0 && power < 1.0, "above 0 and below 1");
const NORMAL: Behind = Behind::Number(|deviation| (0.0..100.0).contains(&deviation), "from 0 to below 100");

/// Words of each option.
const WORDS: [(&str, &[(&str, Behind)]); 2] = [
    (
        "file_service_type",
        &[
            ("random", Behind::Nothing),
            ("roundrobin", Behind::Nothing),
            ("sequential", Behind::Nothing),
            ("zipf", ZIPF),
            ("pareto", PARETO),
            ("normal", NORMAL),
            ("gauss", NORMAL),
        ],
    ),
    (
        "random_distribution",
        &[
            ("random", Behind::Nothing),
            ("zipf", ZIPF),
            ("pareto", PARETO),
            ("normal", NORMAL),
            ("zoned", Behind::Zones { bytes: false }),
            ("zoned_abs", Behind::Zones { bytes: true }),
        ],
    ),
];

/// Is it an option with such a value?
pub(super) fn is_one(key: &str) -> bool {
    WORDS.iter().any(|(name, _)| *name == key)
}

/// Why fio would refuse the value of such an option.
pub(super) fn misread(key: &str, value: &str) -> Option<String> {
    let (_, words) = WORDS.iter().find(|(name, _)| *name == key)?;
    let (word, rest) = value.split_once(':').map_or((value, None), |(word, rest)| (word, Some(rest)));
    let Some((_, behind)) = words.iter().find(|(known, _)| *known == word) else {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        return Some(format!("`{key}` begins with one of {}", known.join(", ")));
    };
    let told = |why: String| format!("`{key}={}`: {why}", value.escape_debug());
    match (behind, rest) {
        (Behind::Nothing, _) | (Behind::Number(..), None) => None,
        (Behind::Number(fits, words), Some(rest)) => number(rest, *fits, words).map(told),
        (Behind::Zones { .. }, None) => Some(told("its zones are missing".to_owned())),
        (Behind::Zones { bytes }, Some(rest)) => zones(rest, *bytes).map(told),
    }
}

/// Digits and a point, as people write a number. fio reads more, and means something else by it.
fn decimal(text: &str) -> Option<f64> {
    let fits = text.chars().all(|c| c.is_ascii_digit() || ".-".contains(c));
    text.parse().ok().filter(|_| fits)
}

fn number(text: &str, fits: fn(f64) -> bool, words: &str) -> Option<String> {
    let (value, centre) = text.split_once([':', '/']).map_or((text, None), |(value, centre)| (value, Some(centre)));
    if decimal(value).is_none_or(|value| !fits(value)) {
        return Some(format!("`{}` is to be {words}", value.escape_debug()));
    }
    let is_outside = |centre: &str| decimal(centre).is_none_or(|centre| !(0.0..=1.0).contains(&centre));
    let outside = centre.filter(|centre| is_outside(centre));
    outside.map(|centre| format!("the centre `{}` is to be from 0 to 1", centre.escape_debug()))
}

/// `60/10:40/90`: of all operations 60 % on the first tenth of the file, and 40 % on the rest.
fn zones(text: &str, bytes: bool) -> Option<String> {
    let zones: Vec<&str> = text.split(':').collect();
    if zones.len() >= ZONES {
        return Some(format!("{} zones are more than fio takes", zones.len()));
    }
    let (mut operations, mut of_file) = (0_u64, 0_u64);
    for zone in zones {
        let (share, size) = zone.split_once('/').map_or((zone, None), |(share, size)| (share, Some(size)));
        let Some(share) = percent(share) else { return Some(unread(zone)) };
        operations += share;
        match size {
            None => {}
            // What is left of the file.
            Some("") if !bytes => {}
            Some(size) if bytes => {
                if let Err(why) = units::size(size, Base::Binary) {
                    return Some(why);
                }
            }
            Some(size) => match percent(size) {
                Some(size) => of_file += size,
                None => return Some(unread(zone)),
            },
        }
    }
    if operations != 100 {
        return Some(format!("shares of operations are to add up to 100, and these are {operations}"));
    }
    (of_file > 100).then(|| format!("shares of the file add up to {of_file}: more than 100"))
}

fn percent(text: &str) -> Option<u64> {
    text.parse().ok().filter(|share| *share <= 100)
}

fn unread(zone: &str) -> String {
    format!("`{}` is no share of operations, a slash and what they go to", zone.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each was given to fio 3.33 (`--parse-only`).
    #[test]
    fn values_that_fio_refuses_are_refused_and_those_that_people_write_are_taken() {
        for value in [
            "random",
            "zipf",
            "zipf:0",
            "zipf:1.2",
            "zipf:1.2:0.5",
            "zipf:1.2/0.5",
            "pareto",
            "pareto:0.2",
            "normal",
            "normal:99.9",
            "normal:5:0.5",
            "zoned:60/10:40/90",
            "zoned:100/50",
            "zoned:60:40",
            "zoned:50/5:30/15:20/",
            "zoned_abs:60/20G:40/100G",
            "zoned_abs:60:40",
        ] {
            assert_eq!(misread("random_distribution", value), None, "{value}");
        }
        for value in [
            "zipf:1.0",
            "zipf:1",
            "zipf:",
            "zipf:x",
            "zipf:nan",
            "zipf:1k",
            "zipf:1.2:1.5",
            "zipf:1,2",
            "zipfx",
            "pareto:2",
            "pareto:1",
            "pareto:0",
            "normal:150",
            "normal:100",
            "normal:-1",
            "normal:5:",
            "gauss:3",
            "zoned",
            "zoned:60/10:30/20",
            "zoned:50/50",
            "zoned:60/10:40/95",
            "zoned:50/5:50/150",
            "zoned:255/10",
            "zoned:x/10",
            "zoned:60k/10:40/90",
            "zoned:50/",
            "zoned:60/10:40/90,50/50:50/50",
            "zoned_abs",
            "zoned_abs:60/20G:30/100G",
            "zoned_abs:100/x",
            "zoned_abs:50/1m:50/",
        ] {
            assert!(misread("random_distribution", value).is_some(), "{value}");
        }
        for value in ["zipf:1", "zipf:x", "pareto:2", "normal:150", "gauss:150", "zoned:100/50"] {
            assert!(misread("file_service_type", value).is_some(), "{value}");
        }
        for value in ["random:8", "roundrobin", "sequential:4", "zipf:1.2", "gauss:5"] {
            assert_eq!(misread("file_service_type", value), None, "{value}");
        }
    }

    #[test]
    fn a_reason_names_what_is_wrong() {
        for (value, why) in [
            ("zipf:1.0", "`1.0` is to be a number other than 1"),
            ("zoned:60/10:30/20", "add up to 100, and these are 90"),
            ("zoned_abs:100/20x", "20x"),
        ] {
            assert!(misread("random_distribution", value).is_some_and(|told| told.contains(why)), "{value}");
        }
        assert!(misread("random_distribution", &format!("zoned:{}", "0/0:".repeat(400))).is_some());
    }
}
