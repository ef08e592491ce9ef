//! Which of several stacks is predicted to be the fastest, where their order can be known.

use terms::layer::Over;
use terms::prediction::{ORDERED, Prediction, Range};
use terms::{Layer, Stack};

use crate::expectation::{Expectation, figure, range};
use crate::grouped::by_key;
use crate::style::{Style, Tone};
use crate::width::paragraph;

/// So many stacks whose order is not known are named; of more, the first and how many there are.
const NAMED: usize = 2;

/// The answer where stacks are compared: which is the fastest under each workload, and which the next.
pub(crate) fn fastest(expectation: &Expectation<'_>, style: &Style) -> String {
    let all = expectation.predictions;
    if all.iter().all(|of| of.stack == all[0].stack) {
        return String::new();
    }
    let mut out = format!("\n{}\n", style.paint(Tone::Strong, "Predicted to be the fastest"));
    for under in by_key(all, |of| of.workload.as_str()) {
        let first = style.spell(&format!("  {}: ", under[0].pattern));
        out.push_str(&paragraph(&first, &style.spell(&places(&under, expectation.stacks, style)), style.columns()));
    }
    let sure = "A stack comes before others if it is predicted 1.5 times as fast as they are, or more. Of published pairs so far apart, \
                90 % came out in the predicted order, and 72 % of those closer.";
    out.push_str(&paragraph("  ", sure, style.columns()));
    if all.iter().any(|of| !of.flags.is_empty()) {
        out.push_str("  ! a warning below that stack says what the figure means\n");
    }
    out
}

/// A prediction, and what it counts for in the order.
type Ranked<'p> = (f64, &'p Prediction);

/// The fastest, and the next where there is one fastest.
fn places(under: &[&Prediction], stacks: &[Stack], style: &Style) -> String {
    let ranked = ranked(under, stacks);
    let (first, others) = equals(&ranked);
    if first.len() > 1 {
        return format!("not distinguishable: {}", named(first, style));
    }
    let (next, _) = equals(others);
    [first, next].iter().filter(|of| !of.is_empty()).map(|of| named(of, style)).collect::<Vec<_>>().join("; next ")
}

/// Predictions by what they count for: no more than that of the same stack without layers that only add to it.
fn ranked<'p>(under: &[&'p Prediction], stacks: &[Stack]) -> Vec<Ranked<'p>> {
    let stack = |of: &Prediction| stacks.iter().find(|stack| stack.name == of.stack);
    let worth = |of: &Prediction| {
        let plainer =
            |other: &&&Prediction| stack(other).zip(stack(of)).is_some_and(|(plain, own)| adds_to(own, plain));
        under.iter().filter(plainer).map(|other| other.throughput.value).fold(of.throughput.value, f64::min)
    };
    let mut ranked: Vec<Ranked<'p>> = under.iter().map(|of| (worth(of), *of)).collect();
    // Of those that count the same, the plain one is not above its own figure.
    ranked.sort_by(|(a, of), (b, other)| b.total_cmp(a).then(of.throughput.value.total_cmp(&other.throughput.value)));
    ranked
}

/// The first of these, with those whose order to it is not known; and the others.
fn equals<'r, 'p>(ranked: &'r [Ranked<'p>]) -> (&'r [Ranked<'p>], &'r [Ranked<'p>]) {
    let best = ranked.first().map_or(0.0, |(worth, _)| *worth);
    ranked.split_at(ranked.partition_point(|(worth, _)| worth * ORDERED > best))
}

/// Stacks with their figure, or from the lowest to the highest of them: `single, mirror and 2 more (3104 – 4707 MiB/s)`.
fn named(same: &[Ranked<'_>], style: &Style) -> String {
    let mark = |of: &Prediction| if of.flags.is_empty() { "" } else { " !" };
    let names: Vec<String> = same.iter().take(NAMED).map(|(_, of)| format!("{}{}", of.stack, mark(of))).collect();
    let more = if same.len() > NAMED { format!(" and {} more", same.len() - NAMED) } else { String::new() };
    let values = || same.iter().map(|(_, of)| of.throughput.value);
    let ends = Range { low: values().fold(f64::INFINITY, f64::min), high: values().fold(0.0, f64::max) };
    let best = figure(same[0].1, ends.high, style);
    let figures = match best.split_once(' ') {
        Some((_, unit)) if ends.low < ends.high => format!("{} {unit}", range(same[0].1, ends, style)),
        _ => best,
    };
    format!("{}{more} ({figures})", names.join(", "))
}

/// Is one stack the other with more layers, each on one device and passing requests through, such as encryption? They take time. That
/// one is predicted to save some, because it hands work to other threads, is nothing to build it for.
fn adds_to(more: &Stack, plain: &Stack) -> bool {
    let mut left = plain.nodes.iter().map(|node| &node.layer).peekable();
    let is_known = |layer: &Layer| left.next_if_eq(&layer).is_some() || only_adds(layer);
    more.nodes.len() > plain.nodes.len()
        && more.drives() == plain.drives()
        && more.nodes.iter().map(|node| &node.layer).all(is_known)
        && left.peek().is_none()
}

fn only_adds(layer: &Layer) -> bool {
    let traits = layer.traits();
    let is_on_one = matches!(traits.over, Over::One | Over::Each);
    is_on_one && traits.cache.is_none() && !traits.file_system && !traits.shares_drive
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use terms::layer::{Ext4, Luks, Raid, Writecache};
    use terms::{LayerNode, Name, Ref};

    use super::*;

    fn stack(name: &str, layers: Vec<Layer>) -> Stack {
        let drive = vec![Ref::Drive(Name::new("a").unwrap())];
        let node = |(at, layer): (usize, Layer)| LayerNode {
            name: Name::new(format!("n{at}")).unwrap(),
            layer,
            on: drive.clone(),
            special: Vec::new(),
        };
        Stack { name: name.to_owned(), note: None, nodes: layers.into_iter().enumerate().map(node).collect() }
    }

    fn prediction(stack: &str, rate: f64) -> Prediction {
        let range = json!({ "low": rate, "high": rate });
        let of = json!({ "value": rate, "half": range, "ninety": range });
        let value = json!({
            "stack": stack, "workload": "w", "pattern": "SEQ 1 MiB", "state": "whole",
            "throughput_bytes_per_second": of, "operations_per_second": of, "latency_mean_ns": of, "latency_p99_ns": of,
            "cpu_per_operation_ns": of, "threads_busy": of, "limits": [], "elasticities": [], "roofs": [],
            "demands": [], "inputs": [], "flags": [],
        });
        serde_json::from_value(value).unwrap()
    }

    fn told(predictions: &[Prediction], stacks: &[Stack]) -> String {
        places(&predictions.iter().collect::<Vec<_>>(), stacks, &Style::default())
    }

    #[test]
    fn a_stack_is_the_fastest_where_the_order_can_be_known() {
        let of = |rates: [f64; 3]| {
            let all: Vec<Prediction> =
                ["x", "y", "z"].iter().zip(rates).map(|(name, rate)| prediction(name, rate)).collect();
            told(&all, &[])
        };
        assert!(of([100e6, 240e6, 140e6]).starts_with("y (240M IOPS)"), "{}", of([100e6, 240e6, 140e6]));
        assert!(of([100e6, 240e6, 140e6]).contains("; next z, x (100M – "), "{}", of([100e6, 240e6, 140e6]));
        let same = of([230e6, 240e6, 200e6]);
        assert!(same.starts_with("not distinguishable: y, x and 1 more (200M – "), "{same}");
    }

    /// However much faster it is predicted to be.
    #[test]
    fn encryption_on_top_of_a_stack_is_not_what_makes_it_fast() {
        let (luks, ext4) = (Layer::Luks(Luks::default()), Layer::Ext4(Ext4::default()));
        let plain = stack("plain", vec![ext4.clone()]);
        let sealed = stack("sealed", vec![luks.clone(), ext4.clone()]);
        let all = [prediction("plain", 100e6), prediction("sealed", 900e6), prediction("other", 10e6)];
        let text = told(&all, &[plain.clone(), sealed.clone()]);
        assert!(text.starts_with("not distinguishable: plain, sealed ("), "{text}");
        assert!(adds_to(&sealed, &plain) && !adds_to(&plain, &sealed) && !adds_to(&plain, &plain));
        let cached = stack("cached", vec![Layer::Writecache(Writecache::default()), ext4.clone()]);
        let mirror = stack("mirror", vec![Layer::Raid(Raid::default()), ext4]);
        assert!(!adds_to(&cached, &plain) && !adds_to(&mirror, &plain));
    }
}
