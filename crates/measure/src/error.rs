//! Why there is no measurement at all. A measurement that went wrong is not an error but a failed cell.

use host::HostError;

/// Why there is no measurement at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The span could not be filled.
    #[error("could not fill {span} of `{target}`: {why}")]
    Fill {
        /// How much.
        span: terms::Bytes,
        /// Of what.
        target: String,
        /// What fio said.
        why: String,
    },
    /// What was filled is not there any more, or something else is.
    #[error("`{target}` is not the one that was built or filled: it was replaced, unmounted or mounted over")]
    Replaced {
        /// Its path.
        target: String,
    },
    /// The span has no block for each job of a sequential workload, or ends before a part of the workload does.
    #[error(
        "workload `{workload}` needs {needed} for a block of each job and the parts it has, and the span is {span}"
    )]
    Span {
        /// Which.
        workload: String,
        /// Jobs times block, or where the last part ends.
        needed: terms::Bytes,
        /// What there is.
        span: terms::Bytes,
    },
    /// The workload's rate is a share of something, and nobody said of how much.
    #[error("workload `{workload}` runs at a share of another's rate, and that rate is not known")]
    Rate {
        /// Which.
        workload: String,
    },
    /// The workload carries an option of fio's that is not allowed.
    #[error("`{key}` of workload `{workload}` is never handed to fio")]
    Option {
        /// Which.
        workload: String,
        /// The option as it was written.
        key: String,
        /// Why.
        source: terms::fio::Refused,
    },
    /// A job that writes was to run where nothing is known that allows it.
    #[error("a job that writes to `{target}` needs a place that may be written to")]
    Unallowed {
        /// Its file or device.
        target: String,
    },
    /// What a load was to write to may not be written to any more.
    #[error(transparent)]
    Claim(#[from] claim::ClaimError),
    /// The machine failed.
    #[error(transparent)]
    Host(#[from] HostError),
}
