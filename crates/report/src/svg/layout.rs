//! The rows that charts share: a name and a figure on a line, a track below it, an axis under all.

use super::canvas::{Canvas, percent, px};
use crate::width::{shorten, width};

/// Height of a row.
pub(crate) const ROW: f64 = 34.0;
/// Where the text of a row stands.
const BASELINE: f64 = 12.0;
/// Where the track of a row begins.
pub(crate) const TRACK: f64 = 17.0;
/// Height of a track.
pub(crate) const BAND: f64 = 10.0;
/// Height of the axis, and where its labels stand.
pub(crate) const AXIS: f64 = 24.0;
const LABEL: f64 = 12.0;
/// Height of a unit below the labels.
const UNIT: f64 = 14.0;
/// Columns that the name and the figure of a row may take together on a phone and on a wide screen. The style sheet
/// shows the one or the other.
const COLUMNS: [(&str, usize); 2] = [("narrow", 42), ("wide", 64)];

/// How a row without a figure looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Blank {
    /// The word that stands in the figure's place.
    pub(crate) word: &'static str,
    /// The class of its hatching.
    pub(crate) class: &'static str,
}

/// The name and the figure of a row, and its track; a hatched one where there is no figure.
pub(crate) fn row(canvas: &mut Canvas, top: f64, name: &str, figure: Result<&str, Blank>, best: bool) {
    let (text, class) = match figure {
        Ok(text) if best => (format!("◆ {text}"), "value best"),
        Ok(text) => (text.to_owned(), "value"),
        Err(blank) => (blank.word.to_owned(), blank.class),
    };
    let y = px(top + BASELINE);
    let names = COLUMNS.map(|(class, all)| (class, shorten(name, all.saturating_sub(width(&text) + 2).max(12))));
    if names.iter().all(|(_, shown)| shown == name) {
        canvas.text(name, &[("y", &y)]);
    } else {
        canvas.open("g", &[]);
        canvas.title(name);
        for (class, shown) in names {
            canvas.text(&shown, &[("class", &class), ("y", &y)]);
        }
        canvas.close("g");
    }
    canvas.text(&text, &[("class", &class), ("x", &"100%"), ("y", &y)]);
    let track = if figure.is_ok() { "track" } else { "track blank" };
    let (y, band) = (px(top + TRACK), px(BAND));
    canvas.element("rect", &[("class", &track), ("y", &y), ("height", &band)]);
    if let Err(blank) = figure {
        let fill = if blank.class.contains("bad") { "url(#hatch-bad)" } else { "url(#hatch)" };
        canvas.element("rect", &[("fill", &fill), ("y", &y), ("width", &"100%"), ("height", &band)]);
    }
}

/// Lines through the tracks of so many rows at the ticks, in the colour of the page: one for each tick, with gaps between
/// tracks. They belong over tracks and under what is drawn on them.
pub(crate) fn grid(canvas: &mut Canvas, rows: usize, places: &[f64]) {
    if rows == 0 {
        return;
    }
    let (y1, y2) = (px(TRACK), px(top(rows - 1) + TRACK + BAND));
    let gaps = format!("{} {}", px(BAND), px(ROW - BAND));
    for place in places.iter().filter(|place| **place > 0.001 && **place < 0.999) {
        let x = percent(*place);
        let line: [(&str, &dyn std::fmt::Display); 6] =
            [("class", &"grid"), ("stroke-dasharray", &gaps), ("x1", &x), ("x2", &x), ("y1", &y1), ("y2", &y2)];
        canvas.element("line", &line);
    }
}

/// Most ticks beside which the last label has room for the unit, too.
const SPARSE: usize = 5;

/// The axis of a chart whose last tick is its end: the unit stands beside the last label or, where ticks are dense, below.
/// Gives the height of it all.
pub(crate) fn axis_with_unit(canvas: &mut Canvas, top: f64, mut ticks: Vec<(f64, String)>, unit: &str) -> f64 {
    let is_dense = ticks.len() > SPARSE;
    if let Some((_, last)) = ticks.last_mut().filter(|_| !is_dense) {
        last.push(' ');
        last.push_str(unit);
    }
    axis(canvas, top, &ticks);
    if !is_dense {
        return AXIS;
    }
    canvas.text(unit, &[("class", &"tick value"), ("x", &"100%"), ("y", &px(top + LABEL + UNIT))]);
    AXIS + UNIT
}

/// Labels of the ticks below the rows; those at the ends lean inwards.
pub(crate) fn axis(canvas: &mut Canvas, top: f64, ticks: &[(f64, String)]) {
    let y = px(top + LABEL);
    for (place, label) in ticks {
        let control = match place {
            place if *place < 0.04 => "start",
            place if *place > 0.96 => "end",
            _ => "middle",
        };
        canvas.text(label, &[("class", &"tick"), ("x", &percent(*place)), ("y", &y), ("text-anchor", &control)]);
    }
}

/// Where row number `at` begins.
pub(crate) fn top(at: usize) -> f64 {
    // Studies have tens of stacks.
    f64::from(u32::try_from(at).unwrap_or(u32::MAX)) * ROW
}
