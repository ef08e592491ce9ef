//! Which of this machine's processors a guest under a virtual clock runs on.
//!
//! QEMU has one thread for the guest and one for timers. Where the guest waits, the second moves the clock to the next timer,
//! and sees that the guest waits a moment before the first has counted its last instructions (QEMU 7.2: `helper_hlt`,
//! `icount_start_warp_timer`, `icount_process_data`). Where both run at once these are counted twice now and then: on a busy
//! machine resyncs of md, in which a guest waits thousands of times, came out different in half of the runs. On one processor
//! the two take turns.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::thread::{CpuSet, sched_getaffinity};

/// A guest's processor, for as long as this lives.
pub(crate) struct Seat {
    processor: usize,
    /// A name in the kernel that one socket has at a time (unix(7), "abstract"): all runs on this machine see it, and it
    /// goes with its process. None where all processors have a guest.
    _claim: Option<UnixListener>,
}

impl Seat {
    /// Takes a processor that this program may run on and that has no such guest; where all have one, they are taken in turn.
    /// `None` where nobody tells which these are.
    pub(crate) fn take() -> Option<Self> {
        static MORE: AtomicUsize = AtomicUsize::new(0);
        let allowed = sched_getaffinity(None).ok()?;
        let allowed: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)).collect();
        let free = allowed.iter().find_map(|processor| {
            let name = SocketAddr::from_abstract_name(format!("bedplate-processor-{processor}")).ok()?;
            Some((*processor, UnixListener::bind_addr(&name).ok()?))
        });
        if let Some((processor, claim)) = free {
            return Some(Self { processor, _claim: Some(claim) });
        }
        let turn = MORE.fetch_add(1, Ordering::Relaxed).wrapping_add(std::process::id() as usize);
        let processor = *allowed.get(turn.checked_rem(allowed.len())?)?;
        Some(Self { processor, _claim: None })
    }

    /// The words before a program that is to stay on it (taskset(1)).
    pub(crate) fn words(&self) -> [String; 3] {
        ["taskset".to_owned(), "--cpu-list".to_owned(), self.processor.to_string()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_guests_have_a_processor_while_another_has_none() {
        let mut seats: Vec<Seat> = std::iter::from_fn(Seat::take).take_while(|seat| seat._claim.is_some()).collect();
        let all = seats.len();
        seats.dedup_by_key(|seat| seat.processor);
        assert_eq!(seats.len(), all);
        assert!(Seat::take().unwrap()._claim.is_none(), "all have one, or other runs have");
    }
}
