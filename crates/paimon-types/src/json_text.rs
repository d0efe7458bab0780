// SPDX-License-Identifier: Apache-2.0

//! JSON text as Java writes metadata files (Jackson `DefaultPrettyPrinter`).

use std::fmt::Write;

use serde_json::Value;

/// Writes a value with two-space indent, `"key" : value`, arrays on one line as `[ a, b ]`, `[ ]` and `{ }` when empty, the
/// line end `\n` and no line end at the end; the bytes of Java's metadata files.
pub fn to_pretty_json(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0);
    text
}

fn write_value(out: &mut String, value: &Value, level: usize) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => {
            let _ = write!(out, "{number}");
        }
        Value::String(text) => write_string(out, text),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { ", " } else { " " });
                write_value(out, item, level);
            }
            out.push_str(" ]");
        }
        Value::Object(members) if members.is_empty() => out.push_str("{ }"),
        Value::Object(members) => {
            out.push('{');
            for (i, (key, member)) in members.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                new_line(out, level + 1);
                write_string(out, key);
                out.push_str(" : ");
                write_value(out, member, level + 1);
            }
            new_line(out, level);
            out.push('}');
        }
    }
}

fn new_line(out: &mut String, level: usize) {
    out.push('\n');
    for _ in 0..level {
        out.push_str("  ");
    }
}

fn write_string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            c if u32::from(c) < 0x20 => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
