//! What `bedplate check-model` takes.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct CheckModelArguments {
    /// Seed of what is drawn: the same seed is the same study
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Figures to measure: ten workloads on each stack
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub(crate) cells: u32,
    /// Time under load that counts, by the guest's clock
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = super::values::window)]
    pub(crate) window: terms::Nanos,
    /// Time for calibrating the guest first, by our clock
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u32).range(1..=3600))]
    pub(crate) seconds: u32,
    /// Measure nothing: predict what the newest such run of this seed measured anew, with this program
    #[arg(long)]
    pub(crate) again: bool,
    /// Print JSON, with every cell
    #[arg(long)]
    pub(crate) json: bool,
}
