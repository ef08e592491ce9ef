//! Workloads of the study's own.

use terms::workload::{FioKey, PathLoss};
use terms::{Bytes, Hosts, Load, Name, Note, Pattern, Reach, Span, Workload};

use crate::fields::Fields;

/// Share of reads of a mixed pattern that does not say one.
const READ_PERCENT: u8 = 70;

/// Buffers of one workload that are more than this are told: 256 jobs with 16 blocks of 1 MiB each, more than any profile
/// asks for.
const LARGE_BUFFERS: Bytes = Bytes::gib(4);

/// Reads one `[[workload]]`; `None` if it is not whole, which has been noted.
pub(crate) fn read(fields: &Fields, notes: &mut Vec<Note>) -> Option<Workload> {
    let percent: Option<u8> = fields.number("read_percent");
    let pattern = pattern(fields.text("pattern")?, percent.unwrap_or(READ_PERCENT))?;
    if percent.is_some() && !matches!(pattern, Pattern::Mixed(_) | Pattern::RandMixed(_)) {
        notes.push(
            Note::error("study-no-effect", Some(fields.key("read_percent")), "`read_percent` has no effect here")
                .as_warning()
                .label("only for `mixed` and `randmixed`")
                .hint("leave it out, or change `pattern`"),
        );
    }
    if fields.has("fsync_every") && !pattern.writes() {
        notes.push(
            Note::error("study-no-effect", Some(fields.key("fsync_every")), "`fsync_every` has no effect here")
                .as_warning()
                .label("this workload only reads")
                .hint("leave it out, or change `pattern`"),
        );
    }
    let name: Name = fields.name("name")?;
    let block: Bytes = fields.size("block")?;
    let workload = Workload {
        depth: fields.number("depth").unwrap_or(1),
        jobs: fields.number("jobs").unwrap_or(1),
        fsync_every: fields.number("fsync_every"),
        window: fields.duration("window"),
        engine: fields.word("engine").unwrap_or_default(),
        load: fields.number("rate").map_or(Load::Closed, Load::Rate),
        reach: fields.number("samples").map_or(Reach::Span, Reach::Samples),
        path_lost: path_lost(fields, notes),
        hosts: hosts(fields, notes),
        keys: keys(fields, notes),
        ..Workload::new(name, pattern, block)
    };
    notes.extend(too_many_buffers(&workload, "study-buffers", fields.key("block")));
    Some(workload)
}

/// Which machine has the memory for it is not known here: a run asks, and refuses.
pub(crate) fn too_many_buffers(workload: &Workload, code: &str, place: Span) -> Option<Note> {
    let buffers = workload.buffers();
    (buffers > LARGE_BUFFERS).then(|| {
        let message = format!("the buffers of `{}` take {buffers} of memory", workload.name);
        Note::error(code, Some(place), message)
            .as_warning()
            .hint("block x depth x jobs; a run refuses more than half of the machine's memory")
    })
}

/// What fio is told beside: how much of the span, and through which cache.
fn keys(fields: &Fields, notes: &mut Vec<Note>) -> Vec<FioKey> {
    let of = |key: &str, value: &str| FioKey { key: key.to_owned(), value: value.to_owned() };
    let span: Option<Bytes> = fields.size("span");
    if let (Some(_), Some(samples)) = (span, fields.has("samples").then(|| fields.key("samples"))) {
        notes.push(
            Note::error("study-no-effect", Some(samples), "`samples` are taken over the span of `[measure]`")
                .hint("leave out `samples`, or `span`"),
        );
    }
    let cache: &[(&str, &str)] = match fields.text("page_cache") {
        Some("cold") => &[("direct", "0")],
        Some(_) => &[("direct", "0"), ("pre_read", "1")],
        None => &[],
    };
    let size = span.map(|span| of("size", &span.0.to_string()));
    size.into_iter().chain(cache.iter().map(|(key, value)| of(key, value))).collect()
}

/// How many hosts do it at once. Hosts have clocks of their own, so nothing that happens at a moment is for several.
fn hosts(fields: &Fields, notes: &mut Vec<Note>) -> Hosts {
    let hosts = fields.number("hosts").map_or(Hosts::ONE, Hosts);
    let alone = ["rate", "samples", "path_lost"].into_iter().find(|key| fields.has(key));
    if let (false, Some(key)) = (hosts.is_one(), alone) {
        let message = format!("`{key}` is for a workload of one host");
        notes.push(
            Note::error("study-hosts", Some(fields.key(key)), message).hint(format!("leave `{key}` out, or `hosts`")),
        );
    }
    hosts
}

/// When a path is lost: in an order that can be, within the workload's own window.
fn path_lost(fields: &Fields, notes: &mut Vec<Note>) -> Option<PathLoss> {
    let inner = fields.table("path_lost")?;
    let loss = PathLoss { at: inner.duration("at")?, back: inner.duration("back")? };
    let mut wrong = |place, message: &str, hint: &str| {
        notes.push(Note::error("study-path-lost", Some(place), message).hint(hint));
    };
    if loss.back <= loss.at {
        wrong(inner.place("back"), "the path comes back before it is lost", "make `back` later than `at`");
    }
    if fields.duration("window").is_none_or(|window| window <= loss.back) {
        let message = "the window ends before the path is back";
        wrong(fields.key("path_lost"), message, "give this workload a `window` that is longer than `back`");
    }
    Some(loss)
}

/// The pattern of that word.
fn pattern(word: &str, percent: u8) -> Option<Pattern> {
    Some(match word {
        "read" => Pattern::Read,
        "write" => Pattern::Write,
        "randread" => Pattern::RandRead,
        "randwrite" => Pattern::RandWrite,
        "mixed" => Pattern::Mixed(percent),
        "randmixed" => Pattern::RandMixed(percent),
        _ => return None,
    })
}
