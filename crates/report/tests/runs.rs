//! Two runs side by side: what stands on a terminal, in JSON and on the page.

use report::{Style, runs_html, runs_json, runs_limit, runs_text};
use terms::PerMille;
use terms::evidence::BottleneckKind;
use terms::finding::{
    CellComparison, Change, Compared, Difference, Figures, Quantity, RunComparison, RunHead, WithInterval,
};
use unicode_width::UnicodeWidthStr as _;

fn estimate(value: f64) -> WithInterval {
    WithInterval { value, low: Some(value / 1.01), high: Some(value * 1.01), rounds: 1 }
}

const SEQ: (&str, &str) = ("seq-1m", "SEQ 1 MiB Q8 T1 read");
const RND: (&str, &str) = ("rnd-4k", "RND 4 KiB Q1 T1 read");

fn cell(name: &str, (workload, title): (&str, &str), block: f64, ratio: f64, verdict: Compared) -> CellComparison {
    let figures = |rate: f64| Figures { throughput: estimate(rate), iops: rate / block, latency: Some(8e4) };
    let moved = matches!(verdict, Compared::Faster | Compared::Slower);
    CellComparison {
        stack: terms::slug(name),
        name: name.to_owned(),
        workload: workload.to_owned(),
        title: title.to_owned(),
        a: Some(figures(4e8)),
        b: Some(figures(4e8 * ratio)),
        ratio: Some(estimate(ratio)),
        verdict: Some(verdict),
        why_not: None,
        p_value: None,
        changes: if moved {
            vec![Change { what: Quantity::CpuPerOperationNs, a: 21_400.0, b: 21_400.0 / ratio }]
        } else {
            Vec::new()
        },
        bottlenecks: moved.then_some((BottleneckKind::Device, BottleneckKind::Core)),
    }
}

fn compared() -> RunComparison {
    let head = |run: &str| RunHead {
        run: run.to_owned(),
        started: "2026-01-01T00:00:00Z".to_owned(),
        question: "Q?".to_owned(),
        emulated: Some("virtual clock, one core of 3.2 G instructions/s".to_owned()),
    };
    let difference =
        |what: &str, a: &str, b: &str| Difference { what: what.to_owned(), a: a.to_owned(), b: b.to_owned() };
    let mut lost = cell("ZFS mirror", RND, 4096.0, 1.0, Compared::CannotTell);
    (lost.b, lost.ratio, lost.verdict) = (None, None, None);
    lost.why_not = Some("no figure in B: the kernel module `zfs` is not there".to_owned());
    RunComparison {
        a: head("2026-01-01T000000Z-quickstart"),
        b: head("2026-01-02T000000Z-quickstart"),
        repeats: true,
        differences: vec![difference("kernel", "6.1.0-56-amd64", "6.12.90+deb13-amd64")],
        cells: vec![
            cell("ext4", SEQ, 1_048_576.0, 1.001, Compared::Equivalent),
            cell("ext4 on LUKS2", SEQ, 1_048_576.0, 0.912, Compared::Slower),
            cell("ext4", RND, 4096.0, 0.999, Compared::Equivalent),
            cell("ext4 on LUKS2", RND, 4096.0, 1.08, Compared::Faster),
            lost,
        ],
    }
}

#[test]
fn the_answer_comes_first_on_80_columns() {
    let text = runs_text(&compared(), false, &Style::default());
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn every_cell_on_request_and_on_any_terminal() {
    for width in [40, 60, 80, 160] {
        for ascii in [false, true] {
            let text = runs_text(&compared(), true, &Style { width, ascii, ..Style::default() });
            assert!(text.lines().all(|line| line.width() <= width), "{text}");
            assert!(text.is_ascii() || !ascii, "{text}");
        }
    }
    insta::assert_snapshot!(runs_text(&compared(), true, &Style::default()));
}

#[test]
fn runs_alike_need_three_lines() {
    let mut of = compared();
    of.cells.retain(|cell| cell.verdict == Some(Compared::Equivalent));
    of.differences.clear();
    (of.a.emulated, of.b.emulated) = (None, None);
    let text = runs_text(&of, false, &Style::default());
    assert!(text.starts_with("B equals A in all 2 cells."), "{text}");
    assert!(text.lines().count() <= 8, "{text}");
}

#[test]
fn emulated_rates_are_labelled_and_others_are_not() {
    let mut of = compared();
    let label = "ates under emulation (virtual clock, one core of 3.2 G instructions/s): good for comparing stacks, not \
                 for real drives";
    let wide = Style { width: 200, ..Style::default() };
    assert!(runs_text(&of, false, &wide).contains(&format!("\n! r{label}\n")));
    assert!(runs_html(&of).contains(&format!("<p class=\"label\" role=\"note\">R{label}.</p>")));
    (of.a.emulated, of.b.emulated) = (None, None);
    assert!(!runs_text(&of, false, &wide).contains("emulation") && !runs_html(&of).contains("emulation"));
}

#[test]
fn a_limit_is_passed_only_where_nothing_may_be_slower_by_more() {
    let mut of = compared();
    let style = Style { width: 120, ..Style::default() };
    let found = |of: &RunComparison, limit: u32| runs_limit(of, PerMille(limit), &style);
    assert_eq!(found(&of, 50), "`--fail-slower` 5 %: 1 of 5 cells is certainly slower by more.\n");
    // Slower, but its whole interval is within the limit; another has no figure.
    let open = "`--fail-slower` 10 %: no cell is certainly slower by more; in 1 of 5 cells it cannot be excluded.\n";
    assert_eq!(found(&of, 100), open);
    of.cells.pop();
    assert_eq!(found(&of, 100), "`--fail-slower` 10 %: no cell is slower by more.\n");
    of.cells
        .iter_mut()
        .for_each(|cell| (cell.verdict, cell.ratio) = (Some(Compared::CannotTell), cell.ratio.map(wide)));
    let open = "`--fail-slower` 5 %: no cell is certainly slower by more; in 4 of 4 cells it cannot be excluded.\n";
    assert_eq!(found(&of, 50), open);
}

fn wide(ratio: WithInterval) -> WithInterval {
    WithInterval { low: Some(ratio.value / 2.0), high: Some(ratio.value * 2.0), ..ratio }
}

#[test]
fn json_has_units_in_its_keys() {
    insta::assert_snapshot!(runs_json(&compared()));
}

#[test]
fn the_page_is_whole_and_runs_nothing() {
    let mut of = compared();
    of.cells[0].name = "<script>alert(1)</script>".to_owned();
    let page = runs_html(&of);
    assert!(page.contains("default-src 'none'") && !page.contains("<script"), "{page}");
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 2);
    assert!(page.contains("<h1>B is slower in 1 of 4 cells, faster in 1</h1>") && page.contains("the same seed"));
    assert!(page.contains("6.12.90") && page.contains("the kernel module <code>zfs</code> is not there"));
}
