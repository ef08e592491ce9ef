//! What an array is called, and whether firmware describes it.

use terms::command::quote;
use terms::inventory::{Md, Node};

/// The name that commands know an array by.
pub(super) fn label(node: &Node) -> String {
    quote(node.label.as_deref().unwrap_or(&node.name))
}

/// A container of arrays that firmware describes; it is never anything but inactive. Arrays in it say
/// `external:/md127/0` (the kernel's `Documentation/admin-guide/md.rst`, `metadata_version`).
pub(super) fn is_container(md: &Md) -> bool {
    let kind = md.metadata.as_deref().and_then(|metadata| metadata.strip_prefix("external:"));
    kind.is_some_and(|kind| !kind.starts_with(['/', '-']))
}

/// The container of an array that firmware describes: `external:/md127/0`, or `external:-md127/0` while it is only read.
pub(super) fn container_of(md: &Md) -> Option<String> {
    let inner = md.metadata.as_deref()?.strip_prefix("external:")?.strip_prefix(['/', '-'])?;
    inner.rsplit_once('/').map(|(container, _)| quote(&format!("/dev/{container}")))
}
