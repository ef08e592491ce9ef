//! A text that one command printed, among what somebody posted.

use super::TextKind;

/// A text of one kind, or of none.
#[derive(Debug, Default)]
pub(super) struct Text<'t> {
    pub(super) kind: Option<TextKind>,
    /// Its first line, from 1.
    pub(super) line: usize,
    pub(super) lines: Vec<&'t str>,
    /// The command on the line before it, as somebody typed it.
    pub(super) command: Option<&'t str>,
    /// The machine that the prompt before it names.
    pub(super) host: Option<&'t str>,
    /// The last line has no end: it may be cut, and is left out.
    pub(super) cut: bool,
}

impl Text<'_> {
    /// Is the pool of a mail of ZED still to come, so that a line that names one is no text of its own?
    pub(super) fn wants_pool(&self) -> bool {
        self.kind == Some(TextKind::ZedMail) && !self.lines.iter().any(|line| line.trim_start().starts_with("pool:"))
    }

    /// The one device that the command names, without `/dev/`.
    pub(super) fn device(&self) -> Option<&str> {
        let command = self.command?;
        let program = self.kind?.command().split(' ').next()?;
        let words = command.split_whitespace().map(|word| word.trim_end_matches(':'));
        let mut named = words.filter_map(|word| word.strip_prefix("/dev/"));
        let name = named.next()?;
        let plain = is_plain(name);
        let own = command.contains(program) || self.kind == Some(TextKind::Json);
        // One line may have two commands for one drive.
        (plain && own && named.all(|other| other == name)).then_some(name)
    }
}

impl<'t> Text<'t> {
    /// The program that the command names, as it was typed, where it is one of these. Builds for 64 bits say so behind their names.
    pub(super) fn program(&self, names: &[&str]) -> Option<&'t str> {
        let words = self.command?.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
        words.into_iter().find(|word| names.contains(&word.trim_end_matches("64")))
    }

    /// The one device that the command of one of these programs names.
    pub(super) fn path_of(&self, programs: &[&str]) -> Option<&'t str> {
        let command = self.command?;
        let mut named = command.split_whitespace().filter(|word| word.starts_with("/dev/"));
        let path = named.next().filter(|_| named.next().is_none())?;
        programs.iter().any(|program| command.contains(program)).then_some(path)
    }
}

/// May it be the name of a device?
pub(super) fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
}
