//! What a processor's name tells, and what was measured of it, in the place of the table's times.

use terms::Bytes;
use terms::prediction::Source;

use crate::link::USUAL_PAYLOAD;
use crate::parameter::Parameter;
use crate::site::Site;

/// How far the speed of a processor is off that its name tells: kernels do not scale as what makers publish.
const NAMED: f64 = 0.25;
/// First kernel with code for wider AES instructions ("crypto: x86/aes-xts" 996f4dcbd231 and those beside it).
const WIDE_XTS: (u32, u32) = (6, 10);
/// Time of SHA-256 with instructions for it relative to without: 0.4 and 1.9 GB/s of one core.
const SHA: f64 = 0.21;

impl Site {
    /// Payload of a link where nobody told it.
    pub(crate) fn usual_payload(&self) -> Bytes {
        self.machine.processor.as_ref().and_then(|processor| processor.payload).unwrap_or(USUAL_PAYLOAD)
    }

    /// How many times as fast the kernel's code for AES in XTS mode is as it was when all ciphers were measured.
    pub(crate) fn code_of_xts(&self) -> f64 {
        let named = self.machine.processor.as_ref().filter(|_| self.kernel_from(WIDE_XTS));
        named.map_or(1.0, |processor| processor.xts)
    }

    /// What the processor's name tells, and what was measured of it, takes the place of the table.
    pub(crate) fn add_processor(&mut self) {
        if let Some(processor) = self.machine.processor.clone() {
            self.named = true;
            let origin = format!("{}: instructions for each cycle and the largest clock of one core", processor.name);
            self.parameters.set(Parameter::CpuFactor, 1.0 / processor.pace, NAMED, Source::Told, &origin);
            for parameter in [Parameter::CryptReadByte, Parameter::CryptWriteByte] {
                // Half of the time is moving data, which more units do not speed up.
                let units = f64::midpoint(1.0, 1.0 / processor.aes);
                let value = self.parameters.get(parameter) * units / self.code_of_xts();
                self.parameters.set(
                    parameter,
                    value,
                    0.3,
                    Source::Told,
                    "AES units of that core, and the kernel's code for them",
                );
            }
            if processor.sha {
                let value = self.parameters.get(Parameter::Sha256) * SHA;
                self.parameters.set(Parameter::Sha256, value, 0.4, Source::Told, "instructions for SHA-256");
            }
        }
        if let Some(submit) = self.machine.submit {
            let parameters = &self.parameters;
            let reference = parameters.get(Parameter::ApiRead) + parameters.get(Parameter::NvmeIo);
            let pages = 4096.0 * parameters.get(Parameter::ApiByte);
            let origin = format!(
                "{submit} for a read of 4 KiB here, {:.1} µs on the reference machine",
                (reference + pages) * 1e6
            );
            let factor = (submit.as_seconds() - pages).max(submit.as_seconds() * 0.1) / reference;
            self.parameters.set(Parameter::CpuFactor, factor, 0.12, Source::Measured, &origin);
        }
        if let Some(cipher) = self.machine.cipher {
            for parameter in [Parameter::CryptReadByte, Parameter::CryptWriteByte] {
                // The factor of the processor is taken out: this was measured here.
                let value = 1.0 / cipher.0 / self.parameters.get(Parameter::CpuFactor);
                self.parameters.set(parameter, value, 0.1, Source::Measured, "cipher measured on one core");
            }
        }
    }
}
