//! Job files beside fio itself: each file that is taken is measured as Bedplate measures it, and run by hand, in one guest
//! on one stack. The guest's clock counts instructions, so that what else the machine does changes no figure.
//!
//! `cargo test -p bedplate --features long-tests --test lab beside -- --nocapture` prints every pair.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use build::{Authority, MemoryJournal};
use host::Host;
use lab::Guest;
use measure::{CellRequest, Filled, WorkPlace, Writable};
use serde_json::Value;
use spec::fio::{Imported, Reader};
use terms::record::{CellKey, Reading};
use terms::{Bytes, Cmd, LayerNode, MeasurePolicy, Name, Nanos, Workload};

use crate::bench::{Bench, root};

const STUDY: &str = r#"
question = "Does a job file give what fio gives?"
[lab]
memory = "3 GiB"
clock = "virtual"
drives = [{ name = "a", kind = "flash", size = "1 GiB", read = "250 MB/s", write = "250 MB/s", read_iops = 20000, write_iops = 20000 }]
[[stack]]
name = "ext4"
layers = [{ ext4 = {}, on = "a" }]
[measure]
profiles = ["quick"]
span = "32 MiB"
"#;

/// What a job works on, where its file says more: the guest's drive is small.
const SIZE: u64 = 32 << 20;
/// What a job runs for, and settles, where its file says more, or nothing.
const RUNTIME: &str = "2000ms";
const RAMP: &str = "300ms";

/// How far a figure of fio's by hand may be off. What is left to chance: where fio's own threads are when it begins.
const WITHIN: f64 = 0.05;

/// Files whose figures differ more, each for its reason.
const APART: &[(&str, &str)] = &[
    ("poisson", "when requests come is drawn anew by each run: 1000 of them are some 3.2 % more or less"),
    ("buffered", "what the kernel writes back, and when, depends on what was in its cache before"),
];

/// A job file cut to the guest: long runs are short, large files small, and all ends by the clock. Everything else stays.
fn cut(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let bare = line.split(['#', ';']).next().unwrap_or_default().trim();
        let key = bare.split('=').next().unwrap_or_default().trim();
        let cut = match key {
            "size" | "filesize" => format!("{key}={SIZE}"),
            "offset_increment" => format!("{key}={SIZE}"),
            "offset" if !bare.trim_end_matches('%').ends_with("=0") => format!("{key}={SIZE}"),
            "runtime" | "timeout" => format!("{key}={RUNTIME}"),
            "ramp_time" => format!("{key}={RAMP}"),
            "time_based" => String::new(),
            // For each section, as nobody knows which inherits what.
            _ if bare.starts_with('[') => format!("{line}\ntime_based=1"),
            _ => line.to_owned(),
        };
        let _ = writeln!(out, "{cut}");
    }
    let says = |word: &str| out.lines().any(|line| line.trim_start().starts_with(word));
    let runtime = if says("runtime") || says("timeout") { String::new() } else { format!("runtime={RUNTIME}\n") };
    let ramp = if says("ramp_time") { String::new() } else { format!("ramp_time={RAMP}\n") };
    let size = if says("size") || says("filesize") { String::new() } else { format!("size={SIZE}\n") };
    format!("[global]\ntime_based=1\n{runtime}{ramp}{size}\n{out}")
}

/// The same with what a person types over before it is run: where it works. Jobs with files of their own keep them.
fn aimed(text: &str, directory: &str) -> String {
    let mut out = String::from("[global]\n");
    let _ = writeln!(out, "directory={directory}");
    for line in text.lines() {
        match line.trim().split('=').next().unwrap_or_default().trim() {
            "directory" | "filename_format" | "unlink" => {}
            "filename" => {
                let name = line.rsplit(['/', '=']).next().unwrap_or("x").replace(['$', '{', '}'], "");
                let _ = writeln!(out, "filename={}", name.trim());
            }
            _ => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

/// Operations a second, read and written, of each job as its file names it. Not bytes: those that fio prints after a ramp
/// hold one queue more, of what was under way when it ended, and four jobs with 16 MiB each are a quarter of a window here.
type Rates = BTreeMap<String, [f64; 2]>;

struct Stage {
    guest: Guest,
    directory: String,
    nodes: Vec<LayerNode>,
    drives: Vec<(String, String)>,
}

impl Stage {
    fn new(bench: &Bench) -> Self {
        let design = crate::bench::understood(STUDY);
        let guest = bench.boot_as_asked(&design);
        let plan = plan::plan(&design.stacks[0], &plan::DriveSize::of_lab(&design.lab)).unwrap();
        let authority = Authority::lab(&guest, guest.drives()).unwrap();
        let built = build::apply(&plan, &authority, &[], &mut MemoryJournal::default(), &|_| {}).unwrap();
        let WorkPlace::Directory(directory) = built.target.place().clone() else { panic!("no directory") };
        let drives = guest.drives().iter().map(|(name, node)| (name.to_string(), node.clone())).collect();
        Self { guest, directory, nodes: design.stacks[0].nodes.clone(), drives }
    }

    fn shell(&self, script: &str) {
        self.guest.run_ok(&Cmd::new(["bash", "-c", script]).limit(Nanos::seconds(120))).unwrap();
    }

    /// As a run measures it.
    fn ours(&self, imported: &Imported) -> Result<Rates, String> {
        let policy = MeasurePolicy {
            window: imported.window.unwrap_or(Nanos::millis(2000)),
            settle: imported.settle.unwrap_or(Nanos::millis(300)),
            span: imported.span.unwrap_or(Bytes(SIZE)),
            ..MeasurePolicy::default()
        };
        let place = Writable::directory(self.directory.clone());
        let filled = measure::fill(&self.guest, (place, None), policy.span, 1, 1).map_err(|error| error.to_string())?;
        let mut rates = Rates::new();
        for workload in &imported.workloads {
            rates.extend(self.cell(workload, &policy, &filled)?);
        }
        Ok(rates)
    }

    /// What a cell read and wrote, of each of its parts where it has some.
    fn cell(&self, workload: &Workload, policy: &MeasurePolicy, filled: &Filled) -> Result<Rates, String> {
        let key = CellKey { round: 1, stack: "s".into(), workload: workload.name.to_string() };
        let request = CellRequest {
            key,
            workload,
            policy,
            filled,
            address: None,
            others: &[],
            resyncs: &[],
            longer: None,
            watch: &|_, _| (),
            drives: &self.drives,
            seed: 7,
            started: String::new(),
            nodes: &self.nodes,
            rate: None,
            source: None,
        };
        let cell = measure::measure(&self.guest, &request).map_err(|error| error.to_string())?.cell;
        let reading = cell.reading.ok_or_else(|| format!("{}: {:?}", workload.name, cell.failure))?;
        let rate = |flow: &Option<terms::record::Flow>| flow.as_ref().map_or(0.0, |flow| flow.iops.0);
        let rates = |reading: &Reading| [rate(&reading.read), rate(&reading.write)];
        if workload.parts.is_empty() {
            return Ok(Rates::from([(workload.name.to_string(), rates(&reading))]));
        }
        assert_eq!(cell.parts.len(), workload.parts.len());
        Ok(cell.parts.iter().map(|part| (part.part.to_string(), rates(&part.reading))).collect())
    }

    /// What writes finds files that are there, from end to end, as it does here: a run before makes them.
    fn lay_out(&self, imported: &Imported, text: &str) {
        if imported.workloads.iter().any(|workload| workload.pattern.writes()) {
            let _ = self.by_hand(&format!("[global]\noverwrite=1\nfsync=0\n{text}"));
        }
    }

    /// `fio FILE`, as it stands.
    fn by_hand(&self, text: &str) -> Result<Rates, String> {
        self.shell(&format!("cat > /tmp/job.fio <<'END'\n{}\nEND", aimed(text, &self.directory)));
        // fio lays out what is to be read before it starts its clock.
        let command = Cmd::new([
            "bash",
            "-c",
            "cd /tmp && fio --output-format=json --output=/tmp/out.json job.fio && cat /tmp/out.json",
        ]);
        let outcome = self.guest.run(&command.limit(Nanos::seconds(400))).map_err(|error| error.to_string())?;
        if outcome.status != 0 {
            return Err(format!("fio: {}", String::from_utf8_lossy(&outcome.stderr)));
        }
        let said: Value = serde_json::from_slice(&outcome.stdout).map_err(|error| error.to_string())?;
        let mut rates = Rates::new();
        for job in said["jobs"].as_array().into_iter().flatten() {
            let rate = |way: &str| job[way]["iops"].as_f64().unwrap_or(0.0);
            let of = rates.entry(job["jobname"].as_str().unwrap_or_default().to_owned()).or_insert([0.0; 2]);
            of[0] += rate("read");
            of[1] += rate("write");
        }
        Ok(rates)
    }
}

/// Some files of the corpus by their names, `FILES=etcd,cloud-cap`; all of them where it is not said.
fn chosen() -> Option<String> {
    std::env::var("FILES").ok()
}

/// The files of the corpus that are taken, with the variables that they want.
fn files() -> Vec<(String, String, BTreeMap<String, String>)> {
    let folder = root().join("crates/bedplate/tests/fio_jobs/corpus");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        if text.starts_with("; taken") && chosen().is_none_or(|names| names.split(',').any(|name| name == stem)) {
            let with = text.lines().find_map(|line| line.strip_prefix("; with")).unwrap_or_default();
            let pairs = with.split_whitespace().filter_map(|pair| pair.split_once('='));
            let variables = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            files.push((stem, text, variables));
        }
    }
    files
}

/// Ours beside fio's: job, direction, operations a second here and there. Jobs that are one workload here are several there, and
/// only their sum is compared.
fn pairs(ours: &Rates, hand: &Rates) -> Vec<(String, f64, f64)> {
    let same = |job: &str| Name::new(job).is_ok_and(|name| ours.contains_key(name.as_str()));
    let each: Vec<(&str, [f64; 2], [f64; 2])> = if ours.len() == hand.len() && hand.keys().all(|job| same(job)) {
        hand.iter().map(|(job, rate)| (job.as_str(), ours[job], *rate)).collect()
    } else {
        let sum = |rates: &Rates| rates.values().fold([0.0, 0.0], |sum, rate| [sum[0] + rate[0], sum[1] + rate[1]]);
        vec![("sum", sum(ours), sum(hand))]
    };
    let ways = each.into_iter().flat_map(|(job, ours, hand)| {
        [("reads", ours[0], hand[0]), ("writes", ours[1], hand[1])]
            .map(|(way, ours, hand)| (format!("{job} {way}"), ours, hand))
    });
    ways.filter(|(_, ours, hand)| *ours > 0.0 || *hand > 0.0).collect()
}

/// How far the worst figure is off, in parts of one, from what fio gave by hand: once, or from the nearer end of what it
/// gave twice.
fn off(name: &str, ours: &Rates, hands: &[&Rates]) -> f64 {
    let mut worst: f64 = 0.0;
    let each: Vec<_> = hands.iter().map(|hand| pairs(ours, hand)).collect();
    for (at, (what, ours, _)) in each[0].iter().enumerate() {
        let there: Vec<f64> = each.iter().filter_map(|pairs| pairs.get(at)).map(|pair| pair.2).collect();
        let (low, high) = (there.iter().copied().fold(f64::MAX, f64::min), there.iter().copied().fold(0.0, f64::max));
        let off = if *ours < low { low / ours - 1.0 } else { (ours / high - 1.0).max(0.0) };
        println!(
            "{name:26} {what:20} ours {ours:9.1} fio {low:9.1} to {high:9.1} operations/s, off {:.1} %",
            off * 100.0
        );
        worst = worst.max(off);
    }
    worst
}

#[cfg_attr(not(feature = "long-tests"), ignore = "long: make test-all")]
#[test]
fn job_files_beside_fio_give_the_same() {
    let bench = Bench::new();
    let stage = Stage::new(&bench);
    let (mut met, mut at_once, mut wrong) = (0, 0, Vec::new());
    for (name, text, variables) in files() {
        let begun = std::time::Instant::now();
        let text = cut(&text);
        let nothing = |_: &str| Err("there is none".to_owned());
        let (imported, notes) = Reader { forced: false, variables: &variables, include: &nothing }.read(&text);
        let Some(imported) = imported else {
            wrong.push(format!("{name}: cut, it is refused: {notes:?}"));
            continue;
        };
        stage.shell(&format!("rm -rf {}/*; sync", stage.directory));
        let typed = variables.iter().fold(text, |text, (name, value)| text.replace(&format!("${{{name}}}"), value));
        stage.lay_out(&imported, &typed);
        let hand = stage.by_hand(&typed);
        stage.shell(&format!("rm -rf {}/*; sync", stage.directory));
        let ours = stage.ours(&imported);
        match (ours, hand) {
            (Ok(ours), Ok(hand)) => {
                let mut far = off(&name, &ours, &[&hand]);
                let apart = APART.iter().find(|(known, _)| *known == name);
                if far > WITHIN && apart.is_none() {
                    // How far fio is from itself.
                    stage.shell(&format!("rm -rf {}/*; sync", stage.directory));
                    stage.lay_out(&imported, &typed);
                    far = stage.by_hand(&typed).map_or(far, |again| off(&name, &ours, &[&hand, &again]));
                }
                match apart {
                    Some((_, why)) => println!("{name:26} {why}"),
                    None if far <= WITHIN => {
                        met += 1;
                        at_once += usize::from(imported.workloads.iter().any(|workload| !workload.parts.is_empty()));
                    }
                    None => wrong.push(format!("{name}: {:.1} % off", far * 100.0)),
                }
            }
            (ours, hand) => {
                let why = format!("{name}: ours {ours:?}, by hand {hand:?}");
                println!("{why}");
                wrong.push(why);
            }
        }
        println!("  {:.1} s", begun.elapsed().as_secs_f64());
    }
    println!(
        "{met} files within {:.0} %, {at_once} of them with different jobs at once, {} apart for a reason",
        WITHIN * 100.0,
        APART.len()
    );
    let enough = chosen().is_some() || (met >= 20 && at_once >= 5);
    assert!(wrong.is_empty() && enough, "{met} met, {at_once} at once, and\n{}", wrong.join("\n"));
}
