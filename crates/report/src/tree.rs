//! A tree drawn with lines, as lsblk draws one.

/// The lines that lead to a node: for each ancestor whether another sibling follows it, then the node's own elbow.
pub(crate) fn lead(more: &[bool], ascii: bool) -> String {
    let (pass, gap, tee, elbow) = if ascii { ("| ", "  ", "|-", "`-") } else { ("│ ", "  ", "├─", "└─") };
    let Some((own, above)) = more.split_last() else { return String::new() };
    let mut out: String = above.iter().map(|&more| if more { pass } else { gap }).collect();
    out.push_str(if *own { tee } else { elbow });
    out
}

/// What stands before the further lines of a node whose text takes several: the lines that pass by on the left.
pub(crate) fn pass(more: &[bool], ascii: bool) -> String {
    let line = if ascii { "| " } else { "│ " };
    more.iter().map(|&more| if more { line } else { "  " }).collect()
}
