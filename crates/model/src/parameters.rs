//! Every value that goes into a prediction, constants and machine alike, in one list.

use terms::prediction::{Input, Source};

use crate::parameter::{Parameter, TABLE, Unit};

/// Values with their uncertainty.
#[derive(Debug, Clone)]
pub struct Parameters {
    values: Vec<f64>,
    sigmas: Vec<f64>,
    words: Vec<Words>,
}

#[derive(Debug, Clone)]
struct Words {
    name: String,
    unit: Unit,
    source: Source,
    origin: String,
}

/// A value before it is in the book.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
    pub(crate) sigma: f64,
    pub(crate) source: Source,
    pub(crate) origin: String,
}

impl Default for Parameters {
    /// The constants.
    fn default() -> Self {
        let mut parameters = Self { values: Vec::new(), sigmas: Vec::new(), words: Vec::new() };
        for entry in TABLE {
            parameters.add(Value {
                name: entry.name.to_owned(),
                unit: entry.unit,
                value: entry.value,
                sigma: entry.sigma,
                source: entry.source,
                origin: entry.origin.to_owned(),
            });
        }
        parameters
    }
}

impl Parameters {
    pub(crate) fn add(&mut self, value: Value) -> u32 {
        self.values.push(value.value);
        self.sigmas.push(value.sigma);
        let Value { name, unit, source, origin, .. } = value;
        self.words.push(Words { name, unit, source, origin });
        u32::try_from(self.values.len() - 1).unwrap_or(u32::MAX)
    }

    /// Puts a measured value in the place of a constant.
    pub fn set(&mut self, parameter: Parameter, value: f64, sigma: f64, source: Source, origin: &str) {
        let at = parameter as usize;
        self.values[at] = value;
        self.sigmas[at] = sigma;
        self.words[at].source = source;
        origin.clone_into(&mut self.words[at].origin);
    }

    /// Makes a constant less sure by so much more.
    pub(crate) fn widen(&mut self, parameter: Parameter, by: f64) {
        self.widen_at(parameter as u32, by);
    }

    pub(crate) fn widen_at(&mut self, at: u32, by: f64) {
        let sigma = &mut self.sigmas[at as usize];
        *sigma = sigma.hypot(by);
    }

    /// Says where a value is from.
    pub(crate) fn told_of(&mut self, at: u32, origin: &str) {
        origin.clone_into(&mut self.words[at as usize].origin);
    }

    pub(crate) fn put(&mut self, parameter: Parameter, value: f64) {
        self.values[parameter as usize] = value;
    }

    /// The value of a constant.
    #[must_use]
    pub fn get(&self, parameter: Parameter) -> f64 {
        self.values[parameter as usize]
    }

    pub(crate) fn value(&self, at: u32) -> f64 {
        self.values[at as usize]
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }

    pub(crate) fn sigma(&self, at: u32) -> f64 {
        self.sigmas[at as usize]
    }

    /// For reports.
    pub(crate) fn input(&self, at: u32) -> Input {
        let words = &self.words[at as usize];
        let raw = self.value(at);
        let (value, unit) = match words.unit {
            Unit::Time | Unit::Delay => (raw * 1e9, "ns"),
            Unit::PerByte => (raw * 1e9, "ns/B"),
            Unit::Rate => (1.0 / raw, "B/s"),
            Unit::Operations => (1.0 / raw, "IOPS"),
            Unit::Ratio => (raw, ""),
        };
        Input {
            name: words.name.clone(),
            value,
            unit: unit.to_owned(),
            sigma: self.sigma(at),
            source: words.source,
            origin: words.origin.clone(),
        }
    }
}
