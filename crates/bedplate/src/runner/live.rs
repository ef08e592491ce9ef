//! What each drive does at this moment, in a few words.

use terms::Nanos;
use terms::record::MemberDelta;

/// More drives than these are told by their slowest and fastest: a line of 80 columns has no room for more.
const NAMED: usize = 2;

/// Rates of drives over the time since they were last looked at, such as `a 72 r 0.1 w, b 71 r MB/s`.
pub(crate) fn rates(members: &[MemberDelta], took: Nanos) -> String {
    let seconds = took.as_seconds();
    if seconds <= 0.0 || members.is_empty() {
        return String::new();
    }
    let rate = |bytes: terms::Bytes| bytes.as_f64() / seconds / 1e6;
    let told = if members.len() <= NAMED {
        let each = members
            .iter()
            .map(|member| format!("{} {}", member.drive, directions(&[rate(member.read)], &[rate(member.written)])));
        each.collect::<Vec<_>>().join(", ")
    } else {
        let reads: Vec<f64> = members.iter().map(|member| rate(member.read)).collect();
        let writes: Vec<f64> = members.iter().map(|member| rate(member.written)).collect();
        format!("{} drives {}", members.len(), directions(&reads, &writes))
    };
    format!("{told} MB/s")
}

/// Reads and writes, each where there are any; `0` where there is neither.
fn directions(reads: &[f64], writes: &[f64]) -> String {
    let told = [(reads, "r"), (writes, "w")].into_iter().filter_map(|(rates, mark)| {
        let (least, most) =
            rates.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), rate| (least.min(*rate), most.max(*rate)));
        (most >= 0.05).then(|| match (short(least), short(most)) {
            (least, most) if least == most => format!("{most} {mark}"),
            (least, most) => format!("{least}–{most} {mark}"),
        })
    });
    let told: Vec<String> = told.collect();
    if told.is_empty() { "0".to_owned() } else { told.join(" ") }
}

fn short(rate: f64) -> String {
    if rate < 9.95 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

#[cfg(test)]
mod tests {
    use terms::Bytes;

    use super::*;

    fn member(drive: &str, read: u64, written: u64) -> MemberDelta {
        MemberDelta { drive: drive.to_owned(), read: Bytes(read), written: Bytes(written), ..MemberDelta::default() }
    }

    #[test]
    fn drives_are_told_one_by_one_while_they_are_few() {
        let half = Nanos::millis(500);
        let two = [member("a", 36_000_000, 50_000), member("b", 0, 0)];
        assert_eq!(rates(&two, half), "a 72 r 0.1 w, b 0 MB/s");
        let many: Vec<MemberDelta> = (6..12).map(|at| member("x", 0, at * 500_000)).collect();
        assert_eq!(rates(&many, half), "6 drives 6.0–11 w MB/s");
        assert_eq!(rates(&two, Nanos(0)), "");
    }
}
