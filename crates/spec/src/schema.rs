//! The study file as JSON Schema, made from the grammar.

use serde_json::{Map, Value, json};
use terms::Bytes;
use terms::text::Alphabet;

use crate::grammar::{Key, Kind, STUDY, Step, Table, Without, tables};

/// JSON Schema 2020-12 of the study file, for editors that complete and check TOML by a schema.
/// It knows the keys, types and words, not what layers demand of each other.
#[must_use]
pub fn schema() -> Value {
    let mut defs = Map::new();
    for table in tables().into_iter().filter(|table| table.name != STUDY.name) {
        defs.insert(table.name.to_owned(), object(table));
    }
    let mut whole = object(&STUDY);
    if let Value::Object(map) = &mut whole {
        map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        map.insert("title".to_owned(), json!("Bedplate study"));
        map.insert("$defs".to_owned(), Value::Object(defs));
    }
    whole
}

fn object(table: &Table) -> Value {
    let properties: Map<String, Value> = table.keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> =
        table.keys.iter().filter(|key| matches!(key.without, Without::Required)).map(|key| key.name).collect();
    let mut object = json!({
        "type": "object",
        "description": table.help,
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !table.one_of.is_empty() {
        object["oneOf"] = table.one_of.iter().map(|key| json!({ "required": [key] })).collect();
    }
    object
}

fn property(key: &Key) -> Value {
    let mut schema = kind(key.kind, matches!(key.without, Without::Required));
    schema["description"] = json!(key.help);
    if let Without::Default(value) = key.without {
        // Defaults are written as TOML, and those of the grammar are JSON too.
        schema["default"] = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    }
    schema
}

fn kind(kind: Kind, required: bool) -> Value {
    match kind {
        Kind::Text(alphabet) => {
            let mut schema = json!({ "type": "string", "minLength": 1, "maxLength": alphabet.longest() });
            if let Some(only) = alphabet.only() {
                schema["pattern"] = json!(format!("^{only}+$"));
            } else if alphabet == Alphabet::Title {
                schema["pattern"] = json!("^[^=+@-]");
            }
            schema
        }
        Kind::Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$" }),
        Kind::Size { least, most, step } => {
            let step = match step {
                Step::PowerOfTwo => "a power of two".to_owned(),
                Step::Multiple(unit) => format!("a multiple of {}", Bytes(unit)),
            };
            let range = format!("{} to {}, {step}", Bytes(least), Bytes(most));
            let mut schema = json!({ "type": "string", "pattern": SIZE, "$comment": range });
            if least == 0 {
                schema["type"] = json!(["string", "integer"]);
                schema["maximum"] = json!(0);
                schema["minimum"] = json!(0);
            }
            schema
        }
        Kind::Sizes(sizes) => {
            let examples: Vec<String> = sizes.iter().map(|size| Bytes(*size).to_string()).collect();
            json!({ "type": "string", "pattern": SIZE, "examples": examples })
        }
        Kind::Duration { least, .. } => {
            let mut schema = json!({ "type": "string", "pattern": DURATION });
            if least == 0 {
                schema["type"] = json!(["string", "integer"]);
                schema["maximum"] = json!(0);
                schema["minimum"] = json!(0);
            }
            schema
        }
        Kind::Integer { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Integers(numbers) => json!({ "type": "integer", "enum": numbers }),
        Kind::Percent { .. } => json!({ "type": "string", "pattern": r"^\s*[0-9]+(\.[0-9])?\s*%\s*$" }),
        Kind::Boolean => json!({ "type": "boolean" }),
        Kind::Choice(words) => json!({ "type": "string", "enum": words }),
        Kind::Names => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
        Kind::Table(table) => json!({ "$ref": format!("#/$defs/{}", table.name) }),
        Kind::Tables(table) => {
            let mut schema = json!({ "type": "array", "items": { "$ref": format!("#/$defs/{}", table.name) } });
            if required {
                schema["minItems"] = json!(1);
            }
            schema
        }
    }
}

/// What [`terms::Bytes::parse`] takes; a bare 0 needs no unit.
const SIZE: &str = r"^\s*(0|[0-9.]+\s*(B|bytes?|[KMGT]iB|PiB|[KkMmGgTt]|P|[kMGTP]B))\s*$";
/// What [`terms::Nanos::parse`] takes.
const DURATION: &str = r"^\s*(0|[0-9.]+\s*(ns|us|µs|ms|s|sec|seconds?|min|minutes?|h|hours?))\s*$";
