// SPDX-License-Identifier: Apache-2.0

//! The part of Avro that is about manifests: fields bound by name once a file, the rest is `paimon-avro`.

mod layout;

pub(crate) use layout::{Access, Kind, Layout, Presence, Wanted, read_array};
pub use paimon_avro::{Compression as ManifestCompression, MAX_BLOCK_BYTES};
pub(crate) use paimon_avro::{ContainerReader, ContainerWriter, Cursor, Encoder, NodeId, Program};

use paimon_avro::Limits;
use paimon_types::Result;

/// Manifests need six levels and some hundred nodes.
const LIMITS: Limits = Limits {
    depth: 32,
    weight: 10_000,
};

/// Opens a manifest and compiles its schema.
///
/// # Errors
/// `Corrupt` for anything but an Avro container, `Unsupported` for unknown codecs.
pub(crate) fn open(bytes: &[u8]) -> Result<(ContainerReader<'_>, Program)> {
    let container = ContainerReader::open(bytes)?;
    let program = container.program(LIMITS)?;
    Ok((container, program))
}

#[cfg(test)]
mod tests {
    use paimon_types::ErrorKind;

    #[test]
    fn other_files_are_refused_clearly() {
        let kind = |bytes: &[u8]| super::open(bytes).err().map(|e| e.kind());
        assert_eq!(kind(b"ORC\x00\x01"), Some(ErrorKind::Corrupt));
        assert_eq!(kind(b"PAR1"), Some(ErrorKind::Corrupt));
    }
}
