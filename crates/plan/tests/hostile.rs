//! Whatever a text of a study holds, its script runs the plan's own commands and nothing else; whatever ends the script
//! takes the keys away.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test may panic, and runs the shell")]

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use plan::DriveSize;
use proptest::prelude::*;
use terms::layer::{Crypt, Ext4, Luks, Raid};
use terms::plan::{Act, Placeholder, Plan, PlanCommand, partition_of};
use terms::{Bytes, Layer, LayerNode, Name, Ref, Stack, Word};

const DRIVES: [&str; 2] = ["a", "b.x-1"];

/// What the head of a script runs, as on a machine with two blank drives. `pwned` is run by nobody.
const TOOLS: &[(&str, &str)] = &[
    (
        "lsblk",
        r#"case "$*" in *WWN*) echo S ;; *SERIAL*) printf '/dev/x1 S1\n/dev/x2 S2\n' ;; *) echo "disk " ;; esac"#,
    ),
    (
        "flock",
        r#"while :; do case "$1" in --conflict-exit-code) shift 2 ;; --*) shift ;; *) break ;; esac; done
        shift; case $1 in true) ;; *) exec "$@" ;; esac"#,
    ),
    ("blkid", "exit 2"),
    ("blockdev", "echo 2048"),
    ("dd", ""),
    ("cksum", ""),
    ("findmnt", "case $1 in --list) echo / ;; *) exit 1 ;; esac"),
    ("stat", r#"case "$*" in *%t*) echo 103 ;; *) echo 0 ;; esac"#),
    ("ls", ""),
    ("mountpoint", "exit 1"),
    (
        "cat",
        r#"case "$1" in *random/uuid) echo UUID ;; *sync_action) echo idle ;; *resync_start) echo none ;;
            */bedplate-* | */found) while read -r line; do echo "$line"; done < "$1" ;; *) echo 0 ;; esac"#,
    ),
];
/// What plans run: each keeps its words, with a NUL behind each and one more at the end. None is empty.
const LOGGED: [&str; 11] =
    ["pwned", "touch", "mdadm", "cryptsetup", "mkfs.ext4", "mount", "umount", "rmdir", "wipefs", "mkdir", "rm"];
/// What scripts need of a shell's surroundings.
const REAL: [&str; 9] = ["awk", "grep", "sort", "uniq", "mktemp", "head", "sleep", "readlink", "tr"];

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

struct Stage(tempfile::TempDir);

impl Stage {
    fn new() -> Self {
        let stage = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(stage.path("bin")).unwrap();
        for tool in REAL {
            let real = ["/usr/bin", "/bin"].map(|at| Path::new(at).join(tool)).into_iter().find(|path| path.exists());
            std::os::unix::fs::symlink(real.unwrap(), stage.path("bin").join(tool)).unwrap();
        }
        TOOLS.iter().for_each(|(tool, body)| stage.stub(tool, body));
        let keep = |tool: &str| format!(r#"{{ printf '%s\0' {tool} "$@"; printf '\0'; }} >> "$STATE/log""#);
        LOGGED.iter().for_each(|tool| stage.stub(tool, &keep(tool)));
        let gone = r#"case "$*" in "-rf /dev/shm/bedplate-"*) exec /bin/rm "$@" ;; esac"#;
        stage.stub("rm", &format!("{}\n{gone}", keep("rm")));
        stage.stub("od", "echo 00 00");
        stage.stub("mountpoint", ":");
        // Between build and teardown there is something on the drives.
        std::fs::write(stage.path("found"), "").unwrap();
        let change = r#"case "$1" in --create) echo x > "$STATE/found" ;; --zero*) : > "$STATE/found" ;; esac"#;
        stage.stub("mdadm", &format!("{}\n{change}", keep("mdadm")));
        let found = r#"cat "$STATE/found""#;
        stage.stub("wipefs", &format!(r#"case "$1" in --noheadings) {found} ;; *) {} ;; esac"#, keep("wipefs")));
        stage
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn stub(&self, tool: &str, body: &str) {
        let path = self.path("bin").join(tool);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn shell(&self, script: &str, arguments: &[&str]) -> Command {
        let run = format!("{}/", self.0.path().display());
        std::fs::write(self.path("script"), script.replace("/run/bedplate", &format!("{run}bedplate"))).unwrap();
        // A test that is started in the background is given signals that are ignored, and no shell can trap those.
        let mut shell = Command::new("/usr/bin/env");
        shell
            .args(["--default-signal=HUP,INT,QUIT,TERM", "/bin/sh"])
            .arg(self.path("script"))
            .args(arguments)
            .current_dir(self.0.path());
        shell.env_clear().env("PATH", self.path("bin")).env("STATE", self.0.path()).stdin(Stdio::null());
        shell
    }

    /// What was run, each with its words.
    fn ran(&self, script: &str, arguments: &[&str]) -> (Output, Vec<Vec<String>>) {
        let _ = std::fs::remove_file(self.path("log"));
        let output = self.shell(script, arguments).output().unwrap();
        let log = String::from_utf8(std::fs::read(self.path("log")).unwrap_or_default()).unwrap();
        let ends = log.split_terminator("\0\0");
        let ran = ends.map(|words| words.split('\0').map(str::to_owned).collect::<Vec<_>>());
        // The script's own take its keys and its lock away.
        let of_plan = |words: &Vec<String>| !(words[0] == "rm" && ["-rf", "-f"].contains(&words[1].as_str()));
        (output, ran.filter(of_plan).collect())
    }
}

/// Text that shells, printf, awk and people's eyes take for something else.
fn hostile() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "aes{drive:a}$(pwned)`pwned`-xts-plain64",
        "$(pwned)",
        "`pwned`",
        "'; pwned; '",
        "\"; pwned; \"",
        "x\npwned\n",
        "x\rpwned",
        "{drive:a}",
        "{{drive:a}}",
        "{",
        "}{",
        "${keys}",
        "$keys",
        "\\",
        "'\\''",
        "-n",
        "%s%n",
        "~",
        "*",
        "# pwned",
        "a=b",
        "!pwned",
        "\u{202e}pwned",
        "x && pwned",
        "x | pwned > pwned",
        "esac; pwned",
        "\u{85}pwned\u{2028}pwned",
    ])
    .prop_map(str::to_owned);
    let odd =
        prop::sample::select("$`\"'\\;&|<>(){}[]*?!#~=:, \n\t\r%é\u{202e}\u{1b}pwned".chars().collect::<Vec<_>>());
    let any = prop::collection::vec(odd, 1..24).prop_map(|all| all.into_iter().collect());
    prop_oneof![known, any]
}

fn facts() -> Vec<DriveSize> {
    let fact = |drive| DriveSize { name: name(drive), size: Bytes::gib(2), lba: Bytes(512), slice: false };
    DRIVES.map(fact).to_vec()
}

fn stack(title: &str, cipher: &str) -> Stack {
    let (luks, crypt) =
        (Luks { cipher: cipher.into(), ..Luks::default() }, Crypt { cipher: cipher.into(), ..Crypt::default() });
    let node = |text: &str, layer, on: Vec<Ref>| LayerNode { name: name(text), layer, on, special: vec![] };
    let on = |text: &str| vec![Ref::Layer(name(text))];
    Stack {
        name: title.to_owned(),
        note: Some(title.to_owned()),
        nodes: vec![
            node("raid", Layer::Raid(Raid::default()), DRIVES.map(|drive| Ref::Drive(name(drive))).to_vec()),
            node("luks", Layer::Luks(luks), on("raid")),
            node("crypt", Layer::Crypt(crypt), on("luks")),
            node("ext4", Layer::Ext4(Ext4::default()), on("crypt")),
        ],
    }
}

/// What the plan itself says, with the nodes that the stubs tell of.
fn vector(command: &PlanCommand) -> Vec<String> {
    let node = |name: &Name| if name.as_str() == "a" { "/dev/x1" } else { "/dev/x2" };
    let fill = |place: &Placeholder| match place {
        Placeholder::Drive(name) => Some(node(name).to_owned()),
        Placeholder::Partition(name, number) => Some(partition_of(node(name), *number)),
        Placeholder::Sysfs(_) => Some("/sys/dev/block/259:0".to_owned()),
        Placeholder::Uuid(_) => Some("UUID".to_owned()),
        Placeholder::Controller(_) | Placeholder::SysfsOf(_) => None,
    };
    command.argv.iter().map(|word| word.resolve(fill).unwrap()).collect()
}

fn built(plan: &Plan) -> Vec<Vec<String>> {
    let run = |act: &Act| if let Act::Run(command) = act { Some(vector(command)) } else { None };
    plan.steps.iter().filter_map(|step| run(&step.act)).collect()
}

fn taken_down(plan: &Plan) -> Vec<Vec<String>> {
    plan.steps.iter().rev().flat_map(|step| &step.undo).map(|undo| vector(&undo.command)).collect()
}

/// Puts a text wherever a plan has one: behind every command, between options and devices, in reasons and ids.
fn poison(plan: &mut Plan, text: &str) {
    for (number, step) in plan.steps.iter_mut().enumerate() {
        step.id = format!("{number}.{text}");
        step.why.push_str(text);
        let own = if let Act::Run(command) = &mut step.act { Some(command) } else { None };
        let undos = step.undo.iter_mut().map(|undo| {
            undo.why.push_str(text);
            &mut undo.command
        });
        for command in own.into_iter().chain(undos) {
            let option = Word::from(text).then(",device=").then(Word::partition(&name("a"), 2)).then(",").then(text);
            command.argv.extend([Word::from(text), option]);
        }
    }
}

fn holds(stage: &Stage, plan: &Plan, arguments: [&str; 2]) -> Result<(), TestCaseError> {
    let script = plan::script(plan);
    std::fs::write(stage.path("script"), &script).unwrap();
    let read = Command::new("/bin/sh").arg("-n").arg(stage.path("script")).output().unwrap();
    prop_assert!(read.status.success() && read.stderr.is_empty(), "{read:?}\n{script}");
    let drives: Vec<&str> = arguments.into_iter().filter(|word| !word.is_empty()).collect();
    for (verb, mut expected) in [("build", built(plan)), ("teardown", taken_down(plan))] {
        // Nothing is mounted here, so there is no directory to take away.
        expected.retain(|words| plan.drives.is_empty() || words[0] != "rmdir");
        let (output, ran) = stage.ran(&script, &[&[verb][..], &drives[..]].concat());
        prop_assert!(output.status.success(), "{output:?}\n{script}");
        prop_assert_eq!(ran, expected, "{}", script);
    }
    prop_assert!(!stage.path("pwned").exists(), "{script}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scripts_run_what_the_plan_says_and_nothing_else(title in hostile(), cipher in hostile(), text in hostile()) {
        let stage = Stage::new();
        let serials = ["a=S1", "b.x-1=S2"];
        let mut plan = plan::plan(&stack(&title, &cipher), &facts()).unwrap();
        prop_assert_eq!(plan::lint(&plan), []);
        holds(&stage, &plan, serials)?;
        // As a file has it.
        let again: Plan = serde_json::from_str(&serde_json::to_string(&plan).unwrap()).unwrap();
        prop_assert_eq!(&again, &plan);
        poison(&mut plan, &text);
        holds(&stage, &plan, serials)?;
    }

    #[test]
    fn directories_of_any_name_are_made_and_taken_away(title in hostile(), path in hostile()) {
        // One that is there is refused.
        let path = format!("/there-is-no-such-directory/{}", path.replace(['{', '}'], ""));
        let plan = plan::existing(&stack(&title, "x"), &path, "7f").unwrap();
        let stage = Stage::new();
        holds(&stage, &plan, ["", ""])?;
    }
}

/// Without drives nothing but the note of a build tells that the directory is the script's.
#[test]
fn a_directory_that_no_build_made_stays() {
    let plan = plan::existing(&stack("x", "x"), "/there-is-no-such-directory/mine", "7f").unwrap();
    let stage = Stage::new();
    let script = plan::script(&plan);
    let ends = |verb, status, takes_away| {
        let (output, ran) = stage.ran(&script, &[verb]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        assert_eq!(ran.iter().any(|words| words[0] == "rm"), takes_away, "{verb}: {ran:?}");
    };
    ends("teardown", 3, false);
    ends("build", 0, false);
    ends("teardown", 0, true);
    ends("teardown", 3, false);
}

/// The audit's own: a cipher that closes its quotes and runs two commands.
#[test]
fn a_cipher_is_a_word() {
    let cipher = "aes{drive:a}$(touch pwned)`touch pwned`-xts-plain64";
    let stage = Stage::new();
    let plan = plan::plan(&stack("x", cipher), &facts()).unwrap();
    let (output, ran) = stage.ran(&plan::script(&plan), &["build", "a=S1", "b.x-1=S2"]);
    assert!(output.status.success(), "{output:?}");
    assert!(ran.iter().any(|words| words.iter().any(|word| word == cipher)), "{ran:?}");
    assert!(ran.iter().all(|words| words[0] != "touch"), "{ran:?}");
}

/// A plan from a file may hold a placeholder where no planner puts one.
#[test]
fn a_placeholder_in_the_middle_of_a_word_is_no_planners() {
    let plan = plan::plan(&stack("x", "aes-xts-plain64"), &facts()).unwrap();
    let json = serde_json::to_string(&plan)
        .unwrap()
        .replace("aes-xts-plain64\",\"--key-size", "aes{drive:a}$(x)-y-z\",\"--key-size");
    let plan: Plan = serde_json::from_str(&json).unwrap();
    assert!(plan::lint(&plan).iter().any(|note| note.code == "plan-word"), "{:?}", plan::lint(&plan));
}

#[test]
fn the_first_that_a_script_says_is_what_it_loses() {
    let stage = Stage::new();
    let plan = plan::plan(&stack("x", "aes-xts-plain64"), &facts()).unwrap();
    let script = plan::script(&plan);
    let head: Vec<&str> = script.lines().take(4).collect();
    assert!(
        head.join(" ").replace("# ", "").contains("everything on the volume is lost when it is closed"),
        "{head:?}"
    );
    let (output, _) = stage.ran(&script, &["build", "a=S1", "b.x-1=S2"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.lines().next().unwrap().contains("everything on the volume is lost when it is closed"), "{told}");
}

fn wait(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A shell that is ended runs what was set for `EXIT` only if it hears of the signal.
#[test]
fn keys_are_gone_whatever_signal_ends_the_script() {
    let plan = plan::plan(&stack("x", "aes-xts-plain64"), &facts()).unwrap();
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let stage = Stage::new();
        std::fs::remove_file(stage.path("bin/rm")).unwrap();
        std::os::unix::fs::symlink("/bin/rm", stage.path("bin/rm")).unwrap();
        stage.stub(
            "cryptsetup",
            r#"readlink /proc/self/fd/0 > "$STATE/key.new"; /bin/mv "$STATE/key.new" "$STATE/key"; sleep 0.3"#,
        );
        let mut shell: Child =
            stage.shell(&plan::script(&plan), &["build", "a=S1", "b.x-1=S2"]).stderr(Stdio::null()).spawn().unwrap();
        wait("cryptsetup was not run", || stage.path("key").exists());
        let key = std::fs::read_to_string(stage.path("key")).unwrap();
        let key = Path::new(key.trim());
        assert!(key.starts_with("/dev/shm") && key.exists(), "{key:?}");
        Command::new("kill").args(["-s", signal, &shell.id().to_string()]).status().unwrap();
        let status = shell.wait().unwrap();
        assert!(!status.success(), "{signal}: {status}");
        assert!(!key.exists() && !key.parent().unwrap().exists(), "{signal} left {key:?}");
    }
}
