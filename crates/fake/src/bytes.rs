//! Reading and writing devices: down through partitions, arrays and mappings to the drives.

use std::io;

use crate::device::{Kind, Leg, Piece, Spread, Tags, Target};
use crate::raid::{self, Level, Run};
use crate::state::{State, mixed};

/// As the kernel says it.
pub(crate) fn error(number: i32) -> io::Error {
    io::Error::from_raw_os_error(number)
}
pub(crate) const EIO: i32 = 5;
const ENOSPC: i32 = 28;
/// A checksum that does not fit (kernel, drivers/md/dm-integrity.c).
const EILSEQ: i32 = 84;
const SECTOR: u64 = 512;

/// Where bytes of a device lie, one step down.
enum Down {
    Drive,
    Beside(Vec<Piece>),
    Spread(Spread, u64),
    Crypt { of: String, start: u64, key: u64 },
    Integrity(Tags),
    Frozen,
}

impl State {
    fn down(&self, name: &str) -> io::Result<Down> {
        let device = self.devices.get(name).ok_or_else(|| error(EIO))?;
        let beside = |of: &str, start| Down::Beside(vec![Piece { of: of.to_owned(), start, length: device.size }]);
        Ok(match &device.kind {
            Kind::Drive(_) => Down::Drive,
            Kind::Partition(part) => beside(&part.of, part.start),
            Kind::Loop { of } => beside(of, 0),
            // Data begin 8 KiB in (bcache-super-show(8), `data offset`), and the cache is always clean here.
            Kind::Bcache { of } => beside(of, 8192),
            Kind::Array(array) => Down::Spread(array.spread.clone(), array.start),
            Kind::Mapping(mapping) => match &mapping.target {
                Target::Linear(pieces) => Down::Beside(pieces.clone()),
                Target::Spread(spread) => Down::Spread(spread.clone(), 0),
                Target::Crypt { of, start, key } => Down::Crypt { of: of.clone(), start: *start, key: *key },
                Target::Integrity(tags) => Down::Integrity(tags.clone()),
                Target::Writecache { of, .. } => beside(of, 0),
                Target::Frozen { .. } => Down::Frozen,
            },
        })
    }

    pub(crate) fn size(&self, name: &str) -> u64 {
        self.devices.get(name).map_or(0, |device| device.size)
    }

    /// Reads what is there: fewer bytes only at the end. What a redundant layer finds broken on the way it repairs.
    pub(crate) fn read(&mut self, name: &str, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let length = length.min(self.size(name).saturating_sub(offset));
        match self.down(name)? {
            Down::Drive => {
                Ok(self.drive(name).map(|drive| drive.store.read(offset, length as usize)).unwrap_or_default())
            }
            Down::Frozen => match &self.devices[name].kind {
                Kind::Mapping(mapping) => match &mapping.target {
                    Target::Frozen { store, .. } => Ok(store.read(offset, length as usize)),
                    _ => Err(error(EIO)),
                },
                _ => Err(error(EIO)),
            },
            Down::Beside(pieces) => {
                let mut bytes = Vec::new();
                for (of, at, length) in parts(&pieces, offset, length) {
                    bytes.extend(self.read(&of, at, length)?);
                }
                Ok(bytes)
            }
            Down::Crypt { of, start, key } => self.crypt_read(&of, start, key, offset, length),
            Down::Integrity(tags) => self.tagged_read(&tags, offset, length),
            Down::Spread(spread, start) => self.spread_read(&spread, start, offset, length),
        }
    }

    pub(crate) fn write(&mut self, name: &str, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if offset + bytes.len() as u64 > self.size(name) {
            return Err(error(ENOSPC));
        }
        match self.down(name)? {
            Down::Drive => {
                if let Some(drive) = self.drive_mut(name) {
                    drive.store.write(offset, bytes);
                }
                Ok(())
            }
            Down::Frozen => Err(error(EIO)),
            Down::Beside(pieces) => {
                let mut from = 0;
                for (of, at, length) in parts(&pieces, offset, bytes.len() as u64) {
                    self.write(&of, at, &bytes[from..from + length as usize])?;
                    from += length as usize;
                }
                Ok(())
            }
            Down::Crypt { of, start, key } => self.crypt_write(&of, start, key, offset, bytes),
            Down::Integrity(tags) => self.tagged_write(&tags, offset, bytes),
            Down::Spread(spread, start) => {
                let mut from = 0;
                while from < bytes.len() {
                    let run = raid::run(spread.level, spread.legs.len(), spread.chunk, offset + from as u64);
                    let until = bytes.len().min(from.saturating_add(usize::try_from(run.length).unwrap_or(usize::MAX)));
                    self.run_write(&spread, start, &run, &bytes[from..until])?;
                    from = until;
                }
                Ok(())
            }
        }
    }

    /// Makes a range zero, as `blkdiscard --zeroout` does.
    pub(crate) fn erase(&mut self, name: &str, offset: u64, length: u64) -> io::Result<()> {
        if offset + length > self.size(name) {
            return Err(error(ENOSPC));
        }
        match self.down(name)? {
            Down::Drive => {
                if let Some(drive) = self.drive_mut(name) {
                    drive.store.erase(offset, length);
                }
                Ok(())
            }
            Down::Beside(pieces) => {
                parts(&pieces, offset, length).into_iter().try_for_each(|(of, at, length)| self.erase(&of, at, length))
            }
            Down::Crypt { of, start, .. } => self.erase(&of, start + offset, length),
            _ => {
                const STEP: u64 = 1 << 20;
                (offset..offset + length).step_by(STEP as usize).try_for_each(|at| {
                    let here = STEP.min(offset + length - at);
                    if self.is_blank(name, at, here) { Ok(()) } else { self.write(name, at, &vec![0; here as usize]) }
                })
            }
        }
    }

    // --- arrays ---

    pub(crate) fn spread_read(&mut self, spread: &Spread, start: u64, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < length {
            let run = raid::run(spread.level, spread.legs.len(), spread.chunk, offset + bytes.len() as u64);
            let here = run.length.min(length - bytes.len() as u64);
            bytes.extend(self.run_read(spread, start, &run, here)?);
        }
        Ok(bytes)
    }

    fn run_read(&mut self, spread: &Spread, start: u64, run: &Run, length: u64) -> io::Result<Vec<u8>> {
        let mut broken = Vec::new();
        for (leg, at) in run.copies.iter().filter(|(leg, _)| spread.legs[*leg].works) {
            let device = &spread.legs[*leg].device;
            match self.read(device, start + at, length) {
                Ok(bytes) => {
                    self.rewrite(&broken, &bytes);
                    return Ok(bytes);
                }
                Err(_) => broken.push((device.clone(), start + at)),
            }
        }
        let Some((own, at)) = run.copies.first().filter(|_| !run.parity.is_empty()) else { return Err(error(EIO)) };
        let bytes = self.parity_read(spread, start + at, *own, &run.parity[1..], length)?;
        self.rewrite(&broken, &bytes);
        Ok(bytes)
    }

    /// md writes back what it had to read elsewhere (kernel, drivers/md/raid1.c, `fix_read_error`).
    fn rewrite(&mut self, broken: &[(String, u64)], bytes: &[u8]) {
        for (device, at) in broken {
            // A member that is gone stays broken.
            let _ = self.write(device, *at, bytes);
        }
    }

    fn parity_read(
        &mut self,
        spread: &Spread,
        at: u64,
        own: usize,
        beside: &[usize],
        length: u64,
    ) -> io::Result<Vec<u8>> {
        let mut sum = vec![0; length as usize];
        for (number, leg) in spread.legs.iter().enumerate() {
            if number == own || beside.contains(&number) {
                continue;
            }
            if !leg.works {
                return Err(error(EIO));
            }
            let bytes = self.read(&leg.device, at, length)?;
            sum.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum ^= byte);
        }
        Ok(sum)
    }

    fn run_write(&mut self, spread: &Spread, start: u64, run: &Run, bytes: &[u8]) -> io::Result<()> {
        let change = match run.parity.is_empty() {
            true => Vec::new(),
            false => {
                let old = self.run_read(spread, start, run, bytes.len() as u64)?;
                old.iter().zip(bytes).map(|(old, new)| old ^ new).collect()
            }
        };
        let mut kept = false;
        for (leg, at) in run.copies.iter().filter(|(leg, _)| spread.legs[*leg].works) {
            kept |= self.write(&spread.legs[*leg].device, start + at, bytes).is_ok();
        }
        let at = start + run.copies.first().map_or(0, |(_, at)| *at);
        for leg in run.parity.iter().map(|leg| &spread.legs[*leg]).filter(|leg| leg.works) {
            let mut parity = self.read(&leg.device, at, bytes.len() as u64)?;
            parity.iter_mut().zip(&change).for_each(|(parity, change)| *parity ^= change);
            kept |= self.write(&leg.device, at, &parity).is_ok();
        }
        if kept { Ok(()) } else { Err(error(EIO)) }
    }

    /// Is it certain that all of it is zero? Whole drives are compared with nothing on them.
    pub(crate) fn is_blank(&self, name: &str, offset: u64, length: u64) -> bool {
        match self.down(name) {
            Ok(Down::Drive) => self.drive(name).is_some_and(|drive| drive.store.is_zero(offset, length)),
            Ok(Down::Beside(pieces)) => {
                parts(&pieces, offset, length).iter().all(|(of, at, length)| self.is_blank(of, *at, *length))
            }
            Ok(Down::Crypt { of, start, .. }) => self.is_blank(&of, start + offset, length),
            Ok(Down::Integrity(tags)) => self.is_blank_tagged(&tags, offset / tags.block * tags.block, offset + length),
            Ok(Down::Spread(spread, start)) => {
                let (first, last) = spread.rows(offset, length);
                let is_blank = |leg: &Leg| {
                    let end = (start + last).min(self.size(&leg.device));
                    leg.works && self.is_blank(&leg.device, start + first, end.saturating_sub(start + first))
                };
                spread.legs.iter().all(is_blank)
            }
            _ => false,
        }
    }

    fn is_blank_tagged(&self, tags: &Tags, first: u64, end: u64) -> bool {
        let last = (end - 1) / tags.block * tags.block;
        let (data, (device, place)) = (tags.data(first), tags.place(first));
        tags.data(last) - data == last - first
            && self.is_blank(&tags.of, data, last - first + tags.block)
            && self.is_blank(device, place, tags.place(last).1 + tags.tag - place)
    }

    // --- dm-crypt ---

    /// Noise by key and place, for the cipher. A sector of zeros is one of zeros below, too: what nobody wrote takes no
    /// room, and dm-crypt passes discards through alike.
    fn crypt_read(&mut self, of: &str, start: u64, key: u64, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let (first, last) = (offset / SECTOR * SECTOR, (offset + length).next_multiple_of(SECTOR));
        let mut bytes = self.read(of, start + first, last - first)?;
        ciphered(&mut bytes, key, first);
        Ok(bytes[(offset - first) as usize..(offset - first + length) as usize].to_vec())
    }

    fn crypt_write(&mut self, of: &str, start: u64, key: u64, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let (first, last) = (offset / SECTOR * SECTOR, (offset + bytes.len() as u64).next_multiple_of(SECTOR));
        let mut whole = self.crypt_read(of, start, key, first, last - first)?;
        let from = (offset - first) as usize;
        whole[from..from + bytes.len()].copy_from_slice(bytes);
        ciphered(&mut whole, key, first);
        self.write(of, start + first, &whole)
    }

    // --- dm-integrity ---

    fn tagged_read(&mut self, tags: &Tags, offset: u64, length: u64) -> io::Result<Vec<u8>> {
        let (first, last) = (offset / tags.block * tags.block, (offset + length).next_multiple_of(tags.block));
        if first < last && self.is_blank_tagged(tags, first, last) {
            return Ok(vec![0; length as usize]);
        }
        let mut bytes = Vec::with_capacity((last - first) as usize);
        for byte in (first..last).step_by(tags.block as usize) {
            let block = self.read(&tags.of, tags.data(byte), tags.block)?;
            let (device, at) = tags.place(byte);
            if self.read(device, at, tags.tag)? != tags.of_block(&block) {
                return Err(error(EILSEQ));
            }
            bytes.extend(block);
        }
        Ok(bytes[(offset - first) as usize..(offset - first + length) as usize].to_vec())
    }

    fn tagged_write(&mut self, tags: &Tags, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut from = 0;
        while from < bytes.len() {
            let at = offset + from as u64;
            let (base, within) = (at / tags.block * tags.block, (at % tags.block) as usize);
            let until = bytes.len().min(from + tags.block as usize - within);
            let mut block = match until - from == tags.block as usize {
                true => vec![0; tags.block as usize],
                false => self.tagged_read(tags, base, tags.block)?,
            };
            block[within..within + until - from].copy_from_slice(&bytes[from..until]);
            self.write(&tags.of, tags.data(base), &block)?;
            let (device, place) = tags.place(base);
            self.write(device, place, &tags.of_block(&block))?;
            from = until;
        }
        Ok(())
    }
}

impl Spread {
    /// The rows of chunks that a range lies in: from and to which byte of each leg.
    fn rows(&self, offset: u64, length: u64) -> (u64, u64) {
        let count = self.legs.len() as u64;
        let row = match self.level {
            Level::Mirror => return (offset, offset + length),
            Level::Stripe => count * self.chunk,
            Level::StripedMirror => count * self.chunk / 2,
            Level::Parity(parities) => (count - parities as u64) * self.chunk,
        };
        (offset / row * self.chunk, ((offset + length).div_ceil(row) + 1) * self.chunk)
    }
}

/// Parts of a range, by the pieces that it lies in: device, place, length.
fn parts(pieces: &[Piece], offset: u64, length: u64) -> Vec<(String, u64, u64)> {
    let (mut begin, mut found) = (0, Vec::new());
    for piece in pieces {
        let (from, until) = (offset.max(begin), (offset + length).min(begin + piece.length));
        if from < until {
            found.push((piece.of.clone(), piece.start + from - begin, until - from));
        }
        begin += piece.length;
    }
    found
}

fn ciphered(bytes: &mut [u8], key: u64, place: u64) {
    for (number, sector) in bytes.chunks_mut(SECTOR as usize).enumerate() {
        if sector.iter().all(|byte| *byte == 0) {
            continue;
        }
        let base = mixed(key) ^ ((place / SECTOR + number as u64) * 64);
        for (number, word) in sector.chunks_mut(8).enumerate() {
            let noise = mixed(base.wrapping_add(number as u64)).to_le_bytes();
            word.iter_mut().zip(noise).for_each(|(byte, noise)| *byte ^= noise);
        }
    }
}

/// Sectors of data between two runs of tags, and of superblock and journal before all (integritysetup's defaults).
pub(crate) const INTERLEAVE: u64 = 32768;
pub(crate) const JOURNAL: u64 = 64;
const SUPERBLOCK: u64 = 8;

impl Tags {
    /// Sectors of a run of tags (kernel, drivers/md/dm-integrity.c, `calculate_device_limits`, `fix_padding`).
    fn run(&self) -> u64 {
        (self.tag * (INTERLEAVE * SECTOR / self.block)).next_multiple_of(8 * SECTOR) / SECTOR
    }

    /// Bytes of data on a device of this size.
    pub(crate) fn provided(&self, size: u64) -> u64 {
        let sectors = (size / SECTOR).saturating_sub(SUPERBLOCK + JOURNAL);
        let (areas, rest) = (sectors / (INTERLEAVE + self.run()), sectors % (INTERLEAVE + self.run()));
        (areas * INTERLEAVE + rest.saturating_sub(self.run())) * SECTOR / self.block * self.block
    }

    fn data(&self, byte: u64) -> u64 {
        if self.apart.is_some() {
            return byte;
        }
        let sector = byte / SECTOR;
        let (area, within) = (sector / INTERLEAVE, sector % INTERLEAVE);
        self.start + (SUPERBLOCK + JOURNAL + area * INTERLEAVE + (area + 1) * self.run() + within) * SECTOR
    }

    fn place(&self, byte: u64) -> (&str, u64) {
        let block = byte / self.block;
        if let Some(device) = &self.apart {
            return (device, 4096 + block * self.tag);
        }
        let blocks = INTERLEAVE * SECTOR / self.block;
        let start = self.start + (SUPERBLOCK + JOURNAL + block / blocks * (INTERLEAVE + self.run())) * SECTOR;
        (&self.of, start + block % blocks * self.tag)
    }

    /// A checksum; that of zeros is zero, as if formatting had written them all.
    fn of_block(&self, block: &[u8]) -> Vec<u8> {
        let mut sum = 0_u64;
        if block.iter().any(|byte| *byte != 0) {
            for word in block.chunks(8) {
                let word = word.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
                sum = mixed(sum ^ word);
            }
        }
        sum.to_le_bytes().into_iter().cycle().take(self.tag as usize).collect()
    }
}
