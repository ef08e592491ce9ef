//! What `bedplate check-model` takes.

use clap::{Args, ValueEnum};

use super::NeedsArguments;

#[derive(Debug, Args)]
pub(crate) struct CheckModelArguments {
    /// Seed of what is drawn: the same seed is the same study
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// In place of stacks drawn at random, the ten that `advise` names first for this requirement, on four flash drives
    #[arg(long, value_name = "REQUIREMENT", conflicts_with = "cells")]
    pub(crate) advised: Option<Requirement>,
    /// Figures to measure: ten workloads on each stack
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = super::values::number(10..=10_000))]
    pub(crate) cells: u32,
    /// Time under load that counts, by the guest's clock
    #[arg(long, value_name = "TIME", default_value = "200ms", value_parser = super::values::window)]
    pub(crate) window: terms::Nanos,
    /// Time for calibrating the guest first, by our clock
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = super::values::number(1..=3600))]
    pub(crate) seconds: u32,
    /// Measure nothing: predict what the newest such run of this seed measured anew, with this program
    #[arg(long)]
    pub(crate) again: bool,
    /// Print JSON, with every cell
    #[arg(long)]
    pub(crate) json: bool,
}

/// What advice is asked for, by the option of `bedplate advise`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Requirement {
    /// Nothing is asked for but speed
    Speed,
    /// One drive may fail
    Survive,
    /// Two drives may fail
    SurviveTwo,
    /// One drive may fail, and all is encrypted
    Encrypted,
    /// One drive may fail, and wrong data are repaired
    Repair,
    /// One drive may fail, and there are snapshots
    Snapshots,
}

impl Requirement {
    /// As it is typed.
    pub(crate) fn word(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// The same as somebody types it.
    pub(crate) fn needs(self) -> NeedsArguments {
        let drives = match self {
            Self::Speed => 0,
            Self::SurviveTwo => 2,
            Self::Survive | Self::Encrypted | Self::Repair | Self::Snapshots => 1,
        };
        NeedsArguments {
            survive: Some(drives),
            encrypted: self == Self::Encrypted,
            repair: self == Self::Repair,
            snapshots: self == Self::Snapshots,
            ..NeedsArguments::default()
        }
    }
}
