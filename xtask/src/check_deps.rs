// SPDX-License-Identifier: Apache-2.0

//! The dependency rules of `ARCHITECTURE.md`, checked on the resolved graph of `cargo metadata`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::TaskResult;
use crate::process::{cargo, output};

/// `from` must not reach any of `forbidden` through normal dependencies with all features on.
struct Rule {
    from: &'static str,
    forbidden: &'static [&'static str],
}

const PURE: &[&str] = &[
    "tokio",
    "object_store",
    "arrow-array",
    "paimon-storage",
    "paimon-format",
];
const CONTROL: &[&str] = &["paimon-meta", "paimon"];
const DATA: &[&str] = &[
    "paimon-data",
    "paimon",
    "parquet",
    "paimon-format-avro",
    "paimon-format-blob",
    "paimon-format-orc",
    "paimon-format-parquet",
];

const RULES: &[Rule] = &[
    Rule {
        from: "paimon-types",
        forbidden: PURE,
    },
    Rule {
        from: "paimon-protocol",
        forbidden: PURE,
    },
    Rule {
        from: "paimon-avro",
        forbidden: PURE,
    },
    Rule {
        from: "paimon-index",
        forbidden: PURE,
    },
    Rule {
        from: "paimon-storage",
        forbidden: &["arrow-array", "paimon-protocol", "paimon-format", "paimon-meta"],
    },
    Rule {
        from: "paimon-merge",
        forbidden: &[
            "tokio",
            "object_store",
            "paimon-storage",
            "paimon-format",
            "paimon-protocol",
        ],
    },
    Rule {
        from: "paimon-data",
        forbidden: CONTROL,
    },
    Rule {
        from: "paimon-meta",
        forbidden: DATA,
    },
    Rule {
        from: "paimon-format",
        forbidden: &["paimon-meta", "paimon-data", "parquet", "orc-rust", "apache-avro"],
    },
];

/// Fails with every broken rule and the path that breaks it.
pub(crate) fn run() -> TaskResult {
    let text = output(cargo().args(["metadata", "--format-version", "1", "--all-features", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| format!("cargo metadata: {e}"))?;
    let graph = Graph::new(&metadata)?;
    let mut broken = Vec::new();
    let mut checked = 0;
    for rule in RULES.iter().filter(|r| graph.edges.contains_key(r.from)) {
        checked += 1;
        for forbidden in rule.forbidden {
            if let Some(path) = graph.path(rule.from, forbidden) {
                broken.push(format!(
                    "{} must not depend on {forbidden}: {}",
                    rule.from,
                    path.join(" → ")
                ));
            }
        }
    }
    for from in graph
        .edges
        .keys()
        .filter(|name| name.starts_with("paimon-format-"))
    {
        checked += 1;
        let others = graph
            .edges
            .keys()
            .filter(|o| o.starts_with("paimon-format-") && *o != from);
        for forbidden in others.map(String::as_str).chain(["paimon-meta", "paimon-data"]) {
            if let Some(path) = graph.path(from, forbidden) {
                broken.push(format!(
                    "{from} must not depend on {forbidden}: {}",
                    path.join(" → ")
                ));
            }
        }
    }
    for (name, versions) in &graph.versions {
        if name.starts_with("arrow-") && versions.len() > 1 {
            broken.push(format!(
                "one Arrow major in the tree: {name} is there in {versions:?}"
            ));
        }
    }
    if broken.is_empty() {
        println!("check-deps: {checked} crates keep the rules");
        Ok(())
    } else {
        Err(format!("check-deps:\n  {}", broken.join("\n  ")))
    }
}

/// Normal and build dependencies by crate name.
struct Graph {
    edges: BTreeMap<String, BTreeSet<String>>,
    versions: BTreeMap<String, BTreeSet<String>>,
}

impl Graph {
    fn new(metadata: &Value) -> Result<Self, String> {
        let list = |v: &Value, what: &str| -> Result<Vec<Value>, String> {
            v.as_array()
                .cloned()
                .ok_or_else(|| format!("cargo metadata has no {what}"))
        };
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let mut names = BTreeMap::new();
        let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for package in list(&metadata["packages"], "packages")? {
            let name = text(&package["name"]);
            versions
                .entry(name.clone())
                .or_default()
                .insert(text(&package["version"]));
            names.insert(text(&package["id"]), name);
        }
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"], "resolve.nodes")? {
            let Some(from) = names.get(&text(&node["id"])) else {
                continue;
            };
            let targets = edges.entry(from.clone()).or_default();
            for dep in list(&node["deps"], "deps")? {
                let normal = list(&dep["dep_kinds"], "dep_kinds")?
                    .iter()
                    .any(|k| k["kind"] != "dev");
                if normal && let Some(to) = names.get(&text(&dep["pkg"])) {
                    targets.insert(to.clone());
                }
            }
        }
        Ok(Graph { edges, versions })
    }

    /// A path of names from `from` to `to`, `from` excluded when equal.
    fn path(&self, from: &str, to: &str) -> Option<Vec<String>> {
        let mut seen = BTreeSet::from([from.to_owned()]);
        let mut queue = std::collections::VecDeque::from([vec![from.to_owned()]]);
        while let Some(path) = queue.pop_front() {
            let last = path.last()?.clone();
            for next in self.edges.get(&last).into_iter().flatten() {
                let mut longer = path.clone();
                longer.push(next.clone());
                if next == to {
                    return Some(longer);
                }
                if seen.insert(next.clone()) {
                    queue.push_back(longer);
                }
            }
        }
        None
    }
}
