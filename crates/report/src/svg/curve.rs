//! Latency against throughput: a line for each stack, latency on a logarithmic axis.

use super::axis::{Linear, Log};
use super::canvas::{Canvas, percent, px};
use super::layout;

/// Height of the plot.
const PLOT: f64 = 230.0;
/// Room above the plot for the label of its upper edge.
const ABOVE: f64 = 16.0;
/// The grid of the lines, which is stretched to the plot.
const GRID: f64 = 1000.0;
/// Colours of the style sheet and shapes of marks. They have no common divisor, so 30 stacks look different.
const COLOURS: usize = 6;
const SHAPES: [&str; 5] = [
    "M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0Z",
    "M-3.8 -3.8H3.8V3.8H-3.8Z",
    "M0 -5L5 0L0 5L-5 0Z",
    "M0 -4.8L4.8 3.8H-4.8Z",
    "M0 4.8L4.8 -3.8H-4.8Z",
];

/// The line of a stack.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Its number among the stacks; it tells colour and shape.
    pub(crate) number: usize,
    /// Throughput, latency in nanoseconds, and was the load limited?
    pub(crate) points: Vec<(f64, f64, bool)>,
}

/// The chart; `says` tells it to those who cannot see it, `ticks` label the axes of throughput and of latency.
pub(crate) fn draw(
    lines: &[Line],
    axes: (&Linear, &Log),
    says: &str,
    unit: &str,
    ticks: (impl Fn(f64) -> String, impl Fn(f64) -> String),
) -> String {
    let (across, up) = axes;
    let mut canvas = Canvas::default();
    let height = |latency: f64| ABOVE + PLOT * (1.0 - up.place(latency).clamp(0.0, 1.0));
    for tick in &up.ticks {
        let y = height(*tick);
        let (line, text) = (px(y), px(y - 4.0));
        canvas.element("line", &[("class", &"rule"), ("x2", &"100%"), ("y1", &line), ("y2", &line)]);
        canvas.text(&ticks.1(*tick), &[("class", &"tick"), ("y", &text)]);
    }
    let (top, base) = (px(ABOVE), px(ABOVE + PLOT));
    canvas.element("line", &[("class", &"whisker"), ("x1", &0), ("x2", &"100%"), ("y1", &base), ("y2", &base)]);
    let (size, box_) = (px(PLOT), format!("0 0 {GRID} {GRID}"));
    canvas.open(
        "svg",
        &[
            ("x", &0),
            ("y", &top),
            ("width", &"100%"),
            ("height", &size),
            ("viewBox", &box_),
            ("preserveAspectRatio", &"none"),
        ],
    );
    for line in lines {
        let place = |(x, y, _): &(f64, f64, bool)| {
            format!("{} {}", px(across.place(*x) * GRID), px((1.0 - up.place(*y).clamp(0.0, 1.0)) * GRID))
        };
        let path = format!("M{}", line.points.iter().map(place).collect::<Vec<_>>().join("L"));
        canvas.element("path", &[("class", &format!("curve c{}", line.number % COLOURS)), ("d", &path)]);
    }
    canvas.close("svg");
    for line in lines {
        for (x, y, limited) in &line.points {
            canvas.open("svg", &[("x", &percent(across.place(*x))), ("y", &px(height(*y)))]);
            canvas.element(
                "path",
                &[("class", &class(line.number, *limited)), ("d", &SHAPES[line.number % SHAPES.len()])],
            );
            canvas.close("svg");
        }
    }
    let ticks = across.ticks.iter().map(|tick| (across.place(*tick), ticks.0(*tick))).collect();
    let below = ABOVE + PLOT + 4.0;
    let height = layout::axis_with_unit(&mut canvas, below, ticks, unit);
    canvas.wide(below + height, says)
}

/// The class of a mark; hollow where the load was not limited.
fn class(number: usize, limited: bool) -> String {
    format!("mark c{}{}", number % COLOURS, if limited { "" } else { " hollow" })
}

/// The mark of a stack, for the key below the chart.
pub(crate) fn glyph(number: usize) -> String {
    format!(
        "<svg class=\"glyph\" viewBox=\"-6.5 -6.5 13 13\" aria-hidden=\"true\"><path class=\"{}\" d=\"{}\"/></svg>",
        class(number, true),
        SHAPES[number % SHAPES.len()]
    )
}
