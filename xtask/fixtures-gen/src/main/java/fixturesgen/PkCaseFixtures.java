// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.delete;
import static fixturesgen.Values.type;

import org.apache.paimon.schema.SchemaChange;

/** Small inputs that readers of tables with primary keys got wrong elsewhere, each a table of its own. */
final class PkCaseFixtures {
    private PkCaseFixtures() {}

    static void add(TableSink suite) throws Exception {
        merged(suite);
        vectors(suite);
        evolved(suite);
    }

    private static TableWriter two(TableWriter t) {
        return t.column("id", "INT NOT NULL").column("v", "INT").primaryKey("id").option("bucket", 1).option("write-only", true);
    }

    private static void merged(TableSink suite) throws Exception {
        suite.table("pk/case_01_update", "primary key, the union of the files would be wrong", t ->
                t.column("id", "INT NOT NULL").column("v", "STRING").primaryKey("id").option("bucket", 1).create()
                        .change(Change.add(1, "old"), Change.add(2, "two")).change(Change.add(1, "new")));
        suite.table("pk/case_02_small_splits", "primary key, split target size and open-file cost of 1 b: overlapping ranges stay together", t ->
                two(t).option("source.split.target-size", "1 b").option("source.split.open-file-cost", "1 b").create()
                        .change(Change.add(1, 10)).change(Change.add(1, 20)).change(Change.add(1, 30)));
        suite.table("pk/case_03_value_filter", "primary key, a filter on a value must not prune the file of the newest version", t ->
                two(t).create().change(Change.add(1, 10), Change.add(2, 20), Change.add(3, 30)).change(Change.add(1, 11), Change.add(2, 21), Change.add(3, 31)));
        suite.table("pk/case_05_key_order", "primary key in another order than the columns", t ->
                t.column("customer_id", "INT NOT NULL").column("order_id", "INT NOT NULL").column("amount", "INT").primaryKey("order_id", "customer_id").option("bucket", 1).option("write-only", true).create()
                        .change(Change.add(1, 10, 100), Change.add(1, 20, 200), Change.add(2, 10, 300), Change.add(2, 20, 400)).change(Change.add(1, 20, 201)));
        suite.table("pk/case_07_tag_of_expired_snapshot", "primary key, the snapshot of a tag has expired", t ->
                two(t).create().change(Change.add(1, 1)).tag("first", 1).change(Change.add(1, 2)).change(Change.add(2, 2)).expire(1));
        suite.table("pk/case_10_sum_lookup", "primary key, aggregation, sum, changelog-producer=lookup, versions in one insert", t ->
                t.column("id", "INT NOT NULL").column("v", "INT").primaryKey("id").option("bucket", 1).option("merge-engine", "aggregation").option("fields.v.aggregate-function", "sum")
                        .option("changelog-producer", "lookup").create()
                        .change(Change.add(1, 1), Change.add(2, 2), Change.add(1, 3), Change.add(1, 4), Change.add(1, 5)));
        suite.table("pk/case_11_sum_overflow", "primary key, aggregation, sum of TINYINT beyond its range fails, overwritten in the end", t ->
                overflow(t, "TINYINT", "sum").change(Change.add(1, 127)).change(Change.add(1, 1)).overwrite(java.util.Map.of(), Values.row(1, 5)));
        suite.table("pk/case_11_product_overflow", "primary key, aggregation, product of INT beyond its range fails, overwritten in the end", t ->
                overflow(t, "INT", "product").change(Change.add(1, 100_000)).change(Change.add(1, 100_000)).overwrite(java.util.Map.of(), Values.row(1, 5)));
        suite.table("pk/case_13_two_groups", "primary key, partial-update, two groups out of order, with NULL", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("g_1", "INT").column("a", "STRING").column("b", "STRING").column("g_2", "INT").column("c", "STRING").column("d", "STRING").primaryKey("id"))
                        .option("merge-engine", "partial-update").option("fields.g_1.sequence-group", "a,b").option("fields.g_2.sequence-group", "c,d").create()
                        .change(Change.add(1, 3, "a3", "b3", 1, "c1", "d1")).change(Change.add(1, 2, "a2", "b2", 2, "c2", "d2")).change(Change.add(1, null, "an", "bn", 2, "c2+", null))
                        .change(Change.add(1, 4, null, "b4", null, "cn", "dn")));
        suite.table("pk/case_15_first_row", "primary key, first-row, not compacted: level 0 is not seen", t ->
                t.column("id", "INT NOT NULL").column("v", "STRING").primaryKey("id").option("bucket", 1).option("merge-engine", "first-row").option("write-only", true).create()
                        .change(Change.add(1, "a")).change(Change.add(1, "b")));
        suite.table("pk/case_15_first_row_compacted", "primary key, first-row, compacted by the writer", t ->
                t.column("id", "INT NOT NULL").column("v", "STRING").primaryKey("id").option("bucket", 1).option("merge-engine", "first-row").create()
                        .change(Change.add(1, "a")).change(Change.add(1, "b")));
        suite.table("pk/case_48_versions_in_one_buffer", "primary key, two versions of a key in one write buffer: one row in the file", t ->
                two(t).create().change(Change.add(1, 1), Change.add(1, 2), Change.add(2, 1), delete(2, 1), Change.add(3, 1), Change.add(1, 3)));
        suite.table("pk/case_49_trimmed_key", "primary key with the partition column, 3 buckets by the key without it", t ->
                t.column("p", "INT NOT NULL").column("id", "INT NOT NULL").column("v", "INT").partitionBy("p").primaryKey("p", "id").option("bucket", 3).option("write-only", true).create()
                        .change(rows(0)).change(rows(1)));
        suite.table("later/primary-key-timestamp9-far", "primary key, TIMESTAMP(9) beyond 64 bits of nanoseconds as value, in ROW and as key", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("ts", "TIMESTAMP(9)").column("r", Values.rowType("ts", "TIMESTAMP(9)")).primaryKey("id")).create()
                        .change(Change.add(1, "9999-12-31 23:59:59.999173513", null), Change.add(2, "1582-10-15 00:00:00", Values.row("0001-01-01 00:00:00")))
                        .change(Change.add(1, null, Values.row("9999-12-31 23:59:59.999173513")), Change.add(3, "2024-01-31 10:11:12.123456789", null)));
    }

    private static Change[] rows(int version) {
        Change[] changes = new Change[14];
        for (int i = 0; i < changes.length; i++) {
            changes[i] = Change.add(i % 2, i / 2 + 1, i * 10 + version);
        }
        return changes;
    }

    private static TableWriter overflow(TableWriter t, String type, String function) throws Exception {
        return t.failsAt("snapshot-2", function + " of column v is beyond " + type + ": Java raises an error since 2.0, Java 1.4.2 wraps around").column("id", "INT NOT NULL").column("v", type).primaryKey("id").option("bucket", 1).option("write-only", true).option("merge-engine", "aggregation")
                .option("fields.v.aggregate-function", function).create();
    }

    private static void vectors(TableSink suite) throws Exception {
        suite.table("pk/case_06_commit_after_vectors", "primary key, deletion vectors, then a commit that touches none of them", t -> {
            PkFixtures.simple(t).option("bucket", 1).option("deletion-vectors.enabled", true).create();
            t.change(PkFileFixtures.numbers(0, 30, 1, "a")).change(delete(3, null, null), Change.add(4, "b", null));
            t.changeWith(java.util.Map.of("write-only", "true"), Change.add(100, "plain", 1));
        });
        suite.table("pk/case_38_row_groups", "primary key, deletion vectors over Parquet files of several row groups, positions global to the file", t -> {
            PkFixtures.simple(t).option("bucket", 1).option("deletion-vectors.enabled", true).option("parquet.block.size", 2_000).option("parquet.page.size", 500).option("num-levels", 4)
                    .option("compaction.max-size-amplification-percent", 100_000).create();
            t.change(PkFileFixtures.numbers(0, 1200, 1, "a")).change(PkFileFixtures.numbers(1, 120, 10, "b")).change(PkFileFixtures.numbers(1190, 20, 1, "c")).change(delete(0, null, null));
        });
        suite.table("pk/case_39_vectors_in_one_file", "primary key, a deletion vector for each of many files in one index file", t -> {
            PkFixtures.simple(t).option("bucket", 1).option("deletion-vectors.enabled", true).option("target-file-size", "1 b").option("num-levels", 4)
                    .option("compaction.max-size-amplification-percent", 100_000).option("num-sorted-run.compaction-trigger", 10).create();
            t.change(PkFileFixtures.numbers(0, 2500, 1, "a")).change(PkFileFixtures.numbers(5, 30, 80, "b"));
        });
    }

    private static void evolved(TableSink suite) throws Exception {
        suite.table("pk/case_16_rename_drop_add_swap", "primary key, a column renamed, dropped, a name added again, two names swapped", t -> {
            PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("a", "STRING").column("x", "STRING").primaryKey("id")).create();
            t.change(Change.add(1, "a1", "x1"), Change.add(2, "a2", "x2")).alter(SchemaChange.renameColumn("a", "b")).change(Change.add(1, "b1", "x1"));
            t.alter(SchemaChange.dropColumn("b")).alter(SchemaChange.addColumn("b", type("STRING"))).change(Change.add(3, "x3", "b3"));
            t.alter(SchemaChange.renameColumn("b", "tmp"), SchemaChange.renameColumn("x", "b"), SchemaChange.renameColumn("tmp", "x")).change(Change.add(2, "b2", "x2"));
        });
        suite.table("pk/case_18_int_to_bigint", "primary key, INT altered to BIGINT", t ->
                two(t).create().change(Change.add(1, 1), Change.add(2, 2)).alter(SchemaChange.updateColumnType("v", type("BIGINT"))).change(Change.add(1, 1L << 40), Change.add(3, 3L)));
        suite.table("pk/case_19_old_schema", "primary key, snapshot 1 is read with the schema of its time", t ->
                t.column("id", "INT NOT NULL").column("name", "STRING").primaryKey("id").option("bucket", 1).option("write-only", true).create()
                        .change(Change.add(1, "one")).alter(SchemaChange.addColumn("age", type("INT"))).alter(SchemaChange.dropColumn("name")).change(Change.add(1, 30)));
        suite.table("pk/case_21_capitals", "primary key, names with capitals", t ->
                t.column("Id", "INT NOT NULL").column("Value", "STRING").primaryKey("Id").option("bucket", 1).option("write-only", true).create()
                        .change(Change.add(1, "A"), Change.add(2, "B")).change(Change.add(1, "C")));
    }
}
