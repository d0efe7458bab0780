// SPDX-License-Identifier: Apache-2.0

//! The command line. Its forms are a contract.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Plan, read, write and inspect Apache Paimon tables.
///
/// TABLE is a location (a path or URL such as /data/wh/db.db/t or s3://bucket/wh/db.db/t), or db.table together with
/// --warehouse. A branch is selected with --branch or as table$branch_NAME.
#[derive(Debug, Parser)]
#[command(name = "paimon", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Start here:
  paimon quickstart                       make a warehouse, write, plan, read and time-travel, step by step
  paimon ls WAREHOUSE                     databases and tables
  paimon scan TABLE --limit 10            rows of a table
  paimon ingest TABLE data.csv --create   a table from a file";

#[derive(Args, Debug)]
pub(crate) struct Global {
    /// Warehouse directory or URL; TABLE is then db.table
    #[arg(long, global = true, value_name = "URL")]
    pub(crate) warehouse: Option<String>,
    /// Table option over the stored ones; repeatable
    #[arg(short = 'o', long = "option", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) options: Vec<(String, String)>,
    /// Storage option such as s3.endpoint=http://localhost:9000; repeatable
    #[arg(long = "fs", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) fs: Vec<(String, String)>,
    /// Session time zone, for instants that are given as text without a zone
    #[arg(long, global = true, value_name = "ZONE", default_value = "UTC")]
    pub(crate) time_zone: String,
    /// Show the chain of causes of an error
    #[arg(long, global = true)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The main job on an embedded warehouse: create, ingest, commit, plan, read, time-travel
    Quickstart {
        /// Where to put the warehouse (must not hold one yet)
        #[arg(default_value = "paimon-quickstart")]
        dir: PathBuf,
    },
    /// Read rows
    Scan(ScanArgs),
    /// Show what a scan would read, or write it to a file for `read-split`
    Plan(PlanArgs),
    /// Read rows of a plan or split that `plan --out` (or Java Paimon) wrote
    ReadSplit(ReadSplitArgs),
    /// Write files into a table; with a primary key rows replace those with the same key (or are merged by the table's merge engine)
    Ingest(IngestArgs),
    /// Create a table
    Create(CreateArgs),
    /// List databases of a warehouse, or tables of a database
    Ls {
        /// Warehouse directory or URL, or a database name together with --warehouse
        target: Option<String>,
    },
    /// Show the schema of a table
    Schema {
        /// Location or db.table
        table: String,
        /// Branch
        #[arg(long)]
        branch: Option<String>,
        /// A schema id instead of the newest
        #[arg(long)]
        id: Option<i64>,
        /// The schema file as JSON
        #[arg(long)]
        json: bool,
    },
    /// List the snapshots of a table
    Snapshots {
        /// Location or db.table
        table: String,
        /// Branch
        #[arg(long)]
        branch: Option<String>,
        /// One JSON object a line
        #[arg(long)]
        json: bool,
    },
    /// List the live data files of a table
    Files(InspectArgs),
    /// List the manifests of a table
    Manifests(InspectArgs),
    /// Print a metadata or protocol file as JSON
    Decode(DecodeArgs),
}

/// Which snapshot is read; the newest by default.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct SelectorArgs {
    /// Snapshot id
    #[arg(long, value_name = "N", conflicts_with_all = ["tag", "timestamp"], allow_hyphen_values = true, value_parser = snapshot_id)]
    pub(crate) snapshot_id: Option<i64>,
    /// Tag name
    #[arg(long, value_name = "T", conflicts_with = "timestamp")]
    pub(crate) tag: Option<String>,
    /// Newest snapshot at or before this time: epoch milliseconds, or text in the session time zone
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(crate) timestamp: Option<String>,
    /// Branch
    #[arg(long, value_name = "B")]
    pub(crate) branch: Option<String>,
}

/// Which rows and columns are read.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RowsArgs {
    /// Columns to return, in this order
    #[arg(long, value_name = "A,B", value_delimiter = ',', value_parser = column_name)]
    pub(crate) columns: Option<Vec<String>>,
    /// SQL condition, such as "dt >= '2024-01-01' AND (v > 10 OR v IS NULL)"; instants in the session time zone or with Z or +08:00
    #[arg(long, value_name = "SQL", allow_hyphen_values = true)]
    pub(crate) filter: Option<String>,
    /// At most this many rows
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = row_limit)]
    pub(crate) limit: Option<usize>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct OutputArgs {
    /// Form of the rows
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub(crate) output: OutputFormat,
    /// Put the kind of each row (+I, -U, +U, -D) before its columns, as column rowkind; rows that were deleted (-U, -D) are shown too
    /// as long as a compaction has not dropped them
    #[arg(long)]
    pub(crate) row_kind: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OutputFormat {
    /// Aligned text
    Table,
    /// One JSON object a line
    Jsonl,
    /// Comma separated values with a header
    Csv,
    /// Arrow IPC stream
    Arrow,
    /// Parquet file
    Parquet,
}

#[derive(Args, Debug)]
pub(crate) struct ScanArgs {
    /// Location or db.table
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) selector: SelectorArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Location or db.table
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) selector: SelectorArgs,
    /// Print the splits as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the plan to FILE, together with columns, filter and limit; with --codec java one file a split (FILE, FILE.1, FILE.2 …) and
    /// nothing but the split
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Byte form of --out
    #[arg(long, value_enum, default_value_t = PlanCodec::Native)]
    pub(crate) codec: PlanCodec,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanCodec {
    /// The whole plan with schemas and options
    Native,
    /// Java `DataSplit` bytes
    Java,
}

#[derive(Args, Debug)]
pub(crate) struct ReadSplitArgs {
    /// A file that `plan --out` wrote, or a Java `DataSplit`. Columns, filter and limit of the plan apply; --columns replaces those of
    /// the plan, --filter and --limit narrow the rows further
    pub(crate) file: PathBuf,
    /// Table of the split: needed for Java bytes, which carry no schema
    #[arg(long)]
    pub(crate) table: Option<String>,
    /// Branch
    #[arg(long)]
    pub(crate) branch: Option<String>,
    #[command(flatten)]
    pub(crate) rows: RowsArgs,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InputFormat {
    /// Comma separated values with a header; an empty field is NULL
    Csv,
    /// One JSON object a line
    Jsonl,
    /// Parquet
    Parquet,
    /// Arrow IPC file or stream
    Arrow,
}

#[derive(Args, Debug)]
pub(crate) struct IngestArgs {
    /// Location or db.table
    pub(crate) table: String,
    /// Files to write, in one commit
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Form of the files; by their extension when absent
    #[arg(long, value_enum)]
    pub(crate) format: Option<InputFormat>,
    /// Replace instead of append. With --partition exactly the partitions that match are replaced, whatever is written (static); without
    /// it the partitions that rows are written to (dynamic), or the whole table when it has no partitions or with -o
    /// dynamic-partition-overwrite=false
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Delete the rows with these primary keys: files need the columns of the key (and those of sequence.field), others may be missing
    /// unless they are NOT NULL
    #[arg(long, conflicts_with_all = ["overwrite", "create"])]
    pub(crate) delete: bool,
    /// Value of a partition column that the files do not have (a file that has it must agree); with --overwrite exactly these partitions
    /// are replaced; repeatable
    #[arg(long = "partition", value_name = "K=V", value_parser = key_value)]
    pub(crate) partition: Vec<(String, String)>,
    /// Create the table with the columns of the first file when it does not exist; dropped again when nothing can be written
    #[arg(long)]
    pub(crate) create: bool,
    /// Primary key of a created table; it has one bucket a partition unless -o bucket=N says otherwise
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "create")]
    pub(crate) primary_key: Vec<String>,
    /// Partition columns of a created table
    #[arg(long, value_name = "A,B", value_delimiter = ',', requires = "create")]
    pub(crate) partition_by: Vec<String>,
    /// Branch
    #[arg(long)]
    pub(crate) branch: Option<String>,
    /// Do not commit: write the commit messages (a list, Java form) to FILE for another committer
    #[arg(long, value_name = "FILE", conflicts_with = "overwrite")]
    pub(crate) messages: Option<PathBuf>,
}

#[derive(Args, Debug)]
pub(crate) struct CreateArgs {
    /// Location or db.table
    pub(crate) table: String,
    /// Column as "name TYPE [NOT NULL]", such as --column "id BIGINT NOT NULL" or --column '`my col` INT'; repeatable
    #[arg(long = "column", value_name = "NAME TYPE")]
    pub(crate) columns: Vec<String>,
    /// Columns from a JSON file: a schema file, or {"fields": [{"name", "type"}], "partitionKeys", "primaryKeys", "options"}
    #[arg(long, value_name = "FILE", conflicts_with = "columns")]
    pub(crate) schema: Option<PathBuf>,
    /// Primary key; the table has one bucket a partition unless -o bucket=N says otherwise
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) primary_key: Vec<String>,
    /// Partition columns
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) partition_by: Vec<String>,
    /// Comment of the table
    #[arg(long)]
    pub(crate) comment: Option<String>,
    /// Do nothing when the table exists
    #[arg(long)]
    pub(crate) if_not_exists: bool,
}

#[derive(Args, Debug)]
pub(crate) struct InspectArgs {
    /// Location or db.table
    pub(crate) table: String,
    #[command(flatten)]
    pub(crate) selector: SelectorArgs,
    /// One JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "kebab-case")]
pub(crate) enum DecodeKind {
    /// A file snapshot/snapshot-N
    Snapshot,
    /// A file schema/schema-N
    Schema,
    /// A file manifest/manifest-list-…
    ManifestList,
    /// A file manifest/manifest-…
    Manifest,
    /// A file manifest/index-manifest-…
    IndexManifest,
    /// A split of any kind, of Java (version 1 to 9) or native, or a native plan
    Split,
    /// A commit message of Java (version 2 to 14), or native ones; --list for a list of Java
    CommitMessage,
    /// A ManifestCommittable of Java (version 1 to 5): all messages of one commit
    Committable,
    /// Native bucket states: what writers go on from
    BucketState,
    /// An index file with deletion vectors, 32-bit, 64-bit or both
    DeletionVectors,
    /// An index file with the key hashes of a dynamic bucket
    HashIndex,
    /// A BinaryRow behind its number of fields, behind its length, or behind both
    BinaryRow,
}

/// A byte form that --reencode names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Of Java, at this version.
    Java(i32),
    /// Our own.
    Native,
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Form::Java(version) => write!(f, "{version}"),
            Form::Native => f.write_str("native"),
        }
    }
}

#[derive(Args, Debug)]
pub(crate) struct DecodeArgs {
    /// What the file holds
    #[arg(value_enum)]
    pub(crate) kind: DecodeKind,
    /// The file
    pub(crate) file: PathBuf,
    /// Version of a commit message or committable (it is not in their bytes); 11 and 5, those of Java 1.4, when absent
    #[arg(long, value_name = "N")]
    pub(crate) version: Option<i32>,
    /// The file holds a list of messages
    #[arg(long)]
    pub(crate) list: bool,
    /// Write the decoded value again: at this version of Java, or native for our own form; snapshots, schemas and manifests are only printed
    #[arg(long, value_name = "VERSION", requires = "out", value_parser = form)]
    pub(crate) reencode: Option<Form>,
    /// Where --reencode writes
    #[arg(long, value_name = "FILE", requires = "reencode")]
    pub(crate) out: Option<PathBuf>,
    /// Types of the fields of a binary-row, such as "INT, STRING"; --reencode makes the row anew of its values
    #[arg(long, value_name = "TYPES")]
    pub(crate) types: Option<String>,
}

fn row_limit(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| "expected a number of rows, 0 or more".to_owned())
}

fn form(text: &str) -> Result<Form, String> {
    match text {
        "native" => Ok(Form::Native),
        number => number
            .parse()
            .map(Form::Java)
            .map_err(|_| "expected the number of a version, or native".to_owned()),
    }
}

fn snapshot_id(text: &str) -> Result<i64, String> {
    match text.parse() {
        Ok(id) if id > 0 => Ok(id),
        _ => Err("expected the id of a snapshot, 1 or more; `paimon snapshots TABLE` lists them".to_owned()),
    }
}

fn column_name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("expected names of columns, separated by commas".to_owned()),
        name => Ok(name.to_owned()),
    }
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}
