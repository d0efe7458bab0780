// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;
import static fixturesgen.Values.type;

/** The simplest tables, and what a schema can carry besides columns. */
final class BasicFixtures {
    private BasicFixtures() {}

    static void add(TableSink suite) throws Exception {
        suite.table("basic/unpartitioned", "append, unaware bucket", t ->
                t.column("id", "INT").column("name", "STRING").column("amount", "DOUBLE")
                        .create()
                        .write(row(1, "one", 1.5), row(2, "two", null), row(3, null, -0.25)));

        suite.table("basic/never-written", "append, no snapshot", t ->
                t.column("id", "INT").column("name", "STRING").create());

        suite.table("basic/empty-commit", "append, snapshot without rows", t ->
                t.column("id", "INT").column("name", "STRING")
                        .option("snapshot.ignore-empty-commit", false)
                        .create().write());

        suite.table("basic/one-column", "append, one BOOLEAN column", t ->
                t.column("b", "BOOLEAN").create().write(row(true), row(false), row((Object) null)));

        suite.table("basic/capital-names", "append, column and partition names with capitals, blanks, quotes and dots", t ->
                t.column("ID", "INT").column("UserName", "STRING").column("pT", "STRING")
                        .column("with blank", "INT").column("über.Größe", "INT").column("q\"u`o'te", "INT")
                        .partitionBy("pT")
                        .create()
                        .write(row(1, "Ann", "A", 10, 100, 1000), row(2, "Bob", "b", 20, 200, null)));

        suite.table("basic/comments-and-defaults", "append, comments, default values", t ->
                t.column("id", type("INT NOT NULL"), "the \"key\"", null)
                        .column("status", type("STRING"), null, "new")
                        .column("score", type("INT"), "points so far", "7")
                        .column("day", type("DATE"), null, "2024-02-29")
                        .comment("A table with a comment, 'quotes' and ümlauts")
                        .create()
                        .write(row(1, "old", 1, "2020-01-01"), row(2, null, null, null)));

        suite.table("basic/unknown-options", "append, options of the writer and options that nobody knows", t ->
                t.column("id", "INT").column("v", "STRING")
                        .option("write-buffer-size", "8 mb")
                        .option("sink.parallelism", "3")
                        .option("local-merge-buffer-size", "1 mb")
                        .option("num-sorted-run.stop-trigger", "77")
                        .option("some.tool.private-setting", "a=b;c")
                        .option("x-made-up", "")
                        .create()
                        .write(row(1, "a"), row(2, "b")));

        suite.table("basic/file-prefix-and-suffix", "append, data-file.prefix, compression in the file name", t ->
                t.column("id", "INT").column("v", "STRING")
                        .option("data-file.prefix", "part-")
                        .option("file.suffix.include.compression", true)
                        .create()
                        .write(row(1, "a"), row(2, "b")));

        suite.table("basic/path-directory", "append, data-file.path-directory, partitioned", t ->
                t.column("id", "INT").column("p", "INT").partitionBy("p")
                        .option("data-file.path-directory", "data")
                        .create()
                        .write(row(1, 1), row(2, 2)));
    }
}
