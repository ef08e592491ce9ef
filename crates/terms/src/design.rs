//! A study, understood: drives, stacks as graphs of layers, workloads, and how to measure.

use serde::{Deserialize, Serialize};

use crate::drive::LabDrive;
use crate::layer::Layer;
use crate::name::{Name, slug};
use crate::units::{Bytes, Nanos};
use crate::workload::Workload;

/// A study, understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Design {
    /// What the study wants to know.
    pub question: String,
    /// The guest to rehearse in.
    pub lab: LabSpec,
    /// What is compared.
    pub stacks: Vec<Stack>,
    /// What each stack is asked to do, reads before writes.
    pub workloads: Vec<Workload>,
    /// How it is measured.
    pub measure: MeasurePolicy,
}

/// A guest: processors, memory, drives and where they are plugged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabSpec {
    /// Virtual processors.
    pub cpus: u32,
    /// Memory.
    #[serde(rename = "memory_bytes")]
    pub memory: Bytes,
    /// Drives.
    pub drives: Vec<LabDrive>,
}

impl LabSpec {
    /// The drive of that name.
    #[must_use]
    pub fn drive(&self, name: &Name) -> Option<&LabDrive> {
        self.drives.iter().find(|drive| &drive.name == name)
    }
}

/// Layers on drives. Nodes are in building order: each rests only on drives and on nodes before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// Its name in tables.
    pub name: String,
    /// What the study says of it, if anything.
    pub note: Option<String>,
    /// Layers in building order; the last is what workloads see.
    pub nodes: Vec<Node>,
}

impl Stack {
    /// The name made fit for files and device nodes. Unique in a study.
    #[must_use]
    pub fn slug(&self) -> String {
        slug(&self.name)
    }

    /// The node of that name.
    #[must_use]
    pub fn node(&self, name: &Name) -> Option<&Node> {
        self.nodes.iter().find(|node| &node.name == name)
    }

    /// What workloads see. Stacks are never empty.
    #[must_use]
    pub fn top(&self) -> Option<&Node> {
        self.nodes.last()
    }

    /// Drives it rests on, each once, in the order in which they are first named.
    #[must_use]
    pub fn drives(&self) -> Vec<Name> {
        let mut found: Vec<Name> = Vec::new();
        for below in self.nodes.iter().flat_map(|node| node.on.iter().chain(&node.special)) {
            if let Ref::Drive(name) = below
                && !found.contains(name)
            {
                found.push(name.clone());
            }
        }
        found
    }
}

/// One layer in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its name, unique in the stack.
    pub name: Name,
    /// What it is.
    pub layer: Layer,
    /// What it rests on, in order.
    pub on: Vec<Ref>,
    /// Special vdev members of a ZFS pool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub special: Vec<Ref>,
}

/// Something that a layer rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ref {
    /// A drive of the machine.
    Drive(Name),
    /// A layer of the same stack.
    Layer(Name),
}

impl Ref {
    /// The name, whichever it is.
    #[must_use]
    pub const fn name(&self) -> &Name {
        match self {
            Self::Drive(name) | Self::Layer(name) => name,
        }
    }
}

/// How a study is measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeasurePolicy {
    /// How often every stack is built anew and every workload run on it.
    pub rounds: u32,
    /// Time under load before the window, not counted.
    #[serde(rename = "settle_ns")]
    pub settle: Nanos,
    /// Time under load that is counted.
    #[serde(rename = "window_ns")]
    pub window: Nanos,
    /// Bytes that are filled and then worked on.
    #[serde(rename = "span_bytes")]
    pub span: Bytes,
    /// Seed of every random choice.
    pub seed: u64,
}

impl Default for MeasurePolicy {
    fn default() -> Self {
        Self { rounds: 3, settle: Nanos::seconds(1), window: Nanos::seconds(3), span: Bytes::mib(128), seed: 1 }
    }
}
