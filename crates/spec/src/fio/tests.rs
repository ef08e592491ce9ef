//! Job files, good and bad.

use proptest::prelude::*;

use super::*;

fn one(text: &str) -> Workload {
    let (imported, notes) = import(text, false);
    imported.unwrap_or_else(|| panic!("{notes:?}")).workloads.remove(0)
}

#[test]
fn fields_are_read_and_the_job_wins_over_the_global_section() {
    let text = "[global]\nioengine=libaio\nbs=8k\niodepth=4\nruntime=30\nramp_time=500ms\nsize=1g\n\n\
                [a job]\nrw=randrw\nrwmixread=65\nbs=4k\nnumjobs=2\nrandom_distribution=zipf:1.1\n";
    let (imported, notes) = import(text, false);
    let imported = imported.unwrap_or_else(|| panic!("{notes:?}"));
    let job = &imported.workloads[0];
    assert_eq!((job.name.as_str(), job.pattern), ("a-job", Pattern::RandMixed(65)));
    assert_eq!((job.block, job.depth, job.jobs, job.engine), (Bytes::kib(4), 4, 2, Engine::Libaio));
    assert_eq!(job.keys, [FioKey { key: "random_distribution".into(), value: "zipf:1.1".into() }]);
    assert_eq!(imported.window, Some(Nanos::seconds(30)));
    assert_eq!((imported.settle, imported.span), (Some(Nanos::millis(500)), Some(Bytes::gib(1))));
}

#[test]
fn jobs_of_one_name_are_told_apart() {
    let (imported, _) = import("[j]\nrw=read\n[j]\nrw=randread\n[é]\nrw=write\n", false);
    let names: Vec<String> = imported.unwrap().workloads.iter().map(|w| w.name.to_string()).collect();
    assert_eq!(names, ["j", "j-2", "job"]);
}

#[test]
fn everything_wrong_is_told_at_once_with_its_place() {
    let text = "bs=4k\n[j]\nrw=sideways\nexec_prerun=rm -rf /\ndirect=0\nbs=4k,8k\ninclude other\nsize=${SIZE}\n";
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
    assert_eq!(forced("direct=0").0.unwrap().workloads[0].keys[0].key, "direct");
    for line in ["exec_postrun=x", "ioengine=external:x.so", "write_iolog=/x", "ss=iops_slope:10%"] {
        assert!(forced(line).0.is_none(), "{line}");
    }
}

#[test]
fn the_target_and_what_we_set_are_not_passed_on() {
    let job = one("[j]\nrw=read\nfilename=/dev/sda\ngroup_reporting\ntime_based=1\nwrite_lat_log=x\n");
    assert!(job.keys.is_empty(), "{:?}", job.keys);
    let (_, notes) = import("[j]\nrw=read\nfilename=/dev/sda\n", false);
    assert_eq!(notes[0].code, "fio-target");
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
