//! Remedies that were typed: each fault is made in a guest, doctor finds it, what it prints is typed as it stands, doctor
//! looks again, and what the drives held is compared byte by byte.
//!
//! `cargo test -p bedplate --features long-tests --test lab remedies -- --nocapture` prints a line for each.

#[path = "remedies/arrays.rs"]
mod arrays;
#[path = "remedies/cannot.rs"]
mod cannot;
#[path = "remedies/choices.rs"]
mod choices;
#[path = "remedies/crypt.rs"]
mod crypt;
#[path = "remedies/drives.rs"]
mod drives;
#[path = "remedies/paths.rs"]
mod paths;
#[path = "remedies/pools.rs"]
mod pools;
#[path = "remedies/systems.rs"]
mod systems;
#[path = "remedies/volumes.rs"]
mod volumes;

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use host::{Host, inspect};
use lab::Guest;
use terms::diagnosis::{Diagnosis, Finding};
use terms::{Cmd, Nanos};

use crate::bench::Bench;

/// What is left of a finding when its remedy was typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    Gone,
    /// It stays, for this reason: what was is told until the next start, or it is a choice.
    Stays(&'static str),
}

/// A fault, and how a person who reads the finding goes about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) check: &'static str,
    /// Words of the finding's place or of its first sentence, or the letter of its drive.
    pub(crate) at: &'static str,
    /// Shell that makes the fault, with the drives in `$A`, `$B` and so on.
    pub(crate) plant: &'static str,
    /// Shell that prints the same before and after: digests of what is held.
    pub(crate) data: &'static str,
    /// What a person knows: words in capitals, and what is put in their places.
    pub(crate) puts: &'static [(&'static str, &'static str)],
    /// Words of commands that are typed in another case only, and not in this one.
    pub(crate) leaves: &'static [&'static str],
    /// What programs ask for.
    pub(crate) answers: &'static str,
    /// What the advice says and no command does, before and after the commands: to copy elsewhere, to unmount, to bring
    /// a drive back.
    pub(crate) first: &'static str,
    /// Words of a command, and what the advice says to do right before it.
    pub(crate) between: (&'static str, &'static str),
    pub(crate) last: &'static str,
    pub(crate) after: After,
    /// Shell that takes it all away.
    pub(crate) clean: &'static str,
}

/// To begin a fault with.
pub(crate) const FAULT: Fault = Fault {
    check: "",
    at: "",
    plant: "",
    data: "",
    puts: &[],
    leaves: &[],
    answers: "secret",
    first: "",
    between: ("", ""),
    last: "",
    after: After::Gone,
    clean: "",
};

/// All faults that are made, in lists for each time that doctor looks.
fn all() -> impl Iterator<Item = &'static Fault> {
    let short = [drives::SCENES, arrays::SCENES, crypt::SCENES];
    let guests =
        [&short[..], &[volumes::SCENES, systems::SCENES, pools::SCENES, paths::SCENES, choices::SCENES]].concat();
    guests.into_iter().flatten().flat_map(|scene| scene.iter())
}

/// What came of a fault.
struct Line {
    fault: &'static Fault,
    at: String,
    found: Option<Finding>,
    typed: usize,
    problems: Vec<String>,
    data: String,
}

/// A guest with drives, by letters.
struct Yard {
    guest: Guest,
    letters: String,
}

/// `cut NAME DRIVE START SIZE` makes a device of a stretch of a drive, in MiB; `noise FILE MIB` fills one.
const TOOLS: &str = "set -e; \
    cut() { dmsetup create $1 --table \"0 $(($4 * 2048)) linear $2 $(($3 * 2048))\"; }; \
    uncut() { for n in \"$@\"; do for t in 1 2 3 4 5 6 7 8; do dmsetup remove $n && break; sleep 0.3; done; done; }; \
    noise() { dd if=/dev/urandom of=$1 bs=1M count=$2 conv=fsync,notrunc status=none; }; \
    cold() { sync; echo 3 > /proc/sys/vm/drop_caches; }; \
    name() { basename $(readlink -f $1); }; ";

/// What a study has to say besides its lab.
const REST: &str = r#"
[[stack]]
name = "ext4"
layers = [{ ext4 = {}, on = "a" }]
[measure]
profiles = ["quick"]
span = "16 MiB"
"#;

impl Yard {
    fn new(bench: &Bench, lab: &str) -> Self {
        let design =
            crate::bench::understood(&format!("question = \"Do remedies work as printed?\"\n[lab]{lab}{REST}"));
        let guest = if design.lab.cpus > 1 { bench.boot_as_asked(&design) } else { bench.boot(&design) };
        let letters = design.lab.drives.iter().map(|drive| {
            let name = drive.name.as_str();
            format!("{}={}; ", name.to_uppercase(), guest.drives()[&drive.name])
        });
        let letters = letters.collect();
        Self { guest, letters }
    }

    /// What a script prints, or all that it said where it failed.
    fn shell(&self, script: &str) -> Result<String, String> {
        let script = format!("{}{TOOLS}{script}", self.letters);
        self.bash(&["-c", &script], "")
    }

    fn bash(&self, arguments: &[&str], answers: &str) -> Result<String, String> {
        let argv = std::iter::once("bash").chain(arguments.iter().copied());
        // Some ask twice.
        let stdin = format!("{answers}\n").repeat(3);
        let command = Cmd::new(argv).stdin(stdin).env("HOME", "/root").limit(Nanos::seconds(240));
        let outcome = self.guest.run(&command).map_err(|error| error.to_string())?;
        let said = format!("{}{}", String::from_utf8_lossy(&outcome.stdout), String::from_utf8_lossy(&outcome.stderr));
        if outcome.status == 0 { Ok(said) } else { Err(format!("status {}: {}", outcome.status, said.trim())) }
    }

    fn diagnose(&self) -> Diagnosis {
        let begun = std::time::Instant::now();
        let found = doctor::diagnose(&inspect::examine(&self.guest).unwrap());
        println!("  doctor looked for {:.1} s", begun.elapsed().as_secs_f64());
        found
    }

    /// All faults of a scene at once: made, found, fixed as printed, looked for again.
    fn play(&self, scene: &'static [Fault], typed: &mut Typed) -> Vec<Line> {
        let plant = |fault: &'static Fault| {
            let planted = self.shell(fault.plant).map_err(|why| format!("not made: {why}"));
            let data =
                planted.clone().and_then(|_| self.shell(fault.data).map_err(|why| format!("data before: {why}")));
            (fault, planted.unwrap_or_default(), data)
        };
        let planted: Vec<_> = scene.iter().map(plant).collect();
        let before = self.diagnose();
        let mut lines: Vec<Line> = Vec::new();
        for (fault, said, data) in planted {
            let at = self.at(fault);
            let found = before.findings.iter().find(|found| is_of(fault, &at, found)).cloned();
            let mut line = Line { fault, at, found, typed: 0, problems: Vec::new(), data: String::new() };
            match data {
                Ok(data) => line.data = data,
                Err(why) => line.problems.push(why),
            }
            if line.found.is_none() {
                let unknown = before.unknown.iter().filter(|unknown| unknown.check == fault.check);
                line.problems.push(format!("not found; unknown: {:?}; made: {said}", unknown.collect::<Vec<_>>()));
            }
            self.repair(&mut line, typed);
            lines.push(line);
        }
        let after = self.diagnose();
        for line in &mut lines {
            let left = line.found.as_ref().and_then(|was| {
                after.findings.iter().find(|found| found.place == was.place && is_of(line.fault, &line.at, found))
            });
            match (line.fault.after, left) {
                (After::Gone, Some(left)) => line.problems.push(format!("still there: {}", left.what)),
                (After::Stays(_), None) => line.problems.push("it is gone, and was to stay".to_owned()),
                _ => {}
            }
            if let Err(why) = self.shell(line.fault.clean) {
                line.problems.push(format!("not taken away: {why}"));
            }
        }
        lines
    }

    /// The kernel's name of a drive that is named by its letter: it differs from boot to boot.
    fn at(&self, fault: &Fault) -> String {
        if fault.at.starts_with('$') {
            self.shell(&format!("name {}", fault.at)).unwrap_or_else(|why| panic!("{why}")).trim().to_owned()
        } else {
            fault.at.to_owned()
        }
    }

    /// Types what the finding prints, and compares.
    fn repair(&self, line: &mut Line, all: &mut Typed) {
        let fault = line.fault;
        let Some(found) = &line.found else { return };
        let mut problems = Vec::new();
        problems.extend(self.shell(fault.first).err().map(|why| format!("first: {why}")));
        for command in &found.remedy.commands {
            let of_check = all.entry(fault.check).or_default();
            of_check.entry(skeleton(command)).or_insert(false);
            if fault.leaves.iter().any(|words| command.contains(words)) {
                continue;
            }
            of_check.insert(skeleton(command), true);
            if !fault.between.0.is_empty() && command.contains(fault.between.0) {
                problems.extend(self.shell(fault.between.1).err().map(|why| format!("between: {why}")));
            }
            let shown = self.typed(fault, command);
            match self.bash(&["-c", &shown], fault.answers) {
                Ok(_) => line.typed += 1,
                Err(why) => problems.push(format!("`{shown}` {why}")),
            }
        }
        problems.extend(self.shell(fault.last).err().map(|why| format!("last: {why}")));
        match self.shell(fault.data) {
            Ok(data) if data == line.data => {}
            Ok(data) => problems.push(format!("bytes differ: {} and now {data}", line.data)),
            Err(why) => problems.push(format!("data after: {why}")),
        }
        line.problems.append(&mut problems);
    }

    /// A command with what a person puts in.
    fn typed(&self, fault: &Fault, command: &str) -> String {
        let mut command = command.to_owned();
        for (word, value) in fault.puts {
            // Values are named like the scripts name them.
            let value = self.shell(&format!("printf %s {value}")).unwrap_or_else(|why| panic!("{value}: {why}"));
            command = replaced(&command, word, &value);
        }
        command
    }
}

/// Which commands each check printed, without names and numbers, and whether they were typed.
type Typed = BTreeMap<&'static str, BTreeMap<String, bool>>;

fn is_of(fault: &Fault, at: &str, found: &Finding) -> bool {
    found.check == fault.check && (found.place.name.contains(at) || found.what.contains(at))
}

/// A command's first words and its options: what is the same on every machine.
fn skeleton(command: &str) -> String {
    let option = |word: &str| word.starts_with('-').then(|| word.split('=').next().unwrap_or(word).to_owned());
    let words = command.split_whitespace().enumerate();
    let kept = words.filter_map(|(at, word)| {
        let plain = at < 2 && word.chars().all(|c| c.is_ascii_lowercase());
        if plain { Some(word.to_owned()) } else { option(word) }
    });
    kept.collect::<Vec<_>>().join(" ")
}

/// A word replaced where it stands alone.
fn replaced(text: &str, word: &str, value: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    while let Some(at) = rest.find(word) {
        let (before, found) = rest.split_at(at);
        let behind = &found[word.len()..];
        let alone = !before.ends_with(is_part) && !behind.starts_with(is_part);
        out += before;
        out += if alone { value } else { word };
        rest = behind;
    }
    out + rest
}

fn told(line: &Line) -> String {
    let (found, commands) = line.found.as_ref().map_or(("no", 0), |found| ("yes", found.remedy.commands.len()));
    let after = match (line.fault.after, line.problems.iter().any(|problem| problem.starts_with("still"))) {
        (_, true) => "STILL THERE",
        (After::Gone, false) => "gone",
        (After::Stays(_), false) => "stays",
    };
    let bytes = if line.problems.iter().any(|problem| problem.contains("bytes") || problem.contains("data ")) {
        "DIFFER"
    } else {
        "the same"
    };
    format!(
        "{:26} {:24} found {found}, typed {} of {commands}, {after}, bytes {bytes}",
        line.fault.check, line.fault.at, line.typed
    )
}

/// Plays scenes in a guest and says what came of them.
fn play(lab: &str, scenes: &[&'static [Fault]]) {
    let bench = Bench::new();
    let yard = Yard::new(&bench, lab);
    let mut typed = Typed::new();
    let mut problems = Vec::new();
    for scene in scenes {
        for line in yard.play(scene, &mut typed) {
            println!("{}", told(&line));
            if let After::Stays(why) = line.fault.after {
                println!("    it stays: {why}");
            }
            let at = format!("{} {}", line.fault.check, line.fault.at);
            line.problems.iter().for_each(|problem| println!("    {problem}"));
            problems.extend(line.problems.iter().map(|problem| format!("{at}: {problem}")));
        }
    }
    for (check, commands) in typed {
        let untyped: Vec<_> = commands.iter().filter(|(_, typed)| !**typed).map(|(command, _)| command).collect();
        if !untyped.is_empty() {
            problems.push(format!("{check}: never typed: {untyped:?}"));
        }
    }
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}

/// No check is forgotten: its remedy is typed here, or it is said why a guest cannot have its fault, and what page tells
/// of the remedy. Counts are of checks.
#[test]
fn every_check_has_a_remedy_that_was_typed_or_says_why_not() {
    let typed: BTreeSet<&str> = all().map(|fault| fault.check).collect();
    let cannot: BTreeSet<&str> = cannot::CANNOT.iter().map(|(check, ..)| *check).collect();
    let every: BTreeSet<&str> = doctor::checks().map(|check| check.id).collect();
    assert_eq!(typed.intersection(&cannot).collect::<Vec<_>>(), Vec::<&&str>::new());
    let known: BTreeSet<&str> = typed.union(&cannot).copied().collect();
    assert_eq!(known, every);
    let gone: BTreeSet<&str> = all().filter(|fault| fault.after == After::Gone).map(|fault| fault.check).collect();
    println!(
        "{} checks: {} with a fault in a guest and the remedy typed ({} of them gone afterwards), {} that no guest can have",
        every.len(),
        typed.len(),
        gone.len(),
        cannot.len()
    );
    for (check, why, page) in cannot::CANNOT {
        println!("{check:26} {why}; {page}");
    }
}

#[test]
fn remedies_of_drives_are_typed() {
    play(drives::LAB, drives::SCENES);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn remedies_of_arrays_are_typed() {
    play(arrays::LAB, arrays::SCENES);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn remedies_of_encryption_and_checksums_are_typed() {
    play(crypt::LAB, crypt::SCENES);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn remedies_of_volumes_are_typed() {
    play(volumes::LAB, volumes::SCENES);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn remedies_of_file_systems_are_typed() {
    play(systems::LAB, systems::SCENES);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn remedies_of_pools_are_typed() {
    play(pools::LAB, pools::SCENES);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn remedies_of_choices_are_typed() {
    play(pools::LAB, choices::SCENES);
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn remedies_of_paths_are_typed() {
    play(paths::LAB, paths::SCENES);
}

#[test]
fn words_in_capitals_are_put_in_where_they_stand_alone() {
    assert_eq!(
        replaced("zpool replace p a NEW RENEW NEW-x", "NEW", "/dev/x"),
        "zpool replace p a /dev/x RENEW /dev/x-x"
    );
}
