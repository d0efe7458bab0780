// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

/** Append tables with a fixed number of buckets. */
final class BucketFixtures {
    private BucketFixtures() {}

    static void add(TableSink suite) throws Exception {
        suite.table("bucket/int-key", "append, 4 buckets, key INT", t ->
                bucketed(t.column("id", "INT").column("v", "STRING"), 4, "id").create()
                        .write(row(1, "a"), row(2, "b"), row(3, "c"), row(4, "d"), row(5, "e"), row(6, "f"), row(7, "g"))
                        .write(row(null, "h"), row(-1, "i"), row(Integer.MIN_VALUE, "j"), row(Integer.MAX_VALUE, "k")));

        suite.table("bucket/string-key", "append, 5 buckets, key STRING", t ->
                bucketed(t.column("id", "INT").column("k", "STRING"), 5, "k").create()
                        .write(row(1, "a"), row(2, ""), row(3, null), row(4, "1234567"), row(5, "12345678"),
                                row(6, "a longer text with ümlauts and 😀"), row(7, " ")));

        suite.table("bucket/multi-key", "append, 3 buckets, keys STRING and BIGINT, in another order than the columns", t ->
                bucketed(t.column("a", "BIGINT").column("b", "STRING").column("c", "INT"), 3, "b,a").create()
                        .write(row(1L, "x", 1), row(2L, "y", 2), row(null, "z", 3), row(4L, null, 4), row(null, null, 5))
                        .write(row(Long.MAX_VALUE, "long enough to leave the slot", 6), row(-1L, "", 7)));

        suite.table("bucket/decimal-timestamp-key", "append, 6 buckets, keys DECIMAL(20, 2) and TIMESTAMP(6), NULL in keys", t ->
                bucketed(t.column("id", "INT").column("d", "DECIMAL(20, 2)").column("ts", "TIMESTAMP(6)"), 6, "d,ts")
                        .create()
                        .write(row(1, "1.50", "2024-01-31 10:11:12.123456"), row(2, "-0.01", "1969-12-31 23:59:59.999999"),
                                row(3, "123456789012345678.90", "9999-12-31 23:59:59"), row(4, null, "2024-01-01 00:00:00"),
                                row(5, "0", null), row(6, null, null)));

        suite.table("bucket/every-key-type", "append, 7 buckets, keys of every atomic type", t ->
                everyKeyType(bucketed(t, 7, "b,i1,i2,i4,i8,f,d,d9,d38,c,s,bin,bytes,day,tm,ts3,ts9,ltz3,ltz6")));

        keyTypes(suite, "default");
        suite.table("bucket/mod-int", "append, 4 buckets, bucket-function.type=mod, key INT", t ->
                bucketed(t.column("id", "INT").column("v", "STRING"), 4, "id").option("bucket-function.type", "mod")
                        .create()
                        .write(row(0, "a"), row(1, "b"), row(5, "c"), row(-1, "d"), row(-5, "e"),
                                row(Integer.MIN_VALUE, "f"), row(Integer.MAX_VALUE, "g")));

        suite.table("bucket/mod-bigint", "append, 4 buckets, bucket-function.type=mod, key BIGINT", t ->
                bucketed(t.column("id", "BIGINT").column("v", "STRING"), 4, "id").option("bucket-function.type", "mod")
                        .create()
                        .write(row(0, "a"), row(4294967297L, "b"), row(-4294967299L, "c"),
                                row(Long.MIN_VALUE, "d"), row(Long.MAX_VALUE, "e")));

        keyTypes(suite, "hive");
        suite.table("bucket/hive-multi-key", "append, 5 buckets, bucket-function.type=hive, keys INT and STRING, NULL", t ->
                bucketed(t.column("i", "INT").column("s", "STRING"), 5, "i,s").option("bucket-function.type", "hive")
                        .create()
                        .write(row(1, "a"), row(-1, "größe"), row(null, "b"), row(2, null), row(null, null), row(3, "")));

        suite.table("bucket/partitioned", "append, partitioned by INT, 2 buckets, several commits", t ->
                bucketed(t.column("p", "INT").column("id", "INT").column("v", "STRING").partitionBy("p"), 2, "id")
                        .create()
                        .write(row(1, 1, "a"), row(1, 2, "b"), row(2, 1, "c"))
                        .write(row(1, 3, "d"), row(2, 4, "e"), row(null, 5, "f"))
                        .write(row(2, 6, "g"), row(2, 7, "h")));

        suite.table("bucket/one", "append, 1 bucket", t ->
                bucketed(t.column("id", "INT").column("v", "STRING"), 1, "id").create()
                        .write(row(1, "a"), row(2, "b")).write(row(3, "c")));
    }

    private static TableWriter bucketed(TableWriter t, int buckets, String key) {
        return t.option("bucket", buckets).option("bucket-key", key).option("write-only", true);
    }

    /** One table a key type, so that each type's hash shows by itself. */
    private static void keyTypes(TableSink suite, String function) throws Exception {
        keyType(suite, function, "boolean", "BOOLEAN", true, false, null);
        keyType(suite, function, "tinyint", "TINYINT", 1, 2, -1, -128, 127, null);
        keyType(suite, function, "smallint", "SMALLINT", 1, 2, -1, -32768, null);
        keyType(suite, function, "bigint", "BIGINT", 1, 2, -1, Long.MIN_VALUE, 1L << 40, null);
        keyType(suite, function, "float", "FLOAT", 1f, 1.5f, -0.0f, 0f, Float.NaN, Float.MAX_VALUE, null);
        keyType(suite, function, "double", "DOUBLE", 1.0, 1.5, -0.0, 0.0, Double.NaN, Double.MIN_VALUE, null);
        keyType(suite, function, "decimal", "DECIMAL(10, 2)", "1.00", "1.50", "-12345678.91", "0", null);
        keyType(suite, function, "date", "DATE", "1970-01-01", "2024-01-31", "1969-12-31", null);
        if (!function.equals("hive")) {
            // Java refuses TIMESTAMP keys with the hive function.
            keyType(suite, function, "timestamp", "TIMESTAMP(6)", "1970-01-01 00:00:00", "2024-01-31 10:11:12.123456",
                    "1969-12-31 23:59:59.999999", null);
        }
        keyType(suite, function, "binary", "BYTES", "", "00", "ff80", "0102030405060708090a", null);
    }

    private static void keyType(TableSink suite, String function, String name, String type, Object... values)
            throws Exception {
        suite.table("bucket/" + function + "-" + name,
                "append, 8 buckets, bucket-function.type=" + function + ", key " + type, t -> {
                    Object[][] rows = new Object[values.length][];
                    for (int i = 0; i < values.length; i++) {
                        rows[i] = row(i, values[i]);
                    }
                    bucketed(t.column("id", "INT").column("k", type), 8, "k")
                            .option("bucket-function.type", function).create().write(rows);
                });
    }

    private static void everyKeyType(TableWriter t) throws Exception {
        t.column("b", "BOOLEAN").column("i1", "TINYINT").column("i2", "SMALLINT").column("i4", "INT")
                .column("i8", "BIGINT").column("f", "FLOAT").column("d", "DOUBLE").column("d9", "DECIMAL(9, 4)")
                .column("d38", "DECIMAL(38, 2)").column("c", "CHAR(3)").column("s", "STRING").column("bin", "BINARY(2)")
                .column("bytes", "BYTES").column("day", "DATE").column("tm", "TIME(3)").column("ts3", "TIMESTAMP(3)")
                .column("ts9", "TIMESTAMP(9)").column("ltz3", "TIMESTAMP(3) WITH LOCAL TIME ZONE")
                .column("ltz6", "TIMESTAMP(6) WITH LOCAL TIME ZONE")
                .create()
                .write(
                        row(true, 1, 2, 3, 4, 1.5f, -2.5, "1.2345", "123456789012345678901.25", "abc", "text", "0102",
                                "030405060708090a", "2024-01-31", "10:11:12.123", "2024-01-31 10:11:12.123",
                                "2024-01-31 10:11:12.123456789", "2024-01-31 10:11:12.123", "2024-01-31 10:11:12.123456"),
                        row(false, -1, -2, -3, -4, Float.NaN, Double.NaN, "-1.2345", "-1.25", "", "", "ffff", "",
                                "1969-12-31", "00:00:00", "1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999999999",
                                "1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999999"),
                        row(null, null, null, null, null, null, null, null, null, null, null, null, null, null, null,
                                null, null, null, null));
    }
}
