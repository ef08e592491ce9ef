//! Ceilings over a stack on a logarithmic axis: what each resource alone would allow, the highest above, and beneath
//! them what was predicted and what was measured.

use super::axis::Log;
use super::canvas::{Canvas, percent, px};
use super::layout::{self, AXIS};
use crate::width::{shorten, width};

/// Height of a line: its text, and what is drawn below it.
const LINE: f64 = 25.0;
/// Where the text of a line stands, and where what is drawn begins.
const BASELINE: f64 = 11.0;
const TRACK: f64 = 15.0;
/// Height of what is drawn.
const BAND: f64 = 7.0;
/// Columns that the name and the figure of a line may take together.
const COLUMNS: usize = 44;
/// Ceilings that are drawn at most: one that is far above the others says nothing.
const MOST: usize = 6;
/// A ceiling so many times as high as the lowest is not drawn.
const FAR: f64 = 100.0;

/// What a resource would allow, in the unit of the axis.
#[derive(Debug)]
pub(crate) struct Ceiling<'a> {
    /// The resource.
    pub(crate) name: &'a str,
    /// How much.
    pub(crate) value: f64,
}

/// All there is over and under the ceilings of a stack under a workload.
#[derive(Debug)]
pub(crate) struct House<'a> {
    /// Ceilings, the lowest first.
    pub(crate) ceilings: Vec<Ceiling<'a>>,
    /// What was predicted: the figure, the ends of its 50 % and of its 90 % interval.
    pub(crate) said: f64,
    pub(crate) half: (f64, f64),
    pub(crate) ninety: (f64, f64),
    /// What was measured.
    pub(crate) measured: Option<f64>,
    /// Is that more than the drives can do?
    pub(crate) doubtful: bool,
}

impl House<'_> {
    /// The ceilings that are drawn, the lowest first.
    fn drawn(&self) -> &[Ceiling<'_>] {
        let lowest = self.ceilings.first().map_or(0.0, |ceiling| ceiling.value);
        let near = self.ceilings.iter().take_while(|ceiling| ceiling.value <= lowest * FAR).count();
        &self.ceilings[..near.min(MOST)]
    }

    /// Everything that has a place on the axis.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> {
        let figures = [self.said, self.ninety.0, self.ninety.1].into_iter().chain(self.measured);
        self.drawn().iter().map(|ceiling| ceiling.value).chain(figures)
    }
}

/// The drawing; `says` tells whose it is to those who cannot see it, `figure` writes a value with its unit, `tick` without.
pub(crate) fn draw(
    house: &House,
    axis: &Log,
    says: &str,
    figure: impl Fn(f64) -> String,
    tick: impl Fn(f64) -> String,
) -> String {
    let mut canvas = Canvas::default();
    let drawn = house.drawn();
    let mut top = 0.0;
    for ceiling in drawn.iter().rev() {
        line(&mut canvas, top, axis.place(ceiling.value), ceiling.name, &figure(ceiling.value));
        top += LINE;
    }
    let lowest = drawn.first().map(|ceiling| axis.place(ceiling.value));
    label(&mut canvas, top, "predicted", &figure(house.said));
    track(&mut canvas, top, lowest);
    said(&mut canvas, top, house, axis);
    top += LINE;
    let name = if house.doubtful { "measured, doubtful" } else { "measured" };
    label(&mut canvas, top, name, &house.measured.map_or_else(|| "no figure".to_owned(), &figure));
    track(&mut canvas, top, lowest);
    if let Some(rate) = house.measured {
        canvas.mark("high", &percent(axis.place(rate)), &middle(top));
    }
    top += LINE;
    let ticks: Vec<(f64, String)> = axis.ticks.iter().map(|value| (axis.place(*value), tick(*value))).collect();
    layout::axis(&mut canvas, top, &ticks);
    canvas.wide(top + AXIS, &words(house, says, figure))
}

/// A ceiling: a bar that ends where the resource does, its name and its figure.
fn line(canvas: &mut Canvas, top: f64, place: f64, name: &str, figure: &str) {
    label(canvas, top, name, figure);
    track(canvas, top, None);
    let (x, y) = (percent(place), px(top + TRACK));
    canvas.element("rect", &[("class", &"roof"), ("y", &y), ("width", &x), ("height", &px(BAND))]);
    upright(canvas, "ridge", place, top, 1.5);
}

/// What a line is drawn on; under the lowest ceiling with a mark of where that is.
fn track(canvas: &mut Canvas, top: f64, lowest: Option<f64>) {
    let y = px(top + TRACK);
    let height = px(BAND);
    canvas.element("rect", &[("class", &"track"), ("y", &y), ("height", &height)]);
    if let Some(place) = lowest {
        upright(canvas, "eave", place, top, 1.5);
    }
}

/// The intervals, and a line at the figure.
fn said(canvas: &mut Canvas, top: f64, house: &House, axis: &Log) {
    for (class, (low, high), more) in [("ninety", house.ninety, 0.0), ("half", house.half, 2.0)] {
        let (low, high) = (axis.place(low).clamp(0.0, 1.0), axis.place(high).clamp(0.0, 1.0));
        // What is next to nothing is still seen.
        let (x, wide) = (percent(low), percent((high - low).max(0.004)));
        let (y, height) = (px(top + TRACK - more / 2.0), px(BAND + more));
        canvas.element("rect", &[("class", &class), ("x", &x), ("y", &y), ("width", &wide), ("height", &height)]);
    }
    upright(canvas, "whisker", axis.place(house.said), top, 3.0);
}

/// A line across the track that goes beyond it by so much above and below.
fn upright(canvas: &mut Canvas, class: &str, place: f64, top: f64, beyond: f64) {
    let (x, y1, y2) = (percent(place), px(top + TRACK - beyond), px(top + TRACK + BAND + beyond));
    canvas.element("line", &[("class", &class), ("x1", &x), ("x2", &x), ("y1", &y1), ("y2", &y2)]);
}

/// The middle of a line's track.
fn middle(top: f64) -> String {
    px(top + TRACK + BAND / 2.0)
}

/// The name of a line at its beginning and the figure at its end, above what is drawn.
fn label(canvas: &mut Canvas, top: f64, name: &str, figure: &str) {
    let y = px(top + BASELINE);
    let short = shorten(name, COLUMNS.saturating_sub(width(figure) + 2).max(12));
    let text = [("class", &"small" as &dyn std::fmt::Display), ("y", &y)];
    if short == name {
        canvas.text(name, &text);
    } else {
        canvas.open("g", &[]);
        canvas.title(name);
        canvas.text(&short, &text);
        canvas.close("g");
    }
    canvas.text(figure, &[("class", &"small value"), ("x", &"100%"), ("y", &y)]);
}

/// The same in words.
fn words(house: &House, says: &str, figure: impl Fn(f64) -> String) -> String {
    let ceilings: Vec<String> =
        house.drawn().iter().map(|ceiling| format!("{} {}", ceiling.name, figure(ceiling.value))).collect();
    let measured = house.measured.map_or_else(|| "no figure".to_owned(), &figure);
    format!(
        "{says}: limits, the lowest first: {}; predicted {}, 90 % interval {} to {}; measured {measured}",
        ceilings.join(", "),
        figure(house.said),
        figure(house.ninety.0),
        figure(house.ninety.1),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house(values: &[f64]) -> House<'static> {
        House {
            ceilings: values.iter().map(|value| Ceiling { name: "drive", value: *value }).collect(),
            said: 90.0,
            half: (80.0, 100.0),
            ninety: (50.0, 150.0),
            measured: None,
            doubtful: false,
        }
    }

    #[test]
    fn ceilings_that_are_far_away_are_not_drawn() {
        assert_eq!(house(&[100.0, 500.0, 20_000.0]).drawn().len(), 2);
        assert_eq!(house(&[1.0; 9]).drawn().len(), MOST);
        assert!(house(&[]).drawn().is_empty());
    }

    #[test]
    fn a_drawing_says_in_words_what_it_shows() {
        let house = house(&[100.0, 500.0]);
        let axis = Log::around(house.values());
        let figure = |value: f64| format!("{value:.0} MB/s");
        let drawing = draw(&house, &axis, "mirror", figure, |value| format!("{value:.0}"));
        let words = "mirror: limits, the lowest first: drive 100 MB/s, drive 500 MB/s; predicted 90 MB/s, 90 % interval 50 MB/s \
                     to 150 MB/s; measured no figure";
        assert!(drawing.contains(&format!("aria-label=\"{words}\"")), "{drawing}");
        assert_eq!(drawing.matches("class=\"ridge\"").count(), 2);
        assert_eq!(drawing.matches("<use").count(), 0, "nothing was measured");
    }
}
