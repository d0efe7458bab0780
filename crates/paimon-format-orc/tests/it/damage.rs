// SPDX-License-Identifier: Apache-2.0

//! Files that are cut or changed: an error that names file and format, or rows, never a panic.

use paimon_format::testkit::{ReadRequest, read_file};
use paimon_storage::Storage;
use paimon_types::ErrorKind;

use crate::support::{files, format, testdata};

async fn read(path: &str) -> paimon_types::Result<usize> {
    let (batches, _) = read_file(
        format(&[]).as_ref(),
        &Storage::default(),
        path,
        &ReadRequest::default(),
    )
    .await?;
    Ok(batches.iter().map(|batch| batch.num_rows()).sum())
}

fn check(path: &str, what: &str, result: paimon_types::Result<usize>) -> bool {
    let Err(error) = result else { return false };
    let text = error.to_string();
    assert!(
        matches!(
            error.kind(),
            ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::InvalidInput
        ),
        "{what}: {error:?}"
    );
    assert!(text.contains(path), "{what}: {text}");
    assert!(!text.contains("panic"), "{what}: {text}");
    true
}

#[tokio::test]
async fn cut_at_every_length() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cut.orc");
    let path = path.to_str().unwrap();
    for table in ["formats/orc-codec-zstd", "formats/orc-codec-none"] {
        let file = files(&testdata(table).join("table"), "orc");
        let bytes = std::fs::read(&file[0]).unwrap();
        let step = (bytes.len() / 1500).max(1);
        for length in (0..bytes.len())
            .step_by(step)
            .chain(bytes.len().saturating_sub(40)..bytes.len())
        {
            std::fs::write(path, &bytes[..length]).unwrap();
            assert!(
                check(path, &format!("{table} {length}"), read(path).await),
                "{table} {length}"
            );
        }
    }
}

#[tokio::test]
async fn bits_flipped() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("flipped.orc");
    let path = path.to_str().unwrap();
    let mut state = 7u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below.max(1)
    };
    let tables = [
        "orc-codec-none",
        "orc-codec-zstd",
        "orc-codec-zlib",
        "orc-codec-snappy",
        "orc-codec-lz4",
        "orc-codec-lzo",
        "orc-run-lengths-1",
        "orc-nested-deep",
        "orc-nested-map",
        "orc-row-index",
        "orc-types-timestamps",
        "orc-dictionary",
    ];
    let mut refused = 0;
    for table in tables {
        let file = files(&testdata("formats").join(table).join("table"), "orc");
        let bytes = std::fs::read(&file[0]).unwrap();
        for round in 0..150 {
            let mut changed = bytes.clone();
            for _ in 0..1 + random(3) {
                // Half of the changes hit the footers at the end.
                let at = if round % 2 == 0 {
                    random(changed.len())
                } else {
                    changed.len() - 1 - random(changed.len().min(600))
                };
                match round % 3 {
                    0 => changed[at] = random(256) as u8,
                    1 => changed[at] ^= 1 << random(8),
                    _ => changed[at] = 0xff,
                }
            }
            std::fs::write(path, &changed).unwrap();
            if check(path, &format!("{table} {round}"), read(path).await) {
                refused += 1;
            }
        }
    }
    println!("{refused} of {} refused", tables.len() * 150);
}

#[tokio::test]
async fn no_orc_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("text.orc");
    std::fs::write(&path, "id,name\n1,a\n").unwrap();
    let path = path.to_str().unwrap();
    let error = read(path).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.to_string().contains("no orc file"), "{error}");
}
