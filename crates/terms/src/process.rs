//! Who a process is, and whether it is at work, as the kernel tells it in a line.

/// `/proc/PID/stat` (proc(5)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessStat {
    /// Its number.
    pub id: u32,
    /// Its name, which may hold anything.
    pub name: String,
    /// `R`, `S`, `D`, `Z` and so on, in one letter.
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

    /// Has it ended, and nobody has waited for it yet?
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.state.as_str(), "Z" | "X" | "x")
    }

    /// Which process it is.
    #[must_use]
    pub const fn process(&self) -> ProcessId {
        ProcessId { id: self.id, start: self.start }
    }
}

/// A process, known once and for all as long as the machine is up: numbers are given again, and then to one that began
/// later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessId {
    /// Its number.
    pub id: u32,
    /// When it began, in clock ticks after boot.
    pub start: u64,
}

impl ProcessId {
    /// Is it the one of this line, which stands under its number in `/proc`, and at work?
    #[must_use]
    pub fn is_at_work(&self, line: &str) -> bool {
        ProcessStat::parse(line).is_some_and(|stat| stat.process() == *self && !stat.is_over())
    }

    /// Reads one as it is printed.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (id, start) = text.split_once(':')?;
        Some(Self { id: id.parse().ok()?, start: start.parse().ok()? })
    }
}

/// `NUMBER:START`.
impl std::fmt::Display for ProcessId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.id, self.start)
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

    #[test]
    fn a_process_is_its_number_and_its_start_and_is_at_work_until_it_ends() {
        let line =
            |state: &str, start: u64| format!("41 (a) {state} 7 41 9 0 -1 4194560 1 2 3 4 50 6 7 8 20 0 1 0 {start} 9");
        let process = ProcessId { id: 41, start: 12345 };
        assert_eq!(ProcessId::parse(&process.to_string()), Some(process));
        for (line, is_it) in [
            (line("S", 12345), true),
            (line("D", 12345), true),
            (line("Z", 12345), false),
            (line("X", 12345), false),
            (line("S", 12346), false),
            (String::new(), false),
        ] {
            assert_eq!(process.is_at_work(&line), is_it, "{line}");
        }
        for broken in ["", "41", "41:", "x:1", "41:1:2", "-1:2"] {
            assert_eq!(ProcessId::parse(broken), None, "{broken}");
        }
    }
}
