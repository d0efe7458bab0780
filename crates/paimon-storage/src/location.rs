// SPDX-License-Identifier: Apache-2.0

//! Location strings: scheme, store and literal path.

use std::path::{Component, Path, PathBuf};

use paimon_types::{Error, Result};

/// Where a location string points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Location {
    /// An absolute path on the local disk.
    Local(PathBuf),
    /// A key of an object store.
    Object {
        /// Normalised scheme: `memory`, `s3`, `gs` or `az`.
        scheme: &'static str,
        /// Bucket, or `container@account.host` for Azure; empty for `memory`.
        authority: String,
        /// Literal key: no leading, trailing or double slash.
        key: String,
    },
}

impl Location {
    /// Parses a location. `%XX` sequences are literal text; `.` segments vanish; repeated and trailing slashes vanish.
    pub(crate) fn parse(text: &str) -> Result<Location> {
        if text.is_empty() {
            return Err(Error::invalid("location is empty, expected a path or a URL"));
        }
        let Some((scheme, rest)) = split_scheme(text) else {
            return local(text, text);
        };
        let scheme = scheme.to_ascii_lowercase();
        match scheme.as_str() {
            "file" => {
                let path = match rest.strip_prefix("//") {
                    // file:///x has an empty authority, file://x/y has one
                    Some(after) if after.starts_with('/') => after,
                    Some(after) => match after.strip_prefix("localhost") {
                        Some(path) if path.starts_with('/') => path,
                        _ => {
                            return Err(Error::invalid(
                                "file URL has a host, expected file:///absolute/path or a plain path",
                            )
                            .with("path", text));
                        }
                    },
                    None => rest,
                };
                local(path, text)
            }
            "memory" => {
                Ok(Location::Object { scheme: "memory", authority: String::new(), key: object_key(rest, text)? })
            }
            "s3" | "s3a" | "s3n" => bucket("s3", rest, text),
            "gs" | "gcs" => bucket("gs", rest, text),
            "az" | "azure" | "abfs" | "abfss" | "wasb" | "wasbs" | "adl" => bucket("az", rest, text),
            other => Err(Error::unsupported(format!(
                "no storage for scheme '{other}', expected a plain path or one of file, memory, s3, s3a, gs, az, abfs, abfss"
            ))
            .with("path", text)),
        }
    }
}

/// `scheme:` in front of a slash; a plain path may hold colons.
fn split_scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = text.split_once(':')?;
    let mut chars = scheme.chars();
    let starts = chars.next().is_some_and(|c| c.is_ascii_alphabetic());
    let legal = starts && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    (legal && rest.starts_with('/')).then_some((scheme, rest))
}

fn local(path: &str, text: &str) -> Result<Location> {
    if path.contains('\0') {
        return Err(Error::invalid("path contains a NUL character").with("path", text.replace('\0', "\\0")));
    }
    let absolute = std::path::absolute(Path::new(path)).map_err(|e| {
        Error::io("cannot make the path absolute: the working directory is unknown")
            .with("path", text)
            .with_source(e)
    })?;
    // `absolute` keeps a trailing slash, which makes the system insist on a directory
    let clean: PathBuf = absolute
        .components()
        .filter(|c| !matches!(c, Component::CurDir))
        .collect();
    Ok(Location::Local(clean))
}

fn bucket(scheme: &'static str, rest: &str, text: &str) -> Result<Location> {
    let after = rest.strip_prefix("//").unwrap_or_default();
    let (authority, key) = after.split_once('/').unwrap_or((after, ""));
    if authority.is_empty() {
        return Err(
            Error::invalid(format!("location has no bucket, expected {scheme}://bucket/path"))
                .with("path", text),
        );
    }
    Ok(Location::Object {
        scheme,
        authority: authority.to_owned(),
        key: object_key(key, text)?,
    })
}

fn object_key(path: &str, text: &str) -> Result<String> {
    let mut key = String::with_capacity(path.len());
    for segment in path.split('/') {
        match segment {
            "" | "." => continue,
            ".." => {
                return Err(
                    Error::invalid("location contains '..', which object stores do not have")
                        .with("path", text),
                );
            }
            _ => {
                if !key.is_empty() {
                    key.push('/');
                }
                key.push_str(segment);
            }
        }
    }
    Ok(key)
}

/// `dir` + `/` + `name`, without doubling the slash.
pub(crate) fn join(dir: &str, name: &str) -> String {
    let trimmed = dir.trim_end_matches('/');
    if trimmed.is_empty() && !dir.is_empty() {
        return format!("/{name}");
    }
    // `memory://` and `file:///` keep their slashes
    if trimmed.ends_with(':') {
        let slashes = if dir.len() > trimmed.len() {
            &dir[trimmed.len()..]
        } else {
            ""
        };
        return format!("{trimmed}{slashes}{name}");
    }
    format!("{trimmed}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> (&'static str, String, String) {
        match Location::parse(text).unwrap() {
            Location::Object {
                scheme,
                authority,
                key,
            } => (scheme, authority, key),
            other => panic!("{other:?}"),
        }
    }

    fn path(text: &str) -> String {
        match Location::parse(text).unwrap() {
            Location::Local(p) => p.to_str().unwrap().to_owned(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn local_forms() {
        for text in [
            "/a/b",
            "/a/b/",
            "//a//b",
            "file:/a/b",
            "file:///a/b",
            "file://localhost/a/b",
            "FILE:/a/./b",
        ] {
            assert_eq!(path(text), "/a/b", "{text}");
        }
        assert_eq!(path("file:/w/p=a%2Fb c/é"), "/w/p=a%2Fb c/é");
        assert_eq!(path("/w/k=a:b"), "/w/k=a:b");
        let cwd = std::env::current_dir().unwrap();
        assert_eq!(path("x/y"), format!("{}/x/y", cwd.to_str().unwrap()));
        assert!(Location::parse("file://host/a").is_err());
        assert!(Location::parse("").is_err());
        assert!(Location::parse("/a\0b").is_err());
    }

    #[test]
    fn object_forms() {
        assert_eq!(object("s3a://b/x//y/"), ("s3", "b".into(), "x/y".into()));
        assert_eq!(object("s3://b"), ("s3", "b".into(), String::new()));
        assert_eq!(
            object("memory://w/p=a%2Fb"),
            ("memory", String::new(), "w/p=a%2Fb".into())
        );
        assert_eq!(object("memory:/w"), ("memory", String::new(), "w".into()));
        assert_eq!(
            object("abfss://c@acc.dfs.core.windows.net/t"),
            ("az", "c@acc.dfs.core.windows.net".into(), "t".into())
        );
        assert!(Location::parse("s3:///x").is_err());
        assert!(Location::parse("s3://b/../x").is_err());
        let err = Location::parse("oss://b/x").unwrap_err();
        assert_eq!(err.kind(), paimon_types::ErrorKind::Unsupported);
        assert!(err.message().contains("'oss'"), "{err}");
    }

    #[test]
    fn joins() {
        assert_eq!(join("/a/", "b"), "/a/b");
        assert_eq!(join("/", "b"), "/b");
        assert_eq!(join("memory://", "b"), "memory://b");
        assert_eq!(join("s3://b", "k"), "s3://b/k");
        assert_eq!(join("rel", "k"), "rel/k");
    }
}
