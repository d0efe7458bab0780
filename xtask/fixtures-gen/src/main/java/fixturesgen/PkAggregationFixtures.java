// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.before;
import static fixturesgen.Change.delete;

import org.apache.paimon.utils.HllSketchUtil;
import org.apache.paimon.utils.RoaringBitmap32;
import org.apache.paimon.utils.RoaringBitmap64;
import org.apache.paimon.utils.ThetaSketch;

import java.io.IOException;
import java.util.List;

/** Merge engine aggregation: every function with its options, with NULLs and with retracts. */
final class PkAggregationFixtures {
    private PkAggregationFixtures() {}

    static void add(TableSink suite) throws Exception {
        numbers(suite);
        order(suite);
        text(suite);
        nested(suite);
        sketches(suite);
        options(suite);
    }

    static TableWriter aggregation(TableWriter t) {
        return PkFixtures.writeOnly(t).option("merge-engine", "aggregation").column("id", "INT NOT NULL").primaryKey("id");
    }

    /** A column and its function. */
    static TableWriter column(TableWriter t, String name, Object type, String function) {
        return t.column(name, type).option("fields." + name + ".aggregate-function", function);
    }

    private static TableWriter numeric(TableWriter t, String function) throws Exception {
        aggregation(t);
        String[] types = {"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 4)"};
        for (int i = 0; i < types.length; i++) {
            column(t, "c" + i, types[i], function);
        }
        return t.create();
    }

    private static Object[] number(int id, int n, double d, String decimal) {
        return new Object[] {id, n, n, n, n, d, d, decimal, decimal};
    }

    private static Object[] nulls(int id, int columns) {
        Object[] row = new Object[columns];
        row[0] = id;
        return row;
    }

    private static void numbers(TableSink suite) throws Exception {
        suite.table("pk/aggregation-sum", "primary key, aggregation, sum of every numeric type, retracts", t ->
                numeric(t, "sum")
                        .change(Change.add(number(1, 1, 0.1, "0.10")), Change.add(number(2, -7, -1e300, "-99999999.99")), Change.add(nulls(3, 9)), Change.add(number(4, 0, -0.0, "0.00")))
                        .change(Change.add(number(1, 2, 0.2, "0.20")), Change.add(nulls(2, 9)), Change.add(number(3, 5, 5.5, "5.50")), Change.add(number(4, 0, Double.NaN, "1.00")))
                        .change(before(number(1, 1, 0.1, "0.10")), delete(number(2, 3, 3.25, "3.25")), before(nulls(3, 9)), delete(number(5, 1, 1, "1.00")))
                        .change(Change.add(number(1, 100, 1e10, "1.11")), Change.add(number(1, 10, 3, "2.22")), before(number(5, 2, 2, "2.00")), delete(number(6, 9, 9, "9.00")), Change.add(number(6, 1, 1, "1.00")))
                        .compact(true)
                        .change(Change.add(number(1, -50, 0.3, "-0.43")), before(number(4, 1, 1, "1.00")), Change.add(number(7, 7, 7, "7.00"))));
        suite.table("pk/aggregation-product", "primary key, aggregation, product of every numeric type, retracts divide", t ->
                numeric(t, "product")
                        .change(Change.add(number(1, 2, 0.5, "2.00")), Change.add(number(2, -7, -1.5, "-1.50")), Change.add(nulls(3, 9)))
                        .change(Change.add(number(1, 3, 4, "0.50")), Change.add(nulls(2, 9)), Change.add(number(3, 5, 5.5, "5.50")))
                        .change(before(number(1, 2, 0.5, "2.00")), delete(number(2, 2, 2, "0.50")), before(nulls(3, 9)), delete(number(4, 2, 2, "2.00")))
                        .change(Change.add(number(1, 10, 1e10, "1.10")), Change.add(number(1, 3, 3, "2.00")), Change.add(number(4, 6, 3, "4.00")))
                        .compact(true)
                        .change(Change.add(number(1, -1, 0.3, "-1.00")), before(number(4, 4, 2, "2.00"))));
        // Beyond 18 digits a sum that does not fit is NULL and the next value starts anew; up to 18 digits nothing is checked.
        suite.table("pk/aggregation-sum-decimals", "primary key, aggregation, sum of DECIMAL beyond its precision", t ->
                column(column(column(column(aggregation(t), "d4", "DECIMAL(4, 2)", "sum"), "d18", "DECIMAL(18, 0)", "sum"), "d19", "DECIMAL(19, 0)", "sum"),
                        "d38", "DECIMAL(38, 0)", "sum").create()
                        .change(decimals(1, "9"), decimals(2, "-9"))
                        .change(decimals(1, "9"), decimals(2, "-9"))
                        .change(decimals(1, "1"), delete(2, "0.01", "1", "1", "1")).compact(true)
                        .change(decimals(1, "1"), decimals(2, "1")));
        suite.table("pk/aggregation-bool", "primary key, aggregation, bool_and and bool_or", t ->
                column(column(aggregation(t), "a", "BOOLEAN", "bool_and"), "o", "BOOLEAN", "bool_or").create()
                        .change(Change.add(1, true, false), Change.add(2, null, null), Change.add(3, false, true))
                        .change(Change.add(1, true, false), Change.add(2, true, null), Change.add(3, null, null))
                        .change(Change.add(1, false, true), Change.add(2, null, false), Change.add(3, true, false)).compact(true)
                        .change(Change.add(1, true, false), Change.add(2, false, true)));
    }

    private static Change decimals(int id, String digit) {
        boolean minus = digit.startsWith("-");
        String d = digit.replace("-", "");
        String sign = minus ? "-" : "";
        return Change.add(id, sign + d + d + "." + d + d, sign + d.repeat(18), sign + d.repeat(19), sign + d.repeat(38));
    }

    private static final String[] COMPARABLE = {
        "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 4)", "STRING", "CHAR(3)", "VARCHAR(20)",
        "DATE", "TIME(3)", "TIMESTAMP(3)", "TIMESTAMP(9)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", "BOOLEAN"
    };

    private static Object[] comparable(int id, int n, double d, String text, String time) {
        String decimal = n + ".50";
        String day = time.substring(0, 10);
        String clock = time.substring(11);
        return new Object[] {id, n, n, n, n, d, d, decimal, decimal, text, (text + "   ").substring(0, 3), text, day, clock + ".000", time, time, time, n > 0};
    }

    private static void order(TableSink suite) throws Exception {
        for (String function : List.of("max", "min", "last_value", "last_non_null_value", "first_value", "first_non_null_value", "first_not_null_value")) {
            boolean last = function.startsWith("last");
            suite.table("pk/aggregation-" + function.replace('_', '-'), "primary key, aggregation, " + function + " of every comparable type" + (last ? ", retracts" : ", ignore-retract"), t -> {
                aggregation(t);
                for (int i = 0; i < COMPARABLE.length; i++) {
                    // Java cannot compare BOOLEAN.
                    boolean compared = function.equals("max") || function.equals("min");
                    column(t, "c" + i, COMPARABLE[i], compared && COMPARABLE[i].equals("BOOLEAN") ? "bool_or" : function);
                    if (!last) {
                        t.option("fields.c" + i + ".ignore-retract", true);
                    }
                }
                t.create();
                t.change(Change.add(comparable(1, 1, 1.5, "b", "2024-01-31 10:11:12")), Change.add(nulls(2, 18)), Change.add(comparable(3, 0, -0.0, "", "1969-12-31 23:59:59")),
                        Change.add(comparable(4, 5, Double.NaN, "z", "2000-01-01 00:00:00")));
                t.change(Change.add(comparable(1, 2, -1.5, "aa", "2024-01-31 10:11:11")), Change.add(comparable(2, -5, 0, "ü", "1970-01-01 00:00:00")), Change.add(comparable(3, 0, 0.0, "\u0000", "1970-01-01 00:00:00")),
                        Change.add(comparable(4, 6, Double.NEGATIVE_INFINITY, "日本", "1999-12-31 23:59:59")));
                t.change(before(comparable(1, 2, -1.5, "aa", "2024-01-31 10:11:11")), delete(nulls(2, 18)), Change.add(nulls(3, 18)), Change.add(comparable(4, 4, 1e300, "Z", "2038-01-19 03:14:08")));
                t.change(Change.add(comparable(1, -9, 9, "c", "1700-01-01 00:00:00")), Change.add(nulls(1, 18)), Change.add(comparable(3, 7, Double.POSITIVE_INFINITY, "😀", "2261-12-31 23:59:59")));
                t.compact(true);
                t.change(Change.add(comparable(1, 3, 3, "bb", "2024-02-29 00:00:00")), delete(comparable(4, 4, 4, "Z", "2038-01-19 03:14:08")), Change.add(comparable(5, 1, 1, "new", "2024-01-01 00:00:00")));
            });
        }
        suite.table("pk/aggregation-any-type", "primary key, aggregation, first and last functions of ARRAY, MAP, ROW and BYTES", t -> {
            aggregation(t);
            for (String function : List.of("last_value", "last_non_null_value", "first_value", "first_non_null_value")) {
                String name = function.replace("_value", "");
                column(t, "a_" + name, Values.array("INT"), function);
                column(t, "m_" + name, Values.map("STRING", "INT"), function);
                column(t, "r_" + name, Values.rowType("x", "INT", "y", "STRING"), function);
                column(t, "b_" + name, "BYTES", function);
            }
            t.create().change(any(1, 1), any(2, null)).change(any(1, null), any(2, 2)).change(any(1, 3), any(2, null)).compact(true).change(any(1, 4), any(3, 1));
        });
    }

    private static Change any(int id, Integer n) {
        Object[] row = new Object[17];
        row[0] = id;
        for (int i = 1; n != null && i < 17; i += 4) {
            row[i] = Values.list(n, null);
            row[i + 1] = Values.entries("k" + n, n);
            row[i + 2] = Values.row(n, null);
            row[i + 3] = "0" + n;
        }
        return Change.add(row);
    }

    private static void text(TableSink suite) throws Exception {
        suite.table("pk/aggregation-listagg", "primary key, aggregation, listagg with default, other, long and distinct delimiters", t ->
                column(column(column(column(aggregation(t), "l", "STRING", "listagg"), "semi", "STRING", "listagg"), "d", "STRING", "listagg"), "long", "STRING", "listagg")
                        .option("fields.semi.list-agg-delimiter", ";").option("fields.d.distinct", true)
                        .option("fields.long.list-agg-delimiter", " || ").option("fields.long.distinct", true).create()
                        .change(texts(1, "a"), texts(2, null), texts(3, "y"), texts(4, "a,b,,a"))
                        .change(texts(1, "b"), texts(2, "x"), texts(3, ""), texts(4, "b"))
                        .change(texts(1, "a"), texts(2, "x,y"), texts(3, "z"), texts(4, "c,a"), texts(5, " || "))
                        .change(texts(1, null), texts(2, ""), texts(2, "x"), texts(3, "z"), texts(5, "p || q||r || p")).compact(true)
                        .change(texts(1, "größe 😀"), texts(2, "y"), texts(4, ""), texts(5, "q||r")));
        suite.table("pk/aggregation-listagg-ignore-retract", "primary key, aggregation, listagg, ignore-retract", t ->
                column(aggregation(t), "l", "STRING", "listagg").option("fields.l.ignore-retract", true).create()
                        .change(Change.add(1, "a"), Change.add(2, "b")).change(before(1, "a"), Change.add(1, "c"), delete(2, "b")).compact(true).change(delete(3, "x"), delete(1, "a")));
    }

    private static Change texts(int id, String text) {
        return Change.add(id, text, text, text, text);
    }

    private static void nested(TableSink suite) throws Exception {
        suite.table("pk/aggregation-collect", "primary key, aggregation, collect of INT, STRING and ROW, retracts remove one each (ROW: ignore-retract, Java cannot)", t ->
                column(column(column(aggregation(t), "i", Values.array("INT"), "collect"), "s", Values.array("STRING"), "collect"), "r", Values.array(Values.rowType("x", "INT")), "collect").option("fields.r.ignore-retract", true).create()
                        .change(collected(Change::add, 1, 1, 2, 1), collected(Change::add, 2), Change.add(3, null, null, null))
                        .change(collected(Change::add, 1, 3), collected(Change::add, 2, 5, 5), collected(Change::add, 3, 7))
                        .change(collected(Change::before, 1, 1, 9), collected(Change::delete, 2, 5), Change.add(3, null, null, null))
                        .change(collected(Change::add, 1, 1, 1), collected(Change::delete, 4, 1)).compact(true)
                        .change(collected(Change::delete, 1, 1, 2), collected(Change::add, 4, 4)));
        suite.table("pk/aggregation-collect-distinct", "primary key, aggregation, collect with distinct" + PkFixtures.UNORDERED, t ->
                column(column(column(aggregation(t), "i", Values.array("INT"), "collect"), "s", Values.array("STRING"), "collect"), "r", Values.array(Values.rowType("x", "INT")), "collect")
                        .option("fields.i.distinct", true).option("fields.s.distinct", true).option("fields.r.distinct", true).create()
                        .change(collected(Change::add, 1, 1, 2, 1), collected(Change::add, 2), Change.add(3, null, null, null))
                        .change(collected(Change::add, 1, 3, 2), collected(Change::add, 2, 5, 5), collected(Change::add, 3, 7, 7))
                        .change(collected(Change::before, 1, 1, 9), collected(Change::delete, 2, 5)).compact(true)
                        .change(collected(Change::add, 1, 1, 1, 3), collected(Change::add, 3, 8, 7)));
        suite.table("pk/aggregation-merge-map", "primary key, aggregation, merge_map, retracts remove keys" + PkFixtures.UNORDERED, t ->
                column(column(aggregation(t), "m", Values.map("STRING", "INT"), "merge_map"), "n", Values.map("INT", Values.rowType("x", "INT", "y", "STRING")), "merge_map").create()
                        .change(maps(Change::add, 1, 1, 2), maps(Change::add, 2), Change.add(3, null, null))
                        .change(maps(Change::add, 1, 2, 3), maps(Change::add, 2, 5), maps(Change::add, 3, 7), Change.add(4, Values.entries("k", null), Values.entries(1, null)))
                        .change(maps(Change::before, 1, 1, 9), maps(Change::delete, 2, 5), Change.add(3, null, null), Change.add(4, Values.entries("k", 1), Values.entries(1, Values.row(null, "y"))))
                        .compact(true).change(maps(Change::add, 1, 12), maps(Change::delete, 3, 7), maps(Change::add, 5, 1)));
        suite.table("pk/aggregation-merge-map-with-keytime", "primary key, aggregation, merge_map_with_keytime, default and named time field" + PkFixtures.UNORDERED, t ->
                column(column(aggregation(t), "m", Values.map("STRING", Values.rowType("v", "INT", "ts", "STRING")), "merge_map_with_keytime"),
                        "named", Values.map("INT", Values.rowType("t", "STRING", "v", "STRING", "w", "INT")), "merge_map_with_keytime").option("fields.named.ts-field", "t").create()
                        .change(timed(1, 1, "2024-01-02"), timed(2, 2, null), Change.add(3, null, null))
                        .change(timed(1, 10, "2024-01-01"), timed(2, 20, "2024-01-01"), timed(3, 3, "a"))
                        .change(timed(1, 100, "2024-01-03"), timed(2, 200, null), timed(3, 30, "B"), Change.add(4, Values.entries("x", null, "y", Values.row(1, "t")), Values.entries(1, null)))
                        .change(Change.add(1, Values.entries("k", null), Values.entries(9, null)), Change.add(4, Values.entries("x", Values.row(2, "t"), "y", Values.row(2, "t")), Values.entries(1, Values.row("s", "v", 1))))
                        .compact(true).change(timed(1, 5, "2023-01-01"), timed(3, 33, "b")));
        suite.table("pk/aggregation-nested-update", "primary key, aggregation, nested_update without key, retracts remove equal rows", t ->
                column(column(aggregation(t), "r", Values.array(Values.rowType("k", "INT", "v", "STRING")), "nested_update"), "few", Values.array(Values.rowType("k", "INT")), "nested_update")
                        .option("fields.few.count-limit", 2).create()
                        .change(rows(Change::add, 1, 1, 2), rows(Change::add, 2), Change.add(3, null, null))
                        .change(rows(Change::add, 1, 1), rows(Change::add, 2, 5), rows(Change::add, 3, 7, 8))
                        .change(rows(Change::before, 1, 1), rows(Change::delete, 2, 6), Change.add(3, null, null), Change.add(4, Values.list(Values.row(1, null), null), Values.list((Object) null)))
                        .compact(true).change(rows(Change::add, 1, 2, 2), rows(Change::add, 4, 4)));
        suite.table("pk/aggregation-nested-update-key", "primary key, aggregation, nested_update with nested-key of one and two fields" + PkFixtures.UNORDERED, t ->
                column(column(aggregation(t), "one", Values.array(Values.rowType("k", "INT", "v", "STRING")), "nested_update"),
                        "two", Values.array(Values.rowType("k", "INT", "l", "STRING", "v", "STRING")), "nested_update")
                        .option("fields.one.nested-key", "k").option("fields.two.nested-key", "k,l").create()
                        .change(keyed(Change::add, 1, "a", 1, 2), keyed(Change::add, 2, "a"), Change.add(3, null, null))
                        .change(keyed(Change::add, 1, "b", 2, 3), keyed(Change::add, 2, "b", 5, 5), keyed(Change::add, 3, "b", 7))
                        .change(keyed(Change::before, 1, "x", 1), keyed(Change::delete, 2, "x", 6), keyed(Change::add, 4, "c", 1, 2, 3)).compact(true)
                        .change(keyed(Change::add, 1, "d", 1), keyed(Change::delete, 4, "d", 2, 9)));
        suite.table("pk/aggregation-nested-partial-update", "primary key, aggregation, nested_partial_update" + PkFixtures.UNORDERED, t ->
                column(aggregation(t), "r", Values.array(Values.rowType("k", "INT", "a", "STRING", "b", "INT")), "nested_partial_update")
                        .option("fields.r.nested-key", "k").create()
                        .change(Change.add(1, Values.list(Values.row(1, "a", null), Values.row(2, null, 2))), Change.add(2, null))
                        .change(Change.add(1, Values.list(Values.row(1, null, 1), Values.row(3, "c", 3))), Change.add(2, Values.list(Values.row(1, null, null))))
                        .change(Change.add(1, Values.list(Values.row(2, "b", null), Values.row(2, null, 22))), Change.add(2, Values.list(Values.row(1, "x", null), Values.row(1, null, 9))))
                        .compact(true).change(Change.add(1, null), Change.add(2, Values.list(Values.row(1, "y", null)))));
    }

    /** One of the factories of {@link Change}. */
    private interface Kind {
        Change of(Object... values);
    }

    private static Change collected(Kind kind, int id, int... items) {
        List<Integer> numbers = java.util.Arrays.stream(items).boxed().toList();
        return kind.of(id, numbers, numbers.stream().map(n -> "s" + n).toList(), numbers.stream().map(n -> new Object[] {n}).toList());
    }

    private static Change maps(Kind kind, int id, int... keys) {
        Object[] texts = new Object[2 * keys.length];
        Object[] rows = new Object[2 * keys.length];
        for (int i = 0; i < keys.length; i++) {
            texts[2 * i] = "k" + keys[i] % 10;
            texts[2 * i + 1] = keys[i];
            rows[2 * i] = keys[i] % 10;
            rows[2 * i + 1] = Values.row(keys[i], "r");
        }
        return kind.of(id, Values.entries(texts), Values.entries(rows));
    }

    private static Change timed(int id, int v, String time) {
        return Change.add(id, Values.entries("k", Values.row(v, time), "only" + v, Values.row(v, "t")), Values.entries(9, Values.row(time, "v" + v, v), v, Values.row("t", null, null)));
    }

    private static Change rows(Kind kind, int id, int... keys) {
        List<Integer> numbers = java.util.Arrays.stream(keys).boxed().toList();
        return kind.of(id, numbers.stream().map(n -> new Object[] {n, "v" + n}).toList(), numbers.stream().map(n -> new Object[] {n}).toList());
    }

    private static Change keyed(Kind kind, int id, String v, int... keys) {
        List<Integer> numbers = java.util.Arrays.stream(keys).boxed().toList();
        return kind.of(id, numbers.stream().map(n -> new Object[] {n, v}).toList(), numbers.stream().map(n -> new Object[] {n, n % 2 == 0 ? null : "l", v}).toList());
    }

    private static void sketches(TableSink suite) throws Exception {
        suite.table("pk/aggregation-theta-sketch", "primary key, aggregation, theta_sketch", t ->
                column(aggregation(t), "s", "VARBINARY(100000)", "theta_sketch").create()
                        .change(Change.add(1, ThetaSketch.sketchOf(1, 2, 3)), Change.add(2, null), Change.add(3, ThetaSketch.sketchOf()))
                        .change(Change.add(1, ThetaSketch.sketchOf(3, 4)), Change.add(2, ThetaSketch.sketchOf(7)), Change.add(3, ThetaSketch.sketchOf(-1, Integer.MAX_VALUE)))
                        .change(Change.add(1, ThetaSketch.sketchOf(range(1000))), Change.add(2, null), Change.add(4, ThetaSketch.sketchOf(range(200)))).compact(true)
                        .change(Change.add(1, ThetaSketch.sketchOf(-5)), Change.add(4, ThetaSketch.sketchOf(range(300)))));
        suite.table("pk/aggregation-theta-sketch-estimated", "primary key, aggregation, theta_sketch of more values than it keeps exactly", t ->
                column(aggregation(t), "s", "VARBINARY(100000)", "theta_sketch").create()
                        .change(Change.add(1, ThetaSketch.sketchOf(range(6000)))).change(Change.add(1, ThetaSketch.sketchOf(9000, 9001, 9002))));
        suite.table("pk/aggregation-hll-sketch", "primary key, aggregation, hll_sketch", t ->
                column(aggregation(t), "s", "VARBINARY(100000)", "hll_sketch").create()
                        .change(Change.add(1, HllSketchUtil.sketchOf(1, 2, 3)), Change.add(2, null), Change.add(3, HllSketchUtil.sketchOf()))
                        .change(Change.add(1, HllSketchUtil.sketchOf(3, 4)), Change.add(2, HllSketchUtil.sketchOf(7)), Change.add(3, HllSketchUtil.sketchOf(-1, Integer.MAX_VALUE)))
                        .change(Change.add(1, HllSketchUtil.sketchOf(range(1000))), Change.add(2, null), Change.add(4, HllSketchUtil.sketchOf(range(20)))).compact(true)
                        .change(Change.add(1, HllSketchUtil.sketchOf(-5)), Change.add(4, HllSketchUtil.sketchOf(range(100)))));
        suite.table("pk/aggregation-bitmaps", "primary key, aggregation, rbm32 and rbm64", t ->
                column(column(aggregation(t), "r32", "VARBINARY(100000)", "rbm32"), "r64", "VARBINARY(100000)", "rbm64").create()
                        .change(bitmaps(1, 1, 2, 3), Change.add(2, null, null), bitmaps(3))
                        .change(bitmaps(1, 3, 70000), bitmaps(2, 7), bitmaps(3, Integer.MAX_VALUE))
                        .change(bitmaps(1, range(4200)), Change.add(2, null, null), bitmaps(4, range(20))).compact(true)
                        .change(bitmaps(1, 99999), bitmaps(4, 1 << 20)));
    }

    private static int[] range(int end) {
        return java.util.stream.IntStream.range(0, end).toArray();
    }

    private static Change bitmaps(int id, int... values) throws IOException {
        RoaringBitmap64 wide = new RoaringBitmap64();
        for (int value : values) {
            wide.add(value + ((long) (value % 3) << 33));
        }
        return Change.add(id, RoaringBitmap32.bitmapOf(values).serialize(), wide.serialize());
    }

    private static void options(TableSink suite) throws Exception {
        suite.table("pk/aggregation-default-function", "primary key, aggregation, fields.default-aggregate-function and none", t -> {
            aggregation(t).column("a", "INT").column("b", "INT").option("fields.default-aggregate-function", "sum").option("fields.b.aggregate-function", "max").create();
            t.change(Change.add(1, 1, 1), Change.add(2, 2, 2)).change(Change.add(1, 10, 0), Change.add(2, null, null)).change(Change.add(1, 100, 5)).compact(true);
        });
        suite.table("pk/aggregation-no-function", "primary key, aggregation without any function, sequence.field", t -> {
            aggregation(t).column("a", "INT").column("s", "INT").option("sequence.field", "s").create();
            t.change(Change.add(1, 1, 5), Change.add(2, 2, null)).change(Change.add(1, 10, 4), Change.add(2, null, 1)).change(delete(1, 1, 4), Change.add(3, 3, 3)).compact(true);
        });
        suite.table("pk/aggregation-remove-on-delete", "primary key, aggregation.remove-record-on-delete=true", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "aggregation").option("aggregation.remove-record-on-delete", true)
                    .option("fields.n.aggregate-function", "sum").option("fields.v.aggregate-function", "last_value").create();
            PkFixtures.historyCompacted(t, true);
            t.change(delete(9, "value of the delete", 99)).change(Change.add(9, null, 1), before(10, "j1", 1)).compact(true);
        });
        suite.table("pk/aggregation-sequence", "primary key, aggregation, sequence.field decides what first and last are", t ->
                column(column(column(column(aggregation(t).column("s", "INT"), "f", "STRING", "first_value"), "l", "STRING", "last_value"), "g", "STRING", "listagg"), "n", "INT", "sum")
                        .option("sequence.field", "s").create()
                        .change(sequenced(1, 5), sequenced(2, null), sequenced(3, 1)).change(sequenced(1, 3), sequenced(2, 0), sequenced(3, 1)).change(sequenced(1, 9), sequenced(1, 4), sequenced(3, null))
                        .compact(true).change(sequenced(1, 1), sequenced(2, 9)));
    }

    private static Change sequenced(int id, Integer s) {
        return Change.add(id, s, "f" + s, "l" + s, "g" + s, 1);
    }
}
