//! `bedplate agent`: what runs on the other side of ssh. Nobody types it.

use host::{Local, agent, interrupt};

use crate::BUILD;
use crate::exit::{Exit, Failure};

/// Serves whoever is at the other end until they go away, and lets nothing run on after that.
pub(crate) fn agent() -> Result<Exit, Failure> {
    let served = agent::serve(BUILD, Local::new(), std::io::stdin(), std::io::stdout());
    interrupt::raise();
    host::await_all();
    served?;
    Ok(Exit::Yes)
}
