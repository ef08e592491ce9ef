//! What stands on a terminal, in CSV and in JSON.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault")]

mod fixture;

use fixture::{findings, findings_rich, inventory, small};
use report::{Style, brief, card, columns, csv, json, machine_tree, markdown, table, terminal};
use terms::finding::{CellFinding, Compared, Findings, WithInterval};
use terms::record::{GuardNote, StackEntry};
use terms::{Bytes, Name, Pattern, Workload};
use unicode_width::UnicodeWidthStr as _;

const ASCII: Style = Style { colour: false, width: 80, ascii: true, si: false };

/// Lines wider than `columns`, except the command, which is never wrapped.
fn too_wide(text: &str, columns: usize) -> Vec<&str> {
    text.lines().filter(|line| line.width() > columns && !line.starts_with("bedplate run")).collect()
}

#[test]
fn three_rounds_on_80_columns() {
    let text = terminal(&findings(3), &Style::default());
    assert_eq!(too_wide(&text, 80), Vec::<&str>::new());
    insta::assert_snapshot!(text);
}

#[test]
fn three_rounds_in_ascii() {
    let text = terminal(&findings(3), &ASCII);
    assert!(text.is_ascii());
    assert_eq!(too_wide(&text, 80), Vec::<&str>::new());
    insta::assert_snapshot!(text);
}

#[test]
fn all_that_can_be_known_on_80_columns() {
    let text = terminal(&findings_rich(), &Style::default());
    assert_eq!(too_wide(&text, 80), Vec::<&str>::new());
    insta::assert_snapshot!(text);
}

#[test]
fn all_that_can_be_known_fits_any_terminal() {
    for width in [40, 50, 66, 100, 200] {
        for ascii in [false, true] {
            let text = terminal(&findings_rich(), &Style { width, ascii, ..Style::default() });
            assert_eq!(too_wide(&text, width), Vec::<&str>::new());
            assert!(text.is_ascii() || !ascii);
        }
    }
}

#[test]
fn a_table_for_a_forum() {
    insta::assert_snapshot!(markdown(&findings(3)));
}

/// What is shared tells models and no serial numbers, and what a stranger wrote is text in it.
#[test]
fn what_is_shared_tells_nothing_of_whose_it_is_and_runs_nothing() {
    for mut findings in [findings(3), findings(1), findings_rich(), small()] {
        "<script>alert(1)</script> | \u{202e}x".clone_into(&mut findings.provenance.question);
        let texts = [markdown(&findings), card(&findings)];
        let serials = findings.inventory.drives.iter().filter_map(|drive| drive.serial.clone());
        for serial in serials.filter(|serial| serial.len() > 2) {
            assert!(texts.iter().all(|text| !text.contains(&serial)), "{serial}");
        }
        assert!(texts.iter().all(|text| !text.contains("<script") && !text.contains('\u{202e}')), "{texts:#?}");
        assert!(texts[1].starts_with("<svg ") && texts[1].contains("xmlns") && !texts[1].contains("href"));
    }
}

/// So many stacks, with long names that differ at their ends.
fn crowded(stacks: usize) -> Findings {
    let mut crowd = findings(3);
    let first = crowd.provenance.stacks[0].clone();
    let cells: Vec<_> = crowd.cells.iter().filter(|cell| cell.stack == first.slug).cloned().collect();
    crowd.provenance.stacks.clear();
    crowd.cells.clear();
    for number in 1..=stacks {
        let slug = format!("crowd-{number}");
        let name = format!("#{number} ext4 on LVM on dm-raid (RAID 1) on dm-integrity on dm-crypt number {number}");
        crowd.provenance.stacks.push(StackEntry { slug: slug.clone(), name, ..first.clone() });
        crowd.cells.extend(cells.iter().cloned().map(|cell| CellFinding { stack: slug.clone(), ..cell }));
    }
    crowd
}

/// The whole of a usual study is on one screen, the answer in its last lines.
#[test]
fn a_report_in_brief_fits_a_screen() {
    let text = brief(&findings(3), &Style::default());
    insta::assert_snapshot!(text);
    let answer = text.lines().position(|line| line.starts_with("Answer")).unwrap();
    assert!(text.lines().skip(answer + 1).all(|line| line.starts_with("  ")), "nothing comes after it");
    for findings in [findings(3), findings(1), findings_rich(), small(), crowded(6), crowded(20), crowded(60)] {
        let text = brief(&findings, &Style::default());
        // Below it are two lines of the program: the command for details, and the page.
        assert!(text.lines().count() <= 25 - 2, "{} lines\n{text}", text.lines().count());
    }
    for findings in [findings(3), findings_rich(), crowded(20)] {
        for width in [40, 60, 80, 120, 200] {
            for ascii in [false, true] {
                let text = brief(&findings, &Style { width, ascii, ..Style::default() });
                assert_eq!(too_wide(&text, width), Vec::<&str>::new());
                assert!(text.is_ascii() || !ascii);
            }
        }
    }
}

#[test]
fn workloads_that_do_not_fit_are_counted() {
    insta::assert_snapshot!(brief(&findings_rich(), &Style { width: 60, ..Style::default() }));
}

#[test]
fn rows_of_stacks_that_differ_come_before_others() {
    let mut crowd = crowded(40);
    let slugs: Vec<String> = crowd.provenance.stacks.iter().map(|entry| entry.slug.clone()).collect();
    let pair = |stack: usize, verdict| terms::finding::Comparison {
        workload: crowd.provenance.workloads[0].name.to_string(),
        stack: slugs[stack].clone(),
        other: slugs[0].clone(),
        ratio: WithInterval { value: 0.5, low: Some(0.4), high: Some(0.6), rounds: 3 },
        verdict,
        more_rounds: None,
        p_value: None,
    };
    crowd.comparisons =
        (1..40).map(|at| pair(at, if at == 38 { Compared::Slower } else { Compared::CannotTell })).collect();
    crowd.cells.iter_mut().filter(|cell| cell.stack != slugs[0]).for_each(|cell| cell.ratio_to_first = cell.throughput);
    for width in [60, 80, 120] {
        let text = brief(&crowd, &Style { width, ..Style::default() });
        assert!(text.lines().any(|line| line.starts_with("#39")) && text.contains("more stacks"), "{text}");
    }
    let text = brief(&crowd, &Style { width: 60, ..Style::default() });
    let row = text.lines().find(|line| line.starts_with("#39")).unwrap();
    assert!(row.split_whitespace().rev().take(4).eq(["0", "0", "0", "1"]), "{text}");
}

#[test]
fn one_target_is_a_card() {
    let mut findings = small();
    findings.provenance.stacks.truncate(1);
    findings.comparisons.clear();
    insta::assert_snapshot!(brief(&findings, &Style::default()));
    findings.cells.clear();
    assert!(brief(&findings, &Style::default()).contains("not run"));
    insta::assert_snapshot!(brief(&measured_both_ways(), &Style::default()));
}

#[test]
fn a_card_has_the_flushes_that_latencies_leave_out() {
    let mut findings = small();
    findings.provenance.stacks.truncate(1);
    let text = brief(&findings, &Style { width: 120, ..Style::default() });
    assert!(text.contains("LATENCY") && !text.contains("FLUSH"), "{text}");
    let flush = |of: terms::record::Latency| terms::record::Latency { p50: terms::Nanos(183_000), ..of };
    findings.cells[0].sync = findings.cells[0].latency.clone().map(flush);
    let text = brief(&findings, &Style { width: 120, ..Style::default() });
    assert!(text.contains("FLUSH") && text.contains("2.99 ms  183 µs"), "{text}");
}

#[test]
fn a_card_tells_what_differs_between_workloads_and_has_no_markup() {
    let card = card(&crowded(7));
    for line in
        ["SEQ 1 MiB", "Q8 T1 read", "Q8 T1 write", "Q32 T16 read", "Q32 T16 write", "and 1 more stack: see the page"]
    {
        assert!(card.contains(&format!(">{line}<")), "{line}: {card}");
    }
    let mut findings = findings_rich();
    findings.provenance.cpu = None;
    findings.provenance.place = "local".to_owned();
    findings.inventory.emulated = None;
    let (card, table) = (report::card(&findings), markdown(&findings));
    assert!(!card.contains('`') && table.contains("with `--more 4`"), "{card}{table}");
}

/// What a link is shown with says how far it can be trusted, ends no sentence in the middle and explains its marks.
#[test]
fn a_card_has_its_trust_and_its_legend_whatever_the_answer_is() {
    let mut long = findings_rich();
    long.provenance.question = "Which of many stacks of layers is the best one for a machine like this one?".to_owned();
    for findings in [findings_rich(), long, crowded(20), findings(1), small()] {
        let card = card(&findings);
        assert!(card.contains(">Trust "), "{card}");
        let texts: Vec<&str> = card.split("</text>").filter_map(|of| of.rsplit_once('>').map(|of| of.1)).collect();
        let trust = texts.iter().position(|line| line.starts_with("Trust ")).unwrap();
        assert!(texts[..trust].iter().any(|line| line.ends_with('.')) && !card.contains(" …<"), "{card}");
    }
    let card = card(&findings_rich());
    assert!(card.contains("? and hollow: undecided.") && card.contains("=: equal within ±3 %."), "{card}");
    let names = report::card(&crowded(3));
    assert!((1..=3).all(|number| names.contains(&format!("number {number}<"))), "{names}");
}

#[test]
fn one_target_shows_all_that_its_answer_counts() {
    let page = report::html(&measured_both_ways());
    assert!(page.contains("; and 4 more.") && page.contains("open>\n<summary><h2>Workloads</h2>"), "{page}");
}

#[test]
fn marks_that_are_no_numbers_are_explained() {
    let mut findings = small();
    findings.cells[0].throughput.as_mut().unwrap().high = Some(1e300);
    let wide = Style { width: 160, ..Style::default() };
    let means = "×÷>999: no interval to speak of, rounds or parts of the window differ too much";
    assert!(
        terminal(&findings, &wide).contains("no interval to speak of")
            && report::html(&findings).contains("no interval to speak of")
    );
    findings.provenance.stacks.truncate(1);
    findings.cells[0].latency.as_mut().unwrap().p99 = None;
    let text = brief(&findings, &wide);
    assert!(text.contains(means) && text.contains("– under P99: fewer than 100 operations are slower"), "{text}");
    let page = report::html(&self::findings(1));
    assert!(page.contains("±?: one round has no interval."), "{page}");
}

#[test]
fn what_a_study_was_made_for_is_answered_first() {
    let wide = Style { width: 400, ..Style::default() };
    let mut findings = findings_rich();
    let asked = "Inside the predicted 90 % interval: ";
    assert!(!brief(&findings, &wide).contains(asked));
    let policy = terms::MeasurePolicy { stop_beyond: Some(terms::PerMille(600)), ..findings.provenance.policy() };
    findings.provenance.policy = Some(policy);
    let text = brief(&findings, &wide);
    let answer = text.lines().find(|line| line.starts_with("Answer")).unwrap();
    assert!(answer.split_once(asked).is_some_and(|(before, _)| before.trim() == "Answer"), "{text}");
    assert!(report::html(&findings).contains("href=\"#foretold\""));

    let mut findings = small();
    let (one, both) = (findings.provenance.workloads[0].clone(), Name::new("both").unwrap());
    findings.provenance.workloads = vec![one.clone(), Workload { name: both.clone(), hosts: terms::Hosts(2), ..one }];
    findings.cells.retain(|cell| cell.workload == findings.provenance.workloads[0].name.as_str());
    for mut cell in findings.cells.clone() {
        // Together 1.5 times what one has alone.
        cell.throughput.as_mut().unwrap().value *= 1.5;
        findings.cells.push(CellFinding { workload: both.to_string(), ..cell });
    }
    let text = brief(&findings, &wide);
    let keeps = "Answer   Beside the others, each host keeps of the throughput that it has alone: bare drive (75 %); RAID-1 + \
                 LUKS + ext4 (75 %).";
    assert!(text.contains(keeps), "{text}");
}

/// One target under four kinds of work, each of them read and written.
fn measured_both_ways() -> Findings {
    let mut findings = small();
    findings.provenance.stacks.truncate(1);
    findings.comparisons.clear();
    let cell = findings.cells[0].clone();
    let work = findings.provenance.workloads[0].clone();
    findings.provenance.workloads.clear();
    findings.cells.clear();
    for (depth, block) in [(8, Bytes::mib(1)), (1, Bytes::mib(1)), (32, Bytes::kib(4)), (1, Bytes::kib(4))] {
        for pattern in [Pattern::Read, Pattern::Write] {
            let name = Name::new(format!("w{}", findings.cells.len())).unwrap();
            findings.cells.push(CellFinding { workload: name.to_string(), ..cell.clone() });
            findings.provenance.workloads.push(Workload { name, depth, block, pattern, ..work.clone() });
        }
    }
    findings
}

#[test]
fn one_round_has_no_interval() {
    insta::assert_snapshot!(terminal(&findings(1), &Style { width: 120, ..Style::default() }));
}

#[test]
fn intervals_say_what_they_are_of() {
    let mut findings = small();
    let told = |findings: &Findings, words: &str| {
        let (text, page) = (terminal(findings, &Style::default()), report::html(findings));
        assert!(
            text.contains(&format!("Throughput, {words}")) && page.contains(&format!("<dd>{words}</dd>")),
            "{text}"
        );
    };
    told(&findings, "geometric mean and 95 % interval between rounds");
    let one = |findings: &mut Findings, cells: usize| {
        findings.cells.iter_mut().filter_map(|cell| cell.throughput.as_mut()).take(cells).for_each(|of| of.rounds = 1);
    };
    one(&mut findings, 1);
    told(&findings, "geometric mean, 95 % interval between rounds or of one window");
    one(&mut findings, usize::MAX);
    told(&findings, "one round and the 95 % interval of its window");
    told(&self::findings(1), "one round");
}

#[test]
fn wide_intervals_are_factors() {
    let mut findings = small();
    for (cell, factor) in findings.cells.iter_mut().zip([1.3, 1.01, 3.64, 12.7]) {
        for estimate in [&mut cell.throughput, &mut cell.iops, &mut cell.ratio_to_first].into_iter().flatten() {
            (estimate.low, estimate.high) = (Some(estimate.value / factor), Some(estimate.value * factor));
        }
    }
    insta::assert_snapshot!(terminal(&findings, &Style::default()));
    let ascii = terminal(&findings, &ASCII);
    assert!(ascii.is_ascii() && ascii.contains("152  x/3.6") && ascii.contains("0.0632x x/3.6"), "{ascii}");
    assert!(ascii.contains("\nx/  x/2.2: from the value divided by 2.2 to the value times 2.2\n"), "{ascii}");
    let page = report::html(&findings);
    assert!(page.contains("152 ×÷3.6") && page.contains("0.0632× <small>×÷3.6</small>"), "{page}");
    assert!(
        page.contains("between rounds. ±: half of the 95 % interval, in per cent of the value. ×÷2.2: from the value")
    );
}

#[test]
fn what_was_run_is_kept_and_can_go_on() {
    let mut findings = small();
    let kept = "2026-11-20-raid-on-nvme/study.toml";
    let (text, page) = (terminal(&findings, &Style::default()), report::html(&findings));
    assert!(text.contains(&format!("\n{kept}\n")) && text.contains("9b74c9897bac,"), "{text}");
    assert!(page.contains(&format!("<code>{kept}</code>")) && page.contains("begins with 9b74c9897bac,"));
    assert!(!text.contains("--resume") && !page.contains("--resume"));
    findings.cells.truncate(1);
    let resume = "3 cells were not run: the same command with --resume goes on with this run";
    let wide = Style { width: 160, ..Style::default() };
    assert!(terminal(&findings, &wide).contains(resume) && report::html(&findings).contains(resume));
    // The record is whole then, and the same budget would leave the same cells.
    let mut policy = findings.provenance.policy();
    policy.budget = Some(terms::Nanos::seconds(60));
    findings.provenance.policy = Some(policy);
    let larger = "3 cells were not run: the same command with --resume and a larger --budget goes on with this run";
    assert!(terminal(&findings, &wide).contains(larger), "{}", terminal(&findings, &wide));
}

#[test]
fn one_build_of_each_stack_is_no_matter_of_more_rounds() {
    let mut findings = findings_rich();
    for of in &mut findings.comparisons {
        (of.ratio.low, of.ratio.high, of.verdict) = (None, None, terms::finding::Compared::CannotTell);
    }
    let wide = Style { width: 400, ..Style::default() };
    assert!(brief(&findings, &wide).contains("`--more 2` adds rounds"), "{}", brief(&findings, &wide));
    let mut policy = findings.provenance.policy();
    policy.replicate = terms::Replicate::Single;
    findings.provenance.policy = Some(policy);
    let text = brief(&findings, &wide);
    assert!(text.contains("each stack was built once") && !text.contains("--more"), "{text}");
}

#[test]
fn an_unfinished_run_says_so_and_compares_no_stack_with_itself() {
    let mut findings = findings(3);
    findings.cells.retain(|cell| cell.stack != "bare-drive");
    let kept = ["seq1m-q8t1-read", "rnd4k-q32t16-read"];
    let second = findings.provenance.stacks[1].slug.clone();
    findings.cells.retain(|cell| cell.stack == second || kept.contains(&cell.workload.as_str()));
    let wide = Style { width: 400, ..Style::default() };
    let text = brief(&findings, &wide);
    let unfinished = "Unfinished: 8 of 20 cells were not run, among them all of the baseline bare drive: nothing is \
                      compared with it. Faster than every other stack with a figure: ";
    assert!(text.contains(unfinished) && !text.contains("all 4 workloads"), "{text}");
    let mut failed = findings.clone();
    for stack in &findings.provenance.stacks {
        for workload in &findings.provenance.workloads {
            if failed.cell(&stack.slug, workload.name.as_str()).is_none() {
                let mut cell = findings.cells[0].clone();
                (cell.stack, cell.workload) = (stack.slug.clone(), workload.name.to_string());
                cell.verdict = terms::finding::Verdict::Failed("no".to_owned());
                failed.cells.push(cell);
            }
        }
    }
    let text = brief(&failed, &wide);
    assert!(text.contains("every other stack with a figure: "), "one that failed was not beaten: {text}");
    findings.cells.retain(|cell| cell.stack == second);
    let text = brief(&findings, &wide);
    assert!(text.contains("No workload has figures of two stacks.") && !text.contains("Faster than"), "{text}");
}

/// Figures that may be equal, or that are flagged, have no winner.
#[test]
fn only_who_is_ahead_of_all_others_is_named() {
    let wide = Style { width: 400, ..Style::default() };
    let told = |findings: &Findings| {
        let text = brief(findings, &wide);
        text.split_once("aster than every other stack").map(|of| of.1.lines().next().unwrap().to_owned())
    };
    let mut findings = findings(3);
    findings.comparisons.clear();
    let told = |findings: &Findings| told(findings).map(|of| of.split_once(" Of 20").unwrap().0.to_owned());
    assert_eq!(told(&findings).unwrap(), " with a figure: bare drive in all 4 workloads.");
    let first = findings.cells.iter_mut().find(|cell| cell.stack == "bare-drive").unwrap();
    first.guards = flag();
    assert_eq!(
        told(&findings).unwrap(),
        " with a figure: bare drive in RND 4 KiB Q32 T16 read, SEQ 1 MiB Q8 T1 write and RND 4 KiB Q32 T16 write; in 1 workload no stack is."
    );
    for cell in &mut findings.cells {
        for figure in [&mut cell.throughput, &mut cell.iops].into_iter().flatten() {
            (figure.low, figure.high) = (Some(1.0), Some(1e12));
        }
    }
    assert_eq!(told(&findings).unwrap(), " with a figure in any workload.");
    assert!(brief(&self::findings(1), &wide).contains("Which stack is fastest cannot be told without intervals."));
}

#[test]
fn a_figure_that_a_guard_flags_is_marked_wherever_it_stands() {
    let mut findings = findings(3);
    let (text, means) = (brief(&findings, &Style::default()), "flagged by a guard, or above what the drives can do");
    let row = text.lines().find(|line| line.starts_with("LVM raid1 + integrity")).unwrap();
    assert!(
        row.ends_with("22–23") && row.matches('†').count() == 1 && text.contains("interval. † flagged\n"),
        "{text}"
    );
    let ascii = brief(&findings, &ASCII);
    assert!(ascii.is_ascii() && ascii.contains("interval. ! flagged\n"), "{ascii}");
    let (table, card) = (report::markdown(&findings), report::card(&findings));
    assert!(table.contains("13 % † |") && table.contains(&format!("\n† {means}.\n")), "{table}");
    assert!(card.contains("13 % †<") && card.contains(means), "{card}");
    findings.cells.iter_mut().for_each(|cell| cell.guards.clear());
    let all = [brief(&findings, &Style::default()), report::markdown(&findings), report::card(&findings)];
    assert!(all.iter().all(|text| !text.contains('†')), "{all:?}");
    findings.provenance.stacks.truncate(1);
    findings.cells[0].guards = flag();
    let text = brief(&findings, &Style::default());
    assert!(text.contains("2412 MiB/s †") && text.contains(means), "{text}");
}

fn flag() -> Vec<GuardNote> {
    vec![GuardNote { guard: terms::Guard::Other("generator".to_owned()), witness: "busy".to_owned(), voids: false }]
}

/// The run as though a real machine had made it, and nothing else spoke against it.
fn real(mut findings: Findings) -> Findings {
    findings.provenance.cpu = None;
    findings.provenance.place = "local".to_owned();
    findings.inventory.emulated = None;
    findings.controls.clear();
    findings
}

#[test]
fn a_figure_known_to_no_factor_of_two_makes_trust_low() {
    let wide = Style { width: 400, ..Style::default() };
    let mut findings = real(small());
    let trust = |findings: &Findings| {
        let text = brief(findings, &wide);
        text.lines().find_map(|line| line.strip_prefix("Trust    ").map(str::to_owned)).unwrap()
    };
    let far = |findings: &mut Findings, factor: f64| {
        let figure = findings.cells[0].throughput.as_mut().unwrap();
        (figure.low, figure.high) = (Some(figure.value / factor), Some(figure.value * factor));
    };
    far(&mut findings, 1.9);
    assert!(!trust(&findings).starts_with("low"), "{}", trust(&findings));
    far(&mut findings, 12.0);
    let says = "low: the widest 95 % interval is ×÷12, and 1 of 4 figures are not known to a factor of 2";
    assert_eq!(trust(&findings), says);
    // It comes before what else makes it low.
    findings.cells.iter_mut().for_each(|cell| cell.guards = flag());
    assert_eq!(trust(&findings), says);
}

#[test]
fn a_summary_says_of_the_columns_that_it_has() {
    let crowd = findings_rich();
    for width in [40, 50, 60, 70, 80, 90] {
        let text = brief(&crowd, &Style { width, ..Style::default() }).replace('\n', " ");
        if text.contains("UNDECIDED") {
            assert_eq!(text.contains("PER CENT"), text.contains("range of rates"), "{text}");
        }
    }
}

#[test]
fn a_change_of_one_round_is_one_figure() {
    let mut findings = findings_rich();
    let told = |findings: &Findings| {
        let text = terminal(findings, &Style { width: 400, ..Style::default() });
        text.split_once("its speed changed by ").unwrap().1.split_once(" within").unwrap().0.to_owned()
    };
    assert!(told(&findings).contains(" to "), "{}", told(&findings));
    findings.controls.truncate(1);
    assert_eq!(told(&findings), "+0.4 %");
}

#[test]
fn a_run_with_fewer_rounds_than_asked_for_is_unfinished() {
    let mut findings = findings(2);
    findings
        .cells
        .iter_mut()
        .flat_map(|cell| [&mut cell.throughput, &mut cell.iops])
        .flatten()
        .for_each(|of| of.rounds = 1);
    let wide = Style { width: 200, ..Style::default() };
    let resume = "measured cells have 1 of 2 rounds: the same command with --resume goes on with this run";
    let (text, page) = (terminal(&findings, &wide), report::html(&findings));
    assert!(brief(&findings, &wide).contains(resume) && text.contains(resume) && page.contains(resume));
    assert!(text.contains("1 of 2 rounds of 3 s"), "{text}");
    assert!(page.contains("<dt>Rounds</dt><dd>1 of 2, unfinished</dd>"), "{page}");
}

#[test]
fn real_drives_have_no_label_and_decimal_units_on_demand() {
    let text = terminal(&small(), &Style { si: true, ..Style::default() });
    assert!(!text.contains("emulation"), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn narrow_terminals_get_more_tables() {
    for width in [40, 50, 66, 200] {
        let text = terminal(&findings(3), &Style { width, ..Style::default() });
        assert_eq!(too_wide(&text, width), Vec::<&str>::new());
    }
}

#[test]
fn colour_only_adds_to_what_is_there() {
    let coloured = terminal(&findings(3), &Style { colour: true, ..Style::default() });
    let mut plain = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\x1b') {
        plain.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    plain.push_str(rest);
    assert_eq!(plain, terminal(&findings(3), &Style::default()));
}

#[test]
fn cells_that_are_not_there_are_shown_as_not_run() {
    let mut findings = small();
    findings.cells.retain(|cell| cell.workload != "rnd4k-q32t16-read");
    let text = terminal(&findings, &Style::default());
    // Two in each table, one in the summary, one beside `--resume`.
    assert_eq!(text.matches("not run").count(), 6, "{text}");
}

#[test]
fn wide_names_keep_columns_straight_and_cannot_steer_the_terminal() {
    let mut findings = small();
    findings.provenance.stacks[1].name = "镜像加密 \u{1b}[2J 硬盘".to_owned();
    let text = terminal(&findings, &Style::default());
    assert!(!text.contains('\u{1b}'));
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" ±") && !line.contains("half")).collect();
    let column = |line: &str| line[..line.find('±').unwrap()].width();
    assert_eq!(column(rows[0]), column(rows[1]), "{text}");
}

/// Findings whose names steer terminals, turn text and are formulas.
fn hostile() -> Findings {
    let mut findings = small();
    findings.provenance.question = "Which?\u{1b}]0;PWN\u{7}\u{202e}exe".to_owned();
    findings.provenance.stacks[0].name = "=HYPERLINK(\"http://evil\",\"open\")\u{1b}[2J".to_owned();
    findings.provenance.stacks[1].name = "a\u{9b}2J\u{2066}b\0\u{200b}".to_owned();
    findings
}

#[test]
fn no_form_of_the_report_holds_what_is_not_seen() {
    let findings = hostile();
    let forms = [terminal(&findings, &Style::default()), csv(&findings), json(&findings), report::html(&findings)];
    for form in forms {
        let hidden = |c: &char| terms::spelling::is_unseen(*c) && !matches!(c, '\n' | '\t' | '\r');
        assert_eq!(form.chars().find(hidden), None, "{form}");
        assert!(form.contains("\\u202e") || form.contains("\\u2066"), "it is shown: {form}");
    }
}

#[test]
fn names_in_json_are_what_they_were() {
    let findings = hostile();
    let document: serde_json::Value = serde_json::from_str(&json(&findings)).unwrap();
    for (at, stack) in findings.provenance.stacks.iter().enumerate() {
        assert_eq!(document["provenance"]["stacks"][at]["name"], stack.name.as_str());
    }
}

#[test]
fn names_are_no_formulas_in_a_spreadsheet() {
    let text = csv(&hostile());
    assert!(text.contains("\"'=HYPERLINK(") && !text.contains("\"=HYPERLINK("), "{text}");
}

#[test]
fn csv_has_every_cell() {
    let text = csv(&findings(3));
    assert_eq!(text.lines().count(), 21);
    insta::assert_snapshot!(text.replace('\r', ""));
}

#[test]
fn json_of_two_stacks() {
    insta::assert_snapshot!(json(&small()));
}

#[test]
fn csv_has_every_pair_and_all_that_is_known() {
    let findings = findings_rich();
    let text = report::comparisons_csv(&findings);
    assert_eq!(text.lines().count(), 1 + findings.comparisons.len());
    assert!(text.contains("undecided,4,0.21"), "{text}");
    let names = "stack,workload,rank,vs-first,more,limiter,steady,unsteady,level-high,burst,cliff,sync-p99,tool-shows,\
                 honest,snia,open";
    let chosen = table::select(&columns::cells(), names).unwrap();
    insta::assert_snapshot!(table::text(
        &chosen,
        &columns::cell_rows(&findings)[..8],
        &Style { width: 250, ..Style::default() },
        true
    ));
}

#[test]
fn json_holds_all_that_is_known() {
    let document: serde_json::Value = serde_json::from_str(&json(&findings_rich())).unwrap();
    for (key, many) in [("comparisons", 11), ("anchors", 6), ("layers", 5), ("curves", 4), ("cells", 5 * 8)] {
        assert_eq!(document[key].as_array().unwrap().len(), many, "{key}");
    }
    let unsteady = &document["cells"][18];
    assert_eq!(unsteady["verdict"], "unsteady");
    assert!(unsteady["level_low_bytes_per_second"].is_number() && unsteady["throughput_bytes_per_second"].is_null());
    assert_eq!(document["cells"][0]["imitation"]["gaps"][0]["cause"], "KiB/1000 called MB");
}

#[test]
fn json_tells_why_something_is_null() {
    let document: serde_json::Value = serde_json::from_str(&json(&findings(1))).unwrap();
    assert_eq!((&document["schema"], &document["version"]), (&"bedplate.report".into(), &1.into()));
    assert!(document["label"].as_str().unwrap().contains("emulation (tcg)"));
    let cells = document["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 20);
    for cell in cells {
        for (key, value) in cell.as_object().unwrap() {
            assert!(!value.is_null() || cell["missing"][key].is_string(), "{key} of {cell:#}");
        }
    }
    assert_eq!(cells[0]["missing"]["throughput_low_bytes_per_second"], "1 round: no interval");
    assert!(cells[16]["missing"]["iops_per_second"].as_str().unwrap().contains("apt install zfs-dkms"));
}

#[test]
fn the_machine_is_a_tree() {
    insta::assert_snapshot!(machine_tree(&inventory(), false));
    assert!(machine_tree(&inventory(), true).is_ascii());
}

#[test]
fn controllers_without_a_known_place_are_still_on_pci() {
    let mut inventory = inventory();
    inventory.drives.truncate(1);
    inventory.pci.truncate(1);
    inventory.emulated = None;
    inventory.programs.clear();
    inventory.drives[0].kernel_name = "vda".to_owned();
    inventory.drives[0].transport = terms::DriveTransport::Virtio;
    inventory.drives[0].pci_address = Some("0000:00:02.0".to_owned());
    (inventory.drives[0].serial, inventory.drives[0].model) = (None, None);
    insta::assert_snapshot!(machine_tree(&inventory, false));
    assert!(report::html(&Findings { inventory, ..small() }).contains("00:02.0 virtio"));
}

#[test]
fn broken_addresses_lose_no_drive() {
    let mut inventory = inventory();
    // A parent that is not there, and two that name one another.
    inventory.pci[3].parent = Some("ffff:00:00.0".to_owned());
    inventory.pci[0].parent = Some("0000:00:04.0".to_owned());
    inventory.pci[1].parent = Some("0000:00:03.0".to_owned());
    let text = machine_tree(&inventory, false);
    for drive in &inventory.drives {
        assert_eq!(text.matches(&drive.kernel_name).count(), 1, "{text}");
    }
}

#[test]
fn columns_are_chosen_by_name() {
    let findings = small();
    let chosen = table::select(&columns::cells(), "stack,pattern,throughput,low,high,p99").unwrap();
    insta::assert_snapshot!(table::text(&chosen, &columns::cell_rows(&findings), &Style::default(), true));
}

#[test]
fn what_a_chosen_table_lacks_has_its_reason() {
    let findings = findings(1);
    let chosen = table::select(&columns::cells(), "stack,workload,throughput,low,ratio,p999").unwrap();
    let text = table::text(&chosen, &columns::cell_rows(&findings), &Style { width: 100, ..Style::default() }, true);
    insta::assert_snapshot!(text);
}

#[test]
fn listed_columns_fit_and_break_no_word() {
    insta::assert_snapshot!(table::list(&columns::cells(), &Style::default()));
    for width in [40, 60, 80, 100, 120] {
        let text = table::list(&columns::cells(), &Style { width, ..Style::default() });
        assert_eq!(too_wide(&text, width), Vec::<&str>::new());
        let words: Vec<&str> = text.split_whitespace().collect();
        for column in columns::cells() {
            let all = [column.name, column.key].into_iter().chain(column.help.split(' '));
            for word in all {
                assert!(words.contains(&word), "{word} at {width}");
            }
        }
    }
}

#[test]
fn columns_have_names_keys_and_units_once() {
    fn check<R>(columns: &[table::Column<R>]) {
        for (at, column) in columns.iter().enumerate() {
            assert!(columns[..at].iter().all(|c| c.name != column.name && c.key != column.key), "{}", column.name);
            let unit = match column.kind {
                table::ColumnKind::Size => "_bytes",
                table::ColumnKind::Time => "_ns",
                table::ColumnKind::Rate | table::ColumnKind::Iops => "_per_second",
                table::ColumnKind::Text
                | table::ColumnKind::Count
                | table::ColumnKind::Ratio
                | table::ColumnKind::Number => "",
            };
            assert!(column.key.ends_with(unit), "{}", column.key);
        }
    }
    check(&columns::cells());
    check(&columns::builds());
    check(&columns::comparisons());
    check(&columns::drives());
    check(&columns::programs());
}

#[test]
fn the_same_findings_give_the_same_bytes() {
    let (one, two) = (findings(3), findings(3));
    assert_eq!(terminal(&one, &ASCII), terminal(&two, &ASCII));
    assert_eq!(report::html(&one), report::html(&two));
    assert_eq!(csv(&one), csv(&two));
    assert_eq!(json(&one), json(&two));
}

/// The first workload made one of two parts, with a figure for each.
fn with_parts() -> Findings {
    use terms::finding::PartFinding;
    use terms::{Bytes, Name, Part, Pattern, Workload};
    let mut findings = small();
    let part = |name: &str, pattern, kib, fsync_every| {
        let one = Workload::new(Name::new(name).unwrap(), pattern, Bytes::kib(kib));
        Part::of(Workload { fsync_every, ..one })
    };
    let parts = vec![part("reader", Pattern::RandRead, 4, None), part("log", Pattern::Write, 64, Some(1))];
    let old = findings.provenance.workloads[0].clone();
    findings.provenance.workloads[0] = Workload::of_parts(old.name.clone(), parts);
    for cell in findings.cells.iter_mut().filter(|cell| cell.workload == old.name.as_str()) {
        let share = |name: &str, share: f64| PartFinding {
            part: Name::new(name).unwrap(),
            throughput: cell.throughput.map(|all| terms::finding::WithInterval { value: all.value * share, ..all }),
            iops: cell.iops,
            latency: cell.latency.clone(),
        };
        cell.parts = vec![share("reader", 0.25), share("log", 0.75)];
    }
    findings
}

#[test]
fn different_jobs_at_once_have_a_row_each_and_one_for_all() {
    let findings = with_parts();
    for width in [40, 80, 200] {
        let text = terminal(&findings, &Style { width, ..Style::default() });
        assert_eq!(too_wide(&text, width), Vec::<&str>::new());
    }
    let text = terminal(&findings, &Style { width: 200, ..Style::default() });
    for does in ["reader: RND 4 KiB Q1 T1 read", "log: SEQ 64 KiB Q1 T1 write fsync each"] {
        assert!(text.contains(does), "{does} in {text}");
    }
    let rows = |word: &str| text.lines().filter(|line| line.contains(word)).count();
    assert!(rows("  reader ") >= 2 && rows("  log ") >= 2 && text.contains("Different jobs at once"), "{text}");
    let page = report::html(&findings);
    assert!(page.contains("id=\"parts\"") && page.contains("reader"), "the page has them");
    let said: serde_json::Value = serde_json::from_str(&json(&findings)).unwrap();
    let cells = said["cells"].as_array().unwrap();
    let parts: Vec<usize> = cells.iter().filter_map(|cell| Some(cell["parts"].as_array()?.len())).collect();
    assert_eq!(parts, [2, 2], "and so has the JSON");
    assert!(!terminal(&small(), &Style::default()).contains("Different jobs"));
}
