//! A plan as a shell script that a person can read, keep and run: every command with its reason and its undo.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use terms::command::quote;
use terms::plan::{Act, Condition, Effect, Piece, Placeholder, Plan, PlanCommand, Step, Undo};
use terms::{Name, Word};

use crate::render::wrapped;

/// What comes before the steps: drives by serial number, keys in memory, nothing without consent.
const HEAD: &str = include_str!("script/head.sh");

/// The script.
#[must_use]
pub fn script(plan: &Plan) -> String {
    let mut text = "#!/bin/sh\n".to_owned();
    text.push_str(&comment("", &format!("This is a test rig and no installer: {}.", lost(plan))));
    text.push_str("#\n");
    text.push_str(&comment("", &plan.stack));
    text.push_str("#\n");
    text.push_str(&comment(
        "",
        "Made by bedplate. It builds one storage stack and takes it down again. Read it before you run it, as root.",
    ));
    let named = plan.drives.iter().map(|drive| format!("{drive}=SERIAL")).collect::<Vec<_>>().join(" ");
    text.push_str(&HEAD.replacen("NAME=SERIAL", &named, 1));
    marks(&mut text);
    drives(&mut text, plan);
    build(&mut text, plan);
    teardown(&mut text, plan);
    text.push_str(
        "\nidentities=$(identities)\ncase $verb in\n    build | teardown) locked \"$@\" ;;\n    locked-build) begin; build \"$@\" ;;\n    \
         locked-teardown) begin; teardown \"$@\" ;;\n    *) usage ;;\nesac\n",
    );
    text
}

/// What whoever runs the script loses, and when.
fn lost(plan: &Plan) -> &'static str {
    if plan.drives.is_empty() {
        "its directory is taken away with all that is in it when it is taken down"
    } else if keys(plan).is_empty() {
        "what the drives hold is lost when it builds, and what was put on the volume is lost when it is taken down"
    } else {
        "everything on the volume is lost when it is closed, by `teardown`, a restart or a power cut: its key is random, \
         is kept nowhere, and is gone when this script has built it"
    }
}

/// Prose behind `#`. What would end the comment, or show it as what it is not, is left out.
fn comment(indent: &str, prose: &str) -> String {
    let shown: String = prose.chars().map(|c| if terms::text::is_hidden(c) { ' ' } else { c }).collect();
    let start = format!("{indent}# ");
    wrapped(&start, &shown, &start)
}

/// Keys that its commands want, each once, in order.
fn keys(plan: &Plan) -> Vec<&Name> {
    let mut seen = BTreeSet::new();
    let wanted = plan.steps.iter().filter_map(|step| match &step.act {
        Act::Run(command) => command.key.as_ref(),
        Act::Write { .. } | Act::Wait(_) => None,
    });
    wanted.filter(|key| seen.insert(*key)).collect()
}

/// What comes before the table of signatures that `wipefs` does not know.
const MARKS: &str = r#"
# Signatures that wipefs does not know, by their first bytes at a place. Where the copies of one lie is told by the first alone,
# so all that may hold one is searched.
marks() {
    size=$(blockdev --getsize64 "$1") || return
    for place in 0 $((size > TAIL ? size - TAIL : 0)); do
        found=$({
            {
                dd if="$1" bs=64K iflag=skip_bytes,count_bytes skip="$place" count=HEAD status=none && echo read >&3 ||
                    echo unread >&3
            } | grep --text --count --fixed-strings "$(printf 'MAGIC')"
        } 3>&1) || [ $? = 1 ] || return
        case $(echo $found) in
            'read 0') ;;
            'read '*) echo bcachefs ;;
            *) return 1 ;;
        esac
    done
    while read -r place bytes kind; do
        seen=$(od -An -v -tx1 -j "$place" -N 16 "$1" | tr -d ' \n')
        [ -n "$seen" ] || return
        case $seen in "$bytes"*) echo "$kind" ;; esac
    done <<'MARKS'
"#;

/// A function that tells such signatures.
fn marks(text: &mut String) {
    use terms::signature::{BCACHEFS, HEAD, TAIL, UNTOLD};
    let magic = BCACHEFS.iter().fold(String::new(), |magic, byte| format!("{magic}\\{byte:03o}"));
    let of = MARKS.replace("MAGIC", &magic).replace("HEAD", &HEAD.to_string()).replace("TAIL", &TAIL.to_string());
    text.push_str(&of);
    for (kind, place, bytes) in UNTOLD.iter().filter(|(.., bytes)| *bytes != BCACHEFS) {
        let bytes: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(text, "{place} {bytes} {kind}");
    }
    text.push_str("MARKS\n}\n\n");
}

/// Reads the drives from the arguments, each once; what the environment holds under these names does not count.
fn drives(text: &mut String, plan: &Plan) {
    for drive in &plan.drives {
        let _ = writeln!(text, "{}=", variable(drive));
    }
    text.push_str("for pair in \"$@\"; do\n    case $pair in\n");
    for drive in &plan.drives {
        let name = variable(drive);
        let _ =
            writeln!(text, "        {drive}=*) [ -z \"${name}\" ] || usage; {name}=$(by_serial \"${{pair#*=}}\") ;;");
    }
    text.push_str("        *) usage ;;\n    esac\ndone\n");
    for drive in &plan.drives {
        let _ = writeln!(text, "[ -n \"${}\" ] || usage", variable(drive));
    }
    let _ = writeln!(text, "must_differ {}", all(plan));
    let list = if plan.drives.is_empty() { ":".to_owned() } else { format!("printf '%s\\n' {}", all(plan)) };
    let _ = writeln!(text, "\ndrives() {{\n    {list}\n}}");
    let _ = writeln!(
        text,
        "\n# On which drives it stands; beside it, what was done.\nkept={}",
        quote(&format!("/run/bedplate-{}", plan.slug.replace('/', "_")))
    );
}

/// All drives.
fn all(plan: &Plan) -> String {
    plan.drives.iter().map(|drive| format!("\"${}\"", variable(drive))).collect::<Vec<_>>().join(" ")
}

fn build(text: &mut String, plan: &Plan) {
    text.push_str("\nbuild() {\n");
    let _ = writeln!(text, "    printf '%s: %s\\n' \"$0\" {} >&2", quote(lost(plan)));
    text.push_str("    must_be_alone \"$@\"\n");
    for drive in &plan.drives {
        let _ = writeln!(text, "    must_be_blank \"${}\"", variable(drive));
    }
    if !plan.drives.is_empty() {
        text.push_str("    # The drives are blank: nothing of an earlier build is left.\n    : > \"$kept\"\n");
    }
    if let terms::WorkTarget::Directory(directory) = &plan.target {
        let _ = writeln!(text, "    [ ! -e {0} ] && [ ! -L {0} ] || taken {0}", quote(directory));
    }
    plan.steps.iter().filter_map(|step| step.effect.as_ref()).for_each(|effect| must_be_new(text, effect));
    text.push_str("    for of in steps marks own; do : > \"$kept-$of\"; done\n    known \"$@\" > \"$kept\"\n");
    let mut named: Vec<&Name> = Vec::new();
    for step in plan.steps.iter().filter(|step| step.marks.iter().any(|mark| mark.uuid.is_some())) {
        if !named.contains(&&step.layer) {
            named.push(&step.layer);
            let uuid = identifier(&step.layer);
            let _ =
                writeln!(text, "    {uuid}=$(cat /proc/sys/kernel/random/uuid)\n    echo \"${uuid}\" >> \"$kept-own\"");
        }
    }
    let keys = keys(plan);
    if !keys.is_empty() {
        text.push_str("    # Keys are random and live in memory.\n");
        text.push_str("    keys=$(mktemp --directory --tmpdir=/dev/shm bedplate-XXXXXX)\n");
    }
    for key in keys {
        let _ = writeln!(text, "    head --bytes=64 /dev/urandom > \"$keys/{key}\"");
    }
    for (number, step) in plan.steps.iter().enumerate() {
        text.push('\n');
        text.push_str(&comment("    ", &step.id));
        text.push_str(&comment("    ", &step.why));
        let drives: String = step.erases.iter().map(|drive| format!(" \"${}\"", variable(drive))).collect();
        if !drives.is_empty() {
            let _ = writeln!(text, "    on{drives}");
        } else if names_a_drive(step) {
            text.push_str("    must_be_named\n");
        }
        let _ = writeln!(text, "    note begun {number}");
        act(text, number, step);
        if let Some(Effect::Directory { path, .. }) = &step.effect {
            let _ = writeln!(text, "    note made \"$(stat --format=%d:%i {})\"", quote(path));
        }
        let _ = writeln!(text, "    note done {number}");
        if !step.marks.is_empty() || is_part(step) {
            text.push_str("    remember\n");
        }
    }
    if plan.steps.is_empty() {
        text.push_str("    # The bare drive needs no building.\n    :\n");
    }
    let target = match &plan.target {
        terms::WorkTarget::Directory(directory) => quote(directory),
        terms::WorkTarget::Device(node) => word(node),
    };
    let _ = writeln!(text, "    printf 'built: %s\\n' {target}\n}}");
}

/// Refuses to begin where a name that the script gives stands already. Names on the drives are new, for those are blank.
fn must_be_new(text: &mut String, effect: &Effect) {
    let _ = match effect {
        Effect::Node(node) if !node.is_of_drive() => writeln!(text, "    ! stands {0} || taken {0}", word(node)),
        Effect::Pool(name) => {
            let (of_kernel, pool) = (quote(&format!("/proc/spl/kstat/zfs/{name}")), quote(name));
            writeln!(text, "    [ ! -e {of_kernel} ] || taken {pool}")
        }
        Effect::Group(name) => {
            let (select, group) = (quote(&format!("vg_name={name}")), quote(name));
            writeln!(
                text,
                "    found=$(vgs --noheadings --options vg_name --select {select}) || exit 2\n    \
                 [ -z \"$found\" ] || taken {group}"
            )
        }
        // The directory is asked for by itself.
        Effect::Mount(_) | Effect::Directory { .. } => Ok(()),
        Effect::Node(_) | Effect::Signature { .. } | Effect::LogicalBlock { .. } => Ok(()),
    };
}

/// Does what it does reach a drive by its name of today, whether it says that it erases it or not?
fn names_a_drive(step: &Step) -> bool {
    match &step.act {
        Act::Run(command) => command.argv.iter().any(Word::is_of_drive),
        Act::Write { path, .. } => path.is_of_drive(),
        Act::Wait(_) => false,
    }
}

/// The file of a drive's setting that a step writes. Those of an array go with it.
fn setting_of_drive(step: &Step) -> Option<&Word> {
    match &step.act {
        Act::Write { path, .. } if path.is_of_drive() => Some(path),
        _ => None,
    }
}

fn act(text: &mut String, number: usize, step: &Step) {
    match &step.act {
        Act::Run(command) => {
            let _ = writeln!(text, "    {}", line(command));
        }
        Act::Write { path, text: value } if path.is_of_drive() => {
            let _ = writeln!(text, "    set_to {number} {} {}", word(path), quote(value));
        }
        Act::Write { path, text: value } => {
            let _ = writeln!(text, "    printf '%s\\n' {} > {}", quote(value), word(path));
        }
        Act::Wait(Condition::MdIdle { node, .. }) => {
            let _ = writeln!(text, "    until in_sync \"$(sys {})/md\"; do sleep 1; done", word(node));
        }
        Act::Wait(Condition::Sanitized { controller, .. }) => {
            let _ = writeln!(
                text,
                "    until [ \"$(nvme get-log {} --log-id=0x81 --log-len=4 --raw-binary | od -An -tu2 -j2 | \
                 awk '{{ print $1 % 8 }}')\" != 2 ]; do sleep 1; done",
                word(controller)
            );
        }
        Act::Wait(Condition::LvSynced { group, .. }) => {
            let _ = writeln!(
                text,
                "    until ! lvs --all --noheadings --options sync_percent {} | grep '[0-9]' | grep -qv 100; do sleep 1; done",
                quote(group)
            );
        }
    }
}

/// Does it make a partition of a drive?
fn is_part(step: &Step) -> bool {
    matches!(&step.effect, Some(Effect::Node(node)) if node.is_of_drive())
}

fn teardown(text: &mut String, plan: &Plan) {
    text.push_str("\nteardown() {\n    must_be_built \"$@\"\n");
    let writes = plan.steps.iter().any(|step| !step.marks.is_empty() || matches!(step.effect, Some(Effect::Node(_))));
    if writes {
        text.push_str("    must_stand\n    must_be_ours\n");
    } else if plan.steps.iter().any(|step| matches!(step.effect, Some(Effect::LogicalBlock { .. }))) {
        text.push_str(
            "    # Another format empties a drive.\n    for drive in $(drives); do must_be_blank \"$drive\"; done\n",
        );
    }
    plan.steps.iter().filter_map(|step| step.effect.as_ref()).for_each(|effect| must_rest(text, plan, effect));
    let is_undone = |step: &Step| !step.undo.is_empty() || setting_of_drive(step).is_some();
    for (number, step) in plan.steps.iter().enumerate().rev().filter(|(_, step)| is_undone(step)) {
        let _ = writeln!(text, "\n    if begun {number}; then");
        text.push_str(&comment("        ", &format!("takes back {}", step.id)));
        if !plan.drives.is_empty() {
            text.push_str("        must_be_named\n");
        }
        if let Some(path) = setting_of_drive(step) {
            let _ = writeln!(text, "        put_back {number} {}", word(path));
        }
        for undo in &step.undo {
            text.push_str(&comment("        ", &undo.why));
            let _ = writeln!(text, "        {}", taken_back(number, step, undo));
        }
        let _ = writeln!(text, "        note undone {number}\n    fi");
    }
    let has_pool = plan.steps.iter().any(|step| matches!(step.effect, Some(Effect::Pool(_))));
    if let (true, terms::WorkTarget::Directory(directory)) = (has_pool, &plan.target) {
        let _ = writeln!(
            text,
            "\n    # A pool leaves the directory that it was mounted on.\n    [ ! -e {0} ] || rmdir {0}",
            quote(directory)
        );
    }
    if writes {
        text.push_str("\n    for drive in $(drives); do must_be_blank \"$drive\"; done\n");
    }
    text.push_str("\n    : > \"$kept\"\n}\n");
}

/// An undo, and what excuses it where it fails. What stands still and cannot be taken away ends the script: what is below it
/// is in use.
fn taken_back(number: usize, step: &Step, undo: &Undo) -> String {
    let undo = line(&undo.command);
    let or = |left: String| format!("{undo} || nothing_left {number} {left}");
    match &step.effect {
        // Where mounting failed, the rest is taken back all the same.
        Some(Effect::Mount(directory)) if undo.starts_with("umount ") => {
            format!("! mountpoint --quiet {} || {undo}", quote(directory))
        }
        Some(Effect::Mount(directory)) => format!("[ ! -e {} ] || {undo}", quote(directory)),
        Some(Effect::Node(node)) => or(format!("node {}", word(node))),
        Some(Effect::Signature { node, kind }) => or(format!("mark {} {}", word(node), quote(kind))),
        Some(Effect::Group(name)) => or(format!("group {}", quote(name))),
        Some(Effect::Pool(name)) => or(format!("pool {}", quote(name))),
        // Where it could not be made, nothing is to be taken away.
        Some(Effect::Directory { path, .. }) => {
            format!("! {{ noted done {number} || [ -e {0} ] || [ -L {0} ]; }} || {{ made {0}; {undo}; }}", quote(path))
        }
        Some(Effect::LogicalBlock { .. }) | None => or("else".to_owned()),
    }
}

/// Refuses what has a name of the script's and is not on its drives.
fn must_rest(text: &mut String, plan: &Plan, effect: &Effect) {
    let _ = match effect {
        Effect::Node(node) if !node.is_of_drive() => writeln!(text, "    must_rest {}", word(node)),
        Effect::Pool(name) => {
            let (of_kernel, pool) = (quote(&format!("/proc/spl/kstat/zfs/{name}")), quote(name));
            writeln!(
                text,
                "    if [ -e {of_kernel} ]; then\n        found=$(zpool list -H -P -v {pool}) || exit 2\n        \
                 must_rest $(printf '%s\\n' \"$found\" | awk '$1 ~ \"^/\" {{ print $1 }}')\n        \
                 found=$(zfs list -H -r -t filesystem,volume,snapshot -o name {pool}) || exit 2\n        \
                 must_hold_only {pool} \"$found\" {pool}\n    fi"
            )
        }
        Effect::Group(name) => {
            let select = quote(&format!("vg_name={name}"));
            writeln!(
                text,
                "    found=$(vgs --noheadings --options pv_name --select {select}) || exit 2\n    must_rest $found\n    \
                 found=$(lvs --noheadings --options lv_name --select {select}) || exit 2\n    \
                 must_hold_only {} \"$found\" {}",
                quote(name),
                volumes(plan, name).map(quote).collect::<Vec<_>>().join(" ")
            )
        }
        Effect::Mount(directory) => writeln!(text, "    must_hold_mount {}", quote(directory)),
        _ => Ok(()),
    };
}

/// Volumes of a group that the plan takes away by name.
fn volumes<'p>(plan: &'p Plan, group: &str) -> impl Iterator<Item = &'p str> {
    let undos = plan.steps.iter().flat_map(|step| &step.undo).map(|undo| &undo.command.argv);
    undos
        .filter(|argv| argv.first().is_some_and(|program| program == "lvremove"))
        .filter_map(move |argv| argv.last()?.text()?.strip_prefix(group)?.strip_prefix('/'))
}

fn line(command: &PlanCommand) -> String {
    let line = command.argv.iter().map(word).collect::<Vec<_>>().join(" ");
    match &command.key {
        Some(key) => format!("{line} < \"$keys/{key}\""),
        None => line,
    }
}

/// A word for the shell, each piece quoted by itself: what is text can never become a variable or a command.
fn word(word: &Word) -> String {
    let piece = |piece: &Piece| match piece {
        Piece::Text(text) => quote(text),
        Piece::Place(place) => format!("\"{}\"", filled(place)),
    };
    match word.pieces() {
        [] => quote(""),
        pieces => pieces.iter().map(piece).collect(),
    }
}

/// What the script puts in for a placeholder, to stand in double quotes.
fn filled(place: &Placeholder) -> String {
    match place {
        Placeholder::Drive(name) => format!("${}", variable(name)),
        Placeholder::Partition(name, number) => format!("$(part \"${}\" {number})", variable(name)),
        Placeholder::Controller(name) => {
            format!("/dev/$(basename \"$(readlink --canonicalize \"$(sys \"${}\")/device\")\")", variable(name))
        }
        Placeholder::SysfsOf(name) => format!("$(sys \"${}\")", variable(name)),
        Placeholder::Sysfs(node) => format!("$(sys {})", quote(node)),
        Placeholder::Uuid(layer) => format!("${}", identifier(layer)),
    }
}

/// The shell variable of a drive.
fn variable(drive: &Name) -> String {
    format!("drive_{}", plain(drive))
}

/// The shell variable of what a layer's work is known by.
fn identifier(layer: &Name) -> String {
    format!("uuid_{}", plain(layer))
}

/// Names may hold characters that variables may not.
fn plain(name: &Name) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("_{:x}_", u32::from(c)) };
    name.as_str().chars().map(plain).collect()
}
