// SPDX-License-Identifier: Apache-2.0

//! Tests of registry, cache and memory pools.

mod decoding;

use std::collections::BTreeMap;
use std::sync::Arc;

use paimon_format::{
    BoundedMemoryPool, Cache, CachedValue, FileFormat, FileFormatFactory, FormatRegistry, LruCache,
    MemoryPool, MemoryReservation, Metrics, StickyError, UnboundedMemoryPool,
};
use paimon_types::{Error, ErrorKind, Result};

#[derive(Debug)]
struct Factory(&'static str);

impl FileFormatFactory for Factory {
    fn identifier(&self) -> &str {
        self.0
    }

    fn create(&self, options: &BTreeMap<String, String>) -> Result<Arc<dyn FileFormat>> {
        Err(Error::unsupported(format!("{} {}", self.0, options.len())))
    }
}

#[test]
fn unknown_formats_list_the_known_ones() {
    let mut registry = FormatRegistry::new();
    let empty = registry.get("orc", &BTreeMap::new()).unwrap_err();
    assert!(empty.to_string().contains("no format is registered"), "{empty}");
    assert!(registry.register(Arc::new(Factory("parquet"))).is_none());
    assert!(registry.register(Arc::new(Factory("Orc"))).is_none());
    assert!(registry.register(Arc::new(Factory("orc"))).is_some());
    assert_eq!(registry.identifiers().collect::<Vec<_>>(), ["orc", "parquet"]);
    let error = registry.get("avro", &BTreeMap::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert_eq!(
        error.to_string(),
        "file format \"avro\" is unknown, registered formats are: orc, parquet"
    );
    assert_eq!(
        registry.get("PARQUET", &BTreeMap::new()).unwrap_err().to_string(),
        "parquet 0"
    );
}

#[test]
fn the_cache_drops_what_was_used_longest_ago() {
    let cache = LruCache::new(10);
    let value = |n: u32| Arc::new(n) as CachedValue;
    cache.put("a", value(1), 4);
    cache.put("b", value(2), 4);
    assert!(cache.get("a").is_some());
    cache.put("c", value(3), 4);
    assert!(cache.get("b").is_none());
    assert_eq!(cache.get("a").unwrap().downcast_ref::<u32>(), Some(&1));
    cache.put("a", value(9), 6);
    assert_eq!(cache.get("a").unwrap().downcast_ref::<u32>(), Some(&9));
    cache.put("d", value(4), 11);
    assert!(cache.get("d").is_none());
    cache.invalidate("a");
    let stats = cache.stats();
    assert_eq!(
        (stats.hits, stats.misses, stats.entries, stats.weight),
        (3, 2, 1, 4)
    );
}

#[test]
fn pools_count_and_refuse() {
    let pool: Arc<dyn MemoryPool> = Arc::new(BoundedMemoryPool::new(100));
    let mut one = MemoryReservation::new(pool.clone());
    let mut two = MemoryReservation::new(pool.clone());
    one.try_grow(60).unwrap();
    let error = two.try_grow(41).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResourcesExhausted);
    assert_eq!(two.bytes(), 0);
    two.try_grow(40).unwrap();
    one.try_resize(10).unwrap();
    assert_eq!(pool.reserved(), 50);
    assert!(pool.try_reserve(usize::MAX).is_err());
    drop(one);
    two.free();
    assert_eq!((pool.reserved(), pool.limit()), (0, Some(100)));
    let unbounded = UnboundedMemoryPool::new();
    unbounded.try_reserve(1 << 40).unwrap();
    assert_eq!((unbounded.reserved(), unbounded.limit()), (1 << 40, None));
}

#[test]
fn metrics_add_up() {
    let mut one = Metrics::new();
    one.set("rows", 1);
    let mut two = Metrics::new();
    two.set("rows", 2);
    two.set("bytes", 3);
    one.merge(&two);
    assert_eq!(one.iter().collect::<Vec<_>>(), [("bytes", 3), ("rows", 3)]);
    assert_eq!(one.get("none"), None);
}

#[test]
fn sticky_errors_repeat_kind_and_text() {
    let error = Error::corrupt("bad")
        .with("path", "f")
        .with_source(std::io::Error::other("x"));
    let again = StickyError::new(&error).to_error();
    assert_eq!(
        (again.kind(), again.to_string()),
        (error.kind(), error.to_string())
    );
}
