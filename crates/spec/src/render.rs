//! Notes drawn under the lines they speak of.

use std::ops::Range;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet, Title};
use terms::{Note, NoteLevel};

/// Columns that a rendering keeps to, where the text of the study allows it.
const WIDTH: usize = 80;

/// Notes that are drawn; the rest are counted. Whoever has fixed so many reads the file again.
const DRAWN: usize = 50;
/// Longest line that is drawn, in bytes; of others only the place is told.
const LONGEST: usize = 4000;

/// Draws notes: what is wrong, the line with a caret, and what to do. Ends with a line end unless there is nothing to
/// draw. Spans outside the text are drawn without a line. Of very many notes the first are drawn, errors before all
/// others, and the rest are counted.
#[must_use]
pub fn render(file_name: &str, text: &str, notes: &[Note], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(WIDTH);
    let source = Source::new(file_name, text, notes);
    let (shown, left) = chosen(notes);
    let mut drawn = String::new();
    for note in shown {
        if !drawn.is_empty() {
            drawn.push('\n');
        }
        drawn.push_str(&renderer.render(&[source.group(note)]));
        drawn.push('\n');
    }
    if !left.is_empty() {
        drawn.push_str(&format!("\n{} not drawn\n", counted(&left)));
    }
    drawn
}

/// What is drawn, in the order of the text, and what is not.
fn chosen(notes: &[Note]) -> (Vec<&Note>, Vec<&Note>) {
    let is_error = |note: &&Note| note.severity == NoteLevel::Error;
    let errors = notes.iter().filter(is_error).count().min(DRAWN);
    let mut room = [errors, DRAWN - errors];
    notes.iter().partition(|note| {
        let room = &mut room[usize::from(!is_error(note))];
        let fits = *room > 0;
        *room -= usize::from(fits);
        fits
    })
}

/// `2 more errors and 1 more note are`.
fn counted(left: &[&Note]) -> String {
    let errors = left.iter().filter(|note| note.severity == NoteLevel::Error).count();
    let several = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("1 more {what}")),
        _ => Some(format!("{count} more {what}s")),
    };
    let parts: Vec<String> =
        [several(errors, "error"), several(left.len() - errors, "warning")].into_iter().flatten().collect();
    format!("{} {}", parts.join(" and "), if left.len() == 1 { "is" } else { "are" })
}

/// A text with its lines found once, so that drawing one takes no longer in a long text.
struct Source<'t> {
    name: &'t str,
    text: &'t str,
    /// Where each line begins.
    starts: Vec<usize>,
}

impl<'t> Source<'t> {
    fn new(name: &'t str, text: &'t str, notes: &[Note]) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = if notes.is_empty() { Vec::new() } else { std::iter::once(0).chain(ends).collect() };
        Self { name, text, starts }
    }

    fn group(&self, note: &'t Note) -> Group<'t> {
        let level = match note.severity {
            NoteLevel::Error => Level::ERROR,
            NoteLevel::Warning => Level::WARNING,
            NoteLevel::Info => Level::INFO,
        };
        let title = level.primary_title(note.message.as_str()).id(note.code.as_str());
        let place = note.span.map(|span| span.start..span.end).filter(|range| self.text.get(range.clone()).is_some());
        let group = match place {
            Some(range) => self.line(title, range, note.label.as_deref()),
            None => title.element(Origin::path(self.name)),
        };
        match &note.hint {
            Some(hint) => group.element(Level::HELP.message(wrap(hint))),
            None => group,
        }
    }

    /// The lines of a range with a caret.
    fn line(&self, title: Title<'t>, range: Range<usize>, label: Option<&'t str>) -> Group<'t> {
        let first = self.starts.partition_point(|start| *start <= range.start).saturating_sub(1);
        let after = self.starts.partition_point(|start| *start < range.end.max(range.start + 1));
        let start = self.starts.get(first).copied().unwrap_or(0);
        let end = self.starts.get(after).copied().unwrap_or(self.text.len());
        if end - start > LONGEST {
            let column = self.text[start..range.start].chars().count() + 1;
            return title.element(Origin::path(self.name).line(first + 1).char_column(column));
        }
        title.element(
            Snippet::source(&self.text[start..end])
                .line_start(first + 1)
                .path(self.name)
                .annotation(AnnotationKind::Primary.span(range.start - start..range.end - start).label(label)),
        )
    }
}

/// Breaks a hint between words so that it keeps to the width with its margin.
fn wrap(hint: &str) -> String {
    let width = WIDTH - 14;
    let mut out = String::new();
    let mut column = 0;
    for word in hint.split(' ') {
        let long = word.chars().count();
        if column > 0 && column + 1 + long > width {
            out.push('\n');
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += long;
    }
    out
}
