//! Latency under load: a line for each stack from its lowest to its largest rate, on logarithmic axes.

use terms::finding::Curve;
use terms::units::{Nanos, significant};

use super::axis::Log;
use super::canvas::{Canvas, percent, px};

/// Height of the field in pixels.
const HEIGHT: f64 = 220.0;
/// Room for the labels below it.
const FOOT: f64 = 34.0;
/// Room above for the first line.
const HEAD: f64 = 14.0;
/// Ways to draw a line, told apart without colour.
const DASHES: [&str; 5] = ["none", "7 4", "2 3", "10 3 2 3", "1 5"];

/// A point: operations per second and nanoseconds.
type Point = (f64, f64);

/// The drawing of a workload's curves; `title` tells it to those who cannot see it.
pub(crate) fn draw(curves: &[(&str, &Curve)], title: &str) -> String {
    let lines: Vec<(&str, Vec<Point>)> = curves.iter().map(|(name, curve)| (*name, points(curve))).collect();
    let all = || lines.iter().flat_map(|(_, points)| points.iter().copied());
    let (across, up) = (Log::around(all().map(|point| point.0)), Log::around(all().map(|point| point.1)));
    let mut canvas = Canvas::default();
    let y = |value: f64| HEAD + (1.0 - up.place(value)) * HEIGHT;
    for tick in &up.ticks {
        let at = px(y(*tick));
        canvas.element("line", &[("class", &"grid"), ("x1", &"0%"), ("x2", &"100%"), ("y1", &at), ("y2", &at)]);
        canvas.text(&nanos(*tick), &[("class", &"tick"), ("x", &"0%"), ("y", &px(y(*tick) - 3.0))]);
    }
    for tick in &across.ticks {
        let at = percent(across.place(*tick));
        canvas.text(
            &significant(*tick),
            &[("class", &"tick"), ("x", &at), ("y", &px(HEAD + HEIGHT + 16.0)), ("text-anchor", &"middle")],
        );
    }
    for (index, (name, points)) in lines.iter().enumerate() {
        let dash = DASHES[index % DASHES.len()];
        for pair in points.windows(2) {
            canvas.element(
                "line",
                &[
                    ("class", &"whisker"),
                    ("stroke-dasharray", &dash),
                    ("x1", &percent(across.place(pair[0].0))),
                    ("x2", &percent(across.place(pair[1].0))),
                    ("y1", &px(y(pair[0].1))),
                    ("y2", &px(y(pair[1].1))),
                ],
            );
        }
        for point in points {
            let says = format!("{name}: {} operations/s, {}", significant(point.0), nanos(point.1));
            canvas.open("g", &[]);
            canvas.title(&says);
            canvas.element(
                "circle",
                &[("class", &"dot p50"), ("cx", &percent(across.place(point.0))), ("cy", &px(y(point.1))), ("r", &"4")],
            );
            canvas.close("g");
        }
        // Names stand at the end of their lines, to the left of it: the right edge is the edge of the page.
        if let Some(last) = points.last() {
            canvas.text(
                name,
                &[
                    ("class", &"name"),
                    ("x", &percent(across.place(last.0))),
                    ("y", &px(y(last.1) - 8.0)),
                    ("text-anchor", &"end"),
                ],
            );
        }
    }
    canvas.wide(HEAD + HEIGHT + FOOT, &format!("Median latency against operations per second: {title}"))
}

/// Points that have both a rate and a median.
fn points(curve: &Curve) -> Vec<Point> {
    let point = |of: &terms::finding::CurvePoint| {
        let latency = of.latency.as_ref()?.p50;
        #[expect(clippy::cast_precision_loss, reason = "a drawing shows nothing beyond 2^53")]
        Some((of.iops?.value, latency.0 as f64)).filter(|point| point.0 > 0.0 && point.1 > 0.0)
    };
    curve.points.iter().filter_map(point).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates; never below 0")]
fn nanos(value: f64) -> String {
    Nanos(value.round() as u64).to_string()
}
