//! The best: whatever is better than one of them in one way is worse in another.
//!
//! Figures that differ by less than can be told are equal: of equals the one stands for all that takes least to build
//! and to understand.

use std::collections::HashMap;

use terms::prediction::APART;

use crate::score::Scored;

/// Steps in which figures are distinguished, on a logarithmic scale: of speed as [`APART`] says; 1 % of room, which is arithmetic;
/// a factor of two of a probability of loss, whose estimates are a factor of several from their ends; 10 % of a life.
const ROOM: f64 = 0.01;
const LOSS: f64 = std::f64::consts::LN_2;
const LIFE: f64 = 0.1;
/// Losses rarer than this are never distinguished: once in the age of the universe.
const NEVER: f64 = 1e-10;
/// Lives longer than this are all the same to whoever buys drives.
const LONG: f64 = 100.0;

/// What a design is good for, in steps, the more the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Merits([i32; 4]);

impl Merits {
    fn of(scored: &Scored) -> Self {
        Self([
            steps(scored.speed, APART.ln()),
            steps(scored.available.as_f64().max(1.0).ln(), ROOM),
            steps(-scored.loss.max(NEVER).ln(), LOSS),
            steps(scored.life.clamp(0.01, LONG).ln(), LIFE),
        ])
    }

    /// At least as good in every way, and better in one?
    fn beats(&self, other: &Self) -> bool {
        self != other && self.0.iter().zip(&other.0).all(|(own, other)| own >= other)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "logarithms in steps of a per cent are far below 2^31")]
fn steps(value: f64, step: f64) -> i32 {
    (value / step).round() as i32
}

/// What was found so far, to know what is beaten by it.
#[derive(Debug, Default)]
pub(crate) struct Beaten {
    /// Merits that no other found beats, each with the least burden that has them.
    found: Vec<(Merits, u32)>,
}

impl Beaten {
    /// Takes a design that was found.
    pub(crate) fn learn(&mut self, scored: &Scored) {
        let (merits, burden) = (Merits::of(scored), scored.design.burden());
        if self.rules_out(&merits, burden) {
            return;
        }
        self.found.retain(|(other, more)| !merits.beats(other) && (*other != merits || *more < burden));
        self.found.push((merits, burden));
    }

    /// Is a design that is this good at most certain not to be on the front?
    pub(crate) fn knows(&self, most: &Scored) -> bool {
        self.rules_out(&Merits::of(most), most.design.burden())
    }

    /// Is there one that is better, or as good with less to build?
    fn rules_out(&self, merits: &Merits, burden: u32) -> bool {
        self.found.iter().any(|(found, least)| found.beats(merits) || (found == merits && *least < burden))
    }
}

/// The designs that no other beats: first the simplest of those as fast as any, then the fastest.
#[must_use]
pub fn front(scored: &[Scored]) -> Vec<Scored> {
    let mut groups: HashMap<Merits, Scored> = HashMap::new();
    for one in scored {
        let best = groups.entry(Merits::of(one)).or_insert(*one);
        if is_simpler(one, best) {
            *best = *one;
        }
    }
    let mut sorted: Vec<(Merits, Scored)> = groups.into_iter().collect();
    // Whoever beats another is not slower, so it is enough to look at those that came before.
    sorted.sort_by(|(a, one), (b, other)| b.0.cmp(&a.0).then_with(|| order(one, other)));
    let mut front: Vec<(Merits, Scored)> = Vec::new();
    for (merits, one) in sorted {
        if !front.iter().any(|(better, _)| better.beats(&merits)) {
            front.push((merits, one));
        }
    }
    let mut front: Vec<Scored> = front.into_iter().map(|(_, one)| one).collect();
    rank(&mut front);
    front
}

/// Puts first the simplest of those whose speed cannot be told from the highest, then the fastest.
pub(crate) fn rank(front: &mut [Scored]) {
    front.sort_by(|one, other| other.speed.total_cmp(&one.speed).then_with(|| order(one, other)));
    let Some(fastest) = front.first().map(|first| first.speed) else { return };
    let as_fast = front.partition_point(|one| one.speed >= fastest - APART.ln());
    if let Some((at, _)) = front[..as_fast].iter().enumerate().min_by(|(_, one), (_, other)| order(one, other)) {
        front[..=at].rotate_right(1);
    }
}

/// The one that takes least to build and to understand; of several the fastest.
#[must_use]
pub fn simplest<'a>(scored: impl IntoIterator<Item = &'a Scored>) -> Option<Scored> {
    scored.into_iter().min_by(|one, other| order(one, other)).copied()
}

/// Among equals, and so that the same question has the same answer.
fn is_simpler(one: &Scored, other: &Scored) -> bool {
    order(one, other).is_lt()
}

fn order(one: &Scored, other: &Scored) -> std::cmp::Ordering {
    let burden = one.design.burden().cmp(&other.design.burden());
    burden
        .then_with(|| other.speed.total_cmp(&one.speed))
        .then_with(|| format!("{:?}", one.design).cmp(&format!("{:?}", other.design)))
}

#[cfg(test)]
mod tests {
    use terms::Bytes;

    use super::*;
    use crate::design::{Files, Joint, Layout, Under};

    fn scored(speed: f64, gib: u64, loss: f64, files: Files) -> Scored {
        let design = Layout {
            members: 1,
            under: Under::Nothing,
            joint: Joint::Alone,
            over: None,
            volume: None,
            files: Some(files),
        };
        Scored { design, speed: speed.ln(), available: Bytes::gib(gib), loss, life: 10.0 }
    }

    #[test]
    fn what_is_worse_in_every_way_is_not_on_the_front() {
        let fast = scored(1000.0, 10, 0.1, Files::Ext4);
        let safe = scored(500.0, 10, 0.001, Files::Ext4);
        let large = scored(400.0, 20, 0.1, Files::Ext4);
        let poor = scored(300.0, 10, 0.1, Files::Ext4);
        assert_eq!(front(&[poor, large, safe, fast]), [fast, safe, large]);
    }

    #[test]
    fn of_equals_the_simplest_stands_for_all() {
        use terms::layer::BtrfsChecksum;
        let plain = scored(1000.0, 10, 0.1, Files::Ext4);
        let odd = scored(1001.0, 10, 0.1, Files::Btrfs(BtrfsChecksum::Blake2));
        assert_eq!(front(&[odd, plain]), [plain]);
        assert_eq!(front(&[plain, odd]), [plain]);
    }

    #[test]
    fn the_simplest_of_those_as_fast_as_any_is_first() {
        use terms::layer::BtrfsChecksum;
        let odd = |speed, gib| scored(speed, gib, 0.1, Files::Btrfs(BtrfsChecksum::Blake2));
        let (fast, plain, slow) = (odd(1040.0, 10), scored(960.0, 11, 0.1, Files::Ext4), odd(500.0, 20));
        assert_eq!(front(&[slow, fast, plain]), [plain, fast, slow]);
        let slower = scored(920.0, 11, 0.1, Files::Ext4);
        assert_eq!(front(&[slow, fast, slower]), [fast, slower, slow]);
    }
}
