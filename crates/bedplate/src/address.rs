//! Which machine: a guest, this one or another.

use crate::exit::Failure;

/// A machine by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Address {
    /// A guest that can harm nothing.
    Lab,
    /// This machine.
    Local,
    /// Another one: `ssh://[user@]host[:port]`.
    Ssh(String),
}

impl Address {
    /// Reads `lab`, `local`, `ssh://[user@]host[:port]`.
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        match text {
            "lab" => Ok(Self::Lab),
            "local" => Ok(Self::Local),
            uri if uri.strip_prefix("ssh://").is_some_and(names_a_host) => Ok(Self::Ssh(uri.to_owned())),
            other => {
                let host = if names_a_host(other) { other } else { "host" };
                let near = spec::did_you_mean(other, ["lab", "local"]);
                Err(Failure::told(format!(
                    "error: `{other}` is not a place\n\nhint: {near}use `--on lab`, `--on local` or `--on ssh://{host}`"
                )))
            }
        }
    }
}

/// Is it `[user@]host[:port]`, and nothing that ssh or a shell would take for something else?
fn names_a_host(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._@:[]%".contains(c);
    !text.is_empty() && !text.starts_with('-') && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read() {
        assert_eq!(Address::parse("lab").unwrap(), Address::Lab);
        assert_eq!(Address::parse("local").unwrap(), Address::Local);
        for uri in ["ssh://nas", "ssh://root@nas.home:2222", "ssh://[fe80::1%eth0]"] {
            assert_eq!(Address::parse(uri).unwrap(), Address::Ssh(uri.to_owned()));
        }
        for wrong in ["", "nas", "ssh://", "ssh://-oProxyCommand=x", "ssh://a b", "ssh://$(x)", "LAB"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
