//! The checks, one file for each part of a machine.

mod alignment;
mod array;
mod array_member;
mod array_name;
mod array_speed;
mod array_state;
mod array_work;
mod assessment;
mod btrfs;
mod btrfs_scrub;
mod cache;
mod configuration;
mod controller;
mod crypt;
mod drive;
mod firmware;
mod geometry;
mod health;
mod hidden;
mod identity;
mod integrity;
mod lvm;
mod lvm_raid;
mod message_arrays;
mod message_controllers;
mod message_daemons;
mod message_drives;
mod message_file_systems;
mod message_hosts;
mod message_kinds;
mod message_layers;
mod message_memory;
mod message_names;
mod message_pools;
mod message_ports;
mod message_programs;
mod message_resets;
mod message_tools;
mod messages;
mod mount;
mod parking;
mod pcie;
mod pcie_errors;
mod peers;
mod power;
mod processor;
mod shingled;
mod smart;
mod snapshot;
mod space;
mod watch;
mod zfs;
mod zfs_block;
mod zfs_dataset;
mod zfs_order;
mod zfs_pool;
mod zfs_told;

use crate::check::Check;

/// Paths below which a machine tells of a kind of its parts.
const BLOCK: &str = "/sys/block";
const NODES: &str = "/sys/class/block";
const NVME: &str = "/sys/class/nvme";
const PCI: &str = "/sys/bus/pci/devices";
const CPU: &str = "/proc/cpuinfo";
const ETC: &str = "/etc";
const KERNEL: &str = "/proc/sys/kernel/osrelease";
const BTRFS: &str = "/sys/fs/btrfs";

/// Checks that look at one part of a machine.
pub(crate) struct Part {
    pub(crate) checks: &'static [Check],
    /// Where the lists begin that they walk over. What was not read below these may hide what they look for, so that
    /// none of them can pass.
    pub(crate) roots: &'static [&'static str],
}

const fn part(checks: &'static [Check], roots: &'static [&'static str]) -> Part {
    Part { checks, roots }
}

/// All of them.
pub(crate) const ALL: &[Part] = &[
    part(pcie::CHECKS, &[PCI, BLOCK, NVME]),
    part(pcie_errors::CHECKS, &[PCI, NVME]),
    part(power::CHECKS, &[PCI, NVME, BLOCK]),
    part(controller::CHECKS, &[NVME, PCI, BLOCK, CPU, "/sys/class/nvme-subsystem", "/proc/irq"]),
    part(drive::CHECKS, &[BLOCK, NODES, NVME]),
    part(firmware::CHECKS, &[BLOCK, NVME]),
    part(health::CHECKS, &[BLOCK, NVME]),
    part(smart::CHECKS, &[BLOCK, NODES]),
    part(parking::CHECKS, &[BLOCK]),
    part(shingled::CHECKS, &[BLOCK, NODES]),
    part(peers::CHECKS, &["dmesg"]),
    part(hidden::CHECKS, &[BLOCK, NODES]),
    part(processor::CHECKS, &[CPU, NODES]),
    part(crypt::CHECKS, &[NODES, KERNEL]),
    part(integrity::CHECKS, &[NODES, KERNEL]),
    part(array_state::CHECKS, &[NODES]),
    part(array::CHECKS, &[NODES, KERNEL, CPU]),
    part(array_speed::CHECKS, &[NODES, BLOCK, PCI, CPU]),
    part(lvm::CHECKS, &[NODES]),
    part(cache::CHECKS, &[NODES]),
    part(alignment::CHECKS, &[NODES]),
    part(geometry::CHECKS, &[NODES]),
    part(mount::CHECKS, &[NODES]),
    part(space::CHECKS, &["df"]),
    part(btrfs::CHECKS, &[NODES, BTRFS]),
    part(zfs::CHECKS, &["/sys/module/zfs", "zfs get", "/proc/meminfo"]),
    part(zfs_dataset::CHECKS, &["/sys/module/zfs", "zfs get"]),
    part(zfs_pool::CHECKS, &["/sys/module/zfs", NODES]),
    part(identity::CHECKS, &[NODES]),
    part(configuration::CHECKS, &[ETC, NODES, BLOCK]),
    part(watch::CHECKS, &[ETC, NODES, BTRFS]),
    part(messages::CHECKS, &["dmesg"]),
    part(message_memory::CHECKS, &["dmesg"]),
];
