//! One flag for the whole program: the person asked to stop.
//!
//! Every wait that blocks polls it, stops the child processes that it started, and returns. The binary's signal handler sets
//! it only while some code holds a [`Care`]. While none does, a signal ends the program at once.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::HostError;

fn shared() -> &'static Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    FLAG.get_or_init(Arc::default)
}

/// The flag itself, for a signal handler to set.
#[must_use]
pub fn flag() -> Arc<AtomicBool> {
    Arc::clone(shared())
}

/// How many take care, and whether nobody does, for a signal handler to read.
#[derive(Debug)]
struct Caring {
    many: Mutex<usize>,
    at_once: Arc<AtomicBool>,
}

impl Caring {
    /// All of the program.
    fn all() -> &'static Self {
        static ALL: OnceLock<Caring> = OnceLock::new();
        ALL.get_or_init(|| Self { many: Mutex::new(0), at_once: Arc::new(AtomicBool::new(true)) })
    }

    fn change(&self, by: impl FnOnce(usize) -> usize) {
        let mut many: MutexGuard<'_, usize> = self.many.lock().unwrap_or_else(PoisonError::into_inner);
        *many = by(*many);
        self.at_once.store(*many == 0, Ordering::SeqCst);
    }
}

/// May a signal end the program at once? It may as long as nobody takes care.
#[must_use]
pub fn at_once() -> Arc<AtomicBool> {
    Arc::clone(&Caring::all().at_once)
}

/// There is something that has to be cleaned up: signals raise the flag until this is dropped. Whoever has it looks at
/// the flag. A program that is run, or that runs beside this one, has one of its own.
#[derive(Debug)]
#[must_use = "signals end the program at once when it is dropped"]
pub struct Care(());

impl Care {
    /// From here on.
    pub fn take() -> Self {
        Caring::all().change(|many| many.saturating_add(1));
        Self(())
    }
}

impl Drop for Care {
    fn drop(&mut self) {
        Caring::all().change(|many| many.saturating_sub(1));
    }
}

thread_local! {
    /// A flag for what this thread does, beside the one for all.
    static OWN: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Does something that a flag of its own can stop, too. The flag is this thread's, and of no thread that it starts.
pub fn with_flag<T>(flag: Arc<AtomicBool>, work: impl FnOnce() -> T) -> T {
    OWN.set(Some(flag));
    let result = work();
    OWN.set(None);
    result
}

/// Has the person asked to stop, or somebody to stop what this thread does?
#[must_use]
pub fn raised() -> bool {
    let own = OWN.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    own || shared().load(Ordering::Relaxed)
}

/// Asks everything to stop.
pub fn raise() {
    shared().store(true, Ordering::Relaxed);
}

/// Takes the wish to stop back, so that clean-up can wait for things in its turn.
pub fn clear() {
    shared().store(false, Ordering::Relaxed);
}

/// Goes on only if nobody asked to stop.
///
/// # Errors
/// [`HostError::Interrupted`].
pub fn check() -> Result<(), HostError> {
    if raised() { Err(HostError::Interrupted) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_end_the_program_where_nobody_takes_care() {
        // Other tests of this process run programs, which take care, too.
        let caring = Caring { many: Mutex::new(0), at_once: Arc::new(AtomicBool::new(true)) };
        let ends = || caring.at_once.load(Ordering::SeqCst);
        assert!(ends());
        caring.change(|many| many + 1);
        caring.change(|many| many + 1);
        caring.change(|many| many - 1);
        assert!(!ends());
        caring.change(|many| many - 1);
        assert!(ends());
    }
}
