//! The checks, one file for each part of a machine.

mod alignment;
mod array;
mod array_speed;
mod array_state;
mod btrfs;
mod configuration;
mod controller;
mod crypt;
mod drive;
mod firmware;
mod geometry;
mod health;
mod identity;
mod integrity;
mod lvm;
mod messages;
mod mount;
mod pcie;
mod pcie_errors;
mod power;
mod processor;
mod watch;
mod zfs;
mod zfs_pool;

pub(crate) use array_state::{condition as array_condition, condition_of_mapped as mapped_condition};
pub(crate) use mount::system_place;
pub(crate) use zfs_pool::resilvers;

use crate::check::Check;

/// All of them.
pub(crate) const ALL: &[&[Check]] = &[
    pcie::CHECKS,
    pcie_errors::CHECKS,
    power::CHECKS,
    controller::CHECKS,
    drive::CHECKS,
    firmware::CHECKS,
    health::CHECKS,
    processor::CHECKS,
    crypt::CHECKS,
    integrity::CHECKS,
    array_state::CHECKS,
    array::CHECKS,
    array_speed::CHECKS,
    lvm::CHECKS,
    alignment::CHECKS,
    geometry::CHECKS,
    mount::CHECKS,
    btrfs::CHECKS,
    zfs::CHECKS,
    zfs_pool::CHECKS,
    identity::CHECKS,
    configuration::CHECKS,
    watch::CHECKS,
    messages::CHECKS,
];
