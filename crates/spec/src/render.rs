//! Notes drawn under the lines they speak of.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use terms::{Note, Severity};

/// Columns that a rendering keeps to, where the text of the study allows it.
const WIDTH: usize = 80;

/// Draws every note: what is wrong, the line with a caret, and what to do. Ends with a line end unless there is
/// nothing to draw. Spans outside the text are drawn without a line.
#[must_use]
pub fn render(file_name: &str, text: &str, notes: &[Note], colour: bool) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii).term_width(WIDTH);
    let mut drawn = String::new();
    for note in notes {
        if !drawn.is_empty() {
            drawn.push('\n');
        }
        drawn.push_str(&renderer.render(&[group(file_name, text, note)]));
        drawn.push('\n');
    }
    drawn
}

fn group<'n>(file_name: &'n str, text: &'n str, note: &'n Note) -> Group<'n> {
    let level = match note.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Info => Level::INFO,
    };
    let title = level.primary_title(note.message.as_str()).id(note.code.as_str());
    let place = note.span.map(|span| span.start..span.end).filter(|range| text.get(range.clone()).is_some());
    let group = match place {
        Some(range) => title.element(
            Snippet::source(text)
                .path(file_name)
                .annotation(AnnotationKind::Primary.span(range).label(note.label.as_deref())),
        ),
        None => title.element(Origin::path(file_name)),
    };
    match &note.hint {
        Some(hint) => group.element(Level::HELP.message(wrap(hint))),
        None => group,
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
