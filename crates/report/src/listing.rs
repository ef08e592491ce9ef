//! A table in words: made once, laid out by the terminal and by the page each in its way.

use crate::width::Align;

/// Stands where there is nothing.
pub(crate) const MISSING: &str = "–";

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Terminal,
    Page,
}

/// A table in groups, with what is to be said of it.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Its name in the page.
    pub(crate) id: &'static str,
    /// The only form that has it. The page folds what a terminal has no room for.
    pub(crate) only: Option<Form>,
    /// What it is.
    pub(crate) title: String,
    /// How it is to be read, in a sentence or two; empty where the title says it.
    pub(crate) hint: String,
    /// Headings of its columns and on which side they are flush.
    pub(crate) columns: Vec<(&'static str, Align)>,
    /// Its rows, in groups.
    pub(crate) groups: Vec<Group>,
    /// What is said below it.
    pub(crate) remarks: Vec<String>,
    /// Commands and the like, which only the page has room for: a title and the text.
    pub(crate) details: Vec<(String, String)>,
}

/// Rows that belong together.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// What they have in common; empty where there is one group only.
    pub(crate) title: String,
    /// Rows, each with a text for every column.
    pub(crate) rows: Vec<Vec<String>>,
}

impl Listing {
    /// The listing, if it has a row.
    pub(crate) fn if_any(mut self) -> Option<Self> {
        self.groups.retain(|group| !group.rows.is_empty());
        (!self.groups.is_empty()).then_some(self)
    }

    /// Says what a dash means, where there is one.
    pub(crate) fn where_missing(mut self, why: &str) -> Self {
        if self.groups.iter().flat_map(|group| &group.rows).flatten().any(|text| text == MISSING) {
            self.remarks.push(format!("{MISSING}: {why}"));
        }
        self
    }

    /// Does a column hold numbers, flush right?
    pub(crate) fn is_number(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|(_, align)| *align == Align::Right)
    }

    /// The texts of a column, over all groups.
    pub(crate) fn texts(&self, column: usize) -> impl Iterator<Item = &str> {
        self.groups.iter().flat_map(|group| &group.rows).filter_map(move |row| row.get(column)).map(String::as_str)
    }
}
