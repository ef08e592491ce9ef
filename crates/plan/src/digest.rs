//! What a consent is bound to.

use sha2::{Digest, Sha256};
use terms::Plan;

/// SHA-256 of the plan's JSON, in hexadecimal. The JSON is canonical because a plan holds no maps and no
/// floating-point numbers: fields come in the order of their declaration, without blanks.
#[must_use]
pub fn digest(plan: &Plan) -> String {
    let json = serde_json::to_vec(plan)
        .expect("a plan holds no map, and its words are written as texts, so writing JSON cannot fail");
    Sha256::digest(&json).iter().map(|byte| format!("{byte:02x}")).collect()
}
