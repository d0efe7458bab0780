// SPDX-License-Identifier: Apache-2.0

//! Storage options: endpoints, credentials, retries.

use std::collections::BTreeMap;
use std::fmt;

/// `key=value` settings of the stores, from a catalog's options or the command line.
///
/// Keys: those of the Java product's S3 file system (`fs.s3a.access.key`, `s3.access-key`, `s3.secret-key`,
/// `s3.endpoint`, `s3.region`, `s3.path.style.access`, `s3.session.token` …), those of the `object_store` crate
/// (`aws_access_key_id`, `google_service_account`, `azure_storage_account_name`, `allow_http` …) and
/// `retry.max-retries`, `retry.timeout-ms`, `retry.init-backoff-ms`, `retry.max-backoff-ms` for the cloud stores.
/// Keys that no store knows are ignored, because one option map usually serves several layers.
///
/// `Debug` shows the keys and hides every value that may be a secret.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct StorageOptions {
    entries: BTreeMap<String, String>,
}

impl StorageOptions {
    /// No options: credentials and region come from the environment as the cloud's own tools define it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets one option.
    pub fn set(&mut self, key: impl Into<String>, value: impl Into<String>) -> &mut Self {
        self.entries.insert(key.into(), value.into());
        self
    }

    /// Sets one option.
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.set(key, value);
        self
    }

    /// The value of `key`, looked up literally.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(String::as_str)
    }

    /// All options in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for StorageOptions {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(iter: T) -> Self {
        StorageOptions {
            entries: iter.into_iter().map(|(k, v)| (k.into(), v.into())).collect(),
        }
    }
}

impl fmt::Debug for StorageOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(
                self.entries
                    .iter()
                    .map(|(k, v)| (k, if is_secret(k) { "***" } else { v.as_str() })),
            )
            .finish()
    }
}

/// True when the value of `key` must not be shown.
fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    [
        "secret",
        "token",
        "password",
        "key",
        "credential",
        "account",
        "sas",
        "signature",
        "bearer",
        "proxy",
        "auth",
    ]
    .iter()
    .any(|word| key.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_hides_secrets() {
        let options = StorageOptions::new()
            .with("fs.s3a.access.key", "AKIA")
            .with("s3.secret-key", "hush")
            .with("aws_session_token", "hush")
            .with("google_service_account_key", "hush")
            .with("s3.endpoint", "http://localhost:9000");
        let text = format!("{options:?}");
        assert!(!text.contains("hush") && !text.contains("AKIA"), "{text}");
        assert!(text.contains("localhost:9000"), "{text}");
    }
}
