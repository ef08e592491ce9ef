//! Enumerations whose variants have one word each, which studies, records, tools and pages share.

/// An enumeration with [`Serialize`](serde::Serialize) and [`Deserialize`](serde::Deserialize) by word, `word()`, and lists of
/// all variants and of all words.
macro_rules! words {
    (
        $(#[$attribute:meta])*
        pub enum $name:ident {
            $($(#[$of_variant:meta])* $variant:ident = $word:literal,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$of_variant])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// All variants, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The words of all variants, in order.
            pub const WORDS: &[&str] = &[$($word),+];

            /// Its word, as studies, records and tools write it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
}
