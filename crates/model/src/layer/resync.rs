//! A resynchronisation beside the workload: a second class of load on the members of arrays.

use terms::layer::{ArrayState, RaidLevel};
use terms::{Layer, Stack};

use crate::compiler::{Compiler, count};
use crate::network::{Resource, Resync};
use crate::parameter::Parameter;

/// Bytes of a request of a resynchronisation: md's `RESYNC_BLOCK_SIZE`.
const REQUEST: f64 = 65_536.0;
/// First kernel in which a resynchronisation keeps several requests under way beside other work.
const DEPTH: (u32, u32) = (6, 16);

impl Compiler<'_> {
    /// Adds the second class where an array is out of step.
    pub(crate) fn resynchronise(&mut self, stack: &Stack) {
        if self.conditions.state != ArrayState::Resync {
            return;
        }
        let Some((raid, members)) = stack.nodes.iter().find_map(|node| match &node.layer {
            Layer::Raid(raid) if node.layer.is_redundant() => Some((raid, node.on.len())),
            _ => None,
        }) else {
            return;
        };
        let slowest = self.network.stations.iter().filter_map(|station| match station.resource {
            Resource::Drive(class, _) => {
                let class = &self.site.classes[class as usize];
                let value = |at: u32| self.site.parameters.value(at);
                Some(value(class.write).max(value(class.read)) * REQUEST)
            }
            _ => None,
        });
        let drive = slowest.fold(0.0, f64::max);
        let parameters = &self.site.parameters;
        let parity = matches!(raid.level, RaidLevel::Raid5 | RaidLevel::Raid6);
        let byte = parameters.get(Parameter::ParityMember) * parameters.get(Parameter::CpuFactor);
        let serial = if parity { byte * REQUEST * count(members) } else { 0.0 };
        let cap = parameters.get(Parameter::ResyncCap) * REQUEST;
        let several = self.site.kernel_from(DEPTH);
        let depth = parameters.get(if several { Parameter::ResyncDepth } else { Parameter::ResyncYields });
        self.network.resync = Some(Resync { drive, serial, cap, depth, bytes: REQUEST });
    }
}
