set -eu
export LC_ALL=C
keys=
written=

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

# By any other serial number, identifier or size it is another drive.
identities() {
    for drive in $(drives); do
        lsblk --nodeps --noheadings --bytes --output SERIAL,WWN,MODEL,SIZE "$drive" || exit 2
    done
}

# A drive that is pulled makes way for another under its name, and whatever writes next would write to that one.
must_be_named() {
    now=$(identities) || exit 2
    if [ "$now" != "$identities" ]; then
        echo "$0: what is under the name of a drive is not the drive that was named" >&2
        exit 3
    fi
}

# What is known of this script, of the drives and of this start of the machine: after a restart what has these names may be
# somebody else's.
known() {
    cksum < "$0" || exit 2
    cat /proc/sys/kernel/random/boot_id
    printf '%s\n' "$@" | sort
    identities
}

# The script once more, with a lock on every drive until it ends: the one by which udev and others agree on a drive. (Each flock
# becomes the next program, so that whoever ends the script ends this one. LVM warns of files that are open when it is started.)
locked() {
    set -- /bin/sh "$0" "locked-$verb" "$@"
    for drive in $(drives); do
        flock --nonblock "$drive" true || case $? in
            1)
                echo "$0: $drive is locked by another program" >&2
                exit 3
                ;;
            *) exit 2 ;;
        esac
        set -- flock --nonblock --no-fork --conflict-exit-code 3 "$drive" "$@"
    done
    LVM_SUPPRESS_FD_WARNINGS=1 exec "$@"
}

# Drives are taken down as they were built on, since this machine was started, and no others: what a teardown wipes and
# discards may be somebody's otherwise.
must_be_built() {
    if [ ! -s "$kept" ] || [ ! -e "$kept-steps" ] || [ ! -e "$kept-marks" ] || [ "$(known "$@")" != "$(cat "$kept")" ]; then
        echo "$0: $kept does not say that it was built on these drives since this machine was started" >&2
        echo "$0: if it was, before a restart, run the commands of teardown() by hand" >&2
        exit 3
    fi
}

# What is on none of the drives any more was taken down otherwise, and what has its names now is somebody else's.
must_stand() {
    for drive in $(drives); do
        is_blank "$drive" || return 0
    done
    echo "$0: nothing of it is left on these drives; what has its names now is not touched" >&2
    : > "$kept"
    exit 3
}

# What stands under this name on other drives is taken down first, for nothing would tell of it afterwards.
must_be_alone() {
    if [ -s "$kept" ] && [ "$(known "$@")" != "$(cat "$kept")" ]; then
        echo "$0: it stands on other drives, was built before a restart, or is of another script of this name:" >&2
        grep = "$kept" >&2 || :
        echo "$0: run teardown of that script with these, or remove $kept if nothing of it is left" >&2
        exit 3
    fi
}

# Signatures of a device, a line each: what it is, and its identifier.
signatures_of() {
    wipefs --noheadings --output TYPE,UUID "$1" || return
    blkid --probe --match-tag PTUUID --output value "$1" || case $? in 2) ;; 8) echo several ;; *) return 1 ;; esac
    marks "$1"
}

# The same of these drives and their partitions, by their numbers.
signatures() {
    number=0
    for drive in $(drives); do
        number=$((number + 1))
        case " $* " in *" $drive "*) ;; *) continue ;; esac
        tree=$(lsblk --noheadings --list --output PATH,TYPE "$drive") || exit 2
        for node in "$drive" $(printf '%s\n' "$tree" | awk '$2 == "part" { print $1 }'); do
            found=$(signatures_of "$node") || exit 2
            printf '%s\n' "$found" | awk -v at="$number${node#"$drive"}" 'NF { $1 = $1; print at, $0 }' | sort -u
        done
    done
}

# From here on the script writes on these drives. They were blank when it began, and somebody may have taken one since.
on() {
    must_be_named
    for taken; do
        case " $written " in *" $taken "*) continue ;; esac
        must_be_blank "$taken"
        written="$written $taken"
    done
}

# Keeps what this script wrote on the drives. (Where a step fails or the script is killed, what is half made is a person's, but for
# what has an identifier of this script's.)
remember() {
    found=$(signatures $written) || exit 2
    printf '%s\n' "$found" > "$kept-marks"
}

# What this script did not write on the drives is somebody else's, and stays.
must_be_ours() {
    found=$(signatures $(drives)) || exit 2
    strange=$(printf '%s\n' "$found" | grep --line-regexp --fixed-strings --invert-match --file="$kept-marks") ||
        [ $? = 1 ] || exit 2
    # A mapping that writes back late, or lies on a member from its first
    # byte on, shows there what stands on it.
    strange=$(printf '%s\n' "$strange" | grep --fixed-strings --invert-match --file="$kept-own") || [ $? = 1 ] || exit 2
    if [ -n "$strange" ]; then
        echo "$0: this script did not write, or was killed before it kept a note of:" >&2
        printf '%s\n' "$strange" >&2
        echo "$0: (first the place of the drive, in this order:" $(drives)")" >&2
        echo "$0: if that may go too, run the commands of teardown() by hand" >&2
        exit 3
    fi
}

# Whoever destroys a pool or a volume takes along whatever is in it: what is in the first, what is found, what this script made.
must_hold_only() {
    what=$1 found=$2
    shift 2
    for one in $found; do
        case " $* " in
            *" $one "*) ;;
            *)
                echo "$0: $what holds what this script did not make: $one" >&2
                exit 3
                ;;
        esac
    done
}

# What has a name of this script's and does not rest on its drives is somebody else's.
must_rest() {
    all=$(lsblk --noheadings --list --output MAJ:MIN $(drives)) || exit 2
    for node; do
        stands "$node" || continue
        directory=$(sys "$node") || exit 2
        case " $(echo $all) " in
            *" ${directory##*/} "*) ;;
            *)
                echo "$0: $node does not rest on these drives, and is not touched" >&2
                exit 3
                ;;
        esac
    done
}

# The same of what is mounted on a directory. What no device is behind is somebody else's: a file system in memory, a share.
must_hold_mount() {
    found=$(findmnt --noheadings --output SOURCE --mountpoint "$1") || [ $? = 1 ] || exit 2
    for source in $found; do
        source=${source%%\[*}
        if ! stands "$source"; then
            echo "$0: $source is mounted on $1, does not rest on these drives, and is not touched" >&2
            exit 3
        fi
        must_rest "$source"
    done
}

# Steps that were begun, done and taken back, by their numbers.
note() {
    echo "$*" >> "$kept-steps"
}

noted() {
    grep --quiet --line-regexp --fixed-strings "$*" "$kept-steps"
}

begun() {
    noted begun "$1" && ! noted undone "$1"
}

# Keeps what a setting of a drive is, and sets it. (Files that offer a choice have what is in force in brackets.)
set_to() {
    was=$(cat "$2") || return
    case $was in *\[*\]*) was=${was#*\[} was=${was%%\]*} ;; esac
    note was "$1" "$was"
    printf '%s\n' "$3" > "$2"
}

put_back() {
    was=$(sed -n "s/^was $1 //p" "$kept-steps") || return
    [ -z "$was" ] || printf '%s\n' "$was" > "$2"
}

# Something could not be taken back: because it never came to be, or is not there any more? Anything else ends the script.
nothing_left() {
    noted done "$1" || return 0
    case $2 in
        node) ! stands "$3" ;;
        mark) ! stands "$3" || ! carries "$3" "$4" ;;
        pool) [ ! -e "/proc/spl/kstat/zfs/$3" ] ;;
        group) found=$(vgs --noheadings --options vg_name --select "vg_name=$3") && [ -z "$found" ] ;;
        *) false ;;
    esac && return 0
    echo "$0: this could not be taken back, and the rest is left as it is" >&2
    return 1
}

carries() {
    found=$(wipefs --noheadings --output TYPE "$1") || exit 2
    printf '%s\n' "$found" | grep --quiet --word-regexp --fixed-strings "$2"
}

# One at a time, or what it keeps is of neither.
begin() {
    if ! (set -C && echo $$ > "$kept-lock") 2>/dev/null; then
        read -r other < "$kept-lock" || exit 2
        if kill -0 "$other" 2>/dev/null; then
            echo "$0: it is at work already, as process $other; if that is another program, remove $kept-lock" >&2
            exit 3
        fi
        echo $$ > "$kept-lock"
    fi
    trap leave EXIT
    trap 'exit 129' HUP
    trap 'exit 130' INT QUIT
    trap 'exit 143' PIPE TERM
}

# However the script ends, keys are gone. (Not every shell runs what was set for `EXIT` when a signal ends it.)
leave() {
    [ -z "$keys" ] || rm -rf "$keys"
    rm -f "$kept-lock"
}

# The directory that this script made: in its place another may be, or a link to one. What is mounted below it goes with it where
# it is of the same file system.
made() {
    mounts=$(findmnt --list --noheadings --output TARGET) || exit 2
    mounts=$(printf '%s\n' "$mounts" | at="$1/" awk 'index($0 "/", ENVIRON["at"]) == 1')
    if [ -n "$mounts" ]; then
        echo "$0: something is mounted in $1, and would go with it" >&2
        exit 3
    fi
    [ ! -L "$1" ] && noted made "$(stat --format=%d:%i "$1")" && return 0
    echo "$0: this script did not make what is at $1 now" >&2
    exit 3
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
