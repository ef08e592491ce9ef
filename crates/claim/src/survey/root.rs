//! Roots in which tables of the machine are: a path means what whoever has that root finds under it.

use host::{Devno, Host};
use terms::{Cmd, Nanos};

use super::listing;
use crate::device::{behind_node, present};
use crate::doubt::Doubt;

/// The root of some process.
pub(super) enum Root {
    /// Ours.
    Own,
    /// That of the machine's first process: a container and a `chroot` have tables, links and nodes of their own.
    First,
}

const FIRST: &str = "/proc/1/root";
/// As many links as the kernel follows (path_resolution(7)).
const LINKS: u32 = 40;

impl Root {
    /// A path as it can be looked at from here.
    pub(super) fn shown(&self, path: &str) -> String {
        match self {
            Self::Own => path.to_owned(),
            Self::First => format!("{FIRST}{path}"),
        }
    }

    /// The text of a file; `None` where there is none, and for `/dev/null`, which masks a unit (systemd.unit(5)).
    pub(super) fn text(&self, host: &dyn Host, path: &str) -> Result<Option<String>, Doubt> {
        let Some(real) = self.real(host, path)? else { return Ok(None) };
        if real == self.shown("/dev/null") {
            return Ok(None);
        }
        Ok(present(host.read_text(&real))?)
    }

    /// Names in a directory; none where there is no directory.
    pub(super) fn names(&self, host: &dyn Host, path: &str) -> Result<Vec<String>, Doubt> {
        let real = self.real(host, path)?;
        Ok(real.map_or(Ok(Vec::new()), |real| listing::names(host, &real))?)
    }

    /// The number of a block device; `None` where nothing is there, or something else.
    pub(super) fn device(&self, host: &dyn Host, path: &str) -> Result<Option<Devno>, Doubt> {
        let real = self.real(host, path)?;
        Ok(real.map_or(Ok(None), |real| behind_node(host, &real))?)
    }

    /// The path without links; `None` where one of our own leads nowhere.
    fn real(&self, host: &dyn Host, path: &str) -> Result<Option<String>, Doubt> {
        match self {
            Self::Own => Ok(present(host.resolve(path))?),
            Self::First => within(host, path).map(Some),
        }
    }
}

/// A path in the root of the first process, with links followed as that one follows them: the kernel would take one that
/// begins with `/` for a path in our own root.
fn within(host: &dyn Host, path: &str) -> Result<String, Doubt> {
    if present(host.list(&format!("{FIRST}/etc")))?.is_none() {
        return Err(Doubt::words("the root of the first process is not to be seen"));
    }
    let parts = |path: &str| {
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        parts.rev().map(str::to_owned).collect::<Vec<_>>()
    };
    let (mut done, mut rest, mut links) = (FIRST.to_owned(), parts(path), 0);
    while let Some(part) = rest.pop() {
        if part == ".." {
            // Above the root is the root.
            done.truncate(done.rfind('/').filter(|end| *end >= FIRST.len()).unwrap_or(FIRST.len()));
            continue;
        }
        let next = format!("{done}/{part}");
        let Some(to) = link(host, &next)? else {
            done = next;
            continue;
        };
        links += 1;
        if links > LINKS {
            return Err(Doubt::words(format!("`{path}` goes through more than {LINKS} links")));
        }
        if to.starts_with('/') {
            FIRST.clone_into(&mut done);
        }
        rest.extend(parts(&to));
    }
    Ok(done)
}

/// Where a link leads; `None` for what is no link or is not there, which whoever reads it finds out.
fn link(host: &dyn Host, path: &str) -> Result<Option<String>, Doubt> {
    let ask = Cmd::new(["readlink", "-n", "--", path]).limit(Nanos::seconds(30));
    let outcome = host.run(&ask)?;
    if !outcome.ok() {
        return match outcome.status {
            1 if !outcome.timed_out => Ok(None),
            status => Err(Doubt::words(format!("`readlink {path}` ended with {status}"))),
        };
    }
    let to = String::from_utf8(outcome.stdout).map_err(|_| Doubt::words(format!("`{path}` leads to no text")))?;
    Ok(Some(to))
}
