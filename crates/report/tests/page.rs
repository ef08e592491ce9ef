//! The HTML page: what it holds, what it must never hold.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first fault")]

mod fixture;

use fixture::{drive, findings, findings_rich, layer, name, node, small};
use report::html;
use terms::layer::{Layer, Luks, Raid, Zfs};

/// All values of an attribute.
fn values<'a>(page: &'a str, attribute: &str) -> Vec<&'a str> {
    let key = format!(" {attribute}=\"");
    page.match_indices(&key).map(|(at, _)| page[at + key.len()..].split('"').next().unwrap()).collect()
}

/// Elements that are opened and those that are closed must be the same, in order.
fn assert_well_formed(page: &str) {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let style = page.find("<style>").unwrap()..page.find("</style>").unwrap();
    for (at, _) in page.match_indices('<').filter(|(at, _)| *at <= style.start || *at >= style.end) {
        let tag = &page[at + 1..at + page[at..].find('>').expect("every tag ends")];
        let word = tag.trim_start_matches('/').split([' ', '/']).next().unwrap();
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(word), "at {}", &page[at.saturating_sub(80)..at]);
        } else if !tag.ends_with('/') && !VOID.contains(&word) {
            open.push(word);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}

#[test]
fn a_small_page() {
    insta::assert_snapshot!(html(&small()));
}

#[test]
fn pages_are_well_formed() {
    for page in [html(&findings(3)), html(&findings(1)), html(&small()), html(&findings_rich())] {
        assert_well_formed(&page);
    }
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = html(&findings_rich());
    assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("//cdn"));
    assert!(!page.contains("<script") && !page.contains("javascript:") && !page.contains("@import"));
    assert!(!page.contains("<link") && !page.contains("<img") && !page.contains("<iframe"));
    assert!(values(&page, "src").is_empty());
    for link in values(&page, "href") {
        // What can be saved is in the page, too.
        let Some(place) = link.strip_prefix('#') else {
            assert!(
                link.starts_with("data:text/") || link.starts_with("data:image/svg+xml;"),
                "{link} leaves the page"
            );
            continue;
        };
        assert!(page.contains(&format!("id=\"{place}\"")), "{link} leads nowhere");
    }
    assert!(
        page.matches("url(").count() == page.matches("url(#hatch").count(),
        "only our own patterns are referred to"
    );
    let policy = values(&page, "content");
    assert!(policy.iter().any(|p| p.starts_with("default-src 'none'; style-src 'unsafe-inline'; img-src data:")));
}

#[test]
fn all_that_is_known_has_its_section() {
    let (page, plain) = (html(&findings_rich()), html(&findings(3)));
    for id in ["charts", "believe", "burst", "places", "drives", "layers", "load", "kdiskmark"] {
        let section = format!("<section id=\"{id}\">");
        assert!(page.contains(&section) && !plain.contains(&section), "{id}");
    }
    assert!(page.contains("<b>3–4</b> RAID-1 + LUKS + ext4 = LUKS each + integrity + RAID-0 + XFS"));
    assert!(page.contains("undecided, about 4 more rounds") && page.contains("kcryptd/253:0 busy 98 %"));
    assert!(page.contains("31–104 MiB/s; 4 of 5 windows were wandering") && page.contains("class=\"cliff\""));
    assert!(page.contains("--filename=&#39;/mnt/a b/test&#39;") || page.contains("&#39;--filename=/mnt/a b/test&#39;"));
    // No bar for a cell that never settled: its row is hatched in each of its charts.
    assert_eq!(page.matches(">no steady state</text>").count(), 5, "ratio, bar, latency, both side by side");
    // Three charts for each workload, one for flushes, two for curves, one for building, ceilings of two stacks on each
    // workload, two side by side with a latency each, four over places; points have no charts.
    assert_eq!(page.matches("<svg class=\"chart\"").count(), 3 * 4 + 1 + 2 + 1 + 2 * 4 + 2 * 2 + 4);
    let drive = "<td>b</td><td class=\"n\">47.7 MiB/s</td><td class=\"n\">0.019";
    assert!(page.contains("<summary>The table</summary>") && page.contains(drive), "drives at work");
    assert!(page.contains("mean latency in ms: less is better"));
}

/// The drawing of one stack and workload, word for word.
#[test]
fn ceilings_are_drawn_over_predicted_and_measured() {
    let page = html(&findings_rich());
    let drawings = &page[page.find("<div class=\"roofs\">").unwrap()..];
    insta::assert_snapshot!(&drawings[..drawings.find("</div>").unwrap()]);
}

#[test]
fn a_figure_above_its_drives_is_doubtful_wherever_it_stands() {
    let page = html(&findings_rich());
    let why = "1.96 times what drive a can read: blocks that were never written, or a cache";
    assert!(page.contains(&format!("<b class=\"doubtful\">doubtful</b> – {why}")), "beside the bars");
    assert!(
        page.contains(&format!("<li>Doubtful: RAID-1 + LUKS + ext4, SEQ 1 MiB Q8 T1 read: {why}")),
        "below the table"
    );
    assert!(page.contains("; 1 is more than the drives can do"), "in what can be believed");
    assert_eq!(page.matches(">measured, doubtful</text>").count(), 1);
}

/// Records from before there were ceilings: nothing is drawn, all else is as it was.
#[test]
fn predictions_without_ceilings_are_drawn_without_them() {
    let mut value = serde_json::to_value(findings_rich()).unwrap();
    for cell in value["foretold"]["cells"].as_array_mut().unwrap() {
        let cell = cell.as_object_mut().unwrap();
        assert!(cell.remove("roofs").is_some() && cell.remove("flags").is_some());
    }
    let page = html(&serde_json::from_value(value).unwrap());
    assert!(page.contains("<section id=\"foretold\">") && !page.contains("class=\"roofs\""));
    assert!(!page.contains(">doubtful<") && !page.contains("Doubtful:") && !page.contains("; 1 is more"));
}

#[test]
fn every_section_is_there() {
    let page = html(&findings(3));
    for id in ["workloads", "time", "figures", "stacks", "builds", "machine", "method", "not-checked"] {
        assert!(page.contains(&format!("<section id=\"{id}\">")), "{id}");
    }
    assert!(page.contains("<h1>Does RAID pay on NVMe once everything is encrypted?</h1>"));
    assert!(page.contains("bedplate run &#39;studies/raid on nvme.toml&#39; --rounds 3"));
    for fact in ["fio-3.33", "6.1.0-32-amd64", "5f0c1d9e", "Whether data survives a cut of power"] {
        assert!(page.contains(fact), "{fact}");
    }
}

#[test]
fn emulated_rates_are_labelled_everywhere() {
    let label = "Rates under emulation (tcg): good for comparing stacks, not for real drives.";
    let page = html(&findings(3));
    assert!(page.contains(label));
    // Two charts for each workload, and the sections on ratios, time, figures and building.
    assert_eq!(page.matches("<span class=\"tag\">emulated (tcg)</span>").count(), 2 * 4 + 4);
    assert!(!html(&small()).contains("emulat"));
}

/// What `<use>` draws is a tree of its own: a rule with an ancestor in it, such as `svg .dot`, does not reach it, and the
/// mark is black or not to be seen.
#[test]
fn marks_have_their_colours() {
    let page = html(&findings(3));
    let style = &page[page.find("<style>").unwrap()..page.find("</style>").unwrap()];
    let rules: Vec<&str> = style.split('}').filter_map(|rule| Some(rule.split_once('{')?.0.trim())).collect();
    let drawn: Vec<&str> = values(&page, "href").into_iter().filter_map(|link| link.strip_prefix('#')).collect();
    for name in ["median", "high", "largest"] {
        let (_, rest) = page.split_once(&format!(" id=\"{name}\" class=\"")).unwrap();
        let class = format!(".{}", rest.split('"').next().unwrap().replace(' ', "."));
        assert!(
            drawn.contains(&name) && rules.iter().any(|rule| rule.ends_with(&class) && !rule.contains(' ')),
            "{class}"
        );
    }
}

/// A link holds what the command prints, so that a reader needs neither the program nor the record.
#[test]
fn what_can_be_saved_is_whole() {
    let findings = findings_rich();
    let page = html(&findings);
    let saved = |media: &str| {
        let key = format!("href=\"data:{media};charset=utf-8,");
        let text = page.split_once(&key).expect(media).1.split('"').next().unwrap();
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            let hex: Vec<u8> = if byte == b'%' { rest.by_ref().take(2).collect() } else { Vec::new() };
            bytes.push(if hex.is_empty() {
                byte
            } else {
                u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap()
            });
        }
        String::from_utf8(bytes).unwrap()
    };
    assert_eq!(saved("text/markdown"), report::markdown(&findings));
    assert_eq!(saved("image/svg+xml"), report::card(&findings));
    let (short, all) = (saved("text/csv"), report::csv(&findings));
    assert_eq!(short.lines().count(), all.lines().count());
    assert!(short.starts_with("stack,workload,verdict,throughput_bytes_per_second,"));
}

#[test]
fn no_stack_is_silently_absent() {
    let page = html(&findings(3));
    let figures = &page[page.find("<section id=\"figures\">").unwrap()..page.find("<section id=\"stacks\">").unwrap()];
    assert_eq!(figures.matches("<th scope=\"row\">ZFS mirror + special vdev</th>").count(), 4);
    assert_eq!(figures.matches("to get it: apt install zfs-dkms").count(), 4);
    assert!(figures.contains("verify: bad magic header"));
}

#[test]
fn names_are_escaped_in_text_and_drawings() {
    let evil = "<script>&\"</script>";
    let mut findings = findings_rich();
    findings.provenance.question = evil.to_owned();
    findings.provenance.command = vec![evil.to_owned()];
    findings.not_checked = vec![evil.to_owned()];
    findings.inventory.cpu_model = evil.to_owned();
    findings.inventory.drives[0].serial = Some(evil.to_owned());
    findings.inventory.pci[0].id = evil.to_owned();
    for stack in &mut findings.provenance.stacks {
        stack.name = evil.to_owned();
        stack.note = Some(evil.to_owned());
    }
    for cell in &mut findings.cells {
        if let Some(bottleneck) = &mut cell.bottleneck {
            bottleneck.witness = evil.to_owned();
        }
        if let Some(imitation) = &mut cell.imitation {
            (imitation.unit, imitation.argv, imitation.differs) = (evil.into(), vec![evil.into()], vec![evil.into()]);
        }
    }
    findings.layers[0].layer = evil.to_owned();
    let page = html(&findings);
    assert!(!page.contains("<script"), "{:?}", page.find("<script"));
    assert_well_formed(&page);
}

#[test]
fn bars_stay_within_their_charts() {
    let mut findings = findings_rich();
    // Two rounds far apart give an interval many times the value.
    if let Some(throughput) = &mut findings.cells[0].throughput {
        throughput.high = Some(throughput.value * 400.0);
    }
    let page = html(&findings);
    assert!(page.contains("<use href=\"#on\""), "the interval goes on beyond the chart");
    for attribute in ["x", "x1", "x2", "width"] {
        for value in values(&page, attribute).into_iter().filter_map(|value| value.strip_suffix('%')) {
            assert!((0.0..=100.0).contains(&value.parse::<f64>().unwrap()), "{attribute} {value}");
        }
    }
}

#[test]
fn odd_findings_still_give_a_page() {
    let mut empty = small();
    empty.cells.clear();
    empty.builds.clear();
    empty.inventory.drives.clear();
    empty.inventory.pci.clear();
    empty.not_checked.clear();
    let page = html(&empty);
    assert!(page.contains("Nothing was measured.") && page.contains("not run"));
    assert_well_formed(&page);
    let mut nothing = empty.clone();
    nothing.provenance.stacks.clear();
    nothing.provenance.workloads.clear();
    assert_well_formed(&html(&nothing));
    let mut zero = small();
    for cell in &mut zero.cells {
        for estimate in [&mut cell.throughput, &mut cell.iops].into_iter().flatten() {
            (estimate.value, estimate.low, estimate.high) = (0.0, Some(0.0), Some(f64::NAN));
        }
        cell.latency = Some(terms::record::Latency { mean: terms::Nanos(5), ..Default::default() });
    }
    let page = html(&zero);
    assert!(page.contains("mean 5 ns") && !page.contains("=\"NaN%"), "{page}");
}

#[test]
fn odd_evidence_still_gives_a_report() {
    let mut bare = findings_rich();
    bare.cells.clear();
    let mut nothing = bare.clone();
    nothing.provenance.stacks.clear();
    nothing.provenance.workloads.clear();
    let mut zero = findings_rich();
    for point in zero.curves.iter_mut().flat_map(|curve| &mut curve.points) {
        point.latency = Some(terms::record::Latency::default());
        point.iops = None;
    }
    for cell in &mut zero.cells {
        cell.steady.range = Some((f64::NAN, 0.0));
        if let Some(burst) = &mut cell.burst {
            (burst.burst, burst.cliff.at) = (f64::INFINITY, terms::Nanos(u64::MAX));
        }
        if let Some(imitation) = &mut cell.imitation {
            imitation.gaps.clear();
        }
    }
    let mut single = findings_rich();
    single.comparisons.clear();
    single.controls.clear();
    if let Some(policy) = &mut single.provenance.policy {
        policy.replicate = terms::design::Replicate::Single;
    }
    for findings in [bare, nothing, zero, single.clone()] {
        assert_well_formed(&html(&findings));
        for width in [40, 80] {
            let style = report::Style { width, ..report::Style::default() };
            assert!(!report::terminal(&findings, &style).is_empty());
        }
    }
    assert!(html(&single).contains("single: n = 1 build, stacks are not compared"));
}

#[test]
fn graphs_of_layers_are_drawn() {
    let mut findings = small();
    // One array under two mappings, a pool over both and over a drive, and special members.
    let mut pool = node("pool", Layer::Zfs(Zfs::default()), &[layer("k1"), layer("k2"), drive("c")]);
    pool.special = vec![layer("md")];
    findings.provenance.stacks[1].nodes = vec![
        node("md", Layer::Raid(Raid::default()), &[drive("a"), drive("b")]),
        node("k1", Layer::Luks(Luks::default()), &[layer("md")]),
        node("k2", Layer::Luks(Luks::default()), &[layer("md")]),
        pool,
    ];
    assert_eq!(findings.provenance.stacks[1].nodes[3].name, name("pool"));
    let page = html(&findings);
    let stacks = &page[page.find("<section id=\"stacks\">").unwrap()..page.find("<section id=\"builds\">").unwrap()];
    assert_eq!(stacks.matches(">LUKS2</text>").count(), 2, "{stacks}");
    assert!(stacks.contains("class=\"edge special\""));
    insta::assert_snapshot!(stacks);
}
