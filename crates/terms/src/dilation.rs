//! Time dilation: a guest that counts its instructions takes each for a nanosecond of its clock, and a real processor ends
//! several in that time. So everything in such a guest is slower by one factor, its drives too, and what was counted there
//! is converted once, here. The idea is that of Gupta and others, "To Infinity and Beyond: Time-Warped Network Emulation",
//! NSDI 2006.

use std::collections::BTreeMap;

use crate::design::MeasurePolicy;
use crate::evidence::{Steadiness, Threads};
use crate::record::{Cell, CpuDelta, Flow, Latency, MemberDelta, Probe, Reading, Sample};
use crate::speed::Speed;
use crate::units::Nanos;
use crate::workload::Workload;

impl Workload {
    /// The same work for a guest by its own clock: as much time under load as the machine would have. Rates are asked for
    /// apart.
    #[must_use]
    pub fn in_guest(&self, speed: Speed) -> Self {
        Self { window: self.window.map(|window| speed.in_guest(window)), ..self.clone() }
    }
}

impl MeasurePolicy {
    /// The same policy by the clock of a guest.
    #[must_use]
    pub fn in_guest(&self, speed: Speed) -> Self {
        Self { settle: speed.in_guest(self.settle), window: speed.in_guest(self.window), ..self.clone() }
    }
}

impl Cell {
    /// A cell that a guest counted by its own clock, as the machine would have counted it. What was read stays as it was
    /// read: fio's files, the job, what guards saw; and how long it took, which is our time.
    #[must_use]
    pub fn on_machine(mut self, speed: Speed) -> Self {
        let convert = Convert(speed);
        if let Some(reading) = &mut self.reading {
            convert.reading(reading);
        }
        self.members.iter_mut().for_each(|member| convert.member(member));
        if let Some(cpu) = &mut self.cpu {
            convert.cpu(cpu);
        }
        self.samples.iter_mut().for_each(|sample| convert.sample(sample));
        self.probes.iter_mut().for_each(|Probe { took, .. }| convert.time(took));
        if let Some(steadiness) = &mut self.steadiness {
            convert.steadiness(steadiness);
        }
        if let Some(threads) = &mut self.threads {
            convert.threads(threads);
        }
        if let Some(settled) = &mut self.settled {
            convert.time(settled);
        }
        if let Some(rate) = &mut self.offered_iops {
            convert.rate(rate);
        }
        if let Some(imitated) = &mut self.imitated {
            convert.rate(&mut imitated.printed);
            convert.rate(&mut imitated.promised);
            for one in &mut imitated.loops {
                convert.rate(&mut one.throughput);
                convert.rate(&mut one.taken);
                convert.time(&mut one.runtime);
            }
        }
        self
    }
}

/// What converts each part of a cell.
#[derive(Clone, Copy)]
struct Convert(Speed);

impl Convert {
    fn time(self, time: &mut Nanos) {
        *time = self.0.on_machine(*time);
    }

    fn rate(self, rate: &mut f64) {
        *rate *= self.0.factor();
    }

    fn reading(self, Reading { read, write, sync, fio_cpu_cores: _ }: &mut Reading) {
        for Flow { runtime, throughput, iops, latency, bytes: _, operations: _ } in read.iter_mut().chain(write) {
            self.time(runtime);
            self.rate(&mut throughput.0);
            self.rate(&mut iops.0);
            self.latency(latency);
        }
        sync.iter_mut().for_each(|latency| self.latency(latency));
    }

    fn latency(self, Latency { mean, p50, p99, p999, max, bins }: &mut Latency) {
        for time in [mean, p50, max].into_iter().chain(p99).chain(p999) {
            self.time(time);
        }
        let mut merged = BTreeMap::new();
        for (nanos, count) in std::mem::take(bins) {
            *merged.entry(self.0.on_machine(Nanos(nanos)).0).or_insert(0) += count;
        }
        bins.extend(merged);
    }

    fn member(self, MemberDelta { busy, queued, drive: _, read: _, written: _, operations: _ }: &mut MemberDelta) {
        self.time(busy);
        self.time(queued);
    }

    fn cpu(self, CpuDelta { busy, busiest, softirq, agent, wall, processors: _ }: &mut CpuDelta) {
        for time in [busy, busiest, softirq, agent, wall] {
            self.time(time);
        }
    }

    fn sample(self, Sample { at, throughput, latency }: &mut Sample) {
        self.time(at);
        self.rate(&mut throughput.0);
        latency.iter_mut().for_each(|latency| self.time(latency));
    }

    fn steadiness(self, of: &mut Steadiness) {
        self.time(&mut of.warmup);
        self.rate(&mut of.low);
        self.rate(&mut of.high);
        if let Some(cliff) = &mut of.cliff {
            self.time(&mut cliff.at);
            self.rate(&mut cliff.before);
            self.rate(&mut cliff.after);
        }
    }

    fn threads(self, Threads { wall, kinds }: &mut Threads) {
        self.time(wall);
        for kind in kinds {
            self.time(&mut kind.busy);
            self.time(&mut kind.busiest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CellKey;
    use crate::units::{Bytes, BytesPerSecond, Iops};

    #[test]
    fn speeds_are_read_as_they_are_written() {
        for text in ["3.2 G instructions/s", "1G instructions/s", "100 G instructions/s"] {
            let speed = Speed::parse(text).unwrap();
            assert_eq!(Speed::parse(&speed.to_string()), Some(speed));
        }
        for text in ["", "3.2", "3.2 GHz", "0.5 G instructions/s", "101 G instructions/s", "NaN G instructions/s"] {
            assert_eq!(Speed::parse(text), None, "{text}");
        }
    }

    /// Numbers whose key says time or rate are converted, and all others are left alone: whatever a cell will hold one day.
    #[test]
    fn every_time_and_every_rate_of_a_cell_is_converted_and_nothing_else() {
        let before = serde_json::to_value(cell()).unwrap();
        let after = serde_json::to_value(cell().on_machine(Speed(2 * Speed::GUEST.0))).unwrap();
        let mut seen = 0;
        compare("", &before, &after, &mut seen);
        assert!(seen > 30, "{seen}");
    }

    fn compare(key: &str, before: &serde_json::Value, after: &serde_json::Value, seen: &mut u32) {
        use serde_json::Value;
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => {
                before.iter().for_each(|(key, value)| compare(key, value, &after[key], seen));
            }
            (Value::Array(before), Value::Array(after)) => {
                before.iter().zip(after).for_each(|(before, after)| compare(key, before, after, seen));
            }
            (Value::Number(before), Value::Number(after)) => {
                let (before, after) = (before.as_f64().unwrap(), after.as_f64().unwrap());
                let is_rate = key.ends_with("_per_second") || ["offered_iops", "printed"].contains(&key);
                let is_time = key.ends_with("_ns") && key != "took_ns";
                let expected = if is_rate {
                    before * 2.0
                } else if is_time || (key == "bins" && before > 100.0) {
                    before / 2.0
                } else {
                    before
                };
                assert!((after - expected).abs() < 1e-6, "{key}: {before} became {after}");
                *seen += 1;
            }
            (before, after) => assert_eq!(before, after, "{key}"),
        }
    }

    fn cell() -> Cell {
        let key = CellKey { round: 1, stack: "a".into(), workload: "w".into() };
        let latency = Latency {
            mean: Nanos(1000),
            p50: Nanos(800),
            p99: Some(Nanos(4000)),
            p999: Some(Nanos(8000)),
            max: Nanos(9000),
            bins: vec![(800, 7), (4000, 2)],
        };
        let flow = Flow {
            bytes: Bytes(4096),
            operations: 1,
            runtime: Nanos::seconds(2),
            throughput: BytesPerSecond(2048.0),
            iops: Iops(0.5),
            latency: latency.clone(),
        };
        let rest = serde_json::json!({
            "members": [{ "drive": "a", "read_bytes": 1, "written_bytes": 2, "busy_ns": 40, "operations": 3, "queued_ns": 60 }],
            "cpu": { "busy_ns": 2, "busiest_ns": 4, "softirq_ns": 6, "processors": 1, "agent_ns": 8, "wall_ns": 10 },
            "samples": [{ "at_ns": 100, "throughput_bytes_per_second": 5.0, "latency_ns": 12 }],
            "steadiness": { "state": "steady", "samples": 9, "warmup_ns": 14, "effective_samples": 4.0, "half_width": 0.1,
                "drift": 0.1, "cliff": { "at_ns": 16, "moved_bytes": 3, "before_bytes_per_second": 1.0,
                "after_bytes_per_second": 2.0 }, "low_bytes_per_second": 1.0, "high_bytes_per_second": 3.0, "snia": true },
            "settled_ns": 26,
            "threads": { "wall_ns": 18, "kinds": [{ "kind": "fio", "threads": 1, "busy_ns": 20, "busiest_ns": 22 }] },
            "imitated": { "tool": "kdisk-mark", "argv": [], "best": true, "printed": 5.0, "unit": "MB/s",
                "promised_bytes_per_second": 5e6, "loops": [{ "throughput_bytes_per_second": 4.0,
                "taken_bytes_per_second": 5.0, "runtime_ns": 24 }] },
        });
        let begun = Cell::begun(key, String::new(), Vec::new(), 1);
        let mut whole = serde_json::to_value(Cell {
            reading: Some(Reading {
                read: Some(flow.clone()),
                write: Some(flow),
                sync: Some(latency),
                fio_cpu_cores: 0.5,
            }),
            offered_iops: Some(7.0),
            took: Nanos::seconds(3),
            ..begun
        })
        .unwrap();
        for (key, value) in rest.as_object().unwrap() {
            whole[key] = value.clone();
        }
        serde_json::from_value(whole).unwrap()
    }
}
