//! Files that are read again and again while a program runs, by the machine itself: in a guest that counts its
//! instructions nobody outside can keep step.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

use serde::{Deserialize, Serialize};
use terms::{Cmd, Nanos, Outcome};

use crate::{Host, HostError};

/// What is read, and how often.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Sampling {
    /// Paths of small files; none, and nothing is read.
    pub paths: Vec<String>,
    /// Time between two readings, by the machine's clock.
    pub pause: Nanos,
}

/// What the files held at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CounterSample {
    /// On the machine's monotonic clock.
    pub at: Nanos,
    /// As many as there are paths; `None` for what could not be read.
    pub files: Vec<Option<Vec<u8>>>,
}

/// [`Host::run_sampled`] for a machine whose files and programs are at hand.
pub(crate) fn run<H: Host + ?Sized>(
    host: &H,
    cmd: &Cmd,
    sampling: &Sampling,
) -> Result<(Outcome, Vec<CounterSample>), HostError> {
    if sampling.paths.is_empty() {
        return Ok((host.run(cmd)?, Vec::new()));
    }
    thread::scope(|scope| {
        let (over, ended) = mpsc::channel::<()>();
        let samples = scope.spawn(move || -> Result<Vec<CounterSample>, HostError> {
            let mut samples = Vec::new();
            loop {
                let at = host.now()?;
                samples.push(CounterSample {
                    at,
                    files: sampling.paths.iter().map(|path| host.read(path).ok()).collect(),
                });
                if ended.recv_timeout(sampling.pause.to_duration()) != Err(RecvTimeoutError::Timeout) {
                    return Ok(samples);
                }
            }
        });
        let outcome = host.run(cmd);
        drop(over);
        let samples = samples.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok((outcome?, samples?))
    })
}
