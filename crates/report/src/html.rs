//! The report as one HTML page that needs nothing else: no scripts, no fonts, no files, readable in print.

mod bulk;
mod charts;
mod downloads;
mod evidence;
mod facts;
mod figures;
pub(crate) mod filters;
mod over_places;
mod ratios;
mod side_by_side;
mod trials;

use askama::Template;
use terms::finding::Findings;
use terms::spelling::spell;

use crate::columns::cells;
use crate::confidence;
use crate::grid::Grid;
use crate::{figure, prose, svg};
use bulk::Bulk;
use charts::{Series, Timeline};
use downloads::Download;
pub(crate) use evidence::table;
use facts::{Fact, StackCard};
use figures::Group;

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
    contents: Vec<(&'static str, String)>,
    downloads: Vec<Download>,
    left_out: Option<String>,
    ratios: Vec<(String, String)>,
    more_ratios: Vec<(String, String)>,
    few: bool,
    brief: Vec<Fact>,
    series: Vec<Series>,
    charts: Vec<side_by_side::Chart>,
    timeline: Option<Timeline>,
    ranked: bool,
    believe: Option<(Vec<Fact>, Option<String>)>,
    parts: Vec<evidence::Part>,
    trials: Option<String>,
    columns: Vec<figures::Heading>,
    groups: Vec<Group>,
    reasons: Vec<String>,
    stacks: Vec<StackCard>,
    builds: String,
    builds_missing: Vec<String>,
    machine: Option<String>,
    half: &'static str,
    factor: &'static str,
    machine_facts: Vec<Fact>,
    command: String,
    kept: String,
    kept_path: String,
    resume: Option<String>,
    method: Vec<Fact>,
    programs: Vec<Fact>,
    options: Vec<facts::Options>,
    not_checked: &'a [String],
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
    let has = |bulk: Bulk| !left_out.contains(&bulk);
    let grid = Grid::without_points(findings);
    let emulator = prose::emulator(findings);
    let (builds, builds_missing) = charts::builds(findings);
    let mut ratios = ratios::all(&grid);
    let more_ratios = ratios.split_off(FEW.min(ratios.len()));
    let (groups, reasons) = figures::groups(&grid);
    let mut answer = prose::answer(&grid);
    let mut series: Vec<Series> = (0..grid.workloads().len()).map(|workload| charts::series(&grid, workload)).collect();
    if !has(Bulk::Details) {
        series.iter_mut().for_each(|one| one.details = None);
    }
    if !has(Bulk::Workloads) {
        series.clear();
        let sentences = answer.iter_mut().filter(|sentence| sentence.evidence == prose::WORKLOADS);
        sentences.for_each(|sentence| sentence.evidence = prose::FIGURES);
    }
    let mut page = Page {
        style: STYLE,
        question: &findings.provenance.question,
        label: prose::label(findings).map(capital),
        tag: emulator.map(|by| if by.is_empty() { "emulated".to_owned() } else { format!("emulated ({by})") }),
        answer,
        confidence: confidence::of(&grid).map(|of| of.words()),
        contents: Vec::new(),
        downloads: downloads::all(findings),
        left_out: bulk::words(left_out, findings),
        ratios,
        more_ratios,
        few: grid.workloads().len() <= FEW,
        brief: facts::brief(&grid),
        series,
        charts: side_by_side::all(&grid),
        timeline: Some(&grid).filter(|_| has(Bulk::Time)).and_then(charts::timeline),
        ranked: grid.is_ranked(),
        believe: evidence::believe(findings),
        parts: evidence::parts(findings, left_out),
        trials: trials::section(&findings.trials, has(Bulk::Steps)),
        columns: figures::headings(&cells()),
        groups,
        reasons,
        stacks: findings.provenance.stacks.iter().map(StackCard::new).collect(),
        builds,
        builds_missing,
        machine: svg::machine::draw(&findings.inventory),
        half: figure::HALF,
        factor: figure::FACTOR,
        machine_facts: facts::machine(findings),
        command: prose::command(findings),
        kept: prose::kept(findings),
        kept_path: prose::kept_path(findings),
        resume: prose::resume(&Grid::new(findings)),
        method: facts::method(findings),
        programs: facts::programs(findings),
        options: facts::options(findings),
        not_checked: &findings.not_checked,
    };
    page.contents = page.sections();
    let page = page.render().expect("the template calls nothing that fails, and writing to a string cannot fail");
    spell(&page).into_owned()
}

/// So many workloads are shown at once; more are folded.
const FEW: usize = 4;

impl Page<'_> {
    /// The sections that there are, for the bar of contents.
    fn sections(&self) -> Vec<(&'static str, String)> {
        let always = true;
        let before = [
            ("answer", "Answer", always),
            ("ratios", "Ratios", !self.ratios.is_empty()),
            (prose::WORKLOADS, "Workloads", !self.series.is_empty()),
            ("charts", "Side by side", !self.charts.is_empty()),
            ("believe", "Trust", self.believe.is_some()),
            ("time", "Over time", self.timeline.is_some()),
            ("trials", "Feature checks", self.trials.is_some()),
            (prose::FIGURES, "All figures", always),
        ];
        let after = [
            ("stacks", "Stacks", always),
            ("builds", "Building", always),
            ("machine", "Machine", always),
            ("method", "Method", always),
            ("not-checked", "Not checked", always),
        ];
        let listed = |list: &[(&'static str, &str, bool)]| -> Vec<(&'static str, String)> {
            list.iter().filter(|section| section.2).map(|section| (section.0, section.1.to_owned())).collect()
        };
        let parts = self.parts.iter().map(|part| (part.id, part.title.clone())).collect();
        [listed(&before), parts, listed(&after)].concat()
    }
}

/// With a capital letter in front.
fn capital(text: String) -> String {
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
