//! A machine that was examined, on a terminal: what it is, what its links carry, its drives and what stands on them,
//! what nobody could find out, its programs.

use terms::inventory::{Detail, Inventory};

use super::{gaps, layers, links, overview, pairs, version};
use crate::columns::machine_drives;
use crate::notes::Notes;
use crate::style::{Style, Tone};
use crate::table::{self, Column, Value};
use crate::width::width;

/// Columns of drives that everybody wants to see; `-o` chooses others.
const DRIVES: &str = "NAME,TRAN,LBA,FORMATS,CACHE-ON,SCHED,QUEUES,NUMA,TEMP,WEAR,FIRMWARE";

/// The whole sheet.
pub(super) fn draw(inventory: &Inventory, detail: &Detail, style: &Style) -> String {
    let mut notes = Notes::default();
    let mut parts = vec![overview::draw(inventory, detail, style)];
    parts.extend(links::draw(inventory, style, &mut notes));
    parts.push(layers::draw(inventory, detail, style, &mut notes));
    parts.extend(drives(inventory, style));
    let notes = notes.render(style);
    if !notes.is_empty() {
        parts.push(notes);
    }
    parts.extend(gaps::draw(inventory, detail, style));
    if !inventory.programs.is_empty() {
        let programs = inventory.programs.iter().map(|program| (program.name.clone(), version(program)));
        parts.push(pairs(Some(["PROGRAM", "VERSION"]), programs, style));
    }
    parts.join("\n")
}

/// A heading on a line of its own.
pub(super) fn heading(text: &str, style: &Style) -> String {
    style.paint(Tone::Strong, text) + "\n"
}

/// The table of drives, without columns in which nothing is known; those that `-o` chooses have their reasons.
fn drives(inventory: &Inventory, style: &Style) -> Option<String> {
    let columns = table::select(&machine_drives(), DRIVES).ok()?;
    let told =
        |column: &Column<_>| inventory.drives.iter().any(|drive| !matches!((column.value)(drive), Value::Missing(_)));
    let columns: Vec<_> = columns.into_iter().filter(told).collect();
    if inventory.drives.is_empty() {
        return None;
    }
    let draw = |shown: usize, style: &Style| table::plain(&columns[..shown], &inventory.drives, style);
    // Colours have no width.
    let colourless = Style { colour: false, ..*style };
    let fits = |shown: usize| draw(shown, &colourless).lines().all(|line| width(line) <= style.columns());
    // The least wanted columns come last and go first.
    let shown = (1..=columns.len()).rev().find(|shown| fits(*shown)).unwrap_or(1);
    Some(draw(shown, style))
}
