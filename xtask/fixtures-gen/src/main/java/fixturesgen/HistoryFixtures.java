// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

import java.util.Map;

import org.apache.paimon.schema.SchemaChange;

/** Several snapshots: appends, overwrites, tags, branches, merged manifests. */
final class HistoryFixtures {
    private HistoryFixtures() {}

    static void add(TableSink suite) throws Exception {
        suite.table("history/several-snapshots", "append, 4 snapshots", t ->
                simple(t).write(row(1, "a")).write(row(2, "b"), row(3, "c")).write(row(4, null)).write(row(5, "e")));

        suite.table("history/overwrite-all", "append, INSERT OVERWRITE of an unpartitioned table", t ->
                simple(t).write(row(1, "a"), row(2, "b"))
                        .overwrite(Map.of(), row(3, "c"))
                        .write(row(4, "d"))
                        .overwrite(Map.of()));

        suite.table("history/overwrite-static", "append, partitioned, INSERT OVERWRITE of given partitions", t ->
                partitioned(t)
                        .write(row("x", 1, "a"), row("x", 2, "b"), row("y", 1, "c"), row("y", 2, "d"))
                        .overwrite(Map.of("p", "x", "q", "1"), row("x", 1, "new"))
                        .overwrite(Map.of("p", "y", "q", "2"))
                        .overwrite(Map.of("p", "x"), row("x", 7, "seven")));

        suite.table("history/overwrite-static-not-dynamic", "append, partitioned, dynamic-partition-overwrite=false", t ->
                partitioned(t.option("dynamic-partition-overwrite", false))
                        .write(row("x", 1, "a"), row("x", 2, "b"), row("y", 1, "c"))
                        .overwrite(Map.of("p", "x"), row("x", 2, "new"))
                        .overwrite(Map.of(), row("z", 1, "all")));

        suite.table("history/overwrite-dynamic", "append, partitioned, INSERT OVERWRITE of the partitions of the new rows", t ->
                partitioned(t)
                        .write(row("x", 1, "a"), row("x", 2, "b"), row("y", 1, "c"), row(null, 1, "d"))
                        .overwrite(Map.of(), row("x", 1, "new"), row(null, 1, "new"))
                        .write(row("y", 1, "e")));

        suite.table("history/overwrite-bucketed", "append, 3 buckets, INSERT OVERWRITE", t ->
                t.column("id", "INT").column("v", "STRING")
                        .option("bucket", 3).option("bucket-key", "id").option("write-only", true)
                        .create()
                        .write(row(1, "a"), row(2, "b"), row(3, "c"))
                        .overwrite(Map.of(), row(4, "d"), row(5, "e")));

        suite.table("history/tags", "append, two tags, one of a snapshot that has expired since", t -> {
            simple(t).write(row(1, "a"));
            t.tag("first", 1).write(row(2, "b")).write(row(3, "c")).tag("now-2024.01", 3).write(row(4, "d")).expire(2);
        });

        suite.table("history/branches", "append, an empty branch, a branch from a tag, own schema and rows of a branch", t -> {
            simple(t).write(row(1, "a")).write(row(2, "b"));
            t.tag("base", 1).branch("fresh", null).branch("work", "base").writeToBranch("fresh", row(10, "fresh"))
                    .writeToBranch("work", row(11, "work"))
                    .alterBranch("work", SchemaChange.addColumn("extra", Values.type("INT")))
                    .writeToBranch("work", row(12, "more", 120))
                    .write(row(3, "c"));
        });

        suite.table("history/expired", "append, the oldest snapshots are gone", t -> {
            simple(t).write(row(1, "a")).write(row(2, "b")).overwrite(Map.of(), row(3, "c")).write(row(4, "d")).expire(2);
        });

        suite.table("history/truncate-partition", "append, partitioned, one partition dropped", t -> {
            partitioned(t).write(row("x", 1, "a"), row("y", 1, "b")).truncate(Map.of("p", "x", "q", "1")).write(row("x", 2, "c"));
        });

        suite.table("history/merged-manifests", "append, 33 commits, minor manifest merging", t -> {
            partitioned(t.option("snapshot.num-retained.max", 100).option("snapshot.num-retained.min", 100));
            for (int i = 0; i < 33; i++) {
                t.write(row("p" + i % 3, i % 2, "v" + i));
            }
        });

        suite.table("history/fully-merged-manifests",
                "append, 10 commits with overwrites, manifest.merge-min-count=4, small manifests, full manifest compaction", t -> {
            partitioned(t.option("manifest.merge-min-count", 4).option("manifest.target-file-size", "1 kb")
                    .option("manifest.full-compaction-threshold-size", "1 b"));
            for (int i = 0; i < 10; i++) {
                t.write(row("p" + i % 3, i % 2, "v" + i));
                if (i % 4 == 3) {
                    t.overwrite(Map.of("p", "p" + i % 3, "q", String.valueOf(i % 2)), row("p" + i % 3, i % 2, "w" + i));
                }
            }
        });

        suite.table("history/no-hints", "append, 3 snapshots, without the files LATEST and EARLIEST", t -> {
            simple(t).write(row(1, "a")).write(row(2, "b")).write(row(3, "c")).deleteHints();
        });

        for (String codec : new String[] {"null", "snappy", "deflate", "zstd"}) {
            suite.table("history/manifest-" + codec, "append, manifest.compression=" + codec, t ->
                    partitioned(t.option("manifest.compression", codec))
                            .write(row("x", 1, "a"), row("y", 2, "b")).write(row("x", 1, "c")));
        }
    }

    private static TableWriter simple(TableWriter t) throws Exception {
        return t.column("id", "INT").column("v", "STRING").create();
    }

    private static TableWriter partitioned(TableWriter t) throws Exception {
        return t.column("p", "STRING").column("q", "INT").column("v", "STRING").partitionBy("p", "q").create();
    }
}
