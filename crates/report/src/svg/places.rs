//! Something over the places of a drive: a line for rates, dots for times.

use super::axis::{Linear, Log};
use super::canvas::{Canvas, px};
use super::layout::{self, AXIS};

/// Height of the plot.
const PLOT: f64 = 96.0;
/// Room above the plot for the label of its upper edge.
const ABOVE: f64 = 16.0;
/// The grid of what is drawn, which is stretched to the plot.
const GRID: f64 = 1000.0;
/// Most dots that are drawn: of more, every second or third is left out.
const MOST: usize = 300;

/// A line from place to place; each point is a share of the way and a value.
pub(crate) fn line(points: &[(f64, f64)], axis: &Linear, says: &str, tick: impl Fn(f64) -> String) -> String {
    let point = |(x, y): &(f64, f64)| format!("{:.0} {:.0}", x * GRID, (1.0 - axis.place(*y).clamp(0.0, 1.0)) * GRID);
    let path = format!("M{}", points.iter().map(point).collect::<Vec<_>>().join("L"));
    let ticks: Vec<(f64, String)> = [0.0, axis.end()].iter().map(|value| (axis.place(*value), tick(*value))).collect();
    plot(&path, "curve c0", &ticks, says)
}

/// A dot for each; each is a share of the way and a positive value.
pub(crate) fn dots(points: &[(f64, f64)], axis: &Log, says: &str, tick: impl Fn(f64) -> String) -> String {
    let step = points.len().div_ceil(MOST).max(1);
    // A stroke of no length with a round end is a dot, whatever the grid is stretched to.
    let dot = |(x, y): &(f64, f64)| format!("M{:.0} {:.0}h0", x * GRID, (1.0 - axis.place(*y).clamp(0.0, 1.0)) * GRID);
    let path: String = points.iter().step_by(step).map(dot).collect();
    let ticks: Vec<(f64, String)> = axis.ticks.iter().map(|value| (axis.place(*value), tick(*value))).collect();
    plot(&path, "dots c0", &ticks, says)
}

/// The path over its rules; ticks are shares of the height with their labels.
fn plot(path: &str, class: &str, ticks: &[(f64, String)], says: &str) -> String {
    let mut canvas = Canvas::default();
    for (share, label) in ticks {
        let y = ABOVE + PLOT * (1.0 - share);
        let (line, text) = (px(y), px(y - 4.0));
        canvas.element("line", &[("class", &"rule"), ("x2", &"100%"), ("y1", &line), ("y2", &line)]);
        canvas.text(label, &[("class", &"tick"), ("y", &text)]);
    }
    let (top, size, grid) = (px(ABOVE), px(PLOT), format!("0 0 {GRID} {GRID}"));
    let place: [(&str, &dyn std::fmt::Display); 5] =
        [("y", &top), ("width", &"100%"), ("height", &size), ("viewBox", &grid), ("preserveAspectRatio", &"none")];
    canvas.open("svg", &place);
    canvas.element("path", &[("class", &class), ("d", &path)]);
    canvas.close("svg");
    let ends: [(f64, String); 2] = [(0.0, "first".to_owned()), (1.0, "last place".to_owned())];
    layout::axis(&mut canvas, ABOVE + PLOT + 4.0, &ends);
    canvas.wide(ABOVE + PLOT + 4.0 + AXIS, says)
}
