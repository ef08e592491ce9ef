//! Files of strangers: each attempts something, and must come to nothing but a message.
//!
//! `hostile/corpus.toml` says what each attempts and what has to come of it; the verbs are below. The real program is run
//! on each, in a directory of its own, in bounded time and memory. `HOSTILE=words` runs only cases of whose kind and name
//! the words are a part, and leaves their directories to look at.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test may panic and talk")]
#![allow(clippy::disallowed_methods, reason = "the program is started as a person would start it")]

#[path = "attempt/bounds.rs"]
mod bounds;
#[path = "attempt/corpus.rs"]
mod corpus;
#[path = "attempt/made.rs"]
mod made;
#[path = "attempt/printed.rs"]
mod printed;
#[path = "attempt/world.rs"]
mod world;

use corpus::{Case, Kind};
use world::World;

/// A verb that is tried on every file of a kind. In capitals is what the world puts in.
struct Verb {
    kind: Kind,
    name: &'static str,
    arguments: &'static [&'static str],
    /// The codes that are right whatever the case says.
    always: &'static [i32],
}

const fn verb(kind: Kind, name: &'static str, arguments: &'static [&'static str]) -> Verb {
    Verb { kind, name, arguments, always: &[] }
}

const VERBS: [Verb; 26] = [
    verb(Kind::Fio, "check", &["fio", "check", "FILE"]),
    verb(Kind::Fio, "forced", &["fio", "check", "FILE", "--force"]),
    // Where a file is taken, its cell may fail.
    Verb {
        always: &[1],
        ..verb(Kind::Fio, "run", &["run", "--dir", "DATA", "--fio", "FILE", "--force", "--quick", "--span", "1MiB"])
    },
    verb(Kind::Study, "plan", &["plan", "FILE"]),
    verb(Kind::Study, "script", &["plan", "FILE", "--script", "--only", "1"]),
    verb(Kind::Study, "json", &["plan", "FILE", "--json"]),
    verb(Kind::Study, "expect", &["expect", "FILE", "--machine", "MACHINE"]),
    verb(Kind::Study, "export", &["fio", "export", "FILE", "OUT"]),
    verb(Kind::Plan, "expect", &["expect", "FILE", "--machine", "MACHINE"]),
    Verb { always: &[2], ..verb(Kind::Plan, "plan", &["plan", "FILE"]) },
    verb(Kind::Machine, "expect", &["expect", "STUDY", "--machine", "FILE"]),
    verb(Kind::Capture, "inspect", &["inspect", "--machine", "FILE"]),
    verb(Kind::Capture, "json", &["inspect", "--machine", "FILE", "--json"]),
    verb(Kind::Capture, "doctor", &["doctor", "--machine", "FILE"]),
    verb(Kind::Calibration, "expect", &["expect", "STUDY", "--machine", "CAPTURE"]),
    verb(Kind::Record, "report", &["report", "FILE"]),
    verb(Kind::Record, "csv", &["report", "FILE", "--csv"]),
    verb(Kind::Record, "html", &["report", "FILE", "--html", "PAGE"]),
    verb(Kind::Record, "verify", &["report", "FILE", "--verify"]),
    verb(Kind::Record, "teardown", &["teardown", "FILE"]),
    verb(Kind::Runs, "runs", &["runs"]),
    verb(Kind::Runs, "report", &["report"]),
    verb(Kind::Runs, "teardown", &["teardown"]),
    verb(Kind::Catalogue, "runs", &["runs"]),
    verb(Kind::Catalogue, "report", &["report"]),
    verb(Kind::Catalogue, "teardown", &["teardown"]),
];

/// Tries every verb on every case of a kind, half of the cases beside the others, and tells all that went wrong.
fn attack(kind: Kind) {
    let cases: Vec<Case> = corpus::read().into_iter().filter(|case| case.kind == kind && case.is_wanted()).collect();
    let (one, other) = cases.split_at(cases.len() / 2);
    let (mut tried, mut wrong) = (0, Vec::new());
    std::thread::scope(|scope| {
        for half in [one, other].map(|half| scope.spawn(move || attack_all(kind, half))) {
            let (attempts, faults) = half.join().unwrap();
            tried += attempts;
            wrong.extend(faults);
        }
    });
    assert!(wrong.is_empty(), "{tried} attempts came to {} faults:\n{}", wrong.len(), wrong.join("\n"));
}

/// How many attempts there were, and what went wrong in them.
fn attack_all(kind: Kind, cases: &[Case]) -> (usize, Vec<String>) {
    let (mut tried, mut wrong) = (0, Vec::new());
    for case in cases {
        let is_tried = |verb: &&Verb| verb.kind == kind && !case.without.iter().any(|name| name == verb.name);
        for verb in VERBS.iter().filter(is_tried) {
            let found = attempt(case, verb);
            tried += 1;
            wrong.extend(found.iter().map(|what| format!("{} {}: {what}", case.label(), verb.name)));
            // What one verb does not come back from, the next will not either.
            if found.iter().any(|what| what.starts_with(bounds::ENDLESS)) {
                break;
            }
        }
    }
    (tried, wrong)
}

/// What one verb made of one case that it should not have.
fn attempt(case: &Case, verb: &Verb) -> Vec<String> {
    let world = World::of(case);
    let before = world.look();
    let ended = bounds::run(&world, &world.filled(verb.arguments));
    let mut wrong = world.changes(&before);
    wrong.extend(judge(case, verb, &ended));
    wrong.extend(printed::judge(verb.name, &ended, &world));
    if verb.name == "script" && ended.code == Some(0) {
        wrong.extend(bounds::run_script(&world, &ended.stdout));
    }
    if !wrong.is_empty() {
        eprintln!("# {}: {}\n{}\n", case.label(), case.attempt, ended.told(&world, verb.arguments));
    }
    wrong
}

/// Its code and its words against what the table says.
fn judge(case: &Case, verb: &Verb, ended: &bounds::Ended) -> Vec<String> {
    let expected = case.expected(verb.name);
    let mut wrong = Vec::new();
    let Some(code) = ended.code else {
        return vec![format!("{} {}", bounds::ENDLESS, ended.how)];
    };
    // Where something is taken, the verb's own codes are as right; where none is, only they are.
    let takes = expected.exit.contains(&0);
    let right = if verb.always.is_empty() || (takes && expected.exit.contains(&code)) {
        expected.exit.contains(&code)
    } else {
        verb.always.contains(&code) || (verb.always == [1] && expected.exit.contains(&code))
    };
    if !right {
        wrong.push(format!("exit {code}, not one of {:?}", expected.exit));
    }
    if verb.always.is_empty() && !expected.words().is_empty() && !ended.says_any(&expected.words()) {
        wrong.push(format!("says none of {:?}", expected.words()));
    }
    if let Some(secret) = case.never.as_deref().filter(|secret| ended.says_any(&[secret])) {
        wrong.push(format!("prints `{secret}`"));
    }
    wrong
}

#[test]
fn job_files_of_strangers_run_nothing_and_write_nowhere() {
    attack(Kind::Fio);
}

#[test]
fn studies_of_strangers_are_text() {
    attack(Kind::Study);
}

#[test]
fn plans_of_strangers_are_text() {
    attack(Kind::Plan);
}

#[test]
fn descriptions_of_machines_are_text() {
    attack(Kind::Machine);
}

#[test]
fn captures_of_strangers_are_text() {
    attack(Kind::Capture);
}

#[test]
fn calibrations_of_strangers_are_text() {
    attack(Kind::Calibration);
}

#[test]
fn records_of_strangers_are_read_and_never_carried_out() {
    attack(Kind::Record);
}

#[test]
fn records_that_get_in_by_their_name_or_place_are_not_carried_out() {
    attack(Kind::Runs);
}

#[test]
fn catalogues_lead_nowhere_else() {
    attack(Kind::Catalogue);
}

#[test]
fn the_corpus_and_its_table_are_the_same() {
    assert_eq!(corpus::unlisted(), Vec::<String>::new(), "files without a row");
    let cases = corpus::read();
    assert!(cases.len() > 200, "{} cases are not all of them", cases.len());
    for case in cases {
        assert!(case.attempt.len() > 6, "{} does not say what it attempts", case.label());
        let known = |name: &String| VERBS.iter().any(|verb| verb.kind == case.kind && verb.name == name);
        assert!(case.verbs.keys().all(known), "{}: {:?}", case.label(), case.verbs.keys());
    }
}

/// A judge that is always content judges nothing.
#[test]
fn what_must_not_be_printed_is_found() {
    for bad in ["\x1b]0;x\x07", "\x1b[2J", "\u{9b}1m", "\r", "\u{7f}", "\u{202e}", "\u{2066}", "\x1b[31"] {
        assert!(printed::not_text(bad.as_bytes()).is_some(), "{bad:?}");
    }
    assert!(printed::not_text(b"\xff").is_some());
    assert_eq!(printed::not_text("\x1b[1;31mµ\x1b[0m\n\t\\x1b[2J".as_bytes()), None);
    assert_eq!(printed::formulas("a,=1+1,\"@x, y\"\n1,-2.5,-\n"), ["=1+1", "@x, y", "-"]);
}
