// SPDX-License-Identifier: Apache-2.0

//! A plan with all that a worker needs besides the store.

use std::collections::{BTreeMap, BTreeSet};

use paimon_types::{Error, Result, TableSchema};

use crate::DataSplit;

/// Splits of one scan together with location, branch, schemas and options, so that a worker reads no table metadata.
///
/// Encoded by [`PlanEnvelope::to_bytes`] (`docs/protocol.md`). Secrets never travel: see [`PlanEnvelope::without_secrets`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEnvelope {
    /// Table location (path or URL).
    pub location: String,
    /// Branch that was planned, `main` for none.
    pub branch: String,
    /// Schema that the rows are returned in.
    pub read_schema: TableSchema,
    /// Schemas that the data files of the plan were written with, each id once, in any order.
    pub schemas: Vec<TableSchema>,
    /// Table options that the reader needs, dynamic options applied.
    pub options: BTreeMap<String, String>,
    /// Snapshot that was planned, `None` for a table without snapshots.
    pub snapshot_id: Option<i64>,
    /// The work.
    pub splits: Vec<DataSplit>,
}

impl PlanEnvelope {
    /// The schema with this id: one of `schemas`, else the read schema when it has that id.
    pub fn schema(&self, id: i64) -> Option<&TableSchema> {
        self.schemas
            .iter()
            .find(|s| s.id == id)
            .or_else(|| Some(&self.read_schema).filter(|s| s.id == id))
    }

    /// An envelope for other splits of the same plan, with only the schemas that their files need.
    ///
    /// # Errors
    /// `InvalidInput` when a file was written with a schema that this envelope does not hold.
    pub fn with_splits(&self, splits: Vec<DataSplit>) -> Result<PlanEnvelope> {
        let needed: BTreeSet<i64> = splits
            .iter()
            .flat_map(|s| &s.data_files)
            .map(|f| f.schema_id)
            .collect();
        if let Some(id) = needed.iter().find(|id| self.schema(**id).is_none()) {
            return Err(Error::invalid(format!(
                "a file of the split needs schema {id}, which the plan does not hold"
            )));
        }
        Ok(PlanEnvelope {
            location: self.location.clone(),
            branch: self.branch.clone(),
            read_schema: self.read_schema.clone(),
            schemas: self
                .schemas
                .iter()
                .filter(|s| needed.contains(&s.id))
                .cloned()
                .collect(),
            options: self.options.clone(),
            snapshot_id: self.snapshot_id,
            splits,
        })
    }

    /// The same plan without options that look like credentials ([`is_secret_option`]), in `options` and in every schema.
    #[must_use]
    pub fn without_secrets(&self) -> PlanEnvelope {
        let mut plan = self.clone();
        let schemas = std::iter::once(&mut plan.read_schema)
            .chain(&mut plan.schemas)
            .map(|s| &mut s.options);
        for options in schemas.chain(std::iter::once(&mut plan.options)) {
            options.retain(|key, _| !is_secret_option(key));
        }
        plan
    }
}

/// True when the value of an option with this key must not leave the process: it is a password, key, token or credential.
///
/// Decided by the words of the key: `fs.s3a.access.key`, `s3.secret-key`, `token`, `fs.oss.securityToken`,
/// `fs.azure.account.key.x`, `jdbc.password`, `client.private_key` … Keys of columns (`primary-key`, `bucket-key`,
/// `sequence.field` …) are not secrets.
pub fn is_secret_option(key: &str) -> bool {
    let words = words(key);
    let is = |word: &str, secrets: &[&str]| secrets.contains(&word);
    words.iter().any(|word| {
        is(
            word,
            &["secret", "secrets", "token", "sas", "passwd", "authorization"],
        )
    }) || words.iter().any(|word| {
        ["password", "credential", "accesskey", "apikey"]
            .iter()
            .any(|s| word.contains(s))
    }) || words.windows(2).any(|pair| match pair {
        [owner, key] if key == "key" => is(
            owner,
            &[
                "access",
                "account",
                "api",
                "private",
                "shared",
                "service",
                "encryption",
                "secret",
            ],
        ),
        _ => false,
    })
}

/// Lower-case words of a key, split at everything but letters and digits and before capitals: `fs.oss.accessKeySecret`
/// is fs, oss, access, key, secret.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_lower = false;
    for c in key.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && after_lower) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        after_lower = c.is_ascii_lowercase();
    }
    words
}
