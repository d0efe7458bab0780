// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Partitions of every type, with the values that make odd directory names. */
final class PartitionFixtures {
    private PartitionFixtures() {}

    static void add(TableSink suite) throws Exception {
        legacy(suite, "tinyint", "TINYINT", 1, -128, 127, null);
        legacy(suite, "smallint", "SMALLINT", 1, -32768, 32767, null);
        legacy(suite, "int", "INT", 0, Integer.MIN_VALUE, Integer.MAX_VALUE, null);
        legacy(suite, "bigint", "BIGINT", 0L, Long.MIN_VALUE, Long.MAX_VALUE, null);
        both(suite, "boolean", "BOOLEAN", true, false, null);
        both(suite, "float", "FLOAT", 1.5f, 0.1f, 1e10f, 1e-10f, -0.0f, 100f, Float.NaN, Float.NEGATIVE_INFINITY,
                3.4028235e38f, 1.4e-45f, null);
        both(suite, "double", "DOUBLE", 1.5, 0.1, 1e10, 1e-10, -0.0, 100.0, 2e-3, 1e7, 12345678.9, Double.NaN,
                Double.POSITIVE_INFINITY, Double.MAX_VALUE, Double.MIN_VALUE, null);
        both(suite, "decimal", "DECIMAL(10, 2)", "1.50", "-0.01", "12345678.90", null);
        both(suite, "decimal38", "DECIMAL(38, 10)", "1234567890123456789012345678.0123456789", "0", "-1E-10", null);
        both(suite, "date", "DATE", "2024-01-31", "1970-01-01", "1970-01-02", "1969-12-31", "0001-01-01", "9999-12-31",
                null);
        both(suite, "time", "TIME(0)", "00:00:00", "10:11:12", "23:59:59", null);
        both(suite, "time3", "TIME(3)", "00:00:00", "10:11:12.120", "23:59:59.999", "10:00:00", null);
        both(suite, "timestamp0", "TIMESTAMP(0)", "2024-01-31 10:11:12", "2024-01-01 00:00:00", "1969-12-31 23:59:59",
                null);
        both(suite, "timestamp3", "TIMESTAMP(3)", "2024-01-31 10:11:12.120", "2024-01-01 10:00:00",
                "1969-12-31 23:59:59.999", null);
        both(suite, "timestamp6", "TIMESTAMP(6)", "2024-01-31 10:11:12.123456", "2024-01-01 10:00:00",
                "2024-01-01 10:00:07", "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", null);
        both(suite, "timestamp9", "TIMESTAMP(9)", "2024-01-31 10:11:12.123456789", "2024-01-01 10:00:00",
                "1969-12-31 23:59:59.000000001", null);
        both(suite, "timestamp-ltz3", "TIMESTAMP(3) WITH LOCAL TIME ZONE", "2024-01-31 10:11:12.120",
                "2024-01-01 00:00:00", "1969-12-31 23:59:59.999", null);
        both(suite, "timestamp-ltz6", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "2024-01-31 10:11:12.123456",
                "2024-01-01 00:00:00", null);
        legacy(suite, "string", "STRING", strings());
        legacy(suite, "varchar", "VARCHAR(20)", "short", "a longer one than 7", "", null);
        both(suite, "char", "CHAR(5)", "ab", "abcde", " ab", "", null);

        suite.table("partition/default-name", "append, partitioned by STRING, partition.default-name", t ->
                partitioned(t.option("partition.default-name", "__NOTHING__"), "STRING", new Object[] {
                    "a", null, "", " ", "__NOTHING__", "__DEFAULT_PARTITION__"
                }));

        suite.table("partition/two-columns", "append, two partition columns in another order than the columns, NULL", t ->
                t.column("hr", "INT").column("id", "INT").column("dt", "STRING").column("v", "STRING")
                        .partitionBy("dt", "hr")
                        .create()
                        .write(row(1, 1, "2024-01-01", "a"), row(2, 2, "2024-01-01", "b"), row(1, 3, "2024-01-02", "c"))
                        .write(row(null, 4, "2024-01-02", "d"), row(1, 5, null, "e"), row(null, 6, null, null)));

        suite.table("partition/not-null", "append, partition column NOT NULL", t ->
                t.column("id", "INT NOT NULL").column("p", "INT NOT NULL").partitionBy("p")
                        .create().write(row(1, 1), row(2, 1), row(3, 2)));

        suite.table("partition/only-partition-columns", "append, all columns are partition columns", t ->
                t.column("a", "INT").column("b", "STRING").partitionBy("a", "b")
                        .create().write(row(1, "x"), row(1, "x"), row(2, "y")));

        suite.table("partition/many", "append, 20 partitions in one manifest", t -> {
            List<Object[]> rows = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                rows.add(row(i, i % 20));
            }
            t.column("id", "INT").column("p", "INT").partitionBy("p").create().write(rows.toArray(new Object[0][]));
        });
    }

    /** No names that Windows cannot check out: blank or dot at the end, angle brackets, bar. */
    private static Object[] strings() {
        return new Object[] {
            "a", "", " ", "   ", "\t", null, "a b/c=d%:*", "a%2Fb", ".hidden", "_under", "null", "back\\slash",
            "{x}[y]^", "quote\"'#?", "line\nfeed", "\u0001\u007f", "größe", "日本", "𝄞😀", "long-enough-to-leave-the-slot",
            "__DEFAULT_PARTITION__", "  a", "\u3000", "\u00a0", "~!@$&()+,;`"
        };
    }

    private static void legacy(TableSink suite, String name, String type, Object... values) throws Exception {
        suite.table("partition/" + name, "append, partitioned by " + type, t -> partitioned(t, type, values));
    }

    /** Both ways to make a directory name of a value, where they can differ. */
    private static void both(TableSink suite, String name, String type, Object... values) throws Exception {
        legacy(suite, name, type, values);
        String features = "append, partitioned by " + type + ", partition.legacy-name=false";
        suite.table("partition/" + name + "-cast", features, t ->
                partitioned(t.option("partition.legacy-name", false), type, values));
    }

    /** The first half of the values in one commit, then all of them in another. */
    private static void partitioned(TableWriter t, String type, Object[] values) throws Exception {
        t.column("id", "INT").column("p", type).partitionBy("p")
                .create()
                .write(rows(0, Arrays.copyOf(values, values.length / 2)))
                .write(rows(100, values));
    }

    private static Object[][] rows(int firstId, Object[] values) {
        Object[][] rows = new Object[values.length][];
        for (int i = 0; i < values.length; i++) {
            rows[i] = row(firstId + i, values[i]);
        }
        return rows;
    }
}
