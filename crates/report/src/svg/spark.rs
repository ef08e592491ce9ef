//! Something over time, as small as a word.

use super::canvas::Canvas;

/// Width and height of the drawing's own grid, whose units are less than a pixel: it is stretched to the cell of its table,
/// which draws the line of zero.
const SIZE: (f64, f64) = (300.0, 60.0);
/// Most points that are drawn; more are thinned to the smallest and largest of each bucket.
const MOST: usize = 200;

/// Steps from the window's begin to its end, each as long as the span that its point is the mean of: points are the end
/// of a span in seconds, and a value. `top` is the value at the upper edge, `end` the time at the right one. A dashed
/// line stands at each of the `marks`, in seconds.
pub(crate) fn draw(points: &[(f64, f64)], (top, end): (f64, f64), marks: &[f64], says: &str) -> String {
    let mut path = String::new();
    for (time, rate) in thin(points, MOST) {
        let x = if end > 0.0 { time / end * SIZE.0 } else { 0.0 };
        let y = if top > 0.0 { SIZE.1 - (rate / top).clamp(0.0, 1.0) * (SIZE.1 - 2.0) } else { SIZE.1 };
        path.push_str(&if path.is_empty() { format!("M0 {y:.0}") } else { format!("V{y:.0}") });
        path.push_str(&format!("H{x:.0}"));
    }
    let mut canvas = Canvas::default();
    canvas.element("path", &[("d", &path)]);
    for at in marks.iter().filter(|at| **at > 0.0 && **at < end) {
        let path = format!("M{:.0} 0V{}", at / end * SIZE.0, SIZE.1);
        canvas.element("path", &[("class", &"cliff"), ("d", &path)]);
    }
    canvas.stretched(SIZE, "spark", says)
}

/// At most `most` points that still touch every extreme: the smallest and the largest of each bucket, in time's order.
fn thin(points: &[(f64, f64)], most: usize) -> Vec<(f64, f64)> {
    if points.len() <= most {
        return points.to_vec();
    }
    let bucket = points.len().div_ceil(most / 2);
    points
        .chunks(bucket)
        .flat_map(|chunk| {
            let by_rate = |a: &&(f64, f64), b: &&(f64, f64)| a.1.total_cmp(&b.1);
            let low = chunk.iter().min_by(by_rate).copied();
            let high = chunk.iter().max_by(by_rate).copied();
            let mut pair: Vec<(f64, f64)> = [low, high].into_iter().flatten().collect();
            pair.sort_by(|a, b| a.0.total_cmp(&b.0));
            pair
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::thin;

    proptest! {
        #[test]
        fn thinning_keeps_the_extremes(rates in prop::collection::vec(0.0_f64..1e9, 1..900)) {
            let points: Vec<(f64, f64)> = rates.iter().enumerate().map(|(at, rate)| (at as f64, *rate)).collect();
            let thinned = thin(&points, 200);
            prop_assert!(thinned.len() <= 200);
            prop_assert!(thinned.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            let highest = |points: &[(f64, f64)]| points.iter().map(|p| p.1).fold(0.0, f64::max);
            prop_assert!((highest(&points) - highest(&thinned)).abs() < 1e-9);
        }
    }
}
