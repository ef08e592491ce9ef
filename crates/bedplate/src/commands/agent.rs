//! `bedplate agent`: what runs on the other side of ssh. Nobody types it.

use std::time::Duration;

use host::{Local, agent, interrupt};

use crate::BUILD;
use crate::exit::{Exit, Failure};

/// Longer than an interrupt may go unseen, so that programs that still run are ended before their parent is.
const LAST_BREATH: Duration = Duration::from_millis(1500);

/// Serves whoever is at the other end until they go away, and lets nothing run on after that.
pub(crate) fn agent() -> Result<Exit, Failure> {
    let served = agent::serve(BUILD, Local::new(), std::io::stdin(), std::io::stdout());
    interrupt::raise();
    std::thread::sleep(LAST_BREATH);
    served?;
    Ok(Exit::Yes)
}
