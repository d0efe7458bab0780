// SPDX-License-Identifier: Apache-2.0

//! `docs/options.md`, made from the option table.

use std::fmt::Write;

use super::OPTIONS;

/// The page that documents every option that is understood, as Markdown; `docs/options.md` holds it (a test compares).
pub fn options_markdown() -> String {
    let mut page = String::from(
        "# Table options\n\n\
         Made from the option table of `paimon-types`; do not edit. Options that are not listed are kept with the table and\n\
         otherwise ignored, except those that change what a reader must do: a table with one of them is refused by name.\n\n\
         Scope `write`, `commit` and `expire` concern writers only. A dash means no default. Keys in parentheses are read when\n\
         the main key is absent.\n\n\
         | key | type | default | allowed | scope | meaning |\n|---|---|---|---|---|---|\n",
    );
    for spec in OPTIONS {
        let mut key = format!("`{}`", spec.key);
        if !spec.fallback_keys.is_empty() {
            let keys: Vec<String> = spec.fallback_keys.iter().map(|k| format!("`{k}`")).collect();
            let _ = write!(key, " ({})", keys.join(", "));
        }
        let default = match spec.default {
            None => "-".to_owned(),
            Some("") => "(empty)".to_owned(),
            Some(text) => format!("`{text}`"),
        };
        let _ = writeln!(
            page,
            "| {key} | {} | {default} | {} | {} | {} |",
            spec.type_name,
            spec.allowed,
            spec.scope.as_str(),
            spec.meaning
        );
    }
    page.push_str(
        "\nOptions of one column: `fields.<column>.stats-mode` (none, counts, full, truncate(n)) is stronger than \
         `metadata.stats-mode`.\n\nKeys that start with a format name (`parquet.`, `avro.`, `orc.` …) go to that format.\n",
    );
    page
}
