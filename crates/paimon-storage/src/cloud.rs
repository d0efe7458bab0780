// SPDX-License-Identifier: Apache-2.0

//! Clients of the cloud stores, each behind a cargo feature.

use std::sync::Arc;

use paimon_types::{Error, Result};

use crate::StorageOptions;
use crate::remote::RemoteStore;

/// A new, empty store in memory, in builds that have one.
pub(crate) fn memory() -> Option<Arc<dyn RemoteStore>> {
    #[cfg(feature = "object-store")]
    return Some(Arc::new(crate::object::ObjectBackend {
        store: Arc::new(object_store::memory::InMemory::new()),
        retries: false,
    }));
    #[cfg(not(feature = "object-store"))]
    None
}

/// Builds the client for `scheme://authority`.
pub(crate) fn connect(
    scheme: &str,
    authority: &str,
    options: &StorageOptions,
) -> Result<Arc<dyn RemoteStore>> {
    match scheme {
        #[cfg(feature = "s3")]
        "s3" => Ok(Arc::new(s3::connect(authority, options)?)),
        #[cfg(feature = "gcs")]
        "gs" => Ok(Arc::new(gcs::connect(authority, options)?)),
        #[cfg(feature = "azure")]
        "az" => Ok(Arc::new(azure::connect(authority, options)?)),
        other => {
            let _ = options;
            let feature = match other {
                "s3" => "s3",
                "gs" => "gcs",
                "memory" => "object-store",
                _ => "azure",
            };
            Err(Error::unsupported(format!(
                "this build has no storage for scheme '{other}': build with the cargo feature '{feature}'"
            ))
            .with("path", format!("{other}://{authority}")))
        }
    }
}

#[cfg(any(feature = "s3", feature = "gcs", feature = "azure"))]
mod common {
    use std::fmt::Display;
    use std::str::FromStr;
    use std::sync::Arc;
    use std::time::Duration;

    use object_store::{ObjectStore, RetryConfig};
    use paimon_types::{Error, Result};

    use crate::StorageOptions;
    use crate::object::ObjectBackend;

    pub(super) fn backend(
        built: object_store::Result<impl ObjectStore>,
        scheme: &str,
        authority: &str,
    ) -> Result<ObjectBackend> {
        let store = built.map_err(|e| {
            Error::invalid("cannot connect to the store: check the storage options")
                .with("path", format!("{scheme}://{authority}"))
                .with_source(e)
        })?;
        Ok(ObjectBackend {
            store: Arc::new(store),
            retries: true,
        })
    }

    /// Retry settings; the defaults of the client are 10 retries within 3 minutes.
    pub(super) fn retry(options: &StorageOptions) -> Result<RetryConfig> {
        let mut retry = RetryConfig::default();
        if let Some(n) = number::<usize>(options, "retry.max-retries")? {
            retry.max_retries = n;
        }
        if let Some(ms) = number::<u64>(options, "retry.timeout-ms")? {
            retry.retry_timeout = Duration::from_millis(ms);
        }
        if let Some(ms) = number::<u64>(options, "retry.init-backoff-ms")? {
            retry.backoff.init_backoff = Duration::from_millis(ms);
        }
        if let Some(ms) = number::<u64>(options, "retry.max-backoff-ms")? {
            retry.backoff.max_backoff = Duration::from_millis(ms);
        }
        Ok(retry)
    }

    fn number<T: FromStr<Err: Display>>(options: &StorageOptions, key: &str) -> Result<Option<T>> {
        let Some(text) = options.get(key) else {
            return Ok(None);
        };
        text.trim().parse().map(Some).map_err(|e| {
            Error::invalid(format!("expected a whole number, found '{text}': {e}")).with("option", key)
        })
    }

    /// `true` or `false` in any case.
    #[cfg(feature = "s3")]
    pub(super) fn flag(key: &str, text: &str) -> Result<bool> {
        match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(Error::invalid(format!("expected true or false, found '{text}'")).with("option", key)),
        }
    }
}

#[cfg(feature = "s3")]
mod s3 {
    use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, S3ConditionalPut};
    use paimon_types::Result;

    use super::common;
    use crate::StorageOptions;
    use crate::object::ObjectBackend;

    pub(super) fn connect(bucket: &str, options: &StorageOptions) -> Result<ObjectBackend> {
        let mut builder = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_conditional_put(S3ConditionalPut::ETagMatch)
            .with_retry(common::retry(options)?);
        let mut endpoint = None;
        let mut tls = None;
        for (key, value) in options.iter() {
            let Some(name) = hadoop_name(key) else {
                // the bucket comes from the location; keys with a dot belong to other layers
                match key.to_ascii_lowercase().parse::<AmazonS3ConfigKey>() {
                    Ok(AmazonS3ConfigKey::Bucket) | Err(_) => {}
                    Ok(AmazonS3ConfigKey::Endpoint | AmazonS3ConfigKey::S3Endpoint) => {
                        endpoint = Some(value.to_owned());
                    }
                    Ok(known) => builder = builder.with_config(known, value),
                }
                continue;
            };
            match name.as_str() {
                "access.key" | "access.key.id" => builder = builder.with_access_key_id(value),
                "secret.key" | "secret.access.key" => builder = builder.with_secret_access_key(value),
                "session.token" | "security.token" => builder = builder.with_token(value),
                "endpoint" => endpoint = Some(value.to_owned()),
                "region" | "endpoint.region" => builder = builder.with_region(value),
                "path.style.access" => {
                    builder = builder.with_virtual_hosted_style_request(!common::flag(key, value)?);
                }
                "connection.ssl.enabled" => tls = Some(common::flag(key, value)?),
                _ => tracing::debug!(option = key, "storage option is not known and ignored"),
            }
        }
        if let Some(endpoint) = endpoint {
            let url = match endpoint.contains("://") {
                true => endpoint,
                false if tls == Some(false) => format!("http://{endpoint}"),
                false => format!("https://{endpoint}"),
            };
            if url.starts_with("http://") {
                builder = builder.with_allow_http(true);
            }
            builder = builder.with_endpoint(url);
        }
        common::backend(builder.build(), "s3", bucket)
    }

    /// `fs.s3a.access.key`, `s3.access-key` … as `access.key`.
    fn hadoop_name(key: &str) -> Option<String> {
        let key = key.to_ascii_lowercase();
        let name = ["fs.s3a.", "fs.s3.", "s3a.", "s3."]
            .iter()
            .find_map(|prefix| key.strip_prefix(prefix))?;
        Some(name.replace('-', "."))
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn option_names() {
            for key in [
                "fs.s3a.access.key",
                "s3.access-key",
                "S3A.access.key",
                "fs.s3.access-key",
            ] {
                assert_eq!(hadoop_name(key).as_deref(), Some("access.key"), "{key}");
            }
            assert_eq!(hadoop_name("aws_access_key_id"), None);
        }

        #[test]
        fn endpoint_and_style() {
            let options = StorageOptions::new()
                .with("s3.endpoint", "http://localhost:1")
                .with("s3.access-key", "a")
                .with("s3.secret-key", "b")
                .with("s3.path.style.access", "true")
                .with("retry.max-retries", "2");
            assert!(connect("bucket", &options).is_ok());
            let err = connect("bucket", &options.clone().with("retry.max-retries", "x")).unwrap_err();
            assert!(err.to_string().contains("retry.max-retries"), "{err}");
            let err = connect("bucket", &options.with("s3.path.style.access", "maybe")).unwrap_err();
            assert!(err.to_string().contains("maybe"), "{err}");
        }
    }
}

#[cfg(feature = "gcs")]
mod gcs {
    use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
    use paimon_types::Result;

    use super::common;
    use crate::StorageOptions;
    use crate::object::ObjectBackend;

    pub(super) fn connect(bucket: &str, options: &StorageOptions) -> Result<ObjectBackend> {
        let mut builder = GoogleCloudStorageBuilder::from_env()
            .with_bucket_name(bucket)
            .with_retry(common::retry(options)?);
        for (key, value) in options.iter() {
            match key.to_ascii_lowercase().parse::<GoogleConfigKey>() {
                Ok(GoogleConfigKey::Bucket) | Err(_) => {}
                Ok(known) => builder = builder.with_config(known, value),
            }
        }
        common::backend(builder.build(), "gs", bucket)
    }
}

#[cfg(feature = "azure")]
mod azure {
    use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
    use paimon_types::Result;

    use super::common;
    use crate::StorageOptions;
    use crate::object::ObjectBackend;

    /// `authority` is `container` or `container@account.host`.
    pub(super) fn connect(authority: &str, options: &StorageOptions) -> Result<ObjectBackend> {
        let (container, host) = match authority.split_once('@') {
            Some((container, host)) => (container, Some(host)),
            None => (authority, None),
        };
        let mut builder = MicrosoftAzureBuilder::from_env()
            .with_container_name(container)
            .with_retry(common::retry(options)?);
        for (key, value) in options.iter() {
            let lower = key.to_ascii_lowercase();
            if let Some(account) = lower.strip_prefix("fs.azure.account.key.") {
                // the Hadoop form names the account's host: it must be the one of the location
                if host.is_none_or(|host| host.eq_ignore_ascii_case(account)) {
                    builder = builder.with_access_key(value);
                }
                continue;
            }
            match lower.parse::<AzureConfigKey>() {
                Ok(AzureConfigKey::ContainerName) | Err(_) => {}
                Ok(known) => builder = builder.with_config(known, value),
            }
        }
        if let Some(account) = host
            .and_then(|host| host.split('.').next())
            .filter(|a| !a.is_empty())
        {
            builder = builder.with_account(account);
        }
        common::backend(builder.build(), "az", authority)
    }
}

#[cfg(all(test, not(feature = "s3")))]
mod tests {
    use super::*;

    #[test]
    fn missing_feature_is_named() {
        let err = connect("s3", "b", &StorageOptions::new()).unwrap_err();
        assert_eq!(err.kind(), paimon_types::ErrorKind::Unsupported);
        assert!(
            err.message().contains("'s3'") && err.message().contains("cargo feature 's3'"),
            "{err}"
        );
    }
}
