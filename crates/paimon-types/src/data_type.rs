// SPDX-License-Identifier: Apache-2.0

//! Logical types and fields (Java `org.apache.paimon.types`).

/// Largest length of CHAR/VARCHAR/BINARY/VARBINARY; `VARCHAR(MAX_LENGTH)` is `STRING`, `VARBINARY(MAX_LENGTH)` is `BYTES`.
pub const MAX_LENGTH: u32 = i32::MAX as u32;

/// A logical type with its nullability (Java `DataType`).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataType {
    /// The type without nullability.
    pub kind: TypeKind,
    /// False for `NOT NULL`.
    pub nullable: bool,
}

/// The type without nullability (Java `DataTypeRoot` with its parameters).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `CHAR(n)`: n code points.
    Char(u32),
    /// `VARCHAR(n)`, `STRING` when n is [`MAX_LENGTH`].
    VarChar(u32),
    /// `BOOLEAN`.
    Boolean,
    /// `BINARY(n)`: n bytes.
    Binary(u32),
    /// `VARBINARY(n)`, `BYTES` when n is [`MAX_LENGTH`].
    VarBinary(u32),
    /// `DECIMAL(p, s)`: 1 ≤ p ≤ 38, 0 ≤ s ≤ p.
    Decimal {
        /// Total digits.
        precision: u8,
        /// Digits after the point.
        scale: u8,
    },
    /// `TINYINT`, 8 bit.
    TinyInt,
    /// `SMALLINT`, 16 bit.
    SmallInt,
    /// `INT`, 32 bit.
    Int,
    /// `BIGINT`, 64 bit.
    BigInt,
    /// `FLOAT`, IEEE 754 single.
    Float,
    /// `DOUBLE`, IEEE 754 double.
    Double,
    /// `DATE`: days since 1970-01-01.
    Date,
    /// `TIME(p)`: milliseconds of the day whatever p (0–9).
    Time(u8),
    /// `TIMESTAMP(p)`: wall clock without zone, p in 0–9 fraction digits.
    Timestamp(u8),
    /// `TIMESTAMP(p) WITH LOCAL TIME ZONE`: an instant.
    TimestampLtz(u8),
    /// `VARIANT`: semi-structured value.
    Variant,
    /// `BLOB`.
    Blob,
    /// `GEOMETRY(crs)`.
    Geometry(String),
    /// `GEOGRAPHY(crs, algorithm)`.
    Geography {
        /// Coordinate reference system.
        crs: String,
        /// Edge interpolation algorithm.
        algorithm: String,
    },
    /// `ARRAY<element>`.
    Array(Box<DataType>),
    /// `MULTISET<element>`: map from element to its INT NOT NULL count.
    Multiset(Box<DataType>),
    /// `MAP<key, value>`.
    Map(Box<DataType>, Box<DataType>),
    /// `VECTOR<element, n>`: n non-null elements.
    Vector(Box<DataType>, u32),
    /// `ROW<fields>`.
    Row(Vec<DataField>),
}

/// A named, numbered column or ROW field (Java `DataField`). Fields are matched by `id`, at every depth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DataField {
    /// Unique in the whole schema, nested fields included; never reused.
    pub id: i32,
    /// Case-sensitive name.
    pub name: String,
    /// Type and nullability.
    pub data_type: DataType,
    /// Column comment.
    pub description: Option<String>,
    /// Default value as text, applied by writers only.
    pub default_value: Option<String>,
}

impl DataType {
    /// A nullable type.
    pub fn new(kind: TypeKind) -> Self {
        DataType { kind, nullable: true }
    }

    /// A `NOT NULL` type.
    pub fn required(kind: TypeKind) -> Self {
        DataType {
            kind,
            nullable: false,
        }
    }

    /// The same type with the given nullability.
    #[must_use]
    pub fn with_nullable(&self, nullable: bool) -> Self {
        DataType {
            kind: self.kind.clone(),
            nullable,
        }
    }

    /// Nullable `STRING`.
    pub fn string() -> Self {
        Self::new(TypeKind::VarChar(MAX_LENGTH))
    }

    /// Nullable `BYTES`.
    pub fn bytes() -> Self {
        Self::new(TypeKind::VarBinary(MAX_LENGTH))
    }

    /// True for ARRAY, MAP, MULTISET, ROW and VECTOR.
    pub fn is_nested(&self) -> bool {
        matches!(
            self.kind,
            TypeKind::Array(_)
                | TypeKind::Multiset(_)
                | TypeKind::Map(..)
                | TypeKind::Vector(..)
                | TypeKind::Row(_)
        )
    }

    /// Equal except for the nullability of the outermost type.
    pub fn same_kind(&self, other: &DataType) -> bool {
        self.kind == other.kind
    }
}

impl DataField {
    /// A field without comment and default.
    pub fn new(id: i32, name: impl Into<String>, data_type: DataType) -> Self {
        DataField {
            id,
            name: name.into(),
            data_type,
            description: None,
            default_value: None,
        }
    }
}

/// Ids of system columns (Java `SpecialFields`).
pub mod system_field {
    /// `_SEQUENCE_NUMBER`, BIGINT NOT NULL.
    pub const SEQUENCE_NUMBER_ID: i32 = 2147483646;
    /// `_VALUE_KIND`, TINYINT NOT NULL.
    pub const VALUE_KIND_ID: i32 = 2147483645;
    /// `_LEVEL`, INT NOT NULL.
    pub const LEVEL_ID: i32 = 2147483644;
    /// `rowkind`, STRING.
    pub const ROW_KIND_ID: i32 = 2147483643;
    /// `_ROW_ID`, BIGINT NOT NULL.
    pub const ROW_ID_ID: i32 = 2147483642;
    /// A `_KEY_<name>` column has this plus the id of the key field; ids from here on are system ids.
    pub const KEY_ID_START: i32 = 1073741823;
    /// Name prefix of key columns in key-value files.
    pub const KEY_PREFIX: &str = "_KEY_";
    /// Names that a user column may not have.
    pub const NAMES: [&str; 5] = ["_SEQUENCE_NUMBER", "_VALUE_KIND", "_LEVEL", "rowkind", "_ROW_ID"];
}
