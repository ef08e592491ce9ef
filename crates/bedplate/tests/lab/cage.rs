//! A guest is a cage: what it can read of this machine, as whom QEMU runs, and what becomes of a program without an end.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use host::Host;
use lab::{Guest, GuestSpec};
use terms::{Cmd, Design, Nanos};

use crate::bench::{Bench, design};
use crate::places::{PROGRAM, QUICKSTART, ROOT, move_in, shell};

/// Files with a word in them that nothing else on this machine has, in places that are no guest's business; gone when it
/// is dropped.
struct Planted {
    word: String,
    paths: Vec<PathBuf>,
}

impl Planted {
    /// Wherever whoever runs the test may write; `/usr` is shared, but a file of root's alone is not.
    fn new() -> Self {
        let word = format!("bedplate-canary-{}", std::process::id());
        let home = std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
        let ssh = format!("{home}/.ssh");
        let places = [&home, &ssh, "/home", "/etc", "/var", "/var/lib", "/var/tmp", "/tmp", "/opt", "/srv", "/run"];
        let mut planted = Self { word, paths: Vec::new() };
        for place in places {
            planted.plant(place);
        }
        if is_root() {
            planted.plant("/usr/local");
        }
        planted
    }

    fn plant(&mut self, place: &str) {
        let path = Path::new(place).join(&self.word);
        if fs::write(&path, &self.word).is_ok() {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            self.paths.push(path);
        }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.paths.iter().for_each(|path| drop(fs::remove_file(path)));
    }
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// The lines of `/proc/PID/status` that say what a process may do.
fn rights(guest: &Guest) -> Vec<(String, String)> {
    let status = fs::read_to_string(format!("/proc/{}/status", guest.process_id())).unwrap();
    let wanted = ["Uid", "Gid", "Groups", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"];
    let lines = status.lines().filter_map(|line| line.split_once(':'));
    lines
        .filter(|(key, _)| wanted.contains(key))
        .map(|(key, value)| (key.to_owned(), value.trim().to_owned()))
        .collect()
}

#[test]
fn qemu_is_not_root_has_a_filter_and_is_told_nothing() {
    let bench = Bench::new();
    let guest = bench.boot(&design(crate::bench::TWO_NVME));
    let rights = rights(&guest);
    println!("QEMU, started by user {}:", fs::metadata("/proc/self").unwrap().uid());
    rights.iter().for_each(|(key, value)| println!("  {key}: {value}"));
    let of = |wanted: &str| rights.iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_str()).unwrap();
    assert_eq!((of("Seccomp"), of("NoNewPrivs"), of("CapEff")), ("2", "1", "0000000000000000"));
    for ids in ["Uid", "Gid"] {
        assert!(of(ids).split_whitespace().all(|id| id != "0"), "{ids}: {}", of(ids));
    }
    if is_root() {
        let user = of("Uid").split_whitespace().next().unwrap();
        let known = Cmd::new(["getent", "passwd", user]);
        assert!(!host::Local::new().run(&known).unwrap().ok(), "user {user} is somebody");
        assert_eq!(of("Groups"), if guest.accelerator() == lab::Accelerator::Kvm { of("Groups") } else { "" });
    }
    let environment = fs::read(format!("/proc/{}/environ", guest.process_id())).unwrap();
    let environment = String::from_utf8_lossy(&environment).into_owned();
    let names: Vec<&str> = environment.split('\0').filter_map(|line| Some(line.split_once('=')?.0)).collect();
    assert!(names.iter().all(|name| ["PATH", "LC_ALL", "BEDPLATE_OWNER"].contains(name)), "{names:?}");
    // No terminal that it could type into: a session of its own, and none of the person's (proc(5): session, tty_nr).
    let stat = fs::read_to_string(format!("/proc/{}/stat", guest.process_id())).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    assert_eq!((fields[3], fields[4]), (guest.process_id().to_string().as_str(), "0"), "{stat}");
    // What QEMU could put a link in place of, nobody opens by name.
    let directory = guest.directory();
    let user = fs::metadata(directory.join("own")).unwrap().uid();
    assert_eq!(fs::metadata(directory).unwrap().uid(), fs::metadata("/proc/self").unwrap().uid());
    assert_eq!(user.to_string(), of("Uid").split_whitespace().next().unwrap());
    drop(guest);
    bench.assert_nothing_left();
}

/// Moves a shell and a few tools into memory, lets go of everything that is shared, and asks QEMU for each share anew in
/// every way that the kernel has words for. Prints what it saw, and `LEAK` with whatever it should not have seen.
const ATTACK: &str = r#"
set -u
cell=/run/cell
mkdir -p $cell/bin $cell/proc $cell/sys $cell/dev $cell/x
for tool in bash cat ls mount umount mkdir grep sleep find touch mknod head; do
    path=$(command -v $tool)
    for file in $path $(ldd $path | grep -o '/[^ )]*'); do
        mkdir -p $cell$(dirname $file)
        cp -L $file $cell$file
    done
done
for kind in proc sysfs; do mount -t $kind $kind $cell/${kind%fs}; done
mount --bind /dev $cell/dev
cat > $cell/attack <<'END'
export PATH=/bin:/usr/bin:/sbin:/usr/sbin
mapfile -t mounts < /proc/1/mounts
for mount in "${mounts[@]}"; do
    read -r _ at kind _ <<< "$mount"
    case $kind in 9p | overlay) umount --no-canonicalize --lazy /proc/1/root$at ;; esac
done
sleep 2
for tag in @TAGS@ hostroot / root; do
    for how in version=9p2000.L version=9p2000.u version=9p2000 \
        version=9p2000.L,aname=/ version=9p2000.L,aname=/etc version=9p2000.L,aname=../../etc version=9p2000.u,aname=/root,uname=root \
        version=9p2000.L,access=any version=9p2000.L,access=client,cache=mmap version=9p2000.L,dfltuid=0,dfltgid=0,noxattr; do
        if mount -t 9p -o trans=virtio,$how $tag /x 2>/dev/null; then
            echo "MOUNTED $tag $how"
            for file in @SECRETS@; do
                for path in /x$file /x/..$file /x/../..$file /x/lib/../..$file /x/local/../..$file; do
                    head -c 100 $path >/dev/null 2>&1 && echo "LEAK $tag $how $path"
                done
            done
            for name in @ROOTS@; do [ -e /x/$name ] && echo "LEAK $tag $how /x/$name"; done
            grep -s -q . /x/local/@WORD@ && echo "LEAK $tag $how /x/local/@WORD@"
            [ -e /x/local ] && echo "SEEN local"
            touch /x/written 2>/dev/null && echo "LEAK written"
            mknod /x/node b 254 0 2>/dev/null && echo "LEAK node"
            mount -o remount,rw /x 2>/dev/null && touch /x/written 2>/dev/null && echo "LEAK written"
            umount /x
        fi
    done
done
echo END
END
exec chroot $cell $(command -v bash) /attack 2>&1
"#;

#[test]
fn no_secret_of_this_machine_is_to_be_had_from_inside() {
    let bench = Bench::new();
    let planted = Planted::new();
    assert!(planted.paths.len() >= 3, "{:?}", planted.paths);
    let guest = bench.boot(&design(crate::bench::TWO_NVME));
    let mut secrets: Vec<String> = planted.paths.iter().map(|path| path.display().to_string()).collect();
    secrets.extend(["/etc/shadow", "/etc/gshadow", "/etc/ssh/ssh_host_ed25519_key", "/etc/fstab"].map(str::to_owned));
    for path in &secrets {
        let told = guest.run(&Cmd::new(["head", "-c", "100", path])).unwrap();
        assert!(!told.ok(), "{path}: {}", told.text());
    }
    // Its own are there, and not this machine's.
    let environment = guest.read_text("/proc/1/environ").unwrap();
    assert!(!environment.contains("CARGO") && !environment.contains("LC_ALL"), "{environment}");
    if let Ok(id) = fs::read_to_string("/etc/machine-id") {
        assert_ne!(guest.read_text("/etc/machine-id").unwrap(), id.trim());
    }
    assert_eq!(guest.read_text("/etc/passwd").unwrap().lines().count(), 2);
    println!("{}", shell(&guest, "grep -E '9p|overlay' /proc/mounts; ls / /etc; ls /home /root /opt /srv /var/lib"));
    // As its root sees it that speaks with QEMU.
    let shares: Vec<&str> = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]
        .into_iter()
        .filter(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()))
        .collect();
    let tags: Vec<String> = shares.iter().map(|path| format!("host{}", path.replace('/', "-"))).collect();
    let offered =
        shell(&guest, "for t in /sys/bus/virtio/drivers/9pnet_virtio/*/mount_tag; do tr '\\0' '\\n' <$t; echo; done");
    let mut offered: Vec<&str> = offered.split_whitespace().collect();
    let mut expected: Vec<&str> = tags.iter().map(String::as_str).collect();
    offered.sort_unstable();
    expected.sort_unstable();
    assert_eq!(offered, expected);
    // What stands at the top of this machine's root, and not of a share.
    let roots = ["etc", "root", "home", "proc", "sys", "dev", "run", "boot", "var", "tmp"];
    let roots: Vec<&str> = roots.into_iter().filter(|name| !Path::new("/usr").join(name).exists()).collect();
    let attack = ATTACK
        .replace("@ROOTS@", &roots.join(" "))
        .replace("@TAGS@", &tags.join(" "))
        .replace("@SECRETS@", &secrets.join(" "))
        .replace("@WORD@", &planted.word);
    let said = shell(&guest, &attack);
    println!("{said}");
    assert!(said.ends_with("END"), "{said}");
    assert!(said.matches("MOUNTED").count() >= 5, "the shares could not be asked for anew: {said}");
    assert!(!said.contains("LEAK"), "{said}");
    assert_eq!(said.matches("SEEN local").count(), said.matches("MOUNTED host-usr").count(), "{said}");
    drop(guest);
    bench.assert_nothing_left();
}

/// Every kind of drive, so that every option that has a path is there.
const KINDS: &str = r#"
question = "Does any comma reach QEMU?"
[lab]
drives = [
    { name = "a", size = "256 MiB" },
    { name = "b", size = "256 MiB", read = "40 MB/s" },
    { name = "c", size = "256 MiB", kind = "hdd" },
    { name = "d", size = "256 MiB", kind = "nvme-tcp", paths = 1 },
]
[[stack]]
name = "bare"
layers = [{ ext4 = {}, on = "a" }]
[measure]
profiles = ["quick"]
"#;

fn parsed(text: &str) -> Design {
    crate::bench::understood(text)
}

#[test]
fn a_directory_may_be_called_anything() {
    let bench = Bench::new();
    let design = parsed(KINDS);
    let base = bench.labs().join("a,readonly=off, b=c%s\\ \"d\"");
    let guest = lab::boot(&GuestSpec { base: base.clone(), ..bench.spec(&design) }).unwrap();
    assert_eq!(guest.drives().len(), 4);
    assert!(guest.directory().starts_with(&base) && !bench.guests().is_empty());
    drop(guest);
    assert_eq!(fs::read_dir(&base).unwrap().count(), 0);
    fs::remove_dir(&base).unwrap();
    bench.assert_nothing_left();
}

#[test]
fn a_load_engine_that_prints_without_end_is_ended_and_the_stack_taken_down() {
    let bench = Bench::new();
    let guest = bench.boot(&design(crate::bench::TWO_NVME));
    let drives = move_in(&guest).join(" ");
    // Before fio's own in every path. It fills as fio does, and floods where it should measure.
    let fake = "#!/bin/bash\nfor word; do case $word in --version | --name=fill | --cmdhelp* | --enghelp*) exec /usr/bin/fio \"$@\" ;; esac; \
                [ -f \"$word\" ] && grep -q '^\\[fill' \"$word\" && exec /usr/bin/fio \"$@\"; done\nexec yes 'nothing that anybody needs to know'\n";
    guest.write("/usr/local/sbin/fio", fake.as_bytes()).unwrap();
    shell(&guest, "chmod 755 /usr/local/sbin/fio");
    let before = crate::places::fingerprint(&guest);
    let runs = format!("{ROOT}/flood");
    let line =
        format!("{PROGRAM} run {QUICKSTART} --on local {drives} --quick --only 1 --anchor off --runs {runs} 2>&1");
    let outcome = guest.run(&Cmd::new(["bash", "-c", &line]).limit(Nanos::seconds(600))).unwrap();
    let said = outcome.text();
    println!("{said}");
    assert!([1, 2].contains(&outcome.status), "status {}: {said}", outcome.status);
    assert!(said.contains("printed more than 64 MiB"), "{said}");
    let mib: u32 = shell(&guest, &format!("du -sm {runs} | cut -f 1")).trim().parse().unwrap();
    assert!(mib < 32, "{mib} MiB of record and pages: {said}");
    assert_eq!(crate::places::fingerprint(&guest), before);
    drop(guest);
    bench.assert_nothing_left();
}
