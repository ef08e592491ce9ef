//! Latency on a logarithmic axis: median, 99th percentile and largest, or the mean where the median was not kept.

use terms::record::Latency;
use terms::units::Nanos;

use super::axis::Log;
use super::canvas::{Canvas, percent, px};
use super::layout::{self, AXIS, BAND, Blank, TRACK};

/// A row of the chart.
#[derive(Debug)]
pub(crate) struct Row<'a> {
    /// Whose it is.
    pub(crate) name: &'a str,
    /// Its latency, or what stands in its place.
    pub(crate) latency: Result<&'a Latency, Blank>,
}

/// A point of a row.
struct Dot {
    at: Nanos,
    shape: Shape,
}

/// Shapes tell points apart without colour.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Median,
    Mean,
    High,
    Largest,
}

/// The points of a latency, smallest first; those that were not kept are left out.
fn dots(latency: &Latency) -> Vec<Dot> {
    let middle = if latency.p50.0 > 0 {
        Dot { at: latency.p50, shape: Shape::Median }
    } else {
        Dot { at: latency.mean, shape: Shape::Mean }
    };
    let high = latency.p99.map(|at| Dot { at, shape: Shape::High });
    let largest = Dot { at: latency.max, shape: Shape::Largest };
    [Some(middle), high, Some(largest)].into_iter().flatten().filter(|dot| dot.at.0 > 0).collect()
}

/// The chart; `says` tells it to those who cannot see it.
pub(crate) fn draw(rows: &[Row], says: &str) -> String {
    let all = rows.iter().filter_map(|row| row.latency.ok()).flat_map(dots).map(|dot| nanos(dot.at));
    let axis = Log::around(all);
    let places: Vec<f64> = axis.ticks.iter().map(|tick| axis.place(*tick)).collect();
    let mut canvas = Canvas::default();
    for (at, row) in rows.iter().enumerate() {
        let top = layout::top(at);
        let dots = row.latency.map(dots);
        let figure = dots.as_ref().map(|dots| figure(dots)).map_err(|blank| *blank);
        layout::row(&mut canvas, top, row.name, figure.as_deref().map_err(|blank| *blank), false);
        if let Ok(dots) = dots {
            layout::grid(&mut canvas, std::iter::once(top), &places);
            range(&mut canvas, top, &dots, &axis);
        }
    }
    let bottom = layout::top(rows.len());
    if rows.iter().all(|row| row.latency.is_err()) {
        return canvas.wide(bottom, says);
    }
    let ticks: Vec<(f64, String)> = axis.ticks.iter().zip(places).map(|(tick, place)| (place, label(*tick))).collect();
    layout::axis(&mut canvas, bottom, &ticks);
    canvas.wide(bottom + AXIS, says)
}

/// What stands beside the name: the points from small to large.
fn figure(dots: &[Dot]) -> String {
    let texts: Vec<String> = dots
        .iter()
        .map(|dot| if dot.shape == Shape::Mean { format!("mean {}", dot.at) } else { dot.at.to_string() })
        .collect();
    texts.join(" · ")
}

/// The points of a row and the line through them.
fn range(canvas: &mut Canvas, top: f64, dots: &[Dot], axis: &Log) {
    let y = top + TRACK + BAND / 2.0;
    let place = |dot: &Dot| percent(axis.place(nanos(dot.at)));
    if let (Some(first), Some(last)) = (dots.first(), dots.last()) {
        let y = px(y);
        let (from, to) = (place(first), place(last));
        canvas.element("line", &[("class", &"range"), ("x1", &from), ("x2", &to), ("y1", &y), ("y2", &y)]);
    }
    // The largest first, so that the median lies on top where they meet.
    for dot in dots.iter().rev() {
        canvas.open("svg", &[("x", &place(dot)), ("y", &px(y)), ("overflow", &"visible")]);
        match dot.shape {
            Shape::Median => canvas.element("circle", &[("class", &"dot p50"), ("r", &5)]),
            Shape::Mean => canvas.element("path", &[("class", &"dot p50"), ("d", &"M-4.5 -4.5H4.5V4.5H-4.5Z")]),
            Shape::High => canvas.element("path", &[("class", &"dot p99"), ("d", &"M0 -6L6 0L0 6L-6 0Z")]),
            Shape::Largest => canvas.element("path", &[("class", &"dot max"), ("d", &"M0 -6V6")]),
        }
        canvas.close("svg");
    }
}

/// As a double, for the axis.
fn nanos(time: Nanos) -> f64 {
    time.as_seconds() * 1e9
}

/// A tick's label.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "ticks are positive and round")]
pub(crate) fn label(tick: f64) -> String {
    Nanos(tick.round() as u64).to_string()
}
