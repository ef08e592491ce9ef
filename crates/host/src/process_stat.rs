//! What the kernel tells of a process in a line.

/// `/proc/PID/stat` (proc(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its number.
    pub id: u32,
    /// Its name, which may hold anything.
    pub name: String,
    /// `R`, `S`, `D`, `Z` and so on.
    pub state: String,
    /// Who started it; 2 for threads of the kernel.
    pub parent: u32,
    /// Its process group.
    pub group: u32,
    /// Its session.
    pub session: u32,
    /// Processor time of all its threads, in clock ticks.
    pub ticks: u64,
    /// When it began, in clock ticks after boot.
    pub start: u64,
}

impl ProcessStat {
    /// `None` where a line is not understood.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let (head, rest) = line.rsplit_once(')')?;
        let (id, name) = head.split_once('(')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3);
        Some(Self {
            id: id.trim().parse().ok()?,
            name: name.to_owned(),
            state: (*field(3)?).to_owned(),
            parent: field(4)?.parse().ok()?,
            group: field(5)?.parse().ok()?,
            session: field(6)?.parse().ok()?,
            ticks: field(14)?.parse::<u64>().ok()?.checked_add(field(15)?.parse().ok()?)?,
            start: field(22)?.parse().ok()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_parentheses_may_hold_anything() {
        let text = "41 (a) R 1 ) S 7 41 9 0 -1 4194560 1 2 3 4 50 6 7 8 20 0 1 0 12345 9";
        let expect = ProcessStat {
            id: 41,
            name: "a) R 1 ".to_owned(),
            state: "S".to_owned(),
            parent: 7,
            group: 41,
            session: 9,
            ticks: 56,
            start: 12345,
        };
        assert_eq!(ProcessStat::parse(text), Some(expect));
        for broken in ["", "41 (a", "41 (a) S 7 41 9", "x (a) S 7 41 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 12345 9"] {
            assert_eq!(ProcessStat::parse(broken), None, "{broken}");
        }
    }
}
