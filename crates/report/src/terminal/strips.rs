//! The columns of the terminal's tables: names of stacks, figures, ratios.

use terms::finding::{CellFinding, Compared, WithInterval};
use terms::units::{Nanos, significant};

use crate::evidence::chart::{SideBySide, mean_latency};
use crate::evidence::{predicted, ranking};
use crate::figure::{self, Measure, spread};
use crate::grid::{Grid, State};
use crate::listing::MISSING;
use crate::notes::Notes;
use crate::sheet::{Cell, Strip};
use crate::style::{Style, Tone};
use crate::width::{Align, pad, width, wrap};

/// Widest a heading's line may be before direction is put on a line of its own.
const HEADING: usize = 13;

/// The pieces of a figure, aligned one under the other.
struct Piece {
    value: String,
    spread: String,
    mark: String,
    tone: Tone,
}

/// The names of these stacks, wrapped to a third of the terminal.
pub(crate) fn stacks(grid: &Grid, stacks: &[usize], style: &Style) -> Strip {
    let columns = (style.columns() / 3).max(16);
    let name = |name: &str| Cell::plain(wrap(&style.spell(name), columns).join("\n"));
    Strip {
        heading: vec!["STACK".to_owned()],
        align: Align::Left,
        cells: stacks.iter().map(|stack| name(&grid.stacks()[*stack].name)).collect(),
    }
}

/// A column of figures for each workload.
pub(super) fn rates(grid: &Grid, style: &Style, notes: &mut Notes) -> Vec<Strip> {
    let mut strips = Vec::new();
    for (at, workload) in grid.workloads().iter().enumerate() {
        let measure = Measure::of(workload);
        let pieces = (0..grid.stacks().len()).map(|stack| match grid.state(stack, at) {
            State::Measured(finding, estimate) => {
                let best = grid.is_clear_best(stack, at);
                let mut piece = piece(measure.number(estimate.value, style), &estimate, style);
                piece.mark = if best { "*".to_owned() } else { String::new() };
                piece.mark.push_str(&guards(finding, notes));
                piece.mark.push_str(&doubts(grid, finding, notes));
                if best {
                    piece.tone = Tone::Good;
                }
                Ok(piece)
            }
            State::Unsteady(finding, why) => {
                let range =
                    figure::range(finding, workload, style).map(|range| format!("{range} ")).unwrap_or_default();
                let mark = notes.mark(&format!("no steady state: {why}"));
                Err((format!("no steady state\n{range}{mark}"), Tone::Warn))
            }
            State::Failed(why) => Err((format!("failed {}", notes.mark(&format!("failed: {why}"))), Tone::Bad)),
            State::Missing(why) => Err((format!("missing {}", notes.mark(&format!("missing: {why}"))), Tone::Warn)),
            State::NotRun => Err(("not run".to_owned(), Tone::Dim)),
        });
        let mut heading = heading(&grid.titles[at]);
        heading.push(measure.unit(style).to_owned());
        strips.push(strip(heading, pieces.collect(), style));
    }
    strips
}

/// A column of ratios to the first stack for each workload; `stacks` are all of them.
pub(super) fn ratios(grid: &Grid, stacks: &[usize], style: &Style) -> Vec<Strip> {
    let column = |workload| {
        ratio_column(grid, stacks, workload, style, |stack, finding| {
            let answer = ranking::against_first(grid, stack, workload);
            Some((finding.ratio_to_first?, answer))
        })
    };
    (0..grid.workloads().len()).map(column).collect()
}

/// A column of ratios to the first of some stacks for each workload of a chart, and one of mean latencies where it wants
/// them.
pub(super) fn side_by_side(grid: &Grid, of: &SideBySide, style: &Style) -> Vec<Strip> {
    let columns = |workload: &usize| {
        let ratios = ratio_column(grid, &of.stacks, *workload, style, |stack, _| {
            let (ratio, answer, more) = ranking::against(grid, stack, of.stacks[0], *workload)?;
            Some((ratio, Some((answer, more))))
        });
        [ratios].into_iter().chain(of.chart.latency.then(|| latency_column(grid, of, *workload, style)))
    };
    of.workloads.iter().flat_map(columns).collect()
}

/// A column of mean latencies under a workload.
fn latency_column(grid: &Grid, of: &SideBySide, workload: usize, style: &Style) -> Strip {
    let text = |mean: Option<Nanos>| style.spell(&mean.map_or_else(|| MISSING.to_owned(), |mean| mean.to_string()));
    let cells = of.stacks.iter().map(|stack| Cell::plain(text(mean_latency(grid, *stack, workload)))).collect();
    Strip { heading: [heading(&grid.titles[workload]), vec!["mean".to_owned()]].concat(), align: Align::Right, cells }
}

/// A ratio and what is said of it.
type Against = (WithInterval, Option<(Compared, Option<u32>)>);

/// A column of ratios to the first of these stacks under a workload.
fn ratio_column(
    grid: &Grid,
    stacks: &[usize],
    workload: usize,
    style: &Style,
    against: impl Fn(usize, &CellFinding) -> Option<Against>,
) -> Strip {
    let pieces = stacks.iter().enumerate().map(|(at, stack)| match grid.state(*stack, workload) {
        State::Measured(..) if at == 0 => Err((style.spell("1×"), Tone::Plain)),
        State::Measured(finding, _) => match against(*stack, finding) {
            Some((ratio, answer)) => {
                let mut piece = piece(format!("{}×", significant(ratio.value)), &ratio, style);
                piece.mark = style.spell(&answer.map(|(answer, more)| ranking::mark(answer, more)).unwrap_or_default());
                Ok(piece)
            }
            None => Err((style.spell(MISSING), Tone::Dim)),
        },
        State::Unsteady(..) => Err(("unsteady".to_owned(), Tone::Warn)),
        State::Failed(_) => Err(("failed".to_owned(), Tone::Bad)),
        State::Missing(_) => Err(("missing".to_owned(), Tone::Warn)),
        State::NotRun => Err(("not run".to_owned(), Tone::Dim)),
    });
    strip(heading(&grid.titles[workload]), pieces.collect(), style)
}

/// A value with its interval.
fn piece(value: String, estimate: &WithInterval, style: &Style) -> Piece {
    Piece { value: style.spell(&value), spread: style.spell(&spread(estimate)), mark: String::new(), tone: Tone::Plain }
}

/// Marks of the guards that label a figure without voiding it.
fn guards(finding: &CellFinding, notes: &mut Notes) -> String {
    finding.guards.iter().map(|g| notes.mark(&format!("guard {}: {}", g.guard, g.witness))).collect()
}

/// Marks of a figure that is more than the drives can do.
fn doubts(grid: &Grid, finding: &CellFinding, notes: &mut Notes) -> String {
    predicted::doubts(grid.findings, finding).map(|why| notes.mark(&format!("doubtful: {why}"))).collect()
}

/// The title in lines: block, depth and jobs, direction, and what else it says.
pub(crate) fn heading(title: &str) -> Vec<String> {
    let (block, rest) = title.split_once(" Q").map_or((title, String::new()), |(b, r)| (b, format!("Q{r}")));
    let mut lines = wrap(block, HEADING);
    if !rest.is_empty() {
        lines.extend(wrap(&rest, HEADING));
    }
    lines
}

/// The pieces as a strip: values flush right, intervals flush right, marks flush left.
fn strip(heading: Vec<String>, pieces: Vec<Result<Piece, (String, Tone)>>, style: &Style) -> Strip {
    let widest = |take: fn(&Piece) -> &str| pieces.iter().flatten().map(|p| width(take(p))).max().unwrap_or(0);
    let (values, spreads, marks) = (widest(|p| &p.value), widest(|p| &p.spread), widest(|p| &p.mark));
    let cell = |piece: &Result<Piece, (String, Tone)>| match piece {
        Err((text, tone)) => Cell { text: style.spell(text), tone: *tone },
        Ok(piece) => {
            let value = pad(&piece.value, values, Align::Right);
            let spread = pad(&piece.spread, spreads, Align::Right);
            let mark = if marks == 0 { String::new() } else { format!(" {}", pad(&piece.mark, marks, Align::Left)) };
            Cell { text: format!("{value} {spread}{mark}"), tone: piece.tone }
        }
    };
    Strip { heading, align: Align::Right, cells: pieces.iter().map(cell).collect() }
}
