//! A real browser opens the page: its sections are there, and it prints.
//!
//! Without Chromium these tests fail and name the package; `BEDPLATE_NO_BROWSER=1` skips them aloud.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault")]

mod fixture;

use std::path::{Path, PathBuf};
use std::process::Output;

/// Chromium's names on the systems we know.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// The browser; `None` only where the person running the tests does without.
fn browser() -> Option<PathBuf> {
    if std::env::var_os("BEDPLATE_NO_BROWSER").is_some_and(|value| value == "1") {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found =
        std::env::split_paths(&path).flat_map(|dir| NAMES.map(|name| dir.join(name))).find(|file| file.is_file());
    Some(found.expect(
        "no Chromium on the path: install Debian's package `chromium` (apt install chromium fonts-dejavu-core), \
         or set BEDPLATE_NO_BROWSER=1 to do without this test",
    ))
}

/// A fresh directory for one test.
fn directory(name: &str) -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("browser-{name}"));
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Opens the page in a browser of its own profile that talks to nobody.
#[expect(clippy::disallowed_methods, reason = "the browser is the test's subject, not the program's")]
fn open(browser: &Path, directory: &Path, page: &Path, flags: &[String]) -> Output {
    std::process::Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .arg(format!("--user-data-dir={}", directory.join("profile").display()))
        .args(flags)
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap()
}

#[test]
fn a_browser_shows_all_that_is_known() {
    let Some(browser) = browser() else { return };
    let directory = directory("rich");
    let page = directory.join("report.html");
    std::fs::write(&page, report::html(&fixture::findings_rich())).unwrap();
    let out = open(&browser, &directory, &page, &["--dump-dom".to_owned(), "--enable-logging=stderr".to_owned()]);
    let (dom, log) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{log}");
    for id in ["charts", "believe", "foretold", "burst", "drives", "layers", "load", "kdiskmark"] {
        assert!(dom.contains(&format!("<section id=\"{id}\">")), "{id} is not in the page\n{log}");
    }
    assert_eq!(
        dom.matches("<svg class=\"chart\"").count(),
        3 * 4 + 1 + 2 + 1 + 2 * 4 + 2 * 2 + 4,
        "two side by side, each with latency, roofs of two, places of four"
    );
    assert_eq!(dom.matches("<table class=\"listing\"").count(), 4 + 1 + 7, "workloads, anchors, sections");
    assert!(!log.contains("Content Security Policy"), "{log}");
}

/// The page of the usual fixture.
fn page(directory: &Path) -> PathBuf {
    let page = directory.join("report.html");
    std::fs::write(&page, report::html(&fixture::findings(3))).unwrap();
    page
}

#[test]
fn a_browser_shows_every_section() {
    let Some(browser) = browser() else { return };
    let directory = directory("dom");
    let page = page(&directory);
    let out = open(&browser, &directory, &page, &["--dump-dom".to_owned(), "--enable-logging=stderr".to_owned()]);
    let (dom, log) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(out.status.success(), "{log}");
    for id in ["workloads", "time", "figures", "stacks", "builds", "machine", "method", "not-checked"] {
        assert!(dom.contains(&format!("<section id=\"{id}\">")), "{id} is not in the page\n{log}");
    }
    // A parser that had to fix the page would have moved elements: every chart is still where it was put.
    assert_eq!(dom.matches("<svg class=\"chart\"").count(), 3 * 4 + 1);
    assert!(dom.contains("Rates under emulation (tcg)"));
    assert!(!log.contains("Content Security Policy"), "{log}");
}

#[test]
fn a_browser_prints_it() {
    let Some(browser) = browser() else { return };
    let directory = directory("pdf");
    let (page, pdf) = (page(&directory), directory.join("report.pdf"));
    let flags = [format!("--print-to-pdf={}", pdf.display()), "--no-pdf-header-footer".to_owned()];
    let out = open(&browser, &directory, &page, &flags);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let printed = std::fs::read(&pdf).unwrap();
    assert!(printed.starts_with(b"%PDF-") && printed.len() > 20_000, "{} bytes", printed.len());
}

#[test]
fn a_browser_shows_it_light_and_dark() {
    let Some(browser) = browser() else { return };
    let directory = directory("themes");
    let page = page(&directory);
    let shots = ["1", "0"].map(|scheme| {
        let shot = directory.join(format!("scheme-{scheme}.png"));
        let flags = [
            format!("--screenshot={}", shot.display()),
            "--window-size=1200,1400".to_owned(),
            format!("--blink-settings=preferredColorScheme={scheme}"),
        ];
        let out = open(&browser, &directory, &page, &flags);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        std::fs::read(shot).unwrap()
    });
    assert!(shots.iter().all(|shot| shot.len() > 20_000), "{:?}", shots.each_ref().map(Vec::len));
    assert_ne!(shots[0], shots[1], "dark looks like light");
}
