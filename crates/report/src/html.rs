//! The report as one HTML page that needs nothing else: no scripts, no fonts, no files, readable in print.

mod builds;
mod bulk;
mod charts;
mod downloads;
mod evidence;
mod facts;
mod feature_checks;
mod figures;
pub(crate) mod filters;
mod over_places;
mod ratios;
mod section;
mod side_by_side;
mod time;

use askama::Template;
use terms::finding::Findings;
use terms::spelling::spell;

use crate::confidence;
use crate::grid::Grid;
use crate::prose;
use crate::sections::{SECTIONS, Section};
use crate::style::Style;
use bulk::Bulk;
use downloads::Download;
pub(crate) use evidence::table;
use facts::Fact;
use section::{Drawn, Fold, Source};

/// The style sheet.
pub(crate) const STYLE: &str = include_str!("../templates/report.css");

/// The page.
#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    style: &'static str,
    question: &'a str,
    label: Option<String>,
    tag: Option<String>,
    answer: Vec<prose::Sentence>,
    confidence: Option<String>,
    brief: Vec<Fact>,
    downloads: Vec<Download>,
    left_out: Option<String>,
    sections: Vec<Drawn>,
}

/// The findings as one self-contained HTML page: charts, drawings and tables, light and dark, for screens and paper.
/// It loads nothing and runs nothing, and says so to the browser in a content security policy. Characters that are not
/// seen or turn text are spelt out. A page that would be too large to send leaves out what the answer rests on least, and
/// says what.
#[must_use]
pub fn html(findings: &Findings) -> String {
    bulk::fitting(|left_out| page(findings, left_out))
}

/// The same page with everything, however large it is.
#[must_use]
pub fn html_whole(findings: &Findings) -> String {
    page(findings, &[])
}

fn page(findings: &Findings, left_out: &[Bulk]) -> String {
    let emulator = findings.emulator();
    let tag = emulator.map(|by| if by.is_empty() { "emulated".to_owned() } else { format!("emulated ({by})") });
    let of = Source { grid: Grid::without_points(findings), left_out, tag };
    let mut answer = prose::answer(&of.grid);
    if !of.has(Bulk::Workloads) {
        let sentences = answer.iter_mut().filter(|sentence| sentence.evidence == prose::WORKLOADS);
        sentences.for_each(|sentence| sentence.evidence = prose::FIGURES);
    }
    let page = Page {
        style: STYLE,
        question: &findings.provenance.question,
        label: prose::label(findings).map(capital),
        answer,
        confidence: confidence::of(&of.grid).map(|of| of.words()),
        brief: facts::brief(&of.grid),
        downloads: downloads::all(findings),
        left_out: bulk::words(left_out, findings),
        sections: SECTIONS.into_iter().flat_map(|section| drawn(section, &of)).collect(),
        tag: of.tag,
    };
    spell(&section::render(&page)).into_owned()
}

/// A section as the page has it; nothing where there is nothing to say.
fn drawn(section: Section, of: &Source) -> Vec<Drawn> {
    let maybe = |drawn: Option<Drawn>| drawn.into_iter().collect();
    match section {
        Section::Ratios => maybe(ratios::section(of)),
        Section::Workloads => maybe(charts::section(of)),
        Section::SideBySide => maybe(side_by_side::section(of)),
        Section::Trust => maybe(evidence::believe(of)),
        Section::Time => maybe(time::section(of)),
        Section::FeatureChecks => maybe(feature_checks::section(of)),
        Section::Figures => vec![figures::section(of)],
        Section::Tables(listings) => {
            let listings = listings(&of.grid, &Style::default()).into_iter();
            listings.filter_map(|listing| evidence::part(listing, of)).collect()
        }
        Section::Stacks => vec![facts::stacks(of)],
        Section::Builds => vec![builds::section(of)],
        Section::Machine => vec![facts::machine(of)],
        Section::NotChecked => vec![facts::not_checked(of)],
        Section::Method => vec![facts::how(of)],
    }
}

/// So many workloads are shown at once; more are folded.
const FEW: usize = 4;

/// With a capital letter in front.
pub(crate) fn capital(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::STYLE;

    /// Relative luminance of `#rrggbb` (WCAG 2.2, definition of "relative luminance").
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let value = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    /// Contrast ratio (WCAG 2.2, definition of "contrast ratio").
    fn contrast(one: &str, two: &str) -> f64 {
        let (a, b) = (luminance(one), luminance(two));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// The value of a variable in a theme.
    fn colour<'a>(theme: &'a str, name: &str) -> &'a str {
        theme.split_once(&format!("--{name}:")).unwrap().1.split_once(';').unwrap().0.trim()
    }

    #[test]
    fn both_themes_have_enough_contrast() {
        let themes: Vec<&str> = STYLE.match_indices("--page:").map(|(at, _)| &STYLE[at..]).collect();
        assert_eq!(themes.len(), 2, "a light and a dark theme");
        for theme in themes {
            for ground in ["page", "card"] {
                for ink in ["ink", "soft", "bad", "warn", "good", "link"] {
                    let ratio = contrast(colour(theme, ink), colour(theme, ground));
                    assert!(ratio >= 4.5, "{ink} on {ground} is {ratio:.2}");
                }
                for shape in ["bar", "first", "mark", "c0", "c1", "c2", "c3", "c4", "c5"] {
                    let ratio = contrast(colour(theme, shape), colour(theme, ground));
                    assert!(ratio >= 3.0, "{shape} on {ground} is {ratio:.2}");
                }
            }
            assert!(contrast(colour(theme, "label-ink"), colour(theme, "label")) >= 4.5);
            assert!(contrast(colour(theme, "ink"), colour(theme, "drive")) >= 4.5);
            assert!(contrast(colour(theme, "ink"), colour(theme, "layer")) >= 4.5);
            assert!(contrast(colour(theme, "ink"), colour(theme, "fs")) >= 4.5);
            assert!(contrast(colour(theme, "soft"), colour(theme, "drive")) >= 4.5);
        }
    }
}
