// SPDX-License-Identifier: Apache-2.0

//! Files that Java wrote: what we write of their rows is the same, byte for byte.

use paimon_avro::{ContainerReader, Cursor, Header, Limits};
use paimon_format::testkit::read_file;
use paimon_storage::Storage;
use paimon_types::{DataField, TableSchema};

use crate::support::{bytes_of, format, java_tables, joined, request};

struct Contents {
    schema: String,
    codec: String,
    /// Number of records and bytes of each block.
    blocks: Vec<(u64, Vec<u8>)>,
}

fn contents(bytes: &[u8]) -> Contents {
    let header = Header::read(&mut Cursor::new(bytes)).unwrap();
    let mut blocks = Vec::new();
    let mut container = ContainerReader::open(bytes).unwrap();
    container
        .program(Limits {
            depth: 256,
            weight: 100_000,
        })
        .unwrap();
    container
        .for_each_block(|cursor, records| {
            blocks.push((records, cursor.take(cursor.remaining())?.to_vec()));
            Ok(())
        })
        .unwrap();
    Contents {
        schema: header.schema.to_owned(),
        codec: header.codec.to_owned(),
        blocks,
    }
}

#[tokio::test]
async fn rows_of_java_files_are_written_byte_for_byte() {
    let format = format(&[]);
    let mut checked = 0;
    for (table, files) in java_tables() {
        let schema = std::fs::read_to_string(table.join("table/schema/schema-0")).unwrap();
        let fields: Vec<DataField> = TableSchema::from_json(&schema).unwrap().fields;
        for file in files {
            let path = file.to_str().unwrap();
            let java = contents(&std::fs::read(&file).unwrap());
            let read = read_file(format.as_ref(), &Storage::default(), path, &request(&fields)).await;
            let batch = joined(&fields, &read.unwrap_or_else(|e| panic!("{path}: {e}")).0);
            let ours = contents(&bytes_of(format.as_ref(), &fields, &batch, &java.codec).await);
            assert_eq!(ours.schema, java.schema, "{path}");
            assert_eq!(ours.codec, java.codec, "{path}");
            assert_eq!(ours.blocks.len(), java.blocks.len(), "{path}");
            for (ours, java) in ours.blocks.iter().zip(&java.blocks) {
                assert!(ours == java, "{path}: {} records, {} of Java", ours.0, java.0);
            }
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
