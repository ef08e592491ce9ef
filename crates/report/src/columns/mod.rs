//! The columns of every table there is.

mod builds;
mod cells;
mod comparisons;
mod drives;
mod evidence;

pub use builds::{BuildRow, build_rows, builds};
pub use cells::{CellRow, cell_rows, cells};
pub(crate) use cells::{kept, row as cell_row};
pub use comparisons::{ComparisonRow, comparison_rows, comparisons};
pub use drives::{drives, machine_drives, programs};
