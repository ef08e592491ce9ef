//! Captures that nobody should write: what comes of them is a value or an error with its place, never a panic.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault of its own")]

use host::{BadCapture, Capture, Host, HostError, inspect};
use proptest::prelude::*;
use terms::Cmd;

fn parse(body: &str) -> Result<Capture, Box<BadCapture>> {
    Capture::parse("file", format!("bedplate capture 1\n{body}").as_bytes())
}

#[test]
fn every_fault_has_its_place_and_a_remedy() {
    for (body, line, column, what) in [
        ("fiel /a = 1", 2, 1, "a line begins with `file`"),
        ("file a = 1", 2, 6, "a path begins with `/`"),
        ("file /a//b = 1", 2, 6, "no `//`"),
        ("file /a/../b = 1", 2, 6, "no `..`"),
        ("link /a >- /b", 2, 9, "a link is written"),
        ("link /a", 2, 8, "a link is written `link PATH -> TARGET`"),
        ("file /a = 1\nfile /a = 2", 3, 6, "on line 2"),
        ("|text", 2, 1, "belongs to no"),
        ("file /a\n!text", 3, 1, "standard error"),
        ("run x\nstatus much", 3, 8, "a status is a number"),
        ("status 1", 2, 1, "of a `run` above"),
        ("hex /a\n|0000: 0g", 3, 9, "hexadecimal digits"),
        ("hex /a\n|000", 3, 4, "two hexadecimal digits"),
        ("file /a = 1\nfile /a/b = 1", 3, 1, "`/a` is a file"),
        ("link /a -> /b\nfile /a/b = 1", 3, 1, "`/a` is a link"),
        ("directory /a\n|b/c", 3, 2, "has no `/`"),
        ("clock soon", 2, 7, "nanoseconds"),
        ("refused /a because", 2, 12, "a refusal is written"),
        ("file \"/a = 1", 2, 6, "JSON string"),
        ("run", 2, 1, "at least one word"),
    ] {
        let Err(error) = parse(body) else { panic!("{body} was taken") };
        assert_eq!((error.line, error.column), (line, column), "{error}");
        assert!(error.what.contains(what), "{error}");
    }
    let error = Capture::parse("file", b"bedplate capture 2\n").unwrap_err();
    assert_eq!((error.line, error.column), (1, 1));
    let error = Capture::parse("file", b"bedplate capture 1\nfile /a = \xff").unwrap_err();
    assert_eq!((error.line, error.column), (2, 11), "{error}");
}

#[test]
fn not_captured_is_not_the_same_as_not_there() {
    let capture = parse(
        "file /a/b = 1\nabsent /a/c\ndirectory /d\n|e\nwhole /w\nfile /w/x = 1\nrefused /s : Permission denied (os error 13)\n\
         link /l -> a/b\nlink /loop -> /loop\nthere /t\nrun true\nmissing false",
    )
    .unwrap();
    let not_captured = |error: HostError| matches!(error, HostError::NotCaptured { .. });
    assert_eq!(capture.read_text("/l").unwrap(), "1");
    assert_eq!(capture.resolve("/l").unwrap(), "/a/b");
    for path in ["/a/d", "/d/e", "/z", "/t", "/a"] {
        assert!(!capture.read(path).unwrap_err().is_not_found(), "{path}");
    }
    assert!(not_captured(capture.read("/a/d").unwrap_err()) && not_captured(capture.list("/a").unwrap_err()));
    assert!(not_captured(capture.read("/t").unwrap_err()) && capture.exists("/t").unwrap());
    for path in ["/a/c", "/d/f", "/w/y", "/w/y/z", "/a/b/c", "/a/c/d"] {
        assert!(capture.read(path).unwrap_err().is_not_found(), "{path}");
    }
    assert_eq!(
        (capture.list("/w").unwrap(), capture.list("/d").unwrap()),
        (vec!["x".to_owned()], vec!["e".to_owned()])
    );
    let error = capture.read("/s").unwrap_err().to_string();
    assert!(error.contains("/s"), "{error}");
    assert!(capture.read("/loop").is_err() && capture.write("/a/b", b"2").is_err() && capture.now().is_err());
    assert!(capture.run(&Cmd::new(["true"])).unwrap().ok());
    assert!(capture.run(&Cmd::new(["false", "x"])).unwrap_err().is_not_found());
    assert!(not_captured(capture.run(&Cmd::new(["true", "x"])).unwrap_err()));
}

/// Lines as people and attackers write them.
fn line() -> impl Strategy<Value = String> {
    let path = prop_oneof![
        "(/[a-z.]{0,3}){0,4}",
        "\"/[a-z\\\\\"]{0,4}\"?",
        "/sys/class/block/[a-z]{1,2}",
        "/proc/(cpuinfo|mdstat|swaps)"
    ];
    let sign = prop_oneof![Just(" = "), Just(" -> "), Just(" : "), Just(" "), Just("")];
    let word = prop_oneof![
        "(file|hex|link|directory|whole|absent|there|refused|run|missing|clock|status|[|:!#])",
        "[a-z]{0,4}"
    ];
    prop_oneof![
        4 => (word, path, sign, "\\PC{0,12}").prop_map(|(word, path, sign, rest)| format!("{word} {path}{sign}{rest}")),
        2 => "[|:!].{0,20}",
        1 => ".{0,30}",
    ]
}

proptest! {
    #[test]
    fn nothing_panics(lines in prop::collection::vec(line(), 0..20), asked in "(/[a-z.]{1,3}){1,5}") {
        match parse(&lines.join("\n")) {
            Ok(capture) => {
                let _ = (capture.read(&asked), capture.list(&asked), capture.resolve(&asked), capture.exists(&asked));
                prop_assert!(inspect::examine(&capture).is_ok());
            }
            Err(error) => {
                let text = error.to_string();
                prop_assert!(error.line >= 1 && error.column >= 1 && text.lines().count() == 4, "{}", text);
                prop_assert!(text.ends_with('^'));
            }
        }
    }

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Capture::parse("file", &bytes);
        let _ = Capture::parse("file", &[&b"bedplate capture 1\n"[..], &bytes].concat());
    }

    #[test]
    fn what_is_printed_is_read_again(
        files in prop::collection::btree_map("(/[a-z =>:\"-]{1,6}){1,3}", prop::collection::vec(any::<u8>(), 0..40), 0..6),
        said in "[ -~\n\t]{0,40}",
    ) {
        let mut text = String::new();
        for (path, content) in &files {
            let digits: Vec<String> = content.iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("hex {}\n|{}\n", serde_json::to_string(path).unwrap(), digits.join(" "));
        }
        text += "run echo\n";
        said.lines().for_each(|line| text += &format!("|{line}\n"));
        // Paths of which one lies below another's file are refused, and so are odd ones.
        if let Ok(capture) = parse(&text) {
            let printed = capture.print();
            let again = Capture::parse("file", printed.as_bytes());
            prop_assert_eq!(again.as_ref().map_err(|error| error.to_string()), Ok(&capture), "{}", printed);
            for (path, content) in &files {
                prop_assert_eq!(&capture.read(path).unwrap(), content);
            }
        }
    }
}
