//! A guest that begins where another one stood goes on as that one does, and neither hears of the other.

use std::os::unix::fs::PermissionsExt;

use host::Host;
use lab::{Guest, GuestSpec, Saves};
use terms::{Cmd, Name, Nanos};

use crate::bench::{Bench, text, understood};

const STUDY: &str = r#"
question = "Does it stand where the other stood?"
[lab]
drives = [
    { name = "f", size = "64 MiB", kind = "flash", lba = "4 KiB" },
    { name = "h", size = "64 MiB", kind = "hdd", seek = "8 ms" },
]
[[stack]]
name = "bare"
layers = [{ bare = {}, on = "f" }]
[measure]
profiles = ["quick"]
rounds = 1
span = "16 MiB"
settle = "20 ms"
window = "100 ms"
"#;

/// Both drives are read, written and read again, and programs are started.
const WORK: &str = r#"
for drive in "$@"; do
    head -c 4096 "$drive" | sha256sum
    yes | head -c 1048576 | dd of="$drive" bs=64k oflag=direct status=none
    dd if="$drive" bs=64k count=4 iflag=direct status=none | sha256sum
done
"#;

/// What all that says, and the guest's clock before and after it.
fn told(guest: &Guest) -> (String, [Nanos; 2]) {
    let drives = ["f", "h"].map(|name| guest.drives()[&Name::new(name).unwrap()].clone());
    let argv = ["bash", "-c", WORK, "bash"].map(str::to_owned).into_iter().chain(drives);
    let begin = guest.now().unwrap();
    let text = guest.run_ok(&Cmd::new(argv).limit(Nanos::seconds(120))).unwrap().text();
    (text, [begin, guest.now().unwrap()])
}

fn has_booted(guest: &Guest) -> bool {
    guest.directory().join("initramfs").exists()
}

/// Those that begin where one stood are the same to the nanosecond. The one that stood there itself has code translated
/// already, and sees an interrupt some instructions earlier or later.
#[test]
fn a_guest_goes_on_where_another_one_stood() {
    let bench = Bench::new();
    let (design, saves) = (understood(STUDY), Saves::default());
    let spec = GuestSpec { saves: Some(&saves), ..bench.spec(&design) };
    let [saved, resumed] = [(); 2].map(|()| lab::boot(&spec).unwrap());
    assert!(has_booted(&saved) && !has_booted(&resumed));
    eprintln!("booted in {}, resumed in {}", saved.boot_time(), resumed.boot_time());
    // One that resumes was asked once already whether it is there.
    saved.now().unwrap();
    let ((first, clock), second) = (told(&saved), told(&resumed));
    // It was told after the other had written to its drives.
    assert_eq!(first, second.0);
    for (a, b) in clock.iter().zip(&second.1) {
        eprintln!("{a:?} {b:?}");
        assert!(a.0.abs_diff(b.0) < 10_000, "{clock:?} {second:?}");
    }
    drop((saved, resumed));
    let later = lab::boot(&spec).unwrap();
    assert!(!has_booted(&later));
    eprintln!("resumed with none beside it in {}", later.boot_time());
    assert_eq!(second, told(&later));
    drop(later);
    // Nobody begins as a guest that is not like it.
    let other = understood(&STUDY.replace("8 ms", "9 ms"));
    let other = lab::boot(&GuestSpec { machine: &other.lab, ..spec }).unwrap();
    assert!(has_booted(&other));
    drop(other);
    bench.assert_nothing_left();
}

/// Where programs are, with one in the place of QEMU that takes over nothing from another.
fn where_nothing_is_taken_over(bench: &Bench) -> String {
    let directory = bench.labs().with_file_name("programs");
    std::fs::create_dir_all(&directory).unwrap();
    let program = directory.join("qemu-system-x86_64");
    let script = "#!/bin/sh\ncase \" $* \" in *' -incoming '*) echo refused >&2; exit 1;; esac\n\
                  exec /usr/bin/qemu-system-x86_64 \"$@\"\n";
    std::fs::write(&program, script).unwrap();
    // QEMU is a user that nobody else is.
    for path in [directory.parent().unwrap(), &directory, &program] {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    format!("{}:{}", directory.to_string_lossy(), std::env::var("PATH").unwrap())
}

/// A QEMU that cannot do it costs time.
#[test]
#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
fn where_no_guest_can_begin_as_another_each_boots_and_figures_agree() {
    let bench = Bench::new();
    let study = bench.labs().with_file_name("saved.toml");
    std::fs::write(&study, STUDY).unwrap();
    let run = |path: &str| {
        let mut command = bench.command(&["run", &study.to_string_lossy(), "--json"]);
        let output = command.env("PATH", path).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
        bench.all_runs().pop().unwrap().to_string_lossy().into_owned()
    };
    let (with, without) = (run(&std::env::var("PATH").unwrap()), run(&where_nothing_is_taken_over(&bench)));
    let compared = bench.run(&["compare", &with, &without, "--json"]);
    let compared: terms::finding::RunComparison = serde_json::from_slice(&compared.stdout).unwrap();
    assert!(compared.repeats && compared.cells.len() == 4, "{compared:?}");
    for cell in &compared.cells {
        let ratio = cell.ratio.unwrap().value;
        eprintln!("{}: {ratio}", cell.workload);
        assert!((ratio - 1.0).abs() < 1e-3, "{cell:?}");
    }
    bench.assert_nothing_left();
}
