//! Names of jobs, made names of workloads.

use std::collections::{BTreeMap, BTreeSet};

use terms::Name;

/// Names so far.
#[derive(Default)]
pub(super) struct Names {
    taken: BTreeSet<String>,
    /// How often each was asked for: where to look for the next number.
    asked: BTreeMap<String, usize>,
}

impl Names {
    /// A job's name made a name here, and distinguished from those before it.
    pub(super) fn unique(&mut self, text: &str) -> Option<Name> {
        let fit: String =
            text.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' }).collect();
        let fit = fit.trim_start_matches(['-', '_', '.']);
        let base: String = if fit.is_empty() { "job".to_owned() } else { fit.chars().take(36).collect() };
        let asked = self.asked.entry(base.clone()).or_insert(1);
        let numbered = |n: usize| if n == 1 { base.clone() } else { format!("{base}-{n}") };
        let (number, free) = (*asked..).map(|n| (n, numbered(n))).find(|(_, name)| !self.taken.contains(name))?;
        *asked = number + 1;
        self.taken.insert(free.clone());
        Name::new(free).ok()
    }
}
