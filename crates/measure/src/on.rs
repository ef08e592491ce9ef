//! Whether a load may write where it runs.

use claim::Writable;
use terms::plan::WorkPlace;

/// What a job may run on. A job that writes runs nowhere but on what may be written to.
#[derive(Debug, Clone, Copy)]
pub enum On<'a> {
    /// Only reads: fio itself refuses to write.
    ReadOnly(&'a WorkPlace),
    /// What may be written to.
    Writable(&'a Writable),
}

impl<'a> On<'a> {
    /// Where it is.
    #[must_use]
    pub const fn place(self) -> &'a WorkPlace {
        match self {
            On::ReadOnly(place) => place,
            On::Writable(on) => on.place(),
        }
    }
}
