//! Horizontal bars with whiskers for intervals.

use super::axis::Linear;
use super::canvas::{Canvas, percent, px};
use super::layout::{self, BAND, Blank, TRACK};

/// How far beyond the longest bar an axis goes for the sake of a whisker; longer whiskers end in an arrow.
const STRETCH: f64 = 1.5;

/// A row of the chart.
#[derive(Debug)]
pub(crate) struct Bar {
    /// Whose it is.
    pub(crate) name: String,
    /// Its figure, or what stands in its place.
    pub(crate) figure: Result<Figure, Blank>,
}

/// A bar with its label.
#[derive(Debug)]
pub(crate) struct Figure {
    /// Lengths one after the other, with their classes.
    pub(crate) parts: Vec<(f64, &'static str)>,
    /// Ends of the interval.
    pub(crate) interval: Option<(f64, f64)>,
    /// What stands beside it.
    pub(crate) label: String,
    /// Is it clear of all others?
    pub(crate) best: bool,
}

impl Figure {
    /// Where the bar ends.
    fn end(&self) -> f64 {
        self.parts.iter().map(|part| part.0).sum()
    }
}

/// The chart; `says` tells it to those who cannot see it, `tick` labels a tick.
pub(crate) fn draw(bars: &[Bar], says: &str, unit: &str, tick: impl Fn(f64) -> String) -> String {
    let figures = || bars.iter().filter_map(|bar| bar.figure.as_ref().ok());
    let longest = figures().map(Figure::end).fold(0.0, f64::max);
    let furthest = figures().filter_map(|f| f.interval).map(|i| i.1.min(longest * STRETCH)).fold(longest, f64::max);
    let axis = Linear::to(furthest);
    let places: Vec<f64> = axis.ticks.iter().map(|tick| axis.place(*tick)).collect();
    let mut canvas = Canvas::default();
    for (at, bar) in bars.iter().enumerate() {
        let top = layout::top(at);
        match &bar.figure {
            Err(blank) => layout::row(&mut canvas, top, &bar.name, Err(*blank), false),
            Ok(figure) => layout::row(&mut canvas, top, &bar.name, Ok(&figure.label), figure.best),
        }
    }
    layout::grid(&mut canvas, bars.len(), &places);
    for (at, bar) in bars.iter().enumerate() {
        if let Ok(figure) = &bar.figure {
            draw_bar(&mut canvas, layout::top(at), figure, &axis);
        }
    }
    let bottom = layout::top(bars.len());
    if figures().next().is_none() {
        return canvas.wide(bottom, says);
    }
    let ticks = axis.ticks.iter().map(|value| (axis.place(*value), tick(*value))).collect();
    let height = layout::axis_with_unit(&mut canvas, bottom, ticks, unit);
    canvas.wide(bottom + height, says)
}

/// The bar and its whisker.
fn draw_bar(canvas: &mut Canvas, top: f64, figure: &Figure, axis: &Linear) {
    let mut start = 0.0;
    for (length, class) in &figure.parts {
        let (x, wide) = (percent(axis.place(start)), percent(axis.place(*length)));
        let (y, band) = (px(top + TRACK), px(BAND));
        canvas.element("rect", &[("class", class), ("x", &x), ("y", &y), ("width", &wide), ("height", &band)]);
        start += length;
    }
    if let Some((low, high)) = figure.interval {
        whisker(canvas, top + TRACK + BAND / 2.0, axis.place(low.max(0.0)), axis.place(high));
    }
}

/// A line from end to end with caps; an arrow where the interval goes on beyond the chart. A halo in the colour of
/// the page keeps it visible on the bar.
fn whisker(canvas: &mut Canvas, y: f64, low: f64, high: f64) {
    let beyond = high > 1.0 + 1e-9;
    let (x1, x2, mid) = (percent(low), percent(high), px(y));
    let line = |canvas: &mut Canvas, class: &str| {
        canvas.element("line", &[("class", &class), ("x1", &x1), ("x2", &x2), ("y1", &mid), ("y2", &mid)]);
    };
    line(canvas, "halo");
    canvas.mark("cap", &x1, &mid);
    if !beyond {
        canvas.mark("cap", &x2, &mid);
    }
    line(canvas, "whisker");
    if beyond {
        canvas.mark("on", &x2, &mid);
    }
}
