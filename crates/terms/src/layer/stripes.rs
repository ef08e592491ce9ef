//! What md takes for the settings of parity arrays that nobody asks for.

/// Stripes in memory (`stripe_cache_size`, kernel documentation of md).
pub const STRIPE_CACHE: u32 = 256;

pub(super) const fn usual() -> u32 {
    STRIPE_CACHE
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(super) const fn is_usual(count: &u32) -> bool {
    *count == STRIPE_CACHE
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
pub(super) const fn is_none(count: &u32) -> bool {
    *count == 0
}
