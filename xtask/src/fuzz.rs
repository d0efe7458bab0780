// SPDX-License-Identifier: Apache-2.0

//! Runs the fuzz targets of `fuzz/` one after the other, from seeds made of `testdata`. Needs cargo-fuzz and a nightly compiler.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::TaskResult;
use crate::process::root;

/// Targets behind the feature `formats` of the fuzz crate.
const FORMAT_TARGETS: [&str; 5] = [
    "avro_file",
    "blob_file",
    "blob_layout",
    "orc_file",
    "orc_manifest",
];

/// The task: `fuzz [--seconds N] [--seeds-only] [TARGET…]`.
pub(crate) fn run(args: &[String]) -> TaskResult {
    let mut seconds = "60";
    let mut targets = Vec::new();
    let mut seeds_only = false;
    let mut args = args.iter().map(String::as_str);
    while let Some(arg) = args.next() {
        match arg {
            "--seconds" => seconds = args.next().ok_or("--seconds needs a number")?,
            "--seeds-only" => seeds_only = true,
            target => targets.push(target.to_owned()),
        }
    }
    let all = all_targets()?;
    if targets.is_empty() {
        targets.clone_from(&all);
    }
    if let Some(unknown) = targets.iter().find(|target| !all.contains(target)) {
        return Err(format!("unknown fuzz target '{unknown}': {}", all.join(", ")));
    }
    let logs = root().join("target").join("fuzz");
    make(&logs)?;
    make_seeds()?;
    if seeds_only {
        return Ok(());
    }
    let mut failed = Vec::new();
    for target in &targets {
        let log = logs.join(format!("{target}.log"));
        println!("fuzz: {target}, {seconds} s, {}", log.display());
        let out = std::fs::File::create(&log).map_err(|e| e.to_string())?;
        let err = out.try_clone().map_err(|e| e.to_string())?;
        let features = match FORMAT_TARGETS.contains(&target.as_str()) {
            true => &["--features", "formats"][..],
            false => &[],
        };
        let status = Command::new("cargo")
            .args(["+nightly", "fuzz", "run", target])
            .args(features)
            .arg("--")
            .args([
                "-rss_limit_mb=1024",
                "-malloc_limit_mb=256",
                "-max_len=65536",
                "-print_final_stats=1",
            ])
            .arg(format!("-max_total_time={seconds}"))
            .current_dir(root().join("fuzz"))
            .env_remove("RUSTUP_TOOLCHAIN")
            .env_remove("CARGO")
            .stdout(out)
            .stderr(err)
            .status()
            .map_err(|e| format!("cargo-fuzz does not start: {e}"))?;
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        let executions = text
            .lines()
            .find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
        println!("  {} executions", executions.map_or("no", str::trim));
        if !status.success() {
            failed.push(target.as_str());
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!(
            "findings or failures, see the logs: {}",
            failed.join(", ")
        ))
    }
}

fn all_targets() -> Result<Vec<String>, String> {
    let dir = root().join("fuzz").join("fuzz_targets");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(|e| e.to_string())? {
        let path = entry.map_err(|e| e.to_string())?.path();
        names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    }
    names.sort();
    Ok(names)
}

fn make(dir: &Path) -> TaskResult {
    std::fs::create_dir_all(dir).map_err(|e| format!("{}: {e}", dir.display()))
}

/// Adds an input to the corpus of a target.
fn seed(target: &str, name: &str, bytes: &[u8]) -> TaskResult {
    let dir = root().join("fuzz").join("corpus").join(target);
    make(&dir)?;
    let path = dir.join(format!("seed-{name}"));
    std::fs::write(&path, bytes).map_err(|e| format!("{}: {e}", path.display()))
}

fn with_first(first: u8, bytes: &[u8]) -> Vec<u8> {
    [&[first], bytes].concat()
}

/// Inputs out of the wire vectors, the tables that Java wrote and the golden files.
fn make_seeds() -> TaskResult {
    let testdata = root().join("testdata");
    vectors(&testdata.join("wire-vectors.jsonl"))?;
    let mut files = Vec::new();
    walk(&testdata, &mut files);
    for (index, path) in files.iter().enumerate() {
        file(path, &index.to_string())?;
    }
    let golden = root().join("crates").join("paimon-protocol").join("testdata");
    let mut files = Vec::new();
    walk(&golden, &mut files);
    for path in files {
        let bytes = std::fs::read(&path).map_err(|e| e.to_string())?;
        let name = path
            .file_stem()
            .map(|stem| stem.to_string_lossy().into_owned())
            .unwrap_or_default();
        let target = match name.split('-').next() {
            Some("plan") => "native_plan",
            Some("split") => "native_split",
            Some("commit") => "native_messages",
            Some("bucket") => "bucket_state",
            _ => continue,
        };
        // The target makes header (24 bytes) and checksum (4) itself.
        let body = bytes.get(24..bytes.len().saturating_sub(4)).unwrap_or_default();
        seed(target, &name, &with_first(0, body))?;
        seed(target, &format!("{name}-whole"), &with_first(1, &bytes))?;
    }
    Ok(())
}

fn vectors(path: &Path) -> TaskResult {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    for (index, line) in text.lines().enumerate() {
        let vector: Value = serde_json::from_str(line).map_err(|e| format!("line {}: {e}", index + 1))?;
        let bytes = unhex(vector["hex"].as_str().unwrap_or_default());
        let version: u8 = vector["version"]
            .as_str()
            .and_then(|v| v.parse().ok())
            .unwrap_or(0);
        let name = index.to_string();
        match vector["kind"].as_str().unwrap_or_default() {
            "data_split" => {
                seed("split", &name, &bytes)?;
                seed("split_versions", &name, &bytes)?;
                let body = if version > 1 {
                    bytes.get(12..)
                } else {
                    Some(&bytes[..])
                };
                seed(
                    "data_split",
                    &name,
                    &with_first(version.saturating_sub(1), body.unwrap_or_default()),
                )?;
            }
            "split_frame" => {
                seed("split", &name, &bytes)?;
                seed("split_versions", &name, &bytes)?;
                let body = bytes.get(16..).unwrap_or_default();
                seed(
                    "split_frame",
                    &name,
                    &with_first(bytes.get(15).copied().unwrap_or(1), body),
                )?;
            }
            "incremental_split" | "indexed_split" | "chain_split" | "fallback_data_split_unframed" => {
                seed("split", &name, &bytes)?;
                seed("split_versions", &name, &bytes)?;
            }
            "data_file_meta_stream" => {
                for version in 0..8 {
                    let record = bytes.get(4..).unwrap_or_default();
                    seed(
                        "data_file_meta",
                        &format!("{name}-{version}"),
                        &with_first(version, record),
                    )?;
                }
            }
            "commit_message" | "commit_message_list" => {
                for version in vector["version"].as_str().unwrap_or_default().split('|') {
                    let version: u8 = version.parse().unwrap_or(2);
                    seed(
                        "commit_message",
                        &format!("{name}-{version}"),
                        &with_first(version.saturating_sub(2), &bytes),
                    )?;
                }
            }
            "manifest_committable" => {
                seed(
                    "committable",
                    &name,
                    &with_first(version.saturating_sub(1), &bytes),
                )?;
            }
            // One field of a type that the length of the row suggests; the fuzzer finds the others.
            "binary_row" | "binary_row_codegen_projection" => {
                for kind in [4, 8, 10, 14, 16, 17, 18, 21] {
                    let types = [1, kind, 1, 4, 0, 8, 0];
                    seed(
                        "binary_row",
                        &format!("{name}-{kind}"),
                        &[&types[..], &bytes].concat(),
                    )?;
                }
            }
            "binary_array" => {
                for kind in [3, 4, 8, 11] {
                    seed(
                        "binary_array",
                        &format!("{name}-{kind}"),
                        &[&[kind, 5], &bytes[..]].concat(),
                    )?;
                }
            }
            "stream_vector" => seed("stream_value", &name, &[&[20, 2], &bytes[..]].concat())?,
            "stream_variant" => seed("stream_value", &name, &[&[16, 0], &bytes[..]].concat())?,
            "write_utf" | "varint" | "varlong" => {
                seed(
                    "stream_primitives",
                    &name,
                    &[&[0, 1, 2, 0, 1, 2, 3, 5], &bytes[..]].concat(),
                )?;
            }
            "variant" => {
                let part = |key: &str| unhex(vector[key].as_str().unwrap_or_default());
                let (metadata, value) = (part("metadata"), part("value"));
                let len = u8::try_from(metadata.len()).unwrap_or(255);
                seed(
                    "variant",
                    &name,
                    &[&[len], &metadata[..], &value[..], &bytes[..]].concat(),
                )?;
            }
            "partition_string" => {
                let text = vector["input"].as_str().unwrap_or_default();
                seed("partition_path", &name, &[&[1, 8, 0], text.as_bytes()].concat())?;
            }
            "dv32" | "dv64" => seed("deletion_vector", &name, &with_first(1, &bytes))?,
            "blob_descriptor" | "blob_view" => seed("blob_value", &name, &bytes)?,
            "predicate_json" => {
                let json = vector["json"].as_str().unwrap_or_default();
                seed("predicate_json", &name, json.as_bytes())?;
            }
            "dv_index_file" => seed("deletion_vector_file", &name, &bytes)?,
            "hash_index_file" => seed("hash_index", &name, &bytes)?,
            _ => {}
        }
    }
    for (index, text) in [
        "INT NOT NULL",
        "ARRAY<MAP<STRING, DECIMAL(10, 2)>>",
        "ROW<`a b` INT 'comment', c VECTOR<FLOAT, 3>>",
        "TIMESTAMP(3) WITH LOCAL TIME ZONE",
        "MULTISET<VARCHAR(7) NOT NULL> NOT NULL",
    ]
    .iter()
    .enumerate()
    {
        seed("type_grammar", &index.to_string(), text.as_bytes())?;
    }
    for (index, text) in [
        r#"{"a":[1,2.5,null,true],"b":{"c":"é😀","d":-1e300}}"#,
        "12345678901234567890",
    ]
    .iter()
    .enumerate()
    {
        seed("variant_json", &index.to_string(), text.as_bytes())?;
    }
    Ok(())
}

/// A file of a table, by its place.
fn file(path: &Path, name: &str) -> TaskResult {
    let folder = path
        .parent()
        .and_then(Path::file_name)
        .map(|f| f.to_string_lossy().into_owned())
        .unwrap_or_default();
    let file_name = path
        .file_name()
        .map(|f| f.to_string_lossy().into_owned())
        .unwrap_or_default();
    let target = match folder.as_str() {
        "snapshot" if file_name.starts_with("snapshot-") => "snapshot_json",
        "schema" if file_name.starts_with("schema-") => "schema_json",
        "manifest" if file_name.starts_with("manifest-list-") => "manifest_list",
        "manifest" if file_name.starts_with("index-manifest-") => "index_manifest",
        "manifest" if file_name.starts_with("manifest-") => "manifest",
        "index" if file_name.starts_with("index-") => "deletion_vector_file",
        "splits" => "split",
        _ if file_name.ends_with(".orc") => "orc_file",
        _ if file_name.ends_with(".avro") => "avro_file",
        _ if file_name.ends_with(".blob") => "blob_layout",
        _ => return Ok(()),
    };
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    // Long inputs make the fuzzer slow and find nothing that short ones do not.
    if bytes.len() > 16 << 10 {
        return Ok(());
    }
    if bytes.starts_with(b"ORC") && folder == "manifest" {
        let kind = ["manifest_list", "manifest", "index_manifest"]
            .iter()
            .position(|kind| *kind == target);
        let kind = kind.and_then(|kind| u8::try_from(kind).ok()).unwrap_or(0);
        return seed("orc_manifest", &format!("file-{name}"), &with_first(kind, &bytes));
    }
    if target == "blob_layout" {
        // Whole files of each column type.
        for kind in [1, 3, 5, 7, 9] {
            seed(
                "blob_file",
                &format!("file-{name}-{kind}"),
                &with_first(kind, &bytes),
            )?;
        }
    }
    seed(target, &format!("file-{name}"), &bytes)
}

fn walk(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else {
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            walk(&path, files);
        } else {
            files.push(path);
        }
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(|d| d as u8)
        .collect();
    digits
        .chunks_exact(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}
