//! SNIA's verdict over rounds, for those who need the name: a permission to read, no statement of precision.

use steady::rules;
use terms::finding::SniaFinding;

/// The first five rounds in a row that hold, and what the last five are like; `None` of fewer than five.
pub(crate) fn find(values: &[(u32, f64)]) -> Option<SniaFinding> {
    let rates: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    let last = rules::snia(&rates)?;
    let first = (5..=rates.len()).find(|end| rules::snia(&rates[..*end]).is_some_and(|of| of.holds));
    Some(SniaFinding { steady_at: first.map(|end| values[end - 1].0), range: last.range, rise: last.rise })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_five_that_hold_are_named() {
        let values: Vec<(u32, f64)> = [200.0, 150.0, 110.0, 104.0, 101.0, 100.0, 100.0, 99.0, 101.0]
            .into_iter()
            .zip(1..)
            .map(|(v, n)| (n, v))
            .collect();
        let found = find(&values).unwrap();
        assert_eq!(found.steady_at, Some(7), "{found:?}");
        assert_eq!(find(&values[..4]), None);
        assert_eq!(find(&values[..5]).unwrap().steady_at, None);
    }
}
