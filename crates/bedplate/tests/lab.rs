//! Tests that boot guests.
