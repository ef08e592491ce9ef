//! dm-crypt, plain or under LUKS: where the cipher runs matters more than how fast it is.

use terms::layer::{Crypt, CryptFlags, Luks};
use terms::machine::DriveKind;
use terms::{FLASH_LATENCY, Stack};

use crate::compiler::Compiler;
use crate::flow::{Context, Flow};
use crate::network::Serial;
use crate::parameter::Parameter;

/// Largest request since Linux 6.11 (`max_read_size` and `max_write_size` of the module, 0d815e3400e6), in bytes: a larger one
/// is cut, and each of its parts may have a worker of its own.
const LARGEST: f64 = 131_072.0;
/// First kernel that cuts them.
pub(crate) const CUTS: (u32, u32) = (6, 11);
/// The sector that the times of the table were measured with, in bytes.
const TABLE_SECTOR: f64 = 4096.0;

/// What both kinds of mapping tell.
struct Mapping<'a> {
    cipher: &'a str,
    key_bits: u32,
    sector: f64,
    flags: CryptFlags,
    authenticated: bool,
}

impl Compiler<'_> {
    pub(crate) fn luks(&mut self, stack: &Stack, at: usize, luks: &Luks, flow: &Flow) {
        let sector = luks.sector.map_or_else(|| self.usual_sector(stack), terms::Bytes::as_f64);
        self.mapping(
            at,
            &Mapping {
                cipher: &luks.cipher,
                key_bits: luks.key_bits,
                sector,
                flags: luks.flags,
                authenticated: luks.integrity.is_some(),
            },
            flow,
        );
    }

    pub(crate) fn crypt(&mut self, at: usize, crypt: &Crypt, flow: &Flow) {
        let mapping = Mapping {
            cipher: &crypt.cipher,
            key_bits: crypt.key_bits,
            sector: crypt.sector.as_f64(),
            flags: crypt.flags,
            authenticated: false,
        };
        self.mapping(at, &mapping, flow);
    }

    /// cryptsetup follows the physical sector: 4 KiB for RAM drives and most that spin, 512 bytes for most flash as it
    /// comes from the maker.
    fn usual_sector(&self, stack: &Stack) -> f64 {
        let small = |name: &terms::Name| {
            self.site
                .drive(name.as_str())
                .is_some_and(|drive| !matches!(self.class_of(drive).kind, DriveKind::Ram | DriveKind::Hdd))
        };
        let mut drives = stack.nodes.iter().flat_map(|node| &node.on);
        let any = drives.any(|under| matches!(under, terms::Ref::Drive(name) if small(name)));
        if any { 512.0 } else { TABLE_SECTOR }
    }

    fn mapping(&mut self, at: usize, mapping: &Mapping<'_>, flow: &Flow) {
        let inline = if flow.write { mapping.flags.no_write_workqueue } else { mapping.flags.no_read_workqueue };
        let context = match (inline, flow.write) {
            (true, true) => flow.context,
            (true, false) if mapping.authenticated => self.workers(at, Parameter::One),
            (true, false) => self.completion(at, flow),
            (false, _) => self.crypt_workers(at, mapping, flow),
        };
        let times = self.cipher_factor(mapping);
        let (io, byte) = if flow.write {
            (Parameter::CryptWriteIo, Parameter::CryptWriteByte)
        } else {
            (Parameter::CryptReadIo, Parameter::CryptReadByte)
        };
        let bytes = flow.rate * flow.bytes;
        let requests = self.cut(flow);
        let visits = flow.rate * requests.max(flow.requests()) * self.contention;
        if !inline && !mapping.flags.same_cpu_crypt {
            self.wide = flow.wide * self.work_on_one(flow, context);
        }
        self.work(context, io, visits, "dm-crypt");
        // What is read is decrypted when all of it is there, and what is written is encrypted before any of it goes on
        // (`kcryptd_crypt_read_convert`, `kcryptd_crypt_write_convert`).
        self.network.entire = !inline && flow.batch <= 1.0 && requests <= 1.0;
        self.work(context, byte, bytes * times, "cipher");
        let sectors = bytes / mapping.sector - bytes / TABLE_SECTOR;
        if sectors > 0.0 {
            self.work(context, Parameter::CryptSector, sectors, "more sectors than of 4 KiB");
        }
        self.network.entire = false;
        self.memory(bytes * 2.0, "read and written by the cipher");
        if inline && self.piece().is_some() {
            self.keeps_from_drives(flow, [io, byte].map(|value| self.site.parameters.get(value)), times, sectors);
        }
        if !inline {
            // Who hands over does the waking: the caller that writes, and the interrupt that ends a read (`kcryptd_queue_crypt`).
            let (woken, waker) = if flow.write {
                (Parameter::HandoffWriteIo, flow.context)
            } else {
                (Parameter::HandoffReadIo, self.completion(at, flow))
            };
            self.work(waker, woken, visits, "waking a worker");
            self.handoff(at, mapping, flow);
        }
        let below = Flow {
            context: if flow.write { context } else { flow.context },
            toucher: if flow.write { None } else { Some(context) },
            ..*flow
        };
        if mapping.authenticated {
            self.authenticate(visits, flow, context);
        }
        self.wide = flow.wide;
        if mapping.authenticated {
            // Tags beside the data, kept in step by the journal of dm-integrity below.
            let tags =
                super::integrity::Tags { size: 32.0, sector: TABLE_SECTOR, journal: true, bitmap: false, flush: 10.0 };
            self.protected(&tags, below, 1);
        } else {
            self.ask(0, below);
        }
    }

    /// Who encrypts in the call hands nothing over meanwhile, and reads are decrypted in the interrupt, where no thread can. A flash
    /// drive of the lab has work for as long as it takes for one operation. Reads of 64 KiB to 1 MiB on such drives lose what is
    /// beyond that within a tenth (`bedplate check-model --seed 61803`).
    fn keeps_from_drives(&mut self, flow: &Flow, [io, byte]: [f64; 2], times: f64, sectors: f64) {
        let parameters = &self.site.parameters;
        let more = sectors.max(0.0) * parameters.get(Parameter::CryptSector);
        let busy = parameters.get(Parameter::CpuFactor) * (flow.rate * (io + flow.bytes * byte * times) + more);
        self.burst += self.times * (busy - flow.rate * FLASH_LATENCY.as_seconds()).max(0.0);
    }

    /// Requests that one of a flow becomes. What comes page by page is small enough.
    fn cut(&self, flow: &Flow) -> f64 {
        let cuts = self.site.kernel_from(CUTS) && !flow.paged;
        if cuts { (flow.bytes / LARGEST).ceil().max(1.0) } else { 1.0 }
    }

    /// Workers that have parts of one request at the same time: as often as the largest part goes into the request. Where an
    /// operation goes its way in pieces, workers share those already.
    fn work_on_one(&self, flow: &Flow, context: Context) -> f64 {
        let Context::Workers { servers, over, .. } = context else { return 1.0 };
        let parts = if self.cut(flow) > 1.0 { flow.bytes / LARGEST / self.network.pieces } else { 1.0 };
        let workers = servers * self.site.parameters.value(over);
        parts.min(workers).min(self.site.threads()).max(1.0)
    }

    fn crypt_workers(&self, at: usize, mapping: &Mapping<'_>, flow: &Flow) -> Context {
        let more = self.cut(flow);
        let Context::Workers { node, .. } = self.workers(at, Parameter::CryptWorkers) else { return flow.context };
        if mapping.flags.same_cpu_crypt {
            return Context::Workers { node, servers: self.jobs, over: Parameter::One.place(), bound: false };
        }
        let most = self.site.threads() / self.site.parameters.get(Parameter::CryptWorkers);
        Context::Workers {
            node,
            servers: (self.jobs * more).min(most.max(1.0)),
            over: Parameter::CryptWorkers.place(),
            bound: false,
        }
    }

    fn handoff(&mut self, at: usize, mapping: &Mapping<'_>, flow: &Flow) {
        let sorted = flow.write && !mapping.flags.submit_from_crypt_cpus;
        let (parameter, all) = if flow.write { (Parameter::HandoffWrite, 3.0) } else { (Parameter::HandoffRead, 2.0) };
        // A worker; the writing thread; and the caller, where the drive would have answered in its call.
        let switches = 1.0 + f64::from(u8::from(sorted)) + f64::from(u8::from(!self.is_cold()));
        let share = flow.rate * switches / all / (flow.wide * flow.batch);
        self.delay(parameter.place(), share, "handed from thread to thread");
        if sorted {
            self.serial(
                Serial::CryptWriter,
                at,
                Parameter::WriteThread,
                flow.rate * self.cut(flow),
                "sorted and submitted",
            );
        }
    }

    /// HMAC, by whoever has the cipher.
    fn authenticate(&mut self, visits: f64, flow: &Flow, context: Context) {
        let (io, byte) = if flow.write {
            (Parameter::HmacWriteIo, Parameter::HmacWriteByte)
        } else {
            (Parameter::HmacReadIo, Parameter::HmacReadByte)
        };
        self.work(context, io, visits, "tags");
        self.work(context, byte, flow.rate * flow.bytes, "HMAC-SHA-256");
    }

    /// How much dearer than AES-256 in XTS mode, whose code alone became quicker. AES has 10 rounds with keys of 128 bits and 14 with
    /// 256 (FIPS 197).
    fn cipher_factor(&self, mapping: &Mapping<'_>) -> f64 {
        let is_aes = mapping.cipher.starts_with("aes") || mapping.cipher.starts_with("capi:");
        match (is_aes, mapping.cipher.contains("xts")) {
            (false, _) => self.site.parameters.get(Parameter::OtherCipher) * self.site.code_of_xts(),
            (true, false) => self.site.code_of_xts(),
            (true, true) if mapping.key_bits <= 256 => 10.0 / 14.0,
            (true, true) => 1.0,
        }
    }
}
