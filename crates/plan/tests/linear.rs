//! Reading, planning and drawing take time in proportion to the text, whatever is in it. Run with `--nocapture` for the
//! table.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and prints a table")]

use std::fmt::Write as _;
use std::time::Duration;

use plan::DriveSize;

/// Ten times the text may take twice ten times the time.
const STEEPEST: f64 = 2.0;
/// A time below this is noise.
const NOISE: Duration = Duration::from_millis(2);

/// Joins what a function makes of the numbers below `n`.
fn all(n: usize, one: impl Fn(usize) -> String) -> String {
    (0..n).map(one).collect()
}

/// A study with these drives and layers.
fn study(drives: &str, layers: &str) -> String {
    format!("question = 'q'\nlab.drives = [{drives}]\nstack = [{{ name = 'x', layers = [{layers}] }}]\n")
}

const A: &str = "{ name = 'a', size = '1 GiB' }";

fn drives(n: usize) -> String {
    all(n, |i| format!("{{ name = 'd{i}', size = '1 GiB' }},\n"))
}

fn names(n: usize) -> String {
    all(n, |i| format!("'d{i}',"))
}

/// Texts of about a hundred bytes for each of `n`.
type Shape = (&'static str, fn(usize) -> String);

const SHAPES: [Shape; 17] = [
    ("unknown keys", |n| all(n * 5, |i| format!("a_key_{i} = 'value'\n"))),
    ("unknown tables", |n| all(n * 5, |i| format!("[table_{i}]\nb = 1\n"))),
    ("stacks", |n| {
        let stack =
            |i| format!("[[stack]]\nname = 's{i} ext4 on one drive alone'\nlayers = [{{ ext4 = {{}}, on = 'a' }}]\n");
        format!("question = 'q'\nlab.drives = [{A}]\n{}", all(n, stack))
    }),
    ("stacks of one name", |n| {
        let stack = |_| "[[stack]]\nname = 'the same name'\nlayers = [{ ext4 = {}, on = 'a' }]\n".to_owned();
        format!("question = 'q'\nlab.drives = [{A}]\n{}", all(n, stack))
    }),
    ("stacks on unknown drives", |n| {
        let stack =
            |i| format!("[[stack]]\nname = 's{i}'\nlayers = [{{ raid = {{ level = 1 }}, on = ['u{i}', 'v{i}'] }}]\n");
        format!("question = 'q'\nlab.drives = [{}]\n{}", drives(n / 2), all(n, stack))
    }),
    ("drives in an array", |n| {
        study(&drives(n * 2), &format!("{{ raid = {{ level = 0 }}, on = [{}] }}", names(n * 2)))
    }),
    ("drives of one name", |n| study(&all(n * 2, |_| format!("{A},\n")), "{ ext4 = {}, on = 'a' }")),
    ("encrypted drives in an array", |n| {
        study(&drives(n * 2), &format!("{{ luks = {{}}, on = [{}] }}, {{ btrfs = {{}} }}", names(n * 2)))
    }),
    ("drives that nobody uses", |n| study(&format!("{A},{}", drives(n * 2)), "{ ext4 = {}, on = 'a' }")),
    ("layers on layers", |n| {
        study(A, &format!("{{ luks = {{}}, on = 'a' }}, {}", all(n, |_| "{ luks = {} },\n".into())))
    }),
    ("layers in a circle", |n| {
        study(A, &all(n * 2, |i| format!("{{ luks = {{}}, name = 'l{i}', on = 'l{}' }},\n", (i + 1) % (n * 2))))
    }),
    ("layers that share what is below", |n| {
        let layers =
            format!("{{ luks = {{}}, on = [{}] }}, {}", names(n), all(n, |_| "{ crypt = {}, on = 'luks' },\n".into()));
        study(&drives(n), &layers)
    }),
    ("names that are none", |n| {
        study(&drives(n), &format!("{{ btrfs = {{}}, on = [{}] }}", all(n * 5, |i| format!("'x{i}',"))))
    }),
    ("workloads", |n| {
        let workload = |i| format!("[[workload]]\nname = 'w{i}'\npattern = 'randread'\nblock = '4 KiB'\ndepth = 4\n");
        study(A, "{ ext4 = {}, on = 'a' }") + &all(n, workload)
    }),
    ("words of every kind", |n| {
        let quick = all(n * 2, |i| format!("'w{i}',"));
        let profiles = all(n * 2, |_| "'quick',".to_owned());
        let chart = format!("[[chart]]\ntitle = 't'\nstacks = [{}]\n", all(n * 2, |i| format!("'c{i}',")));
        study(A, "{ ext4 = {}, on = 'a' }") + &format!("{chart}[measure]\nprofiles = [{profiles}]\nquick = [{quick}]\n")
    }),
    ("lines that are no TOML", |n| all(n * 10, |_| "= = =\n".to_owned())),
    ("one line", |n| format!("question = [{}]", all(n * 10, |_| "{ a = 1 }, ".to_owned()))),
];

/// All that is done with a text before a machine is asked.
fn read(text: &str) {
    let (design, notes) = spec::parse(text);
    let drawn = spec::render("study.toml", text, &notes, false);
    assert!(drawn.len() < 1_000_000, "{} bytes of notes", drawn.len());
    let Some(design) = design else { return };
    for plan in plan::plans(&design.stacks, &DriveSize::of_lab(&design.lab)) {
        let plan = plan.unwrap();
        assert_eq!(plan::lint(&plan), []);
        assert!(!plan::render(&plan).is_empty() && !plan::script(&plan).is_empty());
        assert_eq!(plan::diff(&plan, &plan), "");
    }
}

/// What this thread took of a processor so far: what else the machine does is left out.
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

fn time(text: &str) -> Duration {
    let start = now();
    read(text);
    now() - start
}

/// Is it a straight line: the best of some tries of each, until it is, or there is no hope?
fn is_straight(shape: Shape, small: usize, large: usize, table: &mut String) -> bool {
    let (name, make) = shape;
    let texts = [make(small), make(large)];
    let mut best = [Duration::MAX; 2];
    let mut steepness = f64::MAX;
    for _ in 0..12 {
        for (best, text) in best.iter_mut().zip(&texts) {
            *best = time(text).min(*best);
        }
        let bytes = texts[1].len() as f64 / texts[0].len() as f64;
        steepness = best[1].as_secs_f64() / best[0].max(NOISE).as_secs_f64() / bytes;
        if steepness <= STEEPEST {
            break;
        }
    }
    let kib = |text: &String| text.len() / 1024;
    let _ = writeln!(
        table,
        "{name:32} {:6} KiB {:8.1} ms {:6} KiB {:8.1} ms   {steepness:.2}",
        kib(&texts[0]),
        best[0].as_secs_f64() * 1e3,
        kib(&texts[1]),
        best[1].as_secs_f64() * 1e3,
    );
    steepness <= STEEPEST
}

#[test]
fn time_grows_with_the_text_and_no_faster() {
    let mut table = String::new();
    let bent: Vec<&str> =
        SHAPES.into_iter().filter(|shape| !is_straight(*shape, 200, 2000, &mut table)).map(|(name, _)| name).collect();
    println!("{table}");
    assert!(bent.is_empty(), "{bent:?}\n{table}");
}

/// Time to read a text and plan what is in it, or to draw what is wrong with it.
fn whole(name: &str, text: &str) -> Duration {
    let start = now();
    let (design, notes) = spec::parse(text);
    let drawn = spec::render("study.toml", text, &notes, false);
    let plans = design.map(|design| plan::plans(&design.stacks, &DriveSize::of_lab(&design.lab)));
    let took = now() - start;
    assert!(!drawn.is_empty() || plans.is_some_and(|plans| plans.iter().all(Result::is_ok)), "{name}");
    took
}

/// Ten megabytes of keys or stacks, ten thousand drives.
#[test]
fn the_largest_texts_are_read_in_seconds() {
    let mut table = String::new();
    for (name, make) in [SHAPES[0], SHAPES[2], SHAPES[5]] {
        let mut line = Vec::new();
        for size in [1, 2, 4, 10] {
            // So that the last has ten megabytes, or ten thousand drives.
            let n = if name.contains("drives") { 500 * size } else { 10_000 * size };
            let text = make(n);
            // The better of two: a busy machine takes a thread's caches, and with them its processor time.
            let took = (0..2).map(|_| whole(name, &text)).min().unwrap();
            let _ = writeln!(table, "{name:32} {:6} KiB {:8.1} ms", text.len() / 1024, took.as_secs_f64() * 1e3);
            line.push(took.as_secs_f64() / text.len() as f64);
        }
        assert!(line[3] < STEEPEST * line[0], "{name}\n{table}");
    }
    println!("{table}");
}

/// Neither brackets nor dots go deeper than a stack of calls does.
#[test]
fn depth_is_refused() {
    for text in [
        format!("question = {}", "[".repeat(100_000)),
        format!("question = {}", "{a=".repeat(100_000)),
        format!("{} = 1", vec!["a"; 100_000].join(".")),
        format!("[{}]\n", vec!["a"; 100_000].join(".")),
    ] {
        assert!(spec::parse(&text).0.is_none());
    }
}
