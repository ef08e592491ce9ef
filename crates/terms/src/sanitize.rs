//! Ways in which an NVMe controller erases everything.

words! {
    /// How an NVMe controller forgets all that is on it (NVM Express Base Specification 2.0, 5.24).
    pub enum Sanitize {
        /// Every block of the medium is erased.
        BlockErase = "block-erase",
        /// The key that everything is stored under is replaced.
        CryptoErase = "crypto-erase",
        /// A pattern is written over everything, which wears flash and takes as long as writing it.
        Overwrite = "overwrite",
    }
}

impl Sanitize {
    /// The number of the action in the command (`SANACT`).
    #[must_use]
    pub const fn action(self) -> u8 {
        match self {
            Self::BlockErase => 2,
            Self::Overwrite => 3,
            Self::CryptoErase => 4,
        }
    }

    /// The controller's bit that says it can (`SANICAP`, bits 0 to 2).
    #[must_use]
    pub const fn capability(self) -> u64 {
        match self {
            Self::CryptoErase => 1,
            Self::BlockErase => 2,
            Self::Overwrite => 4,
        }
    }
}
