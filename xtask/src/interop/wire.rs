// SPDX-License-Identifier: Apache-2.0

//! Bytes of the protocol: Java decodes what we encode, at the newest version and at each older one that it reads.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::{Interop, text};

/// Versions that we write, from the newest. Java refuses those that are newer than it.
const SPLIT_VERSIONS: std::ops::RangeInclusive<i64> = 1..=9;
/// The same for commit messages.
const MESSAGE_VERSIONS: std::ops::RangeInclusive<i64> = 2..=14;
/// The same for committables; their messages keep their version.
const COMMITTABLE_VERSIONS: std::ops::RangeInclusive<i64> = 1..=5;

impl Interop {
    pub(super) fn wire(&mut self) -> Result<String, String> {
        let samples = self.dir.join("wire.jsonl");
        self.java(&["wire", text(&samples)?])?;
        let (mut decoded, mut encoded) = (0, 0);
        for line in super::read(&samples)?.lines() {
            let sample: Value = serde_json::from_str(line).map_err(|e| e.to_string())?;
            let name = format!("{} {}", sample["kind"], sample["name"]);
            encoded += self.sample(&sample).map_err(|e| format!("{name}: {e}"))?;
            decoded += 1;
        }
        Ok(format!(
            "we decoded {decoded} samples of Java as its getters tell, Java decoded {encoded} encodings of ours, old versions too"
        ))
    }

    /// Decodes a sample as Java does, writes it at every version and lets Java decode that.
    fn sample(&mut self, sample: &Value) -> Result<usize, String> {
        let bytes = unhex(sample["hex"].as_str().unwrap_or_default())?;
        let (file, again) = (self.dir.join("sample.bin"), self.dir.join("again.bin"));
        fs::write(&file, &bytes).map_err(|e| e.to_string())?;
        let own_version = sample["version"].as_i64();
        let (mut words, versions) = match sample["kind"].as_str() {
            Some("committable") => (vec!["decode", "committable", text(&file)?], COMMITTABLE_VERSIONS),
            Some("commit-messages") => (
                vec!["decode", "commit-message", text(&file)?, "--list"],
                MESSAGE_VERSIONS,
            ),
            _ => (vec!["decode", "split", text(&file)?], SPLIT_VERSIONS),
        };
        let version_text = own_version.unwrap_or_default().to_string();
        if own_version.is_some() {
            words.extend(["--version", &version_text]);
        }
        let ours = parse(&self.paimon(&words)?)?;
        let written_at = ours["version"].as_i64().or(own_version).unwrap_or_default();
        same(&without_version(ours), &sample["value"])?;

        let (mut count, mut at_own) = (0, false);
        for version in versions {
            let made = Command::new(&self.paimon)
                .args(&words)
                .args(["--reencode", &version.to_string(), "--out", text(&again)?])
                .output()
                .map_err(|e| e.to_string())?;
            if !made.status.success() {
                // A field that this version cannot hold: said by the error.
                let error = String::from_utf8_lossy(&made.stderr).into_owned();
                if version == written_at || !error.contains("version") {
                    return Err(format!("cannot be written at version {version}: {error}"));
                }
                continue;
            }
            let ours = fs::read(&again).map_err(|e| e.to_string())?;
            if version == written_at {
                if ours != bytes {
                    return Err(format!("is written to other bytes at version {version}"));
                }
                at_own = true;
            }
            if version > written_at {
                // Newer than what this Java writes.
                continue;
            }
            let value = self.java_decodes(sample, &again, version)?;
            same(&value, &sample["value"]).map_err(|e| format!("version {version}: {e}"))?;
            count += 1;
        }
        match at_own {
            true => Ok(count),
            false => Err(format!("was not written at its own version {written_at}")),
        }
    }

    fn java_decodes(&mut self, sample: &Value, file: &Path, version: i64) -> Result<Value, String> {
        let number = version.to_string();
        let name = sample["name"].as_str().unwrap_or_default();
        let kind = match sample["kind"].as_str() {
            Some("split") if name.ends_with("-framed") => "framed",
            Some("split") => sample["value"]["kind"].as_str().unwrap_or_default(),
            Some("committable") => "committable",
            _ => "commit-messages",
        };
        parse(&self.java(&["decode", kind, text(file)?, "--version", &number])?)
    }
}

fn parse(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|e| format!("no JSON: {e}: {text}"))
}

/// Our form says the version of a split, and of the messages of a committable, too.
fn without_version(mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        object.remove("version");
        object.remove("messageVersion");
    }
    value
}

fn same(found: &Value, expected: &Value) -> Result<(), String> {
    match difference(found, expected, "value".to_owned()) {
        None => Ok(()),
        Some((at, found, expected)) => Err(format!("{at} is {found}, expected {expected}")),
    }
}

/// The first place where two values differ.
fn difference(found: &Value, expected: &Value, at: String) -> Option<(String, String, String)> {
    match (found, expected) {
        (Value::Object(a), Value::Object(b)) => {
            let keys: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            let absent = Value::String("<absent>".to_owned());
            keys.into_iter().find_map(|key| {
                difference(
                    a.get(key).unwrap_or(&absent),
                    b.get(key).unwrap_or(&absent),
                    format!("{at}.{key}"),
                )
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(i, (a, b))| difference(a, b, format!("{at}[{i}]")))
        }
        _ if found == expected => None,
        _ => Some((at, found.to_string(), expected.to_string())),
    }
}

fn unhex(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u32> = text.chars().filter_map(|c| c.to_digit(16)).collect();
    if digits.len() != text.len() || !digits.len().is_multiple_of(2) {
        return Err("no hex".to_owned());
    }
    let bytes = digits
        .chunks_exact(2)
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]));
    bytes.collect::<Result<_, _>>().map_err(|e| e.to_string())
}
