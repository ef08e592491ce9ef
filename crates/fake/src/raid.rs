//! How md and LVM deal bytes out to the members of an array.

/// Levels that are distinguished here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Stripe,
    Mirror,
    /// Stripes of pairs of copies; other layouts of md are dealt the same way here.
    StripedMirror,
    /// With so many parities. The second of RAID-6 is kept as a copy of the first: two lost members at once are not
    /// computed here.
    Parity(usize),
}

impl Level {
    /// By the words of mdadm and LVM.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "0" | "striped" => Self::Stripe,
            "1" | "raid1" => Self::Mirror,
            "10" | "raid10" => Self::StripedMirror,
            "5" | "raid5" => Self::Parity(1),
            "6" | "raid6" => Self::Parity(2),
            _ => return None,
        })
    }

    /// As sysfs has it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Stripe => "raid0",
            Self::Mirror => "raid1",
            Self::StripedMirror => "raid10",
            Self::Parity(1) => "raid5",
            Self::Parity(_) => "raid6",
        }
    }

    pub(crate) fn is_redundant(self) -> bool {
        self != Self::Stripe
    }

    /// Bytes of an array over members of this size.
    pub(crate) fn size(self, members: usize, member: u64) -> u64 {
        match self {
            Self::Stripe => member * members as u64,
            Self::Mirror => member,
            Self::StripedMirror => member * members as u64 / 2,
            Self::Parity(parities) => member * (members - parities) as u64,
        }
    }
}

/// Where a run of bytes lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    /// Bytes from there on that lie beside each other.
    pub(crate) length: u64,
    /// Members that hold them as they are, and where in each.
    pub(crate) copies: Vec<(usize, u64)>,
    /// Members that hold parity of them, at the same place as the first copy.
    pub(crate) parity: Vec<usize>,
}

/// Where the byte of an array lies.
pub(crate) fn run(level: Level, members: usize, chunk: u64, byte: u64) -> Run {
    let (stripe, within) = (byte / chunk, byte % chunk);
    let count = members as u64;
    let at = |slot: u64| ((slot % count) as usize, slot / count * chunk + within);
    let length = chunk - within;
    match level {
        Level::Stripe => Run { length, copies: vec![at(stripe)], parity: Vec::new() },
        Level::Mirror => Run {
            length: u64::MAX - byte,
            copies: (0..members).map(|member| (member, byte)).collect(),
            parity: Vec::new(),
        },
        Level::StripedMirror => Run { length, copies: vec![at(2 * stripe), at(2 * stripe + 1)], parity: Vec::new() },
        Level::Parity(parities) => {
            let data = (members - parities) as u64;
            let row = stripe / data;
            // Left-symmetric, as md's default (md(4)): data follow the parity of their row.
            let first = (count - 1 - row % count) as usize;
            let parity: Vec<usize> = (0..parities).map(|number| (first + number) % members).collect();
            let member = (first + parities + (stripe % data) as usize) % members;
            Run { length, copies: vec![(member, row * chunk + within)], parity }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripes_go_round_and_parity_moves() {
        let of = |level, members, stripe: u64| {
            let run = run(level, members, 4, stripe * 4 + 1);
            (run.copies, run.parity)
        };
        assert_eq!(of(Level::Stripe, 3, 4), (vec![(1, 5)], vec![]));
        assert_eq!(of(Level::StripedMirror, 4, 1), (vec![(2, 1), (3, 1)], vec![]));
        // D0 D1 P / D3 P D2 / P D4 D5
        assert_eq!(of(Level::Parity(1), 3, 1), (vec![(1, 1)], vec![2]));
        assert_eq!(of(Level::Parity(1), 3, 2), (vec![(2, 5)], vec![1]));
        assert_eq!(of(Level::Parity(2), 4, 0), (vec![(1, 1)], vec![3, 0]));
    }
}
