//! Wrong things that people type: what they are told, and that the hint, typed as it stands, works.

use super::{root, shell};

/// What was typed, a part of what is said, the exit status, and the hint as it is then typed (`None` where the hint is a
/// list, a machine or a permission).
type Typed = (&'static str, &'static str, i32, Option<&'static str>);

const TYPED: [Typed; 48] = [
    ("studies quikstart", "did you mean `quickstart`?", 2, Some("studies quickstart")),
    ("studies quick", "did you mean `quickstart`?", 2, Some("studies quickstart")),
    ("plan quikstart", "did you mean `quickstart`?", 2, Some("plan quickstart")),
    ("plan mine.tom", "did you mean `mine.toml`?", 2, Some("plan mine.toml")),
    ("plan nosuch.toml", "`bedplate studies` lists", 2, Some("studies")),
    ("plan .", "name a file in it", 2, Some("plan mine.toml")),
    ("plan quickstart --only ext5", "did you mean `ext4`?", 2, Some("plan quickstart --only ext4")),
    ("plan quickstart --script", "--only 1", 2, Some("plan quickstart --script --only 1")),
    ("plan quickstart --drive a=/dev/nosuch", "no drive is `/dev/nosuch`", 2, None),
    ("profiles kdisk", "did you mean `kdiskmark`?", 2, Some("profiles kdiskmark")),
    ("profiles xyz", "`bedplate profiles` lists", 2, Some("profiles")),
    ("expect quickstart --profile kdisk", "did you mean `kdiskmark`?", 2, None),
    (
        "expect quickstart --machine board.tml",
        "did you mean `board.toml`?",
        2,
        Some("expect quickstart --machine board.toml"),
    ),
    ("advise", "bedplate advise --drives 4x4TB:hdd", 2, Some("advise --drives 4x4TB:hdd")),
    ("advise --drives 4x4", "such as `4x4TB:hdd`", 2, Some("advise --drives 4x4TB:hdd")),
    ("advise --drives 2x1TB:tape", "kinds of drives are nvme", 2, Some("advise --drives 2x1TB:nvme")),
    ("advise --drives 4x4TB:hdd+1x1TB:nvme", "ask for each group by itself", 2, Some("advise --drives 4x4TB:hdd")),
    ("advise --drives 2x1TB --survive 2", "with `--survive 1`", 1, Some("advise --drives 2x1TB --survive 1")),
    (
        "advise --drives 2x1TB --survive 1 --once-in 99999",
        "with `--once-in 912` or less",
        1,
        Some("advise --drives 2x1TB --survive 1 --once-in 912"),
    ),
    ("advise --drives 2x1TB --capacity 5", "write a size such as `128MiB`", 2, None),
    ("bench nosuch", "`bedplate bench .`", 2, None),
    ("bench mine.toml", "is not a directory", 2, None),
    ("bench /dev/null", "hint: name a directory", 2, None),
    ("bench /proc --quick", "name a directory with more room", 2, None),
    ("run quickstart --on nas", "`--on ssh://nas`", 2, None),
    ("run quickstart --drive a=serial=S1", "add `--on local`", 2, None),
    ("run quickstart --window 5", "`2s` or `45min`", 2, None),
    ("runn quickstart", "'run'", 2, None),
    ("run quickstart --on locl", "did you mean `local`?", 2, None),
    ("advise --drives 2x4TB:hd", "did you mean `hdd`?", 2, Some("advise --drives 2x4TB:hdd")),
    ("doctor --only aes-instr", "did you mean `aes-instructions`?", 2, Some("doctor --list")),
    ("doctor --explain nothing", "'--explain'", 2, None),
    ("fio check nosuch.fio", "`bedplate fio export quickstart`", 2, Some("fio export quickstart")),
    ("capacity", "bedplate expect STUDY --space", 2, Some("expect quickstart --space")),
    ("advise --drives 2x1TB:nvme --survive 9", "from 0 to 8", 2, Some("advise --drives 2x1TB:nvme --survive 0")),
    ("advise --drives 2x1TB:nvme --survive -1", "from 0 to 8", 2, None),
    (
        "advise --drives 2x1TB:sata --survive 1",
        "for hard disks: `--drives 2x1TB:hdd`",
        0,
        Some("advise --drives 2x1TB:hdd"),
    ),
    ("advise --drives 2x1TB:nvme --write-study mine.toml", "name another file", 2, None),
    ("init no/such.toml --drives 2x1TB:nvme", "there is no directory `no`", 2, None),
    ("calibrate --seconds 1", "nothing was measured and nothing is kept", 4, None),
    ("capture mine.toml", "name another file", 2, None),
    ("expect quickstart --drive-size 0", "at least 1 MiB", 2, None),
    ("doctor mine.toml", "neither a capture nor the whole output", 2, None),
    ("expect quickstart --machine mine.toml", "is a study", 2, None),
    ("expect board.toml", "use `--machine board.toml`", 2, Some("expect quickstart --machine board.toml")),
    ("report ./nosuch", "`bedplate runs` lists", 2, None),
    ("report", "`bedplate bench .`", 2, None),
    ("teardown", "there are no runs", 2, None),
];

const BOARD: &str = "machine = \"A board\"\ncores = 8\nthreads = 16\nkernel = \"6.1\"\n[[drive]]\nname = \"d\"\ncount = 2\nkind = \"nvme\"\n";

#[test]
fn wrong_things_are_answered_with_what_works() {
    let home = tempfile::tempdir().unwrap();
    std::fs::copy(root().join("studies/quickstart.toml"), home.path().join("mine.toml")).unwrap();
    std::fs::write(home.path().join("board.toml"), BOARD).unwrap();
    for (typed, told, status, pasted) in TYPED {
        let (ended, text) = shell(home.path(), &format!("bedplate {typed}"));
        assert!(ended == status && text.contains(told), "{typed}: {ended}\n{text}");
        if let Some(pasted) = pasted {
            let (ended, text) = shell(home.path(), &format!("bedplate {pasted}"));
            assert_eq!(ended, 0, "{typed} → {pasted}: {text}");
        }
    }
}
