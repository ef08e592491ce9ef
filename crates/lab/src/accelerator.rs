//! KVM or emulation, with or without a clock of its own: what QEMU and the kernel are told.

/// What runs the guest's instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor.
    Kvm,
    /// QEMU's translator: rates mean nothing.
    Tcg,
    /// QEMU's translator under a virtual clock.
    Icount,
}

impl Accelerator {
    /// Its name in records.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
            Self::Icount => terms::record::ICOUNT,
        }
    }

    pub(crate) const fn arguments(self) -> &'static str {
        match self {
            Self::Kvm => "-accel kvm -cpu host",
            // A page that holds translated code is written to the slow way until nothing of it is left, some 20 µs each
            // time. Memory that a program's code was in is soon a buffer, and a kernel that is told of fast string
            // copies (ERMS, FSRM) fills it byte by byte: 80 ms for a page, and minutes for what was dropped from its
            // caches. Without them it copies eight bytes at a time, which is faster everywhere.
            // CMPXCHG16B of QEMU before 8.0 computes flags from a kind of operation that it has not stored
            // (`helper_cmpxchg16b` in target/i386/tcg/mem_helper.c). An interrupt right behind it saves what lay in a
            // register as EFLAGS, and the kernel ends with a double fault: it allocates memory so, unless it is told that
            // the processor has no such instruction. An instruction counter interrupts anywhere.
            // QEMU computes CRC-32 (SSE4.2) and carry-less products (PCLMULQDQ) bit by bit (`helper_crc32` and `clmulq` in
            // target/i386/ops_sse.h): 64 rounds of a loop for eight bytes. Without them the kernel looks up eight bytes at a
            // time in tables.
            // SMAP ends a block of code at both ends of each copy to or from a program, and LA57 is a level more of page
            // tables to walk. Programs start faster without them, and without what works around faults of real processors
            // (`mitigations=off`).
            Self::Tcg => "-accel tcg,thread=multi -cpu max,-erms,-fsrm,-cx16,-smap,-la57,-sse4.2,-pclmulqdq",
            // Whatever differs between two runs, or two versions of QEMU, differs in instructions: so a processor by name,
            // without what only some versions know, a seed for whatever is drawn, and a date of its own.
            // One thread runs all processors, and without memory barriers: a device that is told only of what it has not yet
            // seen may not be told at all, so it is told of everything.
            Self::Icount => {
                "-accel tcg,thread=single -cpu Haswell-noTSX,-cx16,-erms,-pcid,-tsc-deadline,-invpcid,\
                 -x2apic,-spec-ctrl -seed 1 -rtc base=2026-01-01T00:00:00,clock=vm -global virtio-device.event_idx=off"
            }
        }
    }

    /// Words for the kernel: nothing that is drawn at boot, and no clock but the processor's. Under emulation every guest
    /// would try each cipher of this same kernel anew, at its start and again where a module brings one
    /// (`cryptomgr.notests`, kernel-parameters.txt).
    pub(crate) const fn kernel(self) -> &'static str {
        match self {
            Self::Kvm => "",
            // What was translated is found again only at the address that it had. A program that lies elsewhere each time it
            // starts is translated anew each time, which was a third of all work of guests that start many.
            // Modules that the processor's name asks for (within.rs) are wanted for ciphers; those that run guests or change
            // clocks take a second of a boot. `rodata=off` leaves out a walk through all page tables.
            Self::Tcg => {
                " norandmaps cryptomgr.notests=1 mitigations=off rodata=off \
                 modprobe.blacklist=kvm_amd,kvm_intel,powernow_k8,acpi_cpufreq"
            }
            Self::Icount => {
                " clocksource=tsc tsc=reliable hpet=disable nokaslr norandmaps randomize_kstack_offset=off mitigations=off \
                 cryptomgr.notests=1"
            }
        }
    }
}
