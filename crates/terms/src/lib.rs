//! The ground everybody stands on: nouns and units of storage benchmarking.
//!
//! Nothing here does input or output, reads a clock or decides anything beyond
//! "is this value well formed". Every other room imports this one; it imports none.

#[macro_use]
mod words;

pub mod account;
pub mod advice;
pub mod calibration;
pub mod chart;
mod clock;
pub mod command;
pub mod design;
pub mod diagnosis;
pub mod dilation;
pub mod drive;
pub mod durability;
pub mod event;
pub mod evidence;
pub mod feature;
pub mod feature_check;
pub mod finding;
pub mod fio;
mod flash;
pub mod guard;
pub mod inventory;
pub mod layer;
mod least;
pub mod machine;
pub mod name;
pub mod note;
pub mod plan;
pub mod prediction;
pub mod preflight;
pub mod process;
pub mod record;
mod sanitize;
pub mod signature;
pub mod speed;
pub mod spelling;
pub mod spindle;
pub mod text;
mod transport;
pub mod units;
mod word;
pub mod workload;

pub use account::{Account, Exactness, LayerAccount, Purpose, Use};
pub use chart::Chart;
pub use command::{Cmd, Outcome};
pub use design::{Clock, Control, Design, DriveSetup, LabSpec, LayerNode, MeasurePolicy, Ref, Replicate, Stack};
pub use drive::{Drive, LabDrive, LabDriveKind, LabSwitch, Port, RateLimit};
pub use feature::Feature;
pub use feature_check::{FeatureCheck, FeatureCheckStep, Grade, Showing, StackFeatureChecks};
pub use flash::{FLASH_HANDLING, FLASH_LATENCY, FlashQueue};
pub use guard::Guard;
pub use layer::Layer;
pub use name::{Name, is_called, slug};
pub use note::{Note, NoteLevel, Span};
pub use plan::{Act, Condition, Effect, Plan, PlanCommand, Step, Undo, Word, WorkTarget};
pub use process::{ProcessId, ProcessStat};
pub use speed::Speed;
pub use spindle::{Mechanics, Spindle};
pub use transport::{DriveTransport, NvmeTransport};
pub use units::{Bytes, BytesPerSecond, Hosts, Iops, Nanos, PerMille};
pub use workload::{Engine, Load, Method, Part, Pattern, Reach, Workload};
