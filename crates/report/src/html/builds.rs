//! Times of building and filling.

use askama::Template;
use terms::finding::Findings;
use terms::units::{Nanos, significant};

use super::charts::{FAILED, MISSING, NOT_RUN};
use super::filters;
use super::section::{Drawn, Source};
use crate::columns::build_rows;
use crate::svg::bars::{self, Bar, Figure};

/// How the chart is to be read.
const HINT: &str = "Mean over rounds: the time to build the stack, then to fill the span with data.";

#[derive(Template)]
#[template(path = "report/builds.html")]
struct Body {
    drawing: String,
    /// Why some have no time.
    missing: Vec<String>,
}

/// The section.
pub(super) fn section(of: &Source) -> Drawn {
    let (drawing, missing) = builds(of.findings());
    Drawn::new("builds", "Building", "Building and filling", &Body { drawing, missing }).rates(HINT)
}

/// Times of building and filling, and why some have none.
fn builds(findings: &Findings) -> (String, Vec<String>) {
    let mut notes = Vec::new();
    let mut bars = Vec::new();
    let seconds = |time: Option<Nanos>| time.unwrap_or_default().as_seconds();
    for row in build_rows(findings) {
        let build = row.build.filter(|build| build.failure.is_none() && build.build.is_some());
        let figure = match build {
            Some(build) => Ok(Figure {
                parts: vec![(seconds(build.build), "bar"), (seconds(build.fill), "bar fill")],
                interval: None,
                label: [build.build, build.fill]
                    .into_iter()
                    .flatten()
                    .map(|t| t.to_string())
                    .collect::<Vec<_>>()
                    .join(" + "),
                best: false,
            }),
            None => {
                let blank = if row.stack.missing.is_some() {
                    MISSING
                } else if row.build.is_some_and(|b| b.failure.is_some()) {
                    FAILED
                } else {
                    NOT_RUN
                };
                notes.push(format!("{}: {}", row.stack.name, row.why()));
                Err(blank)
            }
        };
        bars.push(Bar { name: row.stack.name.clone(), figure });
    }
    (bars::draw(&bars, "Time to build and to fill every stack", "s", significant), notes)
}
