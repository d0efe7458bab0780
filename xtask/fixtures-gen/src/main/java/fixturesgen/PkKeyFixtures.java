// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.delete;

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.PostponeUtils;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;

import java.util.List;

/** Keys of every type, partitions, and every kind of bucket. */
final class PkKeyFixtures {
    private static final Object[][] KEYS = {
        {"boolean", "BOOLEAN", false, true, false, true}, {"tinyint", "TINYINT", -128, 127, 0, -1}, {"smallint", "SMALLINT", -32768, 32767, 0, -1},
        {"int", "INT", Integer.MIN_VALUE, Integer.MAX_VALUE, 0, -1}, {"bigint", "BIGINT", Long.MIN_VALUE, Long.MAX_VALUE, 0, -1},
        {"float", "FLOAT", -1.5, 1.5, 0.0, 1e30}, {"double", "DOUBLE", -1.5, 1.5, 0.0, 1e300},
        {"string", "STRING", "", "a text longer than sixteen", "größe", "😀"}, {"char", "CHAR(3)", "abc", "äöü", "aaa", "zzz"}, {"varchar", "VARCHAR(10)", "", "b", "a", "\u0000"},
        {"bytes", "BYTES", "", "80", "7f", "ff00"}, {"binary", "BINARY(2)", "0000", "ffff", "7fff", "8000"},
        {"decimal", "DECIMAL(10, 2)", "-99999999.99", "99999999.99", "0.00", "-0.01"}, {"decimal38", "DECIMAL(38, 10)", "-1234567890123456789012345678.0000000001", "1.5000000000", "0.0000000000", "99.0000000000"},
        {"date", "DATE", "0001-01-01", "9999-12-31", "1970-01-01", "1969-12-31"}, {"time", "TIME(3)", "00:00:00.000", "23:59:59.999", "12:00:00.000", "00:00:00.001"},
        {"timestamp0", "TIMESTAMP(0)", "1969-12-31 23:59:59", "2024-01-31 10:11:12", "1970-01-01 00:00:00", "1700-01-01 00:00:00"},
        {"timestamp3", "TIMESTAMP(3)", "1969-12-31 23:59:59.999", "2024-01-31 10:11:12.123", "1970-01-01 00:00:00.000", "1700-01-01 00:00:00.001"},
        {"timestamp6", "TIMESTAMP(6)", "1969-12-31 23:59:59.999999", "2024-01-31 10:11:12.123456", "1970-01-01 00:00:00", "1700-01-01 00:00:00.000001"},
        {"timestamp9", "TIMESTAMP(9)", "1969-12-31 23:59:59.999999999", "2024-01-31 10:11:12.123456789", "1970-01-01 00:00:00", "1700-01-01 00:00:00.000000001"},
        {"timestamp-ltz", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "1969-12-31 23:59:59.999999", "2024-01-31 10:11:12.123456", "1970-01-01 00:00:00", "1700-01-01 00:00:00"}
    };

    private PkKeyFixtures() {}

    static void add(TableSink suite) throws Exception {
        for (Object[] key : KEYS) {
            suite.table("pk/key-" + key[0], "primary key of type " + key[1] + ", 2 buckets", t ->
                    t.column("k", key[1] + " NOT NULL").column("v", "STRING").primaryKey("k").option("bucket", 2).option("write-only", true).create()
                            .change(Change.add(key[2], "a1"), Change.add(key[3], "b1"))
                            .change(Change.add(key[4], "c2"), Change.add(key[3], "b2"), Change.add(key[5], "d2"))
                            .change(delete(key[2], "a1"), Change.add(key[5], "d3"), Change.add(key[4], null)).compact(true)
                            .change(Change.add(key[2], "a4"), delete(key[3], "b2")));
        }
        suite.table("pk/key-three-columns", "primary key of three columns in another order than the columns, 2 buckets", t ->
                t.column("v", "STRING").column("c", "DATE NOT NULL").column("a", "STRING NOT NULL").column("x", "INT").column("b", "BIGINT NOT NULL")
                        .primaryKey("a", "b", "c").option("bucket", 2).option("write-only", true).create()
                        .change(three("1", "a", 1, 1), three("1", "a", 1, 2), three("1", "a", 2, 1), three("1", "b", 1, 1))
                        .change(three("2", "a", 1, 2), three("2", "", 1, 1), three("2", "b", -1, 1), three("2", "ab", 1, 1))
                        .change(delete("gone", "2024-01-01", "a", null, 1), three("3", "b", 1, 1), three("3", "", 1, 1)).compact(true)
                        .change(three("4", "a", 2, 1), three("4", "zz", 9, 9)));
        suite.table("pk/key-strings", "primary key of STRING, many keys that begin alike, 4 runs", t -> {
            PkFixtures.writeOnly(t.column("k", "STRING NOT NULL").column("n", "INT").primaryKey("k")).create();
            String[] ends = {"", "a", "ab", "b", "\u0000", "ü", "日", "\uffff", "😀"};
            for (int i = 0; i < 4; i++) {
                Change[] changes = new Change[40];
                for (int k = 0; k < changes.length; k++) {
                    changes[k] = Change.add("the same long beginning of a key ".substring(0, (k * 5 + i) % 33) + ends[(k + i) % ends.length], i * 100 + k);
                }
                t.change(changes);
            }
        });
        suite.table("pk/bucket-key", "primary key of two columns, bucket-key is one of them", t ->
                t.column("a", "INT NOT NULL").column("b", "STRING NOT NULL").column("v", "STRING").primaryKey("a", "b").option("bucket", 3).option("bucket-key", "b").option("write-only", true).create()
                        .change(Change.add(1, "x", "1x"), Change.add(2, "x", "2x"), Change.add(1, "y", "1y"), Change.add(3, "z", "3z"))
                        .change(Change.add(1, "x", "1x again"), delete(3, "z", null), Change.add(4, "w", "4w")).compact(true).change(Change.add(2, "x", null)));
        partitions(suite);
        buckets(suite);
    }

    private static Change three(String v, String a, long b, int day) {
        return Change.add(v, "2024-01-0" + day, a, day, b);
    }

    private static TableWriter partitioned(TableWriter t) {
        return t.column("p", "STRING NOT NULL").column("id", "INT NOT NULL").column("v", "STRING").column("n", "INT").partitionBy("p").primaryKey("p", "id");
    }

    private static Change in(String p, int id, String v) {
        return Change.add(p, id, v, id * 10);
    }

    private static TableWriter partitionHistory(TableWriter t, boolean compact) throws Exception {
        t.change(in("a", 1, "a1"), in("a", 2, "a2"), in("b", 1, "b1"), in("", 1, "blank"));
        t.change(in("a", 1, "a1+"), in("c", 1, "c1"), delete("b", 1, "b1", 10), in("b", 2, "b2"));
        if (compact) {
            t.compact(true);
        }
        return t.change(in("a", 3, "a3"), delete("a", 2, "a2", 20), in("", 1, null), in("c", 1, "c1+"));
    }

    private static void partitions(TableSink suite) throws Exception {
        suite.table("pk/partitioned", "primary key, partitioned, 2 buckets", t ->
                partitionHistory(partitioned(t).option("bucket", 2).option("write-only", true).create(), true));
        suite.table("pk/partitioned-compacting", "primary key, partitioned, 1 bucket, changelog-producer=lookup", t ->
                partitionHistory(partitioned(t).option("bucket", 1).option("changelog-producer", "lookup").create(), false));
        suite.table("pk/partitioned-date", "primary key, partitioned by DATE and INT, key columns in another order", t -> {
            t.column("id", "BIGINT NOT NULL").column("n", "INT NOT NULL").column("v", "STRING").column("day", "DATE NOT NULL").partitionBy("day", "n").primaryKey("id", "day", "n")
                    .option("bucket", 1).option("write-only", true).create();
            t.change(Change.add(1, 1, "a", "2024-01-31"), Change.add(2, 1, "b", "2024-01-31"), Change.add(1, 2, "c", "1970-01-02"));
            t.change(Change.add(1, 1, "a2", "2024-01-31"), Change.add(1, 1, "other day", "2024-02-01"), delete(1, 2, null, "1970-01-02")).compact(true);
            t.change(Change.add(2, 1, "b2", "2024-01-31"));
        });
        suite.table("pk/partitioned-overwritten", "primary key, partitioned, a partition overwritten, one dropped, the table truncated in part", t -> {
            partitionHistory(partitioned(t).option("bucket", 1).option("write-only", true).create(), false);
            t.overwrite(java.util.Map.of("p", "a"), Values.row("a", 1, "new", 1), Values.row("a", 9, "nine", 9));
            t.change(in("a", 9, "nine+")).truncate(java.util.Map.of("p", "c"));
            t.change(in("c", 1, "c again"));
        });
    }

    /** A bucket that depends on the key only. */
    private static int byKey(InternalRow row, int keyColumn, int buckets) {
        return Math.floorMod(row.getInt(keyColumn), buckets);
    }

    private static void buckets(TableSink suite) throws Exception {
        suite.table("pk/bucket-dynamic", "primary key, dynamic buckets (-1), hash index", t ->
                PkFixtures.historyCompacted(PkFixtures.simple(t).option("bucket", -1).option("write-only", true).buckets(row -> byKey(row, 0, 2)).create(), true));
        suite.table("pk/bucket-dynamic-partitioned", "primary key, partitioned, dynamic buckets (-1)", t ->
                partitionHistory(partitioned(t).option("bucket", -1).option("write-only", true).buckets(row -> byKey(row, 1, 3)).create(), true));
        suite.table("pk/bucket-cross-partition", "primary key without the partition columns, dynamic buckets (-1), rows move between partitions", t -> {
            t.column("p", "STRING NOT NULL").column("id", "INT NOT NULL").column("v", "STRING").column("n", "INT").partitionBy("p").primaryKey("id").option("bucket", -1).option("write-only", true)
                    .buckets(row -> byKey(row, 1, 2)).create();
            t.change(in("a", 1, "a1"), in("a", 2, "a2"), in("b", 3, "b3"));
            t.change(delete("a", 1, "a1", 10), in("b", 1, "moved"), in("b", 3, "b3+"));
            t.compact(true);
            t.change(delete("b", 1, "moved", 10), in("a", 1, "back"), delete("a", 2, null, null));
        });
        suite.table("pk/bucket-postpone", "primary key, postponed buckets (-2): rows that nobody has compacted are not read", t ->
                PkFixtures.simple(t).option("bucket", -2).create().change(Change.add(1, "a", 1), Change.add(2, "b", 2)).change(Change.add(1, "a2", 1)));
        suite.table("pk/bucket-postpone-fixed", "primary key, postponed buckets (-2), batch writes into a real bucket, then a postponed commit", t -> {
            PkFixtures.simple(t).option("bucket", -2).create();
            writeFixed(t, Change.add(1, "a", 1), Change.add(2, "b", 2), Change.add(3, "c", 3), Change.add(4, "d", 4));
            writeFixed(t, Change.add(1, "a2", null), delete(2, "b", 2), Change.add(5, "e", 5));
            t.change(Change.add(6, "postponed", 6));
        });
        suite.table("pk/bucket-rescaled", "primary key, partitioned, partitions of 1 and of 3 buckets", t -> {
            partitionHistory(partitioned(t).option("bucket", 1).option("write-only", true).create(), false);
            t.alter(org.apache.paimon.schema.SchemaChange.setOption("bucket", "3"));
            t.overwrite(java.util.Map.of("p", "a"), Values.row("a", 1, "new", 1), Values.row("a", 9, "nine", 9), Values.row("a", 7, "seven", 7));
            t.change(in("a", 9, "nine+"), in("d", 1, "d1"), in("d", 2, "d2"), delete("a", 7, null, null));
        });
    }

    /** As batch jobs write into a table with postponed buckets. */
    private static void writeFixed(TableWriter t, Change... changes) throws Exception {
        FileStoreTable table = PostponeUtils.tableForFixBucketWrite(t.table());
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = PostponeUtils.tableForCommit(t.table()).newBatchWriteBuilder().newCommit()) {
            write.withIOManager(Tables.IO_MANAGER);
            for (Change change : changes) {
                write.write(change.internal(table.rowType()));
            }
            List<CommitMessage> messages = write.prepareCommit();
            t.messages().addAll(messages);
            commit.commit(messages);
        }
    }
}
