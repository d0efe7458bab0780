// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Every atomic type with its bounds and odd values. */
final class TypeFixtures {
    private TypeFixtures() {}

    /** Column name to type and values: an ordinary one, the least, the greatest, two odd ones. */
    static final Map<String, List<Object>> COLUMNS = columns();

    static void add(TableSink suite) throws Exception {
        suite.table("types/wide", "append, every atomic type, bounds, NULL rows", t -> wide(t, ""));
        suite.table("types/wide-not-null", "append, every atomic type NOT NULL, bounds", t -> wide(t, " NOT NULL"));
        suite.table("types/all-null", "append, every atomic type, only NULL", t -> {
            COLUMNS.forEach((name, column) -> t.column(name, column.get(0)));
            t.create().write(new Object[COLUMNS.size()], new Object[COLUMNS.size()], new Object[COLUMNS.size()]);
        });
        suite.table("types/unicode", "append, STRING, text of all planes and control characters", t ->
                t.column("id", "INT").column("s", "STRING").create()
                        .write(row(1, "ascii"), row(2, "größe"), row(3, "日本語"), row(4, "😀𝄞"), row(5, "e\u0301"),
                                row(6, "\u0000"), row(7, "a\u0000b"), row(8, "line\r\nfeed\ttab"), row(9, "\u001f\u007f"),
                                row(10, "\ufeff\uffff"), row(11, "\"quoted\\\""), row(12, "\ud800\udc00\udbff\udfff"),
                                row(13, "\u2028\u2029")));
        suite.table("types/long-text", "append, STRING and BYTES longer than the statistics keep", t ->
                t.column("id", "INT").column("s", "STRING").column("b", "BYTES").create()
                        .write(row(1, "a".repeat(100), "ab".repeat(100)),
                                row(2, "zzzzzzzzzzzzzzz😀tail", "ff".repeat(40)),
                                row(3, "\udbff\udfff".repeat(20), "00".repeat(40)),
                                row(4, "m", null)));
        suite.table("types/timestamps", "append, TIMESTAMP and TIMESTAMP_LTZ of every precision", TypeFixtures::timestamps);
        suite.table("types/decimals", "append, DECIMAL of many precisions and scales", TypeFixtures::decimals);
        suite.table("types/times", "append, TIME of every precision", t -> {
            t.column("id", "INT");
            for (int p = 0; p <= 9; p++) {
                t.column("t" + p, "TIME(" + p + ")");
            }
            Object[] noon = new Object[11];
            Object[] odd = new Object[11];
            Object[] last = new Object[11];
            String[] fractions = {"", ".1", ".12", ".123"};
            for (int p = 0; p <= 9; p++) {
                noon[p + 1] = "12:00:00";
                odd[p + 1] = "10:11:12" + fractions[Math.min(p, 3)];
                last[p + 1] = "23:59:59" + (p == 0 ? "" : "." + "9".repeat(Math.min(p, 3)));
            }
            noon[0] = 1;
            odd[0] = 2;
            last[0] = 3;
            t.create().write(noon, odd, last, new Object[11]);
        });
    }

    private static void wide(TableWriter t, String suffix) throws Exception {
        COLUMNS.forEach((name, column) -> t.column(name, column.get(0) + suffix));
        t.create();
        List<Object[]> rows = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            int value = i;
            rows.add(COLUMNS.values().stream().map(column -> column.get(value)).toArray());
        }
        if (suffix.isEmpty()) {
            rows.add(new Object[COLUMNS.size()]);
        }
        t.write(rows.toArray(new Object[0][]));
    }

    private static Map<String, List<Object>> columns() {
        Map<String, List<Object>> c = new LinkedHashMap<>();
        put(c, "c_boolean", "BOOLEAN", true, false, true, false, true);
        put(c, "c_tinyint", "TINYINT", 1, -128, 127, 0, -1);
        put(c, "c_smallint", "SMALLINT", 1, -32768, 32767, 0, -1);
        put(c, "c_int", "INT", 1, Integer.MIN_VALUE, Integer.MAX_VALUE, 0, -1);
        put(c, "c_bigint", "BIGINT", 1, Long.MIN_VALUE, Long.MAX_VALUE, 0, 9007199254740993L);
        put(c, "c_float", "FLOAT", 0.1f, -Float.MAX_VALUE, Float.POSITIVE_INFINITY, -0.0f, Float.NaN);
        put(c, "c_double", "DOUBLE", 0.1, Double.NEGATIVE_INFINITY, Double.MAX_VALUE, -0.0, Double.NaN);
        put(c, "c_decimal5", "DECIMAL(5, 2)", "1.50", "-999.99", "999.99", "0", "-0.01");
        put(c, "c_decimal9", "DECIMAL(9, 0)", "1", "-999999999", "999999999", "0", "-1");
        put(c, "c_decimal15", "DECIMAL(15, 5)", "1.50000", "-9999999999.99999", "9999999999.99999", "0", "-0.00001");
        put(c, "c_decimal18", "DECIMAL(18, 18)", "0.5", "-0.999999999999999999", "0.999999999999999999", "0", "1E-18");
        put(c, "c_decimal38", "DECIMAL(38, 10)", "1.5", "-9999999999999999999999999999.9999999999",
                "9999999999999999999999999999.9999999999", "0", "-1E-10");
        put(c, "c_char", "CHAR(5)", "abc", "", "zzzzz", "é😀", " b ");
        put(c, "c_varchar", "VARCHAR(10)", "abc", "", "zzzzzzzzzz", "日本", "  ");
        put(c, "c_string", "STRING", "some text that is long", "", "zzzz", "😀", "\n");
        put(c, "c_binary", "BINARY(4)", "01020304", "00000000", "ffffffff", "80007f01", "0a0b0c0d");
        put(c, "c_varbinary", "VARBINARY(10)", "0102", "", "ffffffffffffffffffff", "00", "80");
        put(c, "c_bytes", "BYTES", "0102030405060708090a0b0c", "", "ffff", "00", "80");
        put(c, "c_date", "DATE", "2024-01-31", "0001-01-01", "9999-12-31", "1969-12-31", "1582-10-15");
        put(c, "c_time0", "TIME(0)", "10:11:12", "00:00:00", "23:59:59", "00:00:01", "12:00:00");
        put(c, "c_time3", "TIME(3)", "10:11:12.123", "00:00:00", "23:59:59.999", "00:00:00.001", "12:00:00");
        String[] kinds = {"", " WITH LOCAL TIME ZONE"};
        for (String kind : kinds) {
            String name = kind.isEmpty() ? "c_timestamp" : "c_ltz";
            put(c, name + "0", "TIMESTAMP(0)" + kind, "2024-01-31 10:11:12", "0001-01-01 00:00:00",
                    "9999-12-31 23:59:59", "1970-01-01 00:00:00", "1969-12-31 23:59:59");
            put(c, name + "3", "TIMESTAMP(3)" + kind, "2024-01-31 10:11:12.123", "0001-01-01 00:00:00",
                    "9999-12-31 23:59:59.999", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999");
            put(c, name + "6", "TIMESTAMP(6)" + kind, "2024-01-31 10:11:12.123456", "0001-01-01 00:00:00",
                    "9999-12-31 23:59:59.999999", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999");
            put(c, name + "9", "TIMESTAMP(9)" + kind, "2024-01-31 10:11:12.123456789", "1677-09-21 00:12:43.145224193",
                    "2262-04-11 23:47:16.854775807", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999999");
        }
        return c;
    }

    private static void put(Map<String, List<Object>> columns, String name, String type, Object... values) {
        List<Object> column = new ArrayList<>();
        column.add(type);
        column.addAll(Arrays.asList(values));
        columns.put(name, column);
    }

    private static void timestamps(TableWriter t) throws Exception {
        t.column("id", "INT");
        String[] instants = {
            "2024-01-31 10:11:12.", "1969-12-31 23:59:59.", "1970-01-01 00:00:00.", "1899-12-31 23:59:59.",
            "1700-02-28 01:02:03."
        };
        List<Object[]> rows = new ArrayList<>();
        for (int i = 0; i < instants.length; i++) {
            rows.add(new Object[21]);
            rows.get(i)[0] = i;
        }
        for (int p = 0; p <= 9; p++) {
            t.column("ts" + p, "TIMESTAMP(" + p + ")");
            t.column("ltz" + p, "TIMESTAMP(" + p + ") WITH LOCAL TIME ZONE");
            for (int i = 0; i < instants.length; i++) {
                String text = instants[i] + "123456789".substring(0, p) + "0".repeat(9 - p);
                rows.get(i)[1 + 2 * p] = text;
                rows.get(i)[2 + 2 * p] = text;
            }
        }
        rows.add(new Object[21]);
        t.create().write(rows.toArray(new Object[0][]));
    }

    private static void decimals(TableWriter t) throws Exception {
        int[][] types = {{1, 0}, {1, 1}, {2, 2}, {4, 2}, {9, 9}, {10, 0}, {17, 3}, {18, 2}, {19, 0}, {20, 2}, {28, 14}, {38, 0}, {38, 38}};
        List<List<Object>> rows = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        for (int[] type : types) {
            int p = type[0];
            int s = type[1];
            t.column("d" + p + "_" + s, "DECIMAL(" + p + ", " + s + ")");
            String max = new java.math.BigDecimal(new java.math.BigInteger("9".repeat(p)), s).toPlainString();
            rows.get(0).add(max);
            rows.get(1).add("-" + max);
            rows.get(2).add("0");
            rows.get(3).add(new java.math.BigDecimal(java.math.BigInteger.ONE, s).toPlainString());
            rows.get(4).add(null);
        }
        t.create().write(rows.stream().map(List::toArray).toArray(Object[][]::new));
    }
}
