//! What was looked at on the drives before the first step.

use terms::finding::Findings;
use terms::preflight::DriveCheck;

use crate::listing::{Group, Listing, MISSING};
use crate::width::Align;

/// Every drive with what it should be and what it is; `None` where nobody looked.
pub(crate) fn listing(findings: &Findings) -> Option<Listing> {
    let left = |heading| (heading, Align::Left);
    let listing = Listing {
        id: "preflight",
        title: "Before the first step".to_owned(),
        hint: "What each drive should be and what it was, once drives were set up: firmware, logical block, link, and \
               whatever else `bedplate doctor` has against it or its way to the processor."
            .to_owned(),
        columns: ["Drive", "Looked at", "Expected", "Found", "", "What it costs"].map(left).to_vec(),
        groups: vec![Group { title: String::new(), rows: findings.preflight.iter().map(row).collect() }],
        ..Listing::default()
    };
    listing.if_any()
}

fn row(check: &DriveCheck) -> Vec<String> {
    let or_dash = |text: &str| if text.is_empty() { MISSING.to_owned() } else { text.to_owned() };
    vec![
        check.drive.to_string(),
        check.looked_at.clone(),
        or_dash(&check.expected),
        or_dash(&check.found),
        check.state.words().to_owned(),
        or_dash(&check.why),
    ]
}
