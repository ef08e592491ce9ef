//! Writes the report of a made-up study: `cargo run -p report --example render -- PATH [ROUNDS]`.
#![allow(clippy::unwrap_used, reason = "an example may stop at the first fault")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "report.html".to_owned());
    let rounds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(3);
    std::fs::write(path, report::html(&fixture::findings(rounds)))
}
