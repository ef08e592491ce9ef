//! One flag for the whole program: the person asked to stop.
//!
//! Whoever waits looks at it; whoever sees it cleans up and ends. Set by the binary's signal handler.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

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
