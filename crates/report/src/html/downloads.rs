//! What a reader can save from the page, which holds it: no script and no server is needed.

use terms::finding::Findings;

use crate::{csv, share};

/// A file inside the page.
pub(super) struct Download {
    /// What the link says.
    pub(super) title: &'static str,
    /// The name under which it is saved.
    pub(super) file: String,
    /// Its media type.
    pub(super) media: &'static str,
    /// What is in it.
    pub(super) text: String,
}

/// All of them.
pub(super) fn all(findings: &Findings) -> Vec<Download> {
    let file = |ending: &str| format!("{}.{ending}", findings.provenance.run);
    vec![
        Download { title: "Figures (CSV)", file: file("csv"), media: "text/csv", text: csv::short(findings) },
        Download {
            title: "Table (Markdown)",
            file: file("md"),
            media: "text/markdown",
            text: share::markdown(findings),
        },
        Download { title: "Picture (SVG)", file: file("svg"), media: "image/svg+xml", text: share::card(findings) },
    ]
}
