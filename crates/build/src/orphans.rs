//! What a killed run left at work: an `mdadm` that goes on makes an array after everything was taken down.

use std::time::{Duration, Instant};

use host::orphan::{self, Orphan};
use host::{Host, HostError};
use terms::{Cmd, Nanos};

/// How long a program may take to come to its end by itself: what is half made is harder to take down than what is
/// made. Programs that make or stop something are done within it; a measurement or a fill need not be waited for.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a program may take to end when it is told to: as long as the kernel may need to load the modules that it waits
/// for. `integritysetup` that is killed there leaves a mapping without a table, which nothing finds again.
const GRACE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(100);

/// Waits for programs that one of these owners left, each of which is gone, and ends those that take too long. What another run left
/// is left to its own teardown. `waiting` is told the command
/// line of each that is waited for. Gives those of the ones it ended.
///
/// # Errors
/// Where the machine cannot be asked.
pub fn settle(host: &dyn Host, owners: &[String], waiting: &dyn Fn(&str)) -> Result<Vec<String>, HostError> {
    orphan::find(host, Some(owners))?.iter().for_each(|orphan| waiting(&orphan.line));
    let slow = wait(host, owners, PATIENCE)?;
    signal(host, &slow, "TERM")?;
    let stubborn = if slow.is_empty() { Vec::new() } else { wait(host, owners, GRACE)? };
    signal(host, &stubborn, "KILL")?;
    if !stubborn.is_empty() {
        wait(host, owners, GRACE)?;
    }
    Ok(slow.into_iter().map(|orphan| orphan.line).collect())
}

/// Those that are still there when the time is up.
fn wait(host: &dyn Host, owners: &[String], patience: Duration) -> Result<Vec<Orphan>, HostError> {
    let start = Instant::now();
    loop {
        let left = orphan::find(host, Some(owners))?;
        if left.is_empty() || start.elapsed() >= patience {
            return Ok(left);
        }
        host.pause(PAUSE)?;
    }
}

/// To each with all that it started. One that ends meanwhile is no failure.
fn signal(host: &dyn Host, orphans: &[Orphan], name: &str) -> Result<(), HostError> {
    for orphan in orphans {
        let kill = ["kill".to_owned(), "-s".to_owned(), name.to_owned(), "--".to_owned(), format!("-{}", orphan.id)];
        host.run(&Cmd::new(kill).limit(Nanos::seconds(10)))?;
    }
    Ok(())
}
