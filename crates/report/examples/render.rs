//! Writes the report of a made-up study: `cargo run -p report --example render -- PATH [ROUNDS | rich]`. A path that
//! does not end in `.html` gets the terminal's text.
#![allow(clippy::unwrap_used, reason = "an example may stop at the first fault")]

#[path = "../tests/fixture/mod.rs"]
mod fixture;

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| "report.html".to_owned());
    let findings = match arguments.next().as_deref() {
        Some("rich") => fixture::findings_rich(),
        rounds => fixture::findings(rounds.and_then(|text| text.parse().ok()).unwrap_or(3)),
    };
    let is_page = path.ends_with(".html");
    let text = if is_page { report::html(&findings) } else { report::terminal(&findings, &report::Style::default()) };
    std::fs::write(path, text)
}
