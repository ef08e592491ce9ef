//! Placeholder body replaced below.
fn main() {}
