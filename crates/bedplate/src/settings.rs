//! Flags, environment and the machine's conventions, resolved once.

use std::path::PathBuf;
use std::sync::Arc;

use etcetera::BaseStrategy;
use host::{Host, Local, interrupt};
use terms::{Cmd, Outcome};

use crate::cli::{Color, Global};
use crate::exit::Failure;
use crate::printer::Printer;

/// Everything that verbs need to know of where they run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// What has to last and is nobody else's.
    pub(crate) state: PathBuf,
    /// Directory of runs.
    pub(crate) runs: PathBuf,
    /// The catalogue over them.
    pub(crate) catalogue: PathBuf,
    /// What is worth keeping between guests.
    pub(crate) cache: PathBuf,
    /// Directory for the directories of guests.
    pub(crate) lab: PathBuf,
    /// A guest of this very call that others begin as.
    pub(crate) saves: Arc<lab::Saves>,
    /// The command that reaches other machines: `BEDPLATE_SSH`, or `ssh`.
    pub(crate) ssh: Vec<String>,
    /// How to draw.
    pub(crate) style: report::Style,
    /// Everything that is printed goes through here.
    pub(crate) printer: Printer,
}

impl Settings {
    /// Resolves what was typed.
    pub(crate) fn resolve(global: &Global) -> Result<Self, Failure> {
        match global.color {
            Color::Auto => {}
            Color::Always => anstream::ColorChoice::Always.write_global(),
            Color::Never => anstream::ColorChoice::Never.write_global(),
        }
        let xdg = etcetera::base_strategy::Xdg::new().map_err(|_| {
            Failure::told("error: there is no home directory to keep runs in\n\nhint: set `HOME`, or use `--runs DIR`")
        })?;
        let state = xdg.state_dir().unwrap_or_else(|| xdg.data_dir()).join("bedplate");
        let runs = global.runs.clone().or_else(callers_runs).unwrap_or_else(|| state.join("runs"));
        let user = rustix::process::getuid().as_raw();
        Ok(Self {
            catalogue: runs.join("catalogue.sqlite"),
            runs,
            state,
            cache: xdg.cache_dir().join("bedplate"),
            lab: global.lab_directory.clone().unwrap_or_else(|| PathBuf::from(format!("/var/tmp/bedplate-{user}"))),
            saves: Arc::default(),
            ssh: global.ssh.split_whitespace().map(str::to_owned).collect(),
            style: style(global),
            printer: Printer::new(global.quiet),
        })
    }
}

/// Where the runs of whoever called `sudo` are, who is to read, copy and remove what root makes there. What root trusts (the
/// key that signs journals) stays root's own. `None` without `sudo`, and where XDG_STATE_HOME says where to.
fn callers_runs() -> Option<PathBuf> {
    let caller = std::env::var("SUDO_UID").ok().filter(|id| id != "0" && rustix::process::geteuid().is_root())?;
    if std::env::var_os("XDG_STATE_HOME").is_some() {
        return None;
    }
    let account = Local::new().run(&Cmd::new(["getent", "passwd", &caller])).ok().filter(Outcome::ok)?.text();
    Some(home(&account)?.join(".local/state/bedplate/runs"))
}

/// The home directory in a line of passwd(5), if there is such a directory.
fn home(account: &str) -> Option<PathBuf> {
    account.trim().split(':').nth(5).map(PathBuf::from).filter(|home| home.is_absolute() && home.is_dir())
}

fn style(global: &Global) -> report::Style {
    let stdout = std::io::stdout();
    let colour = match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => anstream::AutoStream::choice(&stdout) != anstream::ColorChoice::Never,
    };
    report::Style { colour, width: usize::from(terminal_size().1.clamp(40, 200)), ascii: global.ascii, si: false }
}

/// Rows and columns of the terminal; 24 and 80 where it does not tell.
pub(crate) fn terminal_size() -> (u16, u16) {
    match rustix::termios::tcgetwinsize(std::io::stdout()) {
        Ok(size) if size.ws_col > 0 => (size.ws_row, size.ws_col),
        _ => (24, 80),
    }
}

/// Signals by which a program is asked to end.
pub(crate) const ENDING: [i32; 3] =
    [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM, signal_hook::consts::SIGHUP];

/// Where something would have to be cleaned up, the first Ctrl-C asks for that and the second ends the program at once.
/// Where nothing would, the first ends it.
pub(crate) fn catch_interrupts() -> Result<(), Failure> {
    for signal in ENDING {
        // In the order in which they act.
        signal_hook::flag::register_conditional_default(signal, interrupt::at_once())
            .and_then(|_| signal_hook::flag::register_conditional_shutdown(signal, 130, interrupt::flag()))
            .and_then(|_| signal_hook::flag::register(signal, interrupt::flag()))
            .map_err(Failure::system("could not listen for Ctrl-C"))?;
    }
    // A file that may grow no further (`ulimit -f`) is an error of whoever writes it, and no reason to end without cleaning up.
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default())
        .map(drop)
        .map_err(Failure::system("could not listen for signals"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_a_directory_that_an_account_names() {
        let home_of = |directory: &str| home(&format!("ann:x:1000:1000:Ann,,,:{directory}:/bin/bash\n"));
        assert_eq!(home_of("/"), Some(PathBuf::from("/")));
        for none in ["/nonexistent", "", "."] {
            assert_eq!(home_of(none), None, "{none}");
        }
        assert_eq!(home(""), None);
    }
}
