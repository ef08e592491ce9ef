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
        let figure = row.latency.map(|latency| figure(&dots(latency)));
        layout::row(&mut canvas, layout::top(at), row.name, figure.as_deref().map_err(|blank| *blank), false);
    }
    layout::grid(&mut canvas, rows.len(), &places);
    for (at, row) in rows.iter().enumerate() {
        if let Ok(latency) = row.latency {
            range(&mut canvas, layout::top(at), &dots(latency), &axis);
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
        let mark = match dot.shape {
            Shape::Median => "median",
            Shape::Mean => "mean",
            Shape::High => "high",
            Shape::Largest => "largest",
        };
        canvas.mark(mark, &place(dot), &px(y));
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
