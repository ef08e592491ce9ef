//! Ratios as dots with their intervals, on a logarithmic axis around 1.

use super::canvas::{Canvas, percent, px};
use super::layout::{self, AXIS, BAND, Blank, TRACK};

/// A row of the chart.
#[derive(Debug)]
pub(crate) struct Dot {
    /// Whose it is.
    pub(crate) name: String,
    /// The ratio, above 0.
    pub(crate) value: f64,
    /// Ends of its interval.
    pub(crate) interval: Option<(f64, f64)>,
    /// What stands beside it.
    pub(crate) label: String,
    /// Is there no answer? Then the dot is hollow.
    pub(crate) open: bool,
    /// What stands in place of a ratio, where there is none.
    pub(crate) blank: Option<Blank>,
}

/// Ends of axes: from one over it to it.
const ENDS: [f64; 13] = [1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0];

/// The end of an axis that holds a ratio as far from 1 as this, in logarithms.
pub(crate) fn end(far: f64) -> f64 {
    ENDS.into_iter().find(|end| end.ln() >= far).unwrap_or(ENDS[ENDS.len() - 1])
}

/// The chart; `says` tells it to those who cannot see it.
pub(crate) fn draw(dots: &[Dot], says: &str) -> String {
    let ends = |dot: &Dot| {
        let (low, high) = dot.interval.unwrap_or((dot.value, dot.value));
        [low, high].map(|end| end.ln().abs()).into_iter().fold(0.0, f64::max)
    };
    let end = end(dots.iter().map(ends).fold(0.0, f64::max));
    let place = |ratio: f64| 0.5 + 0.5 * ratio.ln() / end.ln();
    let mut canvas = Canvas::default();
    for (at, dot) in dots.iter().enumerate() {
        let top = layout::top(at);
        layout::row(&mut canvas, top, &dot.name, dot.blank.map_or(Ok(dot.label.as_str()), Err), false);
    }
    layout::grid(&mut canvas, dots.len(), &[place(1.0)]);
    for (at, dot) in dots.iter().enumerate().filter(|(_, dot)| dot.blank.is_none()) {
        draw_dot(&mut canvas, layout::top(at), dot, place);
    }
    let bottom = layout::top(dots.len());
    let ticks: Vec<(f64, String)> =
        [end.recip(), 1.0, end].map(|ratio| (place(ratio), format!("{}×", terms::units::significant(ratio)))).into();
    layout::axis(&mut canvas, bottom, &ticks);
    canvas.wide(bottom + AXIS, says)
}

/// The interval as a line, and the dot on it.
fn draw_dot(canvas: &mut Canvas, top: f64, dot: &Dot, place: impl Fn(f64) -> f64) {
    let y = px(top + TRACK + BAND / 2.0);
    if let Some((low, high)) = dot.interval {
        let (x1, x2) = (percent(place(low)), percent(place(high)));
        for class in ["halo", "whisker"] {
            canvas.element("line", &[("class", &class), ("x1", &x1), ("x2", &x2), ("y1", &y), ("y2", &y)]);
        }
    }
    let class = if dot.open { "mark c1 hollow" } else { "mark c1" };
    canvas.element("circle", &[("class", &class), ("cx", &percent(place(dot.value))), ("cy", &y), ("r", &"5")]);
}
