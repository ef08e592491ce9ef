//! Laws of what is said of one stack, which all look at the same prediction: making one takes most of their time.

use super::*;

use terms::prediction::{Estimate, Prediction};
use terms::workload::{Engine, FioKey};

type Law = Result<(), TestCaseError>;

fn is_close(one: f64, other: f64) -> bool {
    (one / other - 1.0).abs() < 1e-6
}

fn ends(of: Estimate) -> [f64; 5] {
    [of.value, of.half.low, of.half.high, of.ninety.low, of.ninety.high]
}

/// Figures are finite, above nothing, and in their intervals; shares are shares.
fn is_sound(said: &Prediction) -> Law {
    for figure in [said.throughput, said.operations, said.latency, said.p99, said.cpu] {
        prop_assert!(figure.value.is_finite() && figure.value > 0.0, "{said:#?}");
        prop_assert!(figure.ninety.low <= figure.half.low && figure.half.high <= figure.ninety.high);
        prop_assert!(figure.ninety.holds(figure.value));
    }
    for limit in &said.limits {
        prop_assert!(limit.utilisation <= 1.0 && limit.probability <= 1.0);
    }
    let sum: f64 = said.limits.iter().map(|limit| limit.probability).sum();
    prop_assert!((sum - 1.0).abs() < 1e-6, "{:?}", said.limits);
    Ok(())
}

/// No resource does more than it can, in any state.
fn is_below_every_limit(said: &Prediction) -> Law {
    let lowest = said.ceilings.first().unwrap().operations_per_second;
    prop_assert!(said.operations.value <= lowest * SLACK, "{} {:?}", said.operations.value, said.ceilings);
    Ok(())
}

/// Little, "A proof for the queuing formula L = λW", Operations Research 9 (1961): operations in a second times the
/// latency of one are the operations under way.
fn keeps_to_little(said: &Prediction, given: f64) -> Law {
    let under_way = said.operations.value * said.latency.value / 1e9;
    prop_assert!(is_close(under_way, given), "{under_way} of {given}");
    Ok(())
}

/// One in a hundred operations takes longer than the mean, and none less than what it needs with nothing else under way;
/// the same of the ends of all intervals.
fn has_its_percentiles_above_the_floor(said: &Prediction, given: f64) -> Law {
    for (tail, mean) in ends(said.p99).into_iter().zip(ends(said.latency)) {
        prop_assert!(tail >= mean, "{:?} {:?}", said.p99, said.latency);
    }
    let floor = given / said.ceilings.first().unwrap().operations_per_second * 1e9;
    prop_assert!(said.latency.value * SLACK >= floor && said.p99.value * SLACK >= floor);
    Ok(())
}

/// What is said in several units is said of the same, no more threads are busy than there are, and sums are sums.
fn agrees_in_its_units(said: &Prediction, block: f64, threads: f64) -> Law {
    prop_assert!(is_close(said.throughput.value, said.operations.value * block));
    prop_assert!(is_close(said.throughput.ninety.low, said.operations.ninety.low * block));
    prop_assert!(is_close(said.threads_busy.value, said.cpu.value * 1e-9 * said.operations.value));
    prop_assert!(said.threads_busy.value <= threads * SLACK, "{:?}", said.threads_busy);
    for ceiling in &said.ceilings {
        prop_assert!(is_close(ceiling.throughput, ceiling.operations_per_second * block), "{ceiling:?}");
    }
    for demand in &said.demands {
        let sum: f64 = demand.terms.iter().map(|term| term.product).sum();
        prop_assert!((demand.demand - sum).abs() <= 1e-6 * sum.abs().max(1.0), "{demand:?}");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_stack_has_finite_figures_below_its_limits_that_agree(
        first in select(wide()), above in prop::collection::vec(select(narrow()), 0..3), members in 4usize..8,
        work in work(), kind in kinds(), state in select(vec![ArrayState::Whole, ArrayState::Degraded, ArrayState::Resync]),
        engine in select(vec![Engine::Libaio, Engine::IoUring]), cache in select(vec![None, None, Some("0"), Some("1")]),
        memory in select(vec![None, Some(Bytes::gib(1)), Some(Bytes::gib(64))]),
    ) {
        let key = |key: &str, value: &str| FioKey { key: key.to_owned(), value: value.to_owned() };
        let keys = cache.map_or_else(Vec::new, |warm| vec![key("direct", "0"), key("pre_read", warm)]);
        let work = Workload { engine, keys, ..work };
        let conditions = Conditions { state, ..Conditions::default() };
        let mut machine = machine(kind, 1.0);
        machine.memory.size = memory;
        let said = predict(&Site::new(&machine), &stacked(first, members, &above), &work, &conditions).unwrap();
        let given = f64::from(work.jobs) * f64::from(work.depth);
        is_sound(&said)?;
        is_below_every_limit(&said)?;
        keeps_to_little(&said, given)?;
        has_its_percentiles_above_the_floor(&said, given)?;
        agrees_in_its_units(&said, work.block.as_f64(), f64::from(machine.threads))?;
    }
}
