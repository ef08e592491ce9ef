//! The rows that charts share: a name and a figure on a line, a track below it, an axis under all.

use super::canvas::{Canvas, percent, px};
use crate::width::{shorten, width};

/// Height of a row.
pub(crate) const ROW: f64 = 42.0;
/// Where the text of a row stands.
const BASELINE: f64 = 13.0;
/// Where the track of a row begins.
pub(crate) const TRACK: f64 = 19.0;
/// Height of a track.
pub(crate) const BAND: f64 = 14.0;
/// Height of the axis.
pub(crate) const AXIS: f64 = 24.0;
/// Columns that the name and the figure of a row may take together on a phone and on a wide screen. The style sheet
/// shows the one or the other.
const COLUMNS: [(&str, usize); 2] = [("name narrow", 50), ("name wide", 64)];

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
        canvas.text(name, &[("class", &"name"), ("x", &0), ("y", &y)]);
    } else {
        canvas.open("g", &[]);
        canvas.title(name);
        for (class, shown) in names {
            canvas.text(&shown, &[("class", &class), ("x", &0), ("y", &y)]);
        }
        canvas.close("g");
    }
    canvas.text(&text, &[("class", &class), ("x", &"100%"), ("y", &y), ("text-anchor", &"end")]);
    let track = if figure.is_ok() { "track" } else { "track blank" };
    let (y, band) = (px(top + TRACK), px(BAND));
    canvas.element("rect", &[("class", &track), ("x", &0), ("y", &y), ("width", &"100%"), ("height", &band)]);
    if let Err(blank) = figure {
        let fill = if blank.class.contains("bad") { "url(#hatch-bad)" } else { "url(#hatch)" };
        canvas.element("rect", &[("fill", &fill), ("x", &0), ("y", &y), ("width", &"100%"), ("height", &band)]);
    }
}

/// Lines through the tracks at the ticks: drawn over them, in the colour of the page.
pub(crate) fn grid(canvas: &mut Canvas, tops: impl Iterator<Item = f64>, places: &[f64]) {
    for top in tops {
        for place in places.iter().filter(|place| **place > 0.001 && **place < 0.999) {
            let x = percent(*place);
            let (y1, y2) = (px(top + TRACK), px(top + TRACK + BAND));
            canvas.element("line", &[("class", &"grid"), ("x1", &x), ("x2", &x), ("y1", &y1), ("y2", &y2)]);
        }
    }
}

/// Labels of the ticks below the rows; those at the ends lean inwards.
pub(crate) fn axis(canvas: &mut Canvas, top: f64, ticks: &[(f64, String)]) {
    let y = px(top + 12.0);
    for (place, label) in ticks {
        let anchor = match place {
            place if *place < 0.04 => "start",
            place if *place > 0.96 => "end",
            _ => "middle",
        };
        canvas.text(label, &[("class", &"tick"), ("x", &percent(*place)), ("y", &y), ("text-anchor", &anchor)]);
    }
}

/// Where row number `at` begins.
pub(crate) fn top(at: usize) -> f64 {
    // Studies have tens of stacks.
    f64::from(u32::try_from(at).unwrap_or(u32::MAX)) * ROW
}
