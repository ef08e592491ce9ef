//! The columns of every table there is.

mod builds;
mod cells;
mod drives;

pub use builds::{BuildRow, build_rows, builds};
pub(crate) use cells::row as cell_row;
pub use cells::{CellRow, cell_rows, cells};
pub use drives::{drives, programs};
