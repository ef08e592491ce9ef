//! A section of the page, and what all of them are made from.

use askama::Template;
use terms::finding::Findings;

use super::bulk::Bulk;
use crate::grid::Grid;

/// What every section is made from.
pub(super) struct Source<'a> {
    /// The findings, by stack and workload.
    pub(super) grid: Grid<'a>,
    /// What the page leaves out.
    pub(super) left_out: &'a [Bulk],
    /// The label beside rates of an emulated machine.
    pub(super) tag: Option<String>,
}

impl<'a> Source<'a> {
    pub(super) fn findings(&self) -> &'a Findings {
        self.grid.findings
    }

    pub(super) fn has(&self, bulk: Bulk) -> bool {
        !self.left_out.contains(&bulk)
    }
}

/// Can a reader fold a section, and is it folded at first?
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Fold {
    Never,
    Open,
    #[default]
    Closed,
}

/// A section as it stands in the page.
#[derive(Default)]
pub(super) struct Drawn {
    /// Its name in the page.
    pub(super) id: &'static str,
    /// Its name in the bar of contents.
    pub(super) contents: String,
    /// Its title.
    pub(super) title: String,
    pub(super) fold: Fold,
    /// How it is to be read; empty where its title says it.
    pub(super) hint: String,
    /// Does it hold rates, which an emulated machine labels?
    pub(super) has_rates: bool,
    /// All below the hint, as HTML.
    pub(super) body: String,
}

impl Drawn {
    /// A section without a hint, folded.
    pub(super) fn new(id: &'static str, contents: &str, title: impl Into<String>, body: &impl Template) -> Self {
        Self {
            id,
            contents: contents.to_owned(),
            title: title.into(),
            body: render(body).trim_end().to_owned(),
            ..Self::default()
        }
    }

    /// With a sentence or two on how it is to be read.
    pub(super) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: hint.into(), ..self }
    }

    /// With a hint, and rates that may need a label.
    pub(super) fn rates(self, hint: impl Into<String>) -> Self {
        Self { has_rates: true, ..self.hint(hint) }
    }

    /// With another fold.
    pub(super) fn fold(self, fold: Fold) -> Self {
        Self { fold, ..self }
    }
}

/// A template as text.
pub(super) fn render(template: &impl Template) -> String {
    template.render().expect("no template calls what fails, and writing to a string cannot fail")
}
