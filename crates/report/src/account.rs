//! Where the bytes of a stack go, as a table of text.

use terms::Bytes;
use terms::account::{Account, Exactness, Purpose};
use terms::units::significant;

use crate::sheet::{self, Cell, GAP, Strip};
use crate::style::Style;
use crate::width::{Align, paragraph, wrap};

/// Fewest columns in which what a layer keeps is still read with ease.
const KEPT: usize = 16;

/// Layers from the bottom up: what each takes, what it keeps and what for, what it hands up.
#[must_use]
pub fn account_table(account: &Account, style: &Style) -> String {
    let strip = |heading: &str, align, cells: Vec<String>| Strip {
        heading: vec![heading.to_owned()],
        align,
        cells: cells.into_iter().map(|text| Cell::plain(style.spell(&text))).collect(),
    };
    let entries = &account.entries;
    let layer = strip("LAYER", Align::Left, entries.iter().map(|entry| entry.title.clone()).collect());
    let below = strip("RAW", Align::Right, entries.iter().map(|entry| style.size(entry.below)).collect());
    let above = strip("USABLE", Align::Right, entries.iter().map(|entry| style.size(entry.above)).collect());
    let kept = entries.iter().map(|entry| {
        let mut uses = entry.uses.clone();
        uses.sort_by_key(|used| std::cmp::Reverse(used.bytes));
        let uses: Vec<_> =
            uses.iter().map(|used| format!("{} {}", style.size(used.bytes), used.purpose.word())).collect();
        if uses.is_empty() { "nothing".to_owned() } else { uses.join(", ") }
    });
    let mut kept = strip("OVERHEAD", Align::Left, kept.collect());
    let taken: usize = [&layer, &below, &above].into_iter().map(|strip| strip.width() + GAP).sum();
    let room = style.columns().saturating_sub(taken).max(KEPT);
    for cell in &mut kept.cells {
        cell.text = wrap(&cell.text, room).join("\n");
    }
    let table = sheet::render(&[&layer, &below, &kept, &above], style);
    format!("{table}\n{}", paragraph("", &style.spell(&remark(account, style)), style.columns()))
}

/// What is on top, beside what was bought.
fn remark(account: &Account, style: &Style) -> String {
    let share = significant(account.efficiency() * 100.0);
    let (drives, total, available) =
        (style.size(account.drives), style.size(account.total), style.size(account.available));
    let exactness = account.entries.last().map(|entry| entry.exactness);
    let shown = account.shown.map_or_else(String::new, |df| {
        format!(" and only {} available, because it does not count on what is unequal or odd", style.size(df))
    });
    let kept = match account.used_for(Purpose::Snapshots) {
        Bytes(0) => String::new(),
        kept => format!(
            " {} stays free for snapshots, by choice: where they have no room left, writes fail or the snapshot is lost. btrfs and \
             ZFS keep nothing free for theirs.",
            style.size(kept)
        ),
    };
    let sizes = match exactness {
        Some(Exactness::Thousandth) => format!(
            "{available} of {drives} raw can be written ({share} %); `df` shows {total} in total{shown}. \
             Sizes of file systems are within 0.1 %."
        ),
        _ => {
            format!("{available} of {drives} raw can be written ({share} %): exactly {} bytes.", account.available.0)
        }
    };
    sizes + &kept
}
