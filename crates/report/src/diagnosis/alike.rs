//! Findings that say the same of several places are told once: 24 drives in one enclosure are one paragraph.

use std::collections::HashSet;

use terms::diagnosis::Finding;

use crate::grouped::by_key;

/// Findings of one check that say the same, at the same cost, with the same advice.
pub(super) struct Alike<'a> {
    /// The one that is told; its evidence stands for all.
    pub(super) first: &'a Finding,
    others: Vec<&'a Finding>,
}

/// Groups in the order of the first of each.
pub(super) fn group<'a>(findings: &[&'a Finding]) -> Vec<Alike<'a>> {
    let said = |found: &&'a Finding| {
        let (found, remedy) = (*found, &found.remedy);
        let words = [&found.check, &found.place.kind, &found.what, &found.why, &remedy.advice];
        (words, remedy.fixes.is_empty(), remedy.destroys.is_some(), remedy.weakens.is_some())
    };
    let groups = by_key(findings.iter().copied(), said);
    groups.into_iter().filter_map(|group| Some(Alike { first: group.first()?, others: group[1..].to_vec() })).collect()
}

impl<'a> Alike<'a> {
    fn all(&self) -> impl Iterator<Item = &'a Finding> + '_ {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }

    /// `check: drives a, b and c`.
    pub(super) fn heading(&self) -> String {
        let kind = plural(&self.first.place.kind, self.others.len() + 1);
        let names: Vec<&str> = self.all().map(|found| found.place.name.as_str()).collect();
        format!("{}: {kind} {}", self.first.check, names.join(", "))
    }

    /// Where evidence is shown for one of several: a line that says so.
    pub(super) fn more(&self) -> Option<String> {
        let name = self.first.place.name.split(' ').next().unwrap_or_default();
        (!self.others.is_empty()).then(|| format!("(of {name}; the other {} in --json)", self.others.len()))
    }

    /// Every command, each once.
    pub(super) fn commands(&self) -> Vec<&'a str> {
        let mut known = HashSet::new();
        let all = self.all().flat_map(|found| &found.remedy.commands).map(String::as_str);
        all.filter(|command| known.insert(*command)).collect()
    }

    /// What the fix of all of them destroys.
    pub(super) fn destroys(&self) -> Option<String> {
        self.each_once(|found| found.remedy.destroys.as_deref())
    }

    /// What is less safe until all of them are fixed.
    pub(super) fn weakens(&self) -> Option<String> {
        self.each_once(|found| found.remedy.weakens.as_deref())
    }

    fn each_once(&self, told: impl Fn(&'a Finding) -> Option<&'a str>) -> Option<String> {
        let mut all: Vec<&str> = self.all().filter_map(told).collect();
        all.dedup();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

fn plural(kind: &str, count: usize) -> String {
    if count > 1 && !kind.ends_with('s') { format!("{kind}s") } else { kind.to_owned() }
}

#[cfg(test)]
mod tests {
    use terms::diagnosis::{Place, Remedy, Seen, Severity};

    use super::*;

    fn finding(name: &str, what: &str) -> Finding {
        Finding {
            check: "lba-format".into(),
            severity: Severity::Warning,
            place: Place { kind: "drive".into(), name: name.into() },
            what: what.into(),
            why: "more work".into(),
            seen: vec![Seen { source: format!("nvme id-ns {name}"), value: "512".into() }],
            remedy: Remedy {
                advice: "format it".into(),
                commands: vec![format!("nvme format {name}"), "nvme list".into()],
                destroys: Some(format!("all of {name}")),
                weakens: None,
                fixes: Vec::new(),
            },
        }
    }

    #[test]
    fn what_is_alike_is_told_once_and_nothing_is_left_out() {
        let all = [finding("a", "small"), finding("b", "large"), finding("c", "small")];
        let groups = group(&all.iter().collect::<Vec<_>>());
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].heading(), "lba-format: drives a, c");
        assert_eq!(groups[0].commands(), ["nvme format a", "nvme list", "nvme format c"]);
        assert_eq!(groups[0].destroys().as_deref(), Some("all of a, all of c"));
        assert_eq!(groups[0].more().as_deref(), Some("(of a; the other 1 in --json)"));
        assert_eq!((groups[1].heading().as_str(), groups[1].more()), ("lba-format: drive b", None));
    }

    #[test]
    fn one_that_destroys_is_never_told_with_one_that_does_not() {
        let mut harmless = finding("b", "small");
        harmless.remedy.destroys = None;
        let all = [finding("a", "small"), harmless];
        assert_eq!(group(&all.iter().collect::<Vec<_>>()).len(), 2);
    }
}
