//! Job files, good and bad.

use proptest::prelude::*;

use terms::workload::FioKey;
use terms::{Engine, Pattern, Span};

use super::rules::Rule;
use super::*;

fn one(text: &str) -> Workload {
    let (imported, notes) = import(text, false);
    imported.unwrap_or_else(|| panic!("{notes:?}")).workloads.remove(0)
}

#[test]
fn fields_are_read_and_the_job_wins_over_the_global_section() {
    let text = "[global]\nioengine=libaio\ndirect=1\nbs=8k\niodepth=4\nruntime=30\nramp_time=500ms\nsize=1g\n\n\
                [a job]\nrw=randrw\nrwmixread=65\nbs=4k\nnumjobs=2\nrandom_distribution=zipf:1.1\n";
    let (imported, notes) = import(text, false);
    let imported = imported.unwrap_or_else(|| panic!("{notes:?}"));
    let job = &imported.workloads[0];
    assert_eq!((job.name.as_str(), job.pattern), ("a-job", Pattern::RandMixed(65)));
    assert_eq!((job.block, job.depth, job.jobs, job.engine), (Bytes::kib(4), 4, 2, Engine::Libaio));
    assert_eq!(job.keys, [FioKey { key: "random_distribution".into(), value: "zipf:1.1".into() }]);
    assert_eq!(imported.window, Some(Nanos::seconds(30)));
    assert_eq!(
        (imported.settle, imported.span),
        (Some(Nanos::millis(500)), Some(Bytes::gib(2))),
        "a file for each job"
    );
}

#[test]
fn jobs_of_one_name_are_distinguished() {
    let (imported, _) = import("[global]\nstonewall\n[j]\nrw=read\n[j]\nrw=randread\n[é]\nrw=write\n", false);
    let names: Vec<String> = imported.unwrap().workloads.iter().map(|w| w.name.to_string()).collect();
    assert_eq!(names, ["j", "j-2", "job"]);
}

#[test]
fn everything_wrong_is_told_at_once_with_its_place() {
    let text = "bs=4k\n[j]\nrw=sideways\nexec_prerun=rm -rf /\nzero_buffers\nbs=4k-8k\ninclude other\nsize=${SIZE}\n";
    let (imported, notes) = import(text, false);
    assert!(imported.is_none());
    let codes: Vec<&str> = notes.iter().map(|note| note.code.as_str()).collect();
    assert_eq!(
        codes,
        ["fio-no-section", "fio-rw", "fio-refused", "fio-defeats", "fio-bad-value", "fio-include", "fio-variable"]
    );
    for note in &notes {
        let span = note.span.unwrap();
        assert!(!text[span.start..span.end].trim().is_empty(), "{note:?}");
    }
}

#[test]
fn force_lets_pass_what_defeats_and_nothing_that_runs() {
    let forced = |line: &str| import(&format!("[j]\nrw=read\n{line}\n"), true);
    assert_eq!(forced("zero_buffers").0.unwrap().workloads[0].keys[0].key, "zero_buffers");
    for line in ["exec_postrun=x", "ioengine=external:x.so", "write_iolog=/x", "ss=iops_slope:10%", "opendir=/x"] {
        assert!(forced(line).0.is_none(), "{line}");
    }
}

#[test]
fn the_target_and_what_we_set_are_not_passed_on() {
    let job =
        one("[j]\nrw=read\ndirect=1\nfilename=/dev/sda\ngroup_reporting\ntime_based=1\nruntime=9\nwrite_lat_log=x\n");
    assert!(job.keys.is_empty(), "{:?}", job.keys);
    let (_, notes) = import("[j]\nrw=read\nfilename=/dev/sda\n", false);
    assert!(notes.iter().any(|note| note.code == "fio-target"));
}

/// fio 3.33 laid out two files for each of these, also where both are one.
#[test]
fn a_second_file_name_is_a_second_file() {
    for text in [
        "[global]\nfilename=a\n[j]\nfilename=b\n",
        "[global]\nfilename=a\n[j]\nfilename=a\n",
        "[global]\nfilename=a\n[global]\nfilename=b\n[j]\nrw=read\n",
        "[j]\nfilename=a\nfilename=b\n",
    ] {
        let (imported, notes) = import(&format!("{text}size=1m\n"), true);
        assert!(imported.is_none(), "{text}");
        let wrong: Vec<&Note> = errors(&notes).collect();
        assert!(wrong.len() == 1 && wrong[0].message.contains("adds it to the one"), "{text}: {notes:?}");
        let at = text.rfind("filename").unwrap();
        assert!(wrong[0].span.is_some_and(|span| span.start == at), "{text}: {notes:?}");
        assert!(notes.iter().all(|note| note.code != "fio-target" || note.span != wrong[0].span), "{notes:?}");
    }
    for text in ["[a]\nfilename=a\n[b]\nstonewall\nfilename=b\n", "[global]\nfilename=a\n[a]\n[b]\nstonewall\n"] {
        assert!(import(text, false).0.is_some(), "{text}");
    }
}

#[test]
fn a_job_that_reads_what_one_before_it_wrote_is_told_to_run_first() {
    let orders = |text: &str| {
        let notes = told(&format!("[global]\ndirect=1\nstonewall\nsize=1g\n{text}"));
        let orders = notes.into_iter().filter(|note| note.code == "fio-order").map(|note| note.message);
        orders.collect::<Vec<String>>()
    };
    let found = orders("[w]\nrw=write\n[age]\nrw=randwrite\n[r]\nrw=read\n");
    assert!(matches!(found.as_slice(), [one] if one.starts_with("`r` stands behind `w`")), "{found:?}");
    assert!(orders("[r]\nrw=read\n[w]\nrw=write\n[m]\nrw=randrw\n").is_empty());
}

/// The parts of the one workload of a file: name, and where in the span each works.
fn parts(text: &str) -> (Vec<(String, u64, u64)>, Imported) {
    let (imported, notes) = import(text, false);
    let imported = imported.unwrap_or_else(|| panic!("{notes:?}"));
    assert!(notes.iter().any(|note| note.code == "fio-together" && note.severity == NoteLevel::Warning), "{notes:?}");
    assert_eq!(imported.workloads.len(), 1, "{:?}", imported.workloads);
    let span = imported.span.unwrap_or(Bytes(0));
    let of = |kind: Workload| (kind.name.to_string(), kind.begins_at().0 >> 20, kind.reach_of(span).0 >> 20);
    (imported.workloads[0].kinds().into_iter().map(of).collect(), imported)
}

#[test]
fn different_jobs_at_once_are_parts_of_one_workload() {
    let head = "[global]\ndirect=1\nioengine=libaio\ntime_based\nruntime=30\nsize=64m\n";
    let text = format!("{head}[reader]\nrw=randread\niodepth=16\nnumjobs=2\n[writer]\nrw=write\nbs=128k\nfsync=4\n");
    let (found, imported) = parts(&text);
    // A file for each clone, one behind the other.
    assert_eq!(found, [("reader".to_owned(), 0, 128), ("writer".to_owned(), 128, 64)]);
    assert_eq!((imported.span, imported.window), (Some(Bytes::mib(192)), Some(Nanos::seconds(30))));
    let work = &imported.workloads[0];
    assert_eq!((work.name.as_str(), work.jobs, work.parts[1].fsync_every), ("reader-and-writer", 3, Some(4)));
    assert_eq!(work.pattern, Pattern::Mixed(50));
    // On one file: each on all of it, or on what its offset leaves.
    let shared = text.replace("size=64m", "size=64m\nfilename=/dev/sdx").replace("bs=128k", "bs=128k\noffset=32m");
    let (found, imported) = parts(&shared);
    assert_eq!(found, [("reader".to_owned(), 0, 64), ("writer".to_owned(), 32, 64)]);
    assert_eq!(imported.span, Some(Bytes::mib(96)));
}

#[test]
fn parts_wait_for_those_before_them_and_keep_their_names() {
    let text = "[global]\ndirect=1\nfilename=/dev/sdx\n[a]\nrw=read\n[b]\nrw=write\n[c]\nstonewall\nrw=randread\n[d]\nrw=randwrite\n[e]\nrw=randrw\n";
    let (imported, notes) = import(text, false);
    let imported = imported.unwrap_or_else(|| panic!("{notes:?}"));
    let names: Vec<&str> = imported.workloads.iter().map(|work| work.name.as_str()).collect();
    assert_eq!(names, ["a-and-b", "c-and-2-more"]);
    assert!(imported.workloads.iter().flat_map(|work| &work.parts).all(|part| part.keys.is_empty()));
}

#[test]
fn what_cannot_run_in_one_window_is_refused_with_the_reason() {
    for (a, b, why) in [
        ("runtime=30", "runtime=60", "one goes on alone"),
        ("startdelay=5", "", "different times"),
        ("filename=/dev/sdx", "filename=/dev/sdy", "how large its file is"),
        ("offset=1m\nfilename=x", "filename=x", "how much of it"),
    ] {
        let text = format!("[a]\nrw=read\n{a}\n[b]\nrw=write\n{b}\n");
        let (imported, notes) = import(&text, false);
        assert!(imported.is_none() && notes.iter().any(|note| note.message.contains(why)), "{text}: {notes:?}");
    }
}

/// Lines of files that strangers may send, each with a word of the reason why it is refused, forced or not.
const HOSTILE: [(&str, &str); 40] = [
    ("exec_prer=touch /tmp/x", "not among"),
    ("exec_pre=touch /tmp/x", "not among"),
    ("exec_postrun=touch /tmp/x", "runs a program"),
    ("EXEC_PRERUN=touch /tmp/x", "not among"),
    ("ioengine=/tmp/evil.so", "engines that work"),
    ("ioengine=./evil.so", "engines that work"),
    ("ioengine=evil.so", "engines that work"),
    ("ioengine=external:/tmp/evil.so", "engines that work"),
    ("ioengine=exec\nprogram=/bin/sh\narguments=-c id", "engines that work"),
    ("program=/bin/sh", "runs a program"),
    ("ioengine=net\nhostname=example.org", "engines that work"),
    ("ioengine=http", "engines that work"),
    ("ioengine=nbd\nuri=nbd://example.org", "engines that work"),
    ("ioengine=filedelete", "engines that work"),
    ("ioengine=filecreate", "engines that work"),
    ("ioengine=e4defrag\ndonorname=x", "engines that work"),
    ("ioengine=rbd", "engines that work"),
    ("ioengine=cpuio", "engines that work"),
    ("opendi=/home", "not among"),
    ("filenam=/dev/sda", "not among"),
    ("aux-path=/etc", "command line"),
    ("trigger-file=/tmp/x\ntrigger=touch /tmp/y", "command line"),
    ("trigger=touch /tmp/y", "command line"),
    ("inflate-log=/etc/shadow", "command line"),
    ("remote-config=/etc/shadow", "command line"),
    ("client=example.org", "command line"),
    ("server", "command line"),
    ("debug=all", "command line"),
    ("profile=tiobench", "place of the job"),
    ("verify_state_save=1", "other files"),
    ("verify_dump=1", "other files"),
    ("write_iolog=/tmp/x", "other files"),
    ("replay_redirect=/dev/sda", "other files"),
    ("cgroup=x", "changes the machine"),
    ("ioscheduler=none", "changes the machine"),
    ("allow_mounted_write=1", "changes the machine"),
    ("mem=mmaphuge:/tmp/x", "one of"),
    ("buffer_pattern='/etc/shadow'", "to be numbers"),
    ("rate=`id`", "to be numbers"),
    ("unheard-of=1", "not among"),
];

#[test]
fn what_is_not_on_the_list_is_refused_with_its_reason_and_no_force_helps() {
    for (lines, why) in HOSTILE {
        for (section, forced) in [("j", false), ("j", true), ("global", true)] {
            let text = format!("[{section}]\nbs=4k\n{lines}\n[job]\nrw=randread\n");
            let (imported, notes) = import(&text, forced);
            assert!(imported.is_none(), "{lines}: {notes:?}");
            let told = |note: &Note| note.severity == NoteLevel::Error && note.message.contains(why);
            assert!(notes.iter().any(told), "{lines}: {notes:?}");
        }
    }
}

#[test]
fn variables_are_refused_wherever_they_stand() {
    for value in ["$ncpus", "${HOME}", "4k$jobname", "$pagesize*2"] {
        let (imported, notes) = import(&format!("[j]\nrw=read\nrate={value}\n"), true);
        assert!(imported.is_none() && notes.iter().any(|note| note.code == "fio-variable"), "{value}: {notes:?}");
    }
}

#[test]
fn a_name_that_a_comment_cuts_says_so() {
    for (line, why) in [("[j;k]", "ends at `;`"), ("[j#1]", "ends at `#`"), ("[j", "does not end with `]`")] {
        let notes = told(&format!("{line}\nrw=read\n"));
        assert!(errors(&notes).any(|note| note.message.contains(why)), "{line}: {notes:?}");
    }
}

#[test]
fn a_section_whose_name_does_not_end_is_told_once_and_what_is_in_it_is_read() {
    for text in ["[j]x\nrw=read\nsize=1g\n", "[j\nrw=read\nsize=1g\n", "[j #]\nrw=read\nsize=1g\n"] {
        let (_, notes) = import(text, false);
        assert_eq!(errors(&notes).map(|note| note.code.as_str()).collect::<Vec<_>>(), ["fio-section"], "{notes:?}");
    }
    let (_, notes) = import("[j\nrw=read\nbs=x\n", false);
    assert!(errors(&notes).any(|note| note.code == "fio-bad-value"), "{notes:?}");
}

#[test]
fn a_variable_that_is_not_closed_has_no_name_to_ask_for() {
    let nothing = |_: &str| Err("there is none".to_owned());
    for text in ["[j]\nrw=read\nbs=${A\n", "[j]\nrw=read\n${A\n"] {
        let reader = Reader { forced: false, variables: &BTreeMap::new(), include: &nothing };
        let notes = reader.read(text).1;
        let found: Vec<&Note> = errors(&notes).collect();
        assert!(found.len() == 1 && found[0].message.starts_with("`${A` has no `}`"), "{text}: {notes:?}");
    }
}

#[test]
fn a_variable_may_stand_for_an_option_or_for_all_of_a_line() {
    let text = "[j]\nrw=read\n${LINE}\n${KEY}=8k\n";
    let nothing = |_: &str| Err("there is none".to_owned());
    let known: BTreeMap<String, String> =
        [("LINE", "iodepth=4"), ("KEY", "bs")].map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    let read = |variables| Reader { forced: false, variables, include: &nothing }.read(text);
    let (imported, notes) = read(&known);
    let work = imported.unwrap_or_else(|| panic!("{notes:?}")).workloads.remove(0);
    assert_eq!(work.block, Bytes::kib(8));
    let none = BTreeMap::new();
    let (_, notes) = read(&none);
    let wanted: Vec<&str> = errors(&notes).map(|note| note.code.as_str()).collect();
    assert_eq!(wanted, ["fio-variable", "fio-variable"], "{notes:?}");
    let program = [("LINE", "exec_prerun=touch /tmp/x"), ("KEY", "bs")];
    let program = program.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    assert!(errors(&read(&program).1).any(|note| note.message.contains("runs a program")));
}

#[test]
fn memory_that_is_locked_matters_to_the_page_cache_alone() {
    let notes = |lines: &str| told(&format!("[j]\nrw=read\nsize=1g\nlockmem=1g\n{lines}\n"));
    assert_eq!(errors(&notes("direct=1")).next(), None);
    assert!(errors(&notes("direct=0")).any(|note| note.message.contains("locks memory")));
}

#[test]
fn lines_are_read_as_fio_reads_them() {
    // A comment anywhere, sections that fio takes for global ones by how they begin, and only for the jobs behind them.
    let text =
        "[first]\nrw=read\n[global and more]\nbs=8k ; eight\nstonewall\n[second]\nrw=write # writes\nname=other\n";
    let (imported, notes) = import(text, false);
    let found = imported.unwrap_or_else(|| panic!("{notes:?}")).workloads;
    let seen: Vec<_> = found.iter().map(|work| (work.name.as_str(), work.block)).collect();
    assert_eq!(seen, [("first", Bytes::kib(4)), ("other", Bytes::kib(8))]);
    assert!(import("[j]\nrw=read\ninclude/etc/passwd\n", true).0.is_none(), "fio looks at the first letters only");
}

#[test]
fn other_names_of_an_option_are_that_option() {
    let text = "[j]\nreadwrite=randread\nblocksize=8k\ndirect=1\ntimeout=30\nnr_files=1\niodepth_batch_submit=4\niodepth_batch=8\n";
    let imported = import(text, true).0.unwrap();
    let job = &imported.workloads[0];
    assert_eq!((job.pattern, job.block, imported.window), (Pattern::RandRead, Bytes::kib(8), Some(Nanos::seconds(30))));
    let keys: Vec<_> = job.keys.iter().map(|key| (key.key.as_str(), key.value.as_str())).collect();
    assert_eq!(keys, [("iodepth_batch", "8")]);
}

#[test]
fn everything_that_may_be_passed_on_has_one_rule() {
    for (name, takes) in terms::fio::allowed() {
        let value = match takes {
            terms::fio::Takes::Engine => "mmap",
            terms::fio::Takes::Word(words) => words[0],
            _ => "1",
        };
        assert!(!matches!(rules::of(name, value), Rule::Never(_)), "{name} is allowed and refused");
    }
    for (_, names) in never::NEVER {
        assert!(names.is_sorted() && names.iter().all(|name| terms::fio::checked(name, "1").is_err()), "{names:?}");
        assert!(names.iter().all(|name| terms::fio::canonical(name) == *name), "{names:?}");
    }
}

#[test]
fn a_file_of_any_size_is_read_in_time_that_grows_with_it() {
    let took = |times: usize| {
        let text = format!("[global]\n{}{}", "nice=1\n".repeat(times), "[j]\nrw=read\nstonewall\n".repeat(times));
        let start = std::time::Instant::now();
        assert_eq!(import(&text, false).0.unwrap().workloads.len(), times);
        // Jobs at once, each another, on files of their own.
        let at_once: String = (1..=times).map(|size| format!("[j]\nrw=read\nsize={size}m\n")).collect();
        assert_eq!(import(&at_once, false).0.unwrap().workloads[0].parts.len(), times);
        // All wait for one that has ended, and run at once.
        let waiting: String = (2..times).map(|job| format!("[{job}]\nrw=read\nbs=8k\nwait_for=a\n")).collect();
        let waiting = format!("[a]\nrw=read\n[b]\nrw=read\nbs=8k\nstonewall\n{waiting}");
        assert_eq!(import(&waiting, false).0.unwrap().workloads.len(), 2);
        start.elapsed().as_secs_f64()
    };
    // Other work on the machine may take a try's processor away; what is not linear fails them all.
    let mut tries = (0..12).map(|_| (took(400), took(4_000)));
    let is_straight = tries.any(|(short, long)| long < 40.0 * short.max(0.005));
    assert!(is_straight, "ten times as much never took less than 40 times as long");
}

#[test]
fn no_more_jobs_are_read_than_fio_has_jobs() {
    let text = |sections: usize| "[j]\nrw=read\nstonewall\n".repeat(sections);
    assert!(import(&format!("[global]\nbs=4k\n{}[global]\n", text(4096)), false).0.is_some());
    let long = text(300_000) + "[last]\nrw=sideways\n";
    let start = std::time::Instant::now();
    let (imported, notes) = import(&long, false);
    assert!(imported.is_none() && start.elapsed().as_secs() < 5, "{:?}", start.elapsed());
    let errors: Vec<&Note> = errors(&notes).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].message.contains("4096") && errors[0].code == "fio-sections", "{errors:?}");
    let clones = "[a]\nrw=read\nnumjobs=1024\n".repeat(5);
    assert!(told(&clones).iter().any(|note| note.message.contains("fio runs 4096 at most")), "{clones}");
}

fn errors(notes: &[Note]) -> impl Iterator<Item = &Note> {
    notes.iter().filter(|note| note.severity == NoteLevel::Error)
}

fn told(text: &str) -> Vec<Note> {
    import(text, false).1
}

#[test]
fn who_waits_is_found_in_time_that_grows_with_the_jobs() {
    let took = |count: usize| {
        let mut job = Job::new();
        job.wait_for = Some(("0".to_owned(), Span { start: 0, end: 0 }));
        let waiting = (1..count).map(|name| job.named(&name.to_string(), job.place));
        let jobs = std::iter::once(Job::new().named("0", job.place)).chain(waiting).collect();
        let start = std::time::Instant::now();
        groups::one_after_another(jobs, &mut Vec::new());
        start.elapsed().as_secs_f64()
    };
    // Each with each takes 400 times as long, not 20.
    let mut tries = (0..8).map(|_| (took(2_000), took(40_000)));
    assert!(
        tries.any(|(short, long)| long < 80.0 * short.max(0.005)),
        "20 times as much took more than 80 times as long"
    );
}

#[test]
fn a_job_waits_for_one_that_stands_before_it() {
    for (text, why) in [
        ("[a]\nrw=read\nwait_for=b\n[b]\nrw=read\n", "no job before it"),
        ("[a]\nrw=read\nwait_for=a\n", "no job waits for itself"),
        ("[a]\nrw=read\n[a]\nrw=read\nstonewall\n[c]\nrw=read\nwait_for=a\n", "several jobs"),
    ] {
        let notes = told(text);
        let note = errors(&notes).next().unwrap_or_else(|| panic!("{text}"));
        let place = note.span.unwrap();
        assert!(note.message.contains(why) && text[place.start..place.end].starts_with("wait_for"), "{note:?}");
    }
    // One that has ended long ago is no reason to wait.
    let text = "[a]\nrw=read\n[b]\nrw=read\nbs=8k\nstonewall\n[c]\nrw=read\nbs=8k\nwait_for=a\n";
    assert_eq!(import(text, false).0.unwrap().workloads.len(), 2);
}

/// Lines, and a word of the warning that they are worth; none where nothing is to be said of it.
const WORTH: [(&str, &str, bool); 41] = [
    ("rw=read\nnumjobs=4\nfilename=/dev/sdx\noffset_increment=8g", "fio-offset", true),
    ("rw=read\nnumjobs=4\nfilename=/dev/sdx\noffset_increment=2g", "fio-offset", false),
    ("rw=randread\nrate_iops=500", "fio-pace", true),
    ("rw=randread\nrate=1m,1m\nrate_process=poisson", "fio-pace", true),
    ("rw=randread\nthinktime=10", "fio-pace", true),
    ("rw=randread\nlatency_target=10ms", "fio-pace", true),
    ("rw=randread\nthinktime=0", "fio-pace", false),
    ("rw=randread\nrate_min=1m", "fio-pace", false),
    ("rw=read\npercentage_random=100", "fio-random", true),
    ("rw=randread\npercentage_random=50", "fio-random", true),
    ("rw=randread\npercentage_random=100", "fio-random", false),
    ("rw=randread\npercentage_random=100,50", "fio-random", false),
    ("rw=randwrite\npercentage_random=100,50", "fio-random", true),
    ("rw=randrw\npercentage_random=100,50", "fio-random", true),
    ("rw=randrw\npercentage_random=,50", "fio-random", true),
    ("rw=randwrite\npercentage_random=50,", "fio-random", false),
    ("rw=read\nnumjobs=16\nfilename=/dev/sdx", "fio-in-step", true),
    ("rw=read\nnumjobs=16\nfilename=/dev/sdx\noffset_increment=2g", "fio-in-step", false),
    ("rw=read\nnumjobs=16", "fio-in-step", false),
    ("rw=randread\nnumjobs=16\nfilename=/dev/sdx", "fio-in-step", false),
    ("rw=randread\nioengine=libaio\ndirect=0\niodepth=8", "fio-submission", true),
    ("rw=randread\nioengine=libaio\ndirect=1\niodepth=8", "fio-submission", false),
    ("rw=randread\nioengine=io_uring\ndirect=0\niodepth=8", "fio-submission", false),
    ("rw=randread\nsize=4m", "fio-small", true),
    ("rw=randread", "fio-small", false),
    ("rw=randread\niodepth=32", "fio-depth", true),
    ("rw=randread\niodepth=32\nio_submit_mode=offload", "fio-depth", false),
    ("rw=write\ndirect=0\nfsync=1", "fio-buffered", false),
    ("rw=write\ndirect=0\nfdatasync=1", "fio-buffered", false),
    ("rw=write\ndirect=0\nsync=1", "fio-buffered", false),
    ("rw=write\ndirect=0\nsync=dsync", "fio-buffered", false),
    ("rw=write\ndirect=0\nfsync=8", "fio-buffered", true),
    ("rw=write\ndirect=0", "fio-buffered", true),
    ("rw=randrw\ndirect=0\nfsync=1", "fio-buffered", true),
    ("rw=write", "fio-overwrite", true),
    ("rw=randwrite\noverwrite=0", "fio-overwrite", true),
    ("rw=write\noverwrite=1", "fio-overwrite", false),
    ("rw=randrw", "fio-overwrite", false),
    ("rw=read", "fio-overwrite", false),
    ("rw=write\nfilename=/dev/sdx", "fio-overwrite", false),
    ("rw=write\nioengine=mmap", "fio-overwrite", false),
];

#[test]
fn what_a_job_does_otherwise_than_it_looks_is_told() {
    for (lines, code, is_told) in WORTH {
        let notes = told(&format!("[j]\ndirect=1\nsize=2g\nruntime=9\ntime_based\n{lines}\n"));
        assert_eq!(errors(&notes).next(), None, "{lines}");
        assert_eq!(notes.iter().any(|note| note.code == code), is_told, "{lines}: {notes:?}");
    }
    let notes = told("[j]\nrw=write\nfsync=8\n");
    assert!(notes.iter().any(|note| note.message.contains("every 8 of them wait")), "{notes:?}");
}

#[test]
fn that_writes_are_overwrites_is_told_once_of_a_file() {
    let notes = told("[global]\nsize=1g\n[a]\nrw=write\n[b]\nrw=randwrite\nstonewall\noverwrite=0\n");
    assert_eq!(notes.iter().filter(|note| note.code == "fio-overwrite").count(), 1, "{notes:?}");
}

#[test]
fn of_a_mapped_file_no_other_direct_is_asked_for_and_its_own_is_kept() {
    for (line, direct) in [("direct=1", "1"), ("direct=0", "0"), ("", "0")] {
        let text = format!("[j]\nrw=randread\nsize=1g\nioengine=mmap\n{line}\n");
        let hints: Vec<String> = told(&text).into_iter().filter_map(|note| note.hint).collect();
        assert!(hints.iter().any(|hint| hint.contains("ioengine=psync")), "{hints:?}");
        assert!(one(&text).keys.contains(&FioKey { key: "direct".into(), value: direct.into() }), "{line}");
    }
}

#[test]
fn an_engine_that_waits_has_the_queue_depth_that_it_keeps() {
    assert_eq!(one("[j]\nrw=randread\nioengine=psync\niodepth=32\n").title(), "RND 4 KiB Q1 T1 read, buffered");
    assert_eq!(one("[j]\nrw=randread\niodepth=32\nio_submit_mode=offload\n").depth, 32);
}

#[test]
fn nothing_follows_from_a_value_that_was_not_read() {
    let sound = [
        ("ioengine", "libaio"),
        ("direct", "1"),
        ("iodepth", "4"),
        ("size", "2g"),
        ("runtime", "9"),
        ("time_based", "1"),
        ("rw", "randread"),
        ("bs", "4k"),
    ];
    for (key, line) in [
        ("ioengine", "ioengine=libiao"),
        ("direct", "direct=yes"),
        ("size", "szie=1g"),
        ("runtime", "runtime=${RT}"),
        ("runtime", "runtime=5min"),
        ("bs", "bs= 4k"),
        ("rw", "rw=randraed"),
        ("time_based", "time_based=yes"),
        ("direct", "buffered=no"),
        ("size", "size=64z"),
        ("bs", "bs=0"),
        ("iodepth", "iodepth=4.5"),
        ("size", "size="),
    ] {
        let others: String =
            sound.iter().filter(|(other, _)| *other != key).map(|(key, value)| format!("{key}={value}\n")).collect();
        // In the job, and before it.
        for text in [format!("[j]\n{line}\n{others}"), format!("[global]\n{line}\n[j]\n{others}")] {
            let notes = told(&text);
            assert!(notes.len() == 1 && notes[0].severity == NoteLevel::Error, "{text}: {notes:?}");
        }
    }
}

#[test]
fn a_hint_says_what_is_right_for_the_option() {
    for (line, hint) in [
        ("ioengine=libiao", "did you mean `ioengine=libaio`?"),
        ("ioengine=null", "say one of these engines"),
        ("rw=randraed", "did you mean `randread`?"),
        ("direct=yes", "write 1 for on"),
        ("bs=0", "one size, such as bs=4k"),
        ("nrfiles=100", "write nrfiles=1, or leave it out"),
        ("filename=a:b", "leave it out"),
        ("invalidate=yes", "write invalidate=1 or invalidate=0"),
        ("mem=mallok", "did you mean `mem=malloc`?"),
        ("szie=1g", "did you mean `size`?"),
        ("stats=0", "leave it out"),
        ("trim_percentage=10", "leave it out"),
        ("rw=randread:8", "write rw=randread"),
        ("rw=trim", "it takes read"),
    ] {
        let notes = told(&format!("[j]\nsize=1g\n{line}\n"));
        let hints: Vec<&str> = errors(&notes).filter_map(|note| note.hint.as_deref()).collect();
        assert!(hints.len() == 1 && hints[0].contains(hint), "{line}: {hints:?}");
    }
    let notes = told("[j]\nrw=read\nfilename=a:b\n");
    assert!(notes.iter().all(|note| note.code != "fio-target"), "{notes:?}");
    for (line, why) in [("nice=-21", "from -20 to 19, and not -21"), ("size=64z", "zones")] {
        let notes = told(&format!("[j]\nrw=read\n{line}\n"));
        assert!(errors(&notes).any(|note| note.message.contains(why)), "{line}: {notes:?}");
    }
    assert_eq!(errors(&told("[j]\nrw=read\nnice=-20\n")).next(), None);
}

#[test]
fn past_the_page_cache_all_begins_and_ends_with_a_sector() {
    for (lines, wrong) in [
        ("offset=1000\nsize=1g", true),
        ("offset=1024\nsize=1g", false),
        ("offset_increment=1073741825\nsize=1g\nnumjobs=2", true),
        ("size=100000000\nnumjobs=3", true),
        ("size=100000000", false),
        ("offset=1000\nsize=1g\ndirect=0", false),
    ] {
        let notes = told(&format!("[j]\nrw=read\ndirect=1\n{lines}\n"));
        assert_eq!(errors(&notes).next().is_some(), wrong, "{lines}: {notes:?}");
    }
}

#[test]
fn a_byte_order_mark_is_named_and_hides_nothing() {
    let notes = told("\u{feff}[global]\ndirect=1\nsize=2g\nruntime=9\ntime_based\n[a]\nrw=randread\n");
    assert_eq!(notes.iter().map(|note| note.code.as_str()).collect::<Vec<_>>(), ["fio-byte-order-mark"]);
    assert!(notes[0].hint.as_deref().is_some_and(|hint| hint.contains("without")));
}

/// Each was given to fio 3.33, which took what is taken here.
#[test]
fn blanks_are_those_that_fio_passes_over() {
    for (line, is_taken) in [
        ("\x0bbs=8k\x0b", true),
        ("bs=8k\x01", true),
        ("bs\x01=8k", true),
        ("\u{a0}bs=8k", false),
        ("bs\u{a0}=8k", false),
        ("bs=\u{a0}8k", false),
        ("size=\u{a0}8192", false),
        ("\x01bs=8k", false),
    ] {
        let notes = told(&format!("[j]\nrw=read\n{line}\n"));
        assert_eq!(errors(&notes).next().is_none(), is_taken, "{line:?}: {notes:?}");
    }
}

/// The page's lists, as the tables have them.
fn lists() -> String {
    let row = |(why, names): &(&str, &[&str])| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        format!("| {why} | {} |\n", names.join(", "))
    };
    let engines = terms::fio::ENGINES.join(", ");
    let word = |takes| if let terms::fio::Takes::Word(words) = takes { words[0] } else { "1" };
    let kept = terms::fio::allowed().filter(|(name, takes)| matches!(rules::of(name, word(*takes)), Rule::Kept(_)));
    let kept = kept.map(|(name, _)| name);
    let kept: Vec<String> = kept.map(|name| format!("`{name}`")).collect();
    format!(
        "Refused always:\n\n| because | options |\n| --- | --- |\n{}| it is not among the options that touch nothing but \
         what is measured | every other, and every part of a name |\n\nPassed on as they are, with values of letters, \
         digits and `_-+.,:%/` at most:\n{}.\n\nEngines: {engines}.\n",
        never::NEVER.iter().map(row).collect::<String>(),
        kept.join(", ")
    )
}

#[test]
fn the_page_has_the_lists_of_the_tables() {
    let page = include_str!("../../../../docs/fio-jobs.md");
    assert!(page.ends_with(&lists()), "docs/fio-jobs.md is to end with\n\n{}", lists());
}

proptest! {
    #[test]
    fn any_text_is_survived(text in ".{0,200}", forced in any::<bool>()) {
        let (_, notes) = import(&text, forced);
        let _ = crate::render("job.fio", &text, &notes, false);
    }

    #[test]
    fn any_lines_are_survived(lines in prop::collection::vec("(\\[[a-z ]{0,5}\\]|[a-z_]{1,12}=?[a-z0-9%:,]{0,6})", 0..20)) {
        let text = lines.join("\n");
        let _ = import(&text, false);
    }
}

#[test]
fn a_machines_memory_is_not_taken() {
    let (_, notes) = import("[j]\nrw=randread\nbs=64m\niodepth=4096\nnumjobs=1000\n", false);
    assert!(notes.iter().any(|note| note.code == "fio-buffers"), "{notes:?}");
}

/// fio 3.33 writes exactly these files: each section counts its clones from 0, and `name` changes none of them.
#[test]
fn sections_meet_on_a_file_that_has_one_name_for_both() {
    let text = |global: &str, jobs: &str| format!("[global]\nrw=write\nsize=1m\n{global}\n{jobs}");
    for (global, jobs, files, clones) in [
        ("", "[a]\n[b]\n", 2, 2),
        ("", "[a]\n[a]\n", 1, 2),
        ("name=x", "[a]\n[b]\n", 2, 2),
        ("", "[a]\n[b]\nname=a\n", 2, 2),
        ("filename_format=f_$jobnum", "[a]\n[b]\n", 1, 2),
        ("filename_format=$jobname.$filenum", "[a]\nnumjobs=2\n", 1, 2),
        ("numjobs=2", "[a]\n[b]\n", 4, 4),
        ("directory=/d1:/d2\nfilename=f", "[a]\nnumjobs=2\n", 1, 2),
        ("directory=/d1:/d2\nfilename_format=$jobname", "[a]\nnumjobs=2\n", 2, 2),
        ("directory=/d1:\nfilename_format=$jobname", "[a]\nnumjobs=2\n", 1, 2),
        ("directory=/d1:/d2\nfilename=f", "[a]\n[b]\n", 1, 2),
        ("directory=/d\\:1\nfilename=f", "[a]\nnumjobs=2\n", 1, 2),
        ("directory=/d1:/d2", "[a]\nnumjobs=2\n[b]\n", 3, 3),
        ("filename=f$jobnum", "[a]\nnumjobs=2\n", 1, 2),
    ] {
        let (imported, notes) = import(&text(global, jobs), false);
        let imported = imported.unwrap_or_else(|| panic!("{global} {jobs}: {notes:?}"));
        assert_eq!(imported.workloads.len(), 1, "{global} {jobs}");
        assert_eq!(imported.workloads[0].jobs, clones, "{global} {jobs}");
        assert_eq!(imported.span, Some(Bytes::mib(files)), "{global} {jobs}");
    }
    for (global, jobs) in [("filename_format=f_$jobnum", "[a]\n[b]\nnumjobs=2\n"), ("numjobs=2", "[a]\n[a]\n")] {
        let (imported, notes) = import(&text(global, jobs), false);
        assert!(imported.is_none(), "{global} {jobs}");
        assert!(notes.iter().any(|note| note.message.contains("are on one file, and others are not")), "{notes:?}");
    }
}

#[test]
fn nothing_follows_from_what_an_included_file_would_have_said() {
    let text = "[a]\ninclude x.fio\nhipri=1\nrw=read\n[b]\ninclude y.fio\nrw=write\nbs=4.5k\n";
    let (imported, notes) = import(text, false);
    let codes: Vec<&str> = notes.iter().map(|note| note.code.as_str()).collect();
    assert!(imported.is_none());
    assert_eq!(codes, ["fio-include", "fio-include", "fio-bad-value"], "{notes:?}");
}
