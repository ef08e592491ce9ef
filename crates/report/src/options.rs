//! Options of a layer as words, taken from its own JSON form so that a new option is never forgotten.

use serde_json::Value;
use terms::layer::Layer;
use terms::units::{Bytes, Nanos};

/// Every option of a layer, such as `chunk 512 KiB`; units come from the keys. Keys are in alphabetical order.
pub(crate) fn words(layer: &Layer) -> Vec<String> {
    let mut out = Vec::new();
    // A layer is written as `{"raid": {…}}`, or as `"bare"` where it has no options.
    if let Ok(Value::Object(tagged)) = serde_json::to_value(layer) {
        for options in tagged.values() {
            collect("", options, &mut out);
        }
    }
    out
}

/// The options of an object, each with the words of the object it stands in.
fn collect(prefix: &str, value: &Value, out: &mut Vec<String>) {
    let Value::Object(options) = value else { return };
    for (key, value) in options {
        match value {
            // The flags of dm-crypt speak for themselves.
            Value::Object(_) if key == "flags" => collect("", value, out),
            Value::Object(_) => collect(&format!("{prefix}{key} "), value, out),
            _ => out.push(format!("{prefix}{}", word(key, value)).replace('_', " ")),
        }
    }
}

/// One option.
fn word(key: &str, value: &Value) -> String {
    let (plain, unit): (&str, fn(u64) -> String) = match (key.strip_suffix("_bytes"), key.strip_suffix("_ns")) {
        (Some(key), _) => (key, |n| Bytes(n).to_string()),
        (_, Some(key)) => (key, |n| Nanos(n).to_string()),
        _ => (key, |n| n.to_string()),
    };
    match value {
        Value::Null => format!("{plain} not set"),
        Value::Bool(on) => format!("{plain} {}", if *on { "on" } else { "off" }),
        Value::String(text) => format!("{plain} {text}"),
        Value::Number(number) => format!("{plain} {}", number.as_u64().map_or_else(|| number.to_string(), unit)),
        other => format!("{plain} {other}"),
    }
}

#[cfg(test)]
mod tests {
    use terms::layer::{Luks, Raid};

    use super::*;

    #[test]
    fn options_carry_their_units() {
        let words = words(&Layer::Raid(Raid::default()));
        assert!(words.contains(&"chunk 512 KiB".to_owned()), "{words:?}");
        assert!(words.contains(&"assume clean off".to_owned()), "{words:?}");
        assert!(super::words(&Layer::Bare).is_empty());
        assert!(super::words(&Layer::Luks(Luks::default())).contains(&"no read workqueue off".to_owned()));
    }
}
