//! Copies: to which of several drives that hold the same a read goes.

use terms::machine::DriveKind;

use crate::compiler::{Compiler, count};
use crate::flow::Flow;
use crate::site::Class;
use crate::symmetry::Below;

impl Compiler<'_> {
    /// What the `which`th of the first `to` members gets of a read that goes to the one with the least to do: unlike drives are done
    /// in unlike times, and each has as much waiting as the others when it gets as many as it serves (`read_balance` in
    /// drivers/md/raid1.c and raid10.c). Heads are chosen by their ways.
    pub(super) fn least_busy(&self, at: usize, which: usize, to: usize, flow: Flow) -> Flow {
        let serves = |class: &Class| self.time_of_read(class, &flow).recip();
        let Some(own) = self.class_below(at, which).filter(|_| !flow.write && flow.choices > 1.5) else { return flow };
        let first = (count(which) / flow.choices).floor() * flow.choices;
        let is_copy = |other: &usize| (first..first + flow.choices).contains(&count(*other));
        let copies = || (0..to).filter(is_copy).filter_map(|other| self.class_below(at, other));
        let alike = copies().all(|other| std::ptr::eq(other, own));
        if alike || copies().all(|class| class.kind == DriveKind::Hdd) {
            return flow;
        }
        let share = serves(own) * count(copies().count()) / copies().map(serves).sum::<f64>();
        Flow { rate: flow.rate * share, choices: flow.choices / share, ..flow }
    }

    /// Seconds in which a drive has a read while it is never idle.
    fn time_of_read(&self, class: &Class, flow: &Flow) -> f64 {
        let values = self.site.parameters.values();
        let bytes = values[class.read as usize] * flow.bytes;
        if flow.random { bytes.max(values[class.read_op as usize]) } else { bytes }
    }

    /// The drive that a node rests on as its `which`th, if it is one.
    fn class_below(&self, at: usize, which: usize) -> Option<&Class> {
        match self.below[self.starts[at] + which] {
            Below::Drive(drive) => Some(self.class_of(drive)),
            Below::Layer(_) => None,
        }
    }
}
