//! A plan as a shell script that a person can read, keep and run: every command with its reason and its undo.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use terms::command::quote;
use terms::plan::{Act, Condition, Effect, Piece, Placeholder, Plan, PlanCommand, Step, Undo};
use terms::{Name, Word};

use crate::render::wrapped;

/// What comes before the steps: drives by serial number, keys in memory, nothing without consent.
const HEAD: &str = r#"set -eu
export LC_ALL=C

usage() {
    echo "usage: $0 build|teardown NAME=SERIAL" >&2
    echo "Names the drives by serial number (lsblk -o NAME,SERIAL,MODEL,SIZE)." >&2
    echo "Everything on these drives is lost." >&2
    exit 2
}

# The device with this serial number: exactly one, or nothing is done. (Where udev does not run, lsblk shows serial
# numbers padded with blanks as the drive tells them. They are texts: as numbers 1e3 and 1000 would be the same.)
by_serial() {
    found=$(lsblk --nodeps --noheadings --output PATH,SERIAL | serial="$1" awk '
        { path = $1; text = $0; sub(/^ *[^ ]+ */, "", text); sub(/ +$/, "", text) }
        text != "" && (text "") == (ENVIRON["serial"] "") { print path }')
    if [ "$(printf '%s\n' "$found" | grep -c .)" != 1 ]; then
        echo "$0: there is not exactly one drive with serial number $1" >&2
        exit 3
    fi
    printf '%s\n' "$found"
}

# A partition of a drive.
part() {
    case $1 in
        *[0-9]) printf '%sp%s\n' "$1" "$2" ;;
        *) printf '%s%s\n' "$1" "$2" ;;
    esac
}

# The sysfs directory of a device. (Older versions of stat tell its numbers in base 16 only.)
sys() {
    major=$(stat --dereference --format=%t "$1") || return
    minor=$(stat --dereference --format=%T "$1") || return
    printf '/sys/dev/block/%d:%d\n' "0x$major" "0x$minor"
}

# Does a drive hold nothing that is known, and does nothing hold it or a partition of it? (wipefs without --all only looks;
# unlike blkid it shows every signature where there are several. Below a drive lsblk lists its partitions and whatever
# rests on it or on them. Data without a signature is not looked for.)
is_blank() {
    # What cannot be found out ends the script: not knowing is not blank.
    found=$(wipefs --noheadings "$1") && found=$found$(marks "$1") || exit 2
    directory=$(sys "$1") || exit 2
    holders=$(ls "$directory/holders") || exit 2
    tree=$(lsblk --noheadings --raw --output TYPE,MOUNTPOINT "$1") || exit 2
    users=$(printf '%s\n' "$tree" | awk 'NF > 1 || (NR > 1 && $1 != "part")') || exit 2
    [ -n "$tree" ] && [ -z "$found$holders$users" ]
}

must_be_blank() {
    if ! is_blank "$1"; then
        echo "$0: $1 is not blank, or in use" >&2
        exit 3
    fi
}

# Two names for one drive would put a mirror on a single device.
must_differ() {
    if [ -n "$(printf '%s\n' "$@" | sort | uniq -d)" ]; then
        echo "$0: two names are the same drive" >&2
        exit 3
    fi
}

# Drives are taken down by the names that they were built by, since this machine was started, and by no others: what a
# teardown wipes and discards may be somebody's by any other name.
must_be_built() {
    if [ ! -s "$kept" ] || [ "$(printf '%s\n' "$@" | sort)" != "$(cat "$kept")" ]; then
        echo "$0: $kept does not say that it was built on these drives since this machine was started" >&2
        echo "$0: if it was, before a restart, run the commands of teardown() by hand" >&2
        exit 3
    fi
}

# What is on none of the drives any more was taken down otherwise, and what has its names now is somebody else's.
must_stand() {
    for drive; do
        is_blank "$drive" || return 0
    done
    echo "$0: nothing of it is left on these drives; what has its names now is not touched" >&2
    : > "$kept"
    exit 3
}

# What stands under this name on other drives is taken down first, for nothing would tell of it afterwards.
must_be_alone() {
    if [ -s "$kept" ] && [ "$(printf '%s\n' "$@" | sort)" != "$(cat "$kept")" ]; then
        echo "$0: it was built on other drives and not taken down:" $(cat "$kept") >&2
        echo "$0: run teardown with these, or remove $kept if nothing of it is left" >&2
        exit 3
    fi
}

# Is there a device of some size under this name? (A node may outlive its device where udev does not run.)
stands() {
    [ -e "$1" ] && [ "$(cat "$(sys "$1")/size" 2>/dev/null || echo 0)" != 0 ]
}

# What is there already under a name that this script gives is somebody else's, and teardown would take it for its own.
taken() {
    echo "$0: $1 is there already, and this script did not make it" >&2
    exit 3
}

# An array is in sync: nothing under way, nothing left over, and no member still to be filled. A new RAID-5 is clean
# from the start and short of one member, so where its resync stands tells nothing.
in_sync() {
    [ "$(cat "$1/sync_action")" = idle ] && [ "$(cat "$1/resync_start")" = none ] && [ "$(cat "$1/degraded")" = 0 ]
}

verb=${1:-}
[ $# -ge 1 ] || usage
shift
"#;

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
        "\ncase $verb in\n    build) build \"$@\" ;;\n    teardown) teardown \"$@\" ;;\n    *) usage ;;\nesac\n",
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
# Signatures that wipefs does not know, by their first bytes at a place.
marks() {
    while read -r place bytes kind; do
        seen=$(od -An -v -tx1 -j "$place" -N 16 "$1" | tr -d ' \n')
        [ -n "$seen" ] || return
        case $seen in "$bytes"*) echo "$kind" ;; esac
    done <<'MARKS'
"#;

/// A function that tells such signatures.
fn marks(text: &mut String) {
    text.push_str(MARKS);
    for (kind, place, bytes) in terms::signature::UNTOLD {
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
    let _ = writeln!(
        text,
        "\n# On which drives it stands.\nkept={}",
        quote(&format!("/run/bedplate-{}", plan.slug.replace('/', "_")))
    );
}

/// All drives.
fn all(plan: &Plan) -> String {
    plan.drives.iter().map(|drive| format!("\"${}\"", variable(drive))).collect::<Vec<_>>().join(" ")
}

/// Keys lie in memory while they are needed. Whatever ends the script takes them away: not every shell runs what was
/// set for `EXIT` when a signal ends it.
const KEYS: &str = r#"    # Keys are random, live in memory, and are gone however this script ends.
    trap '[ -z "${keys:-}" ] || rm -rf "$keys"' EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT QUIT
    trap 'exit 143' PIPE TERM
    keys=$(mktemp --directory --tmpdir=/dev/shm bedplate-XXXXXX)
"#;

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
    text.push_str("    printf '%s\\n' \"$@\" | sort > \"$kept\"\n");
    let mut named: Vec<&Name> = Vec::new();
    for step in plan.steps.iter().filter(|step| step.marks.iter().any(|mark| mark.uuid.is_some())) {
        if !named.contains(&&step.layer) {
            named.push(&step.layer);
            let _ = writeln!(text, "    {}=$(cat /proc/sys/kernel/random/uuid)", identifier(&step.layer));
        }
    }
    let keys = keys(plan);
    if !keys.is_empty() {
        text.push_str(KEYS);
    }
    for key in keys {
        let _ = writeln!(text, "    head --bytes=64 /dev/urandom > \"$keys/{key}\"");
    }
    for step in &plan.steps {
        text.push('\n');
        text.push_str(&comment("    ", &step.id));
        text.push_str(&comment("    ", &step.why));
        act(text, step);
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

fn act(text: &mut String, step: &Step) {
    match &step.act {
        Act::Run(command) => {
            let _ = writeln!(text, "    {}", line(command));
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

fn teardown(text: &mut String, plan: &Plan) {
    text.push_str("\nteardown() {\n    must_be_built \"$@\"\n");
    if plan.steps.iter().any(|step| !step.marks.is_empty() || matches!(step.effect, Some(Effect::Node(_)))) {
        let _ = writeln!(text, "    must_stand {}", all(plan));
    }
    let undos: Vec<(&Step, &Undo)> =
        plan.steps.iter().rev().flat_map(|step| step.undo.iter().map(move |undo| (step, undo))).collect();
    for (step, undo) in &undos {
        text.push('\n');
        text.push_str(&comment("    ", &format!("takes back {}", step.id)));
        text.push_str(&comment("    ", &undo.why));
        let undo = line(&undo.command);
        let _ = match &step.effect {
            // Where mounting failed, the rest is taken back all the same.
            Some(Effect::Mount(directory)) if undo.starts_with("umount ") => {
                writeln!(text, "    ! mountpoint --quiet {} || {undo}", quote(directory))
            }
            Some(Effect::Mount(directory)) => writeln!(text, "    [ ! -e {} ] || {undo}", quote(directory)),
            _ => writeln!(text, "    {undo}"),
        };
    }
    text.push_str("\n    : > \"$kept\"\n}\n");
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
