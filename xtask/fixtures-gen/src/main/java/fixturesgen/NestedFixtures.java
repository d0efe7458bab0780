// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.array;
import static fixturesgen.Values.entries;
import static fixturesgen.Values.list;
import static fixturesgen.Values.map;
import static fixturesgen.Values.multiset;
import static fixturesgen.Values.row;
import static fixturesgen.Values.rowType;

import org.apache.paimon.types.DataType;

/** Constructed types: NULL at every level, empty ones, deep ones. */
final class NestedFixtures {
    private static final Object NULL = null;

    private NestedFixtures() {}

    static void add(TableSink suite) throws Exception {
        suite.table("nested/array", "append, ARRAY of many types", t ->
                t.column("id", "INT").column("a", array("INT")).column("s", array("STRING")).column("d", array("DECIMAL(20, 4)"))
                        .column("ts", array("TIMESTAMP(6)")).column("bool", array("BOOLEAN")).column("nn", array("BIGINT NOT NULL"))
                        .create()
                        .write(
                                row(1, list(1, 2, 3), list("a", "", "ü"), list("1.5", "-0.0001"), list("2024-01-31 10:11:12.5"), list(true, false), list(1, 2)),
                                row(2, list(), list(), list(), list(), list(), list()),
                                row(3, list(NULL), list(NULL, "x", NULL), list(NULL, NULL), list(NULL, "1969-12-31 23:59:59"), list(NULL, true), list(0)),
                                row(4, null, null, null, null, null, null)));

        suite.table("nested/map", "append, MAP of many key and value types", t ->
                t.column("id", "INT").column("m", map("STRING", "INT")).column("i", map("INT", "STRING"))
                        .column("d", map("DATE", "DOUBLE")).column("n", map("BIGINT", array("STRING")))
                        .create()
                        .write(
                                row(1, entries("a", 1, "b", 2), entries(1, "x", -1, ""), entries("1969-12-31", 1.5), entries(7, list("p", null))),
                                row(2, entries(), entries(), entries(), entries()),
                                row(3, entries("a", null), entries(0, null), entries("2024-01-31", Double.NaN), entries(8, null, 9, list())),
                                row(4, null, null, null, null)));

        suite.table("nested/multiset", "append, MULTISET", t ->
                t.column("id", "INT").column("m", multiset("STRING")).column("n", multiset("BIGINT"))
                        .create()
                        .write(row(1, entries("a", 1, "b", 3), entries(5, 2)), row(2, entries(), entries()), row(3, null, null)));

        suite.table("nested/row", "append, ROW, NULL rows and rows of NULL", t ->
                t.column("id", "INT")
                        .column("r", rowType("a", "INT", "b", "STRING", "c", "DECIMAL(10, 2)"))
                        .column("nn", rowType("x", "INT NOT NULL", "y", "STRING").notNull())
                        .create()
                        .write(
                                row(1, row(1, "x", "1.50"), row(1, "y")),
                                row(2, row(null, null, null), row(2, null)),
                                row(3, null, row(3, "")),
                                row(4, row(null, "", null), row(4, "z"))));

        suite.table("nested/arrays-at-the-ends-of-a-row", "append, ROW whose first and last fields are arrays or maps", t ->
                t.column("id", "INT")
                        .column("r", rowType("first", array("INT"), "mid", "INT", "last", array("STRING")))
                        .column("only", rowType("a", array("INT")))
                        .column("m", rowType("first", map("STRING", "INT"), "last", map("INT", "STRING")))
                        .create()
                        .write(
                                row(1, row(list(1, 2), 3, list("a", "b")), row(list(1)), row(entries("a", 1), entries(1, "a"))),
                                row(2, row(list(), 3, list()), row(list()), row(entries(), entries())),
                                row(3, row(null, null, null), row(NULL), row(null, null)),
                                row(4, null, null, null),
                                row(5, row(list(NULL), null, list(NULL, NULL)), row(list(NULL, NULL)), row(entries("x", null), entries(9, null)))));

        suite.table("nested/deep", "append, three levels of ARRAY, MAP and ROW in each other", t -> {
            DataType inner = rowType("x", "INT", "ys", array("STRING"));
            t.column("id", "INT")
                    .column("aaa", array(array(array("INT"))))
                    .column("amr", array(map("STRING", inner)))
                    .column("rar", rowType("k", "STRING", "rs", array(inner), "r", rowType("m", map("INT", inner))))
                    .column("mmm", map("STRING", map("INT", map("BOOLEAN", "DOUBLE"))))
                    .create()
                    .write(
                            row(1, list(list(list(1, 2), list()), list(), list(list(3))),
                                    list(entries("a", row(1, list("p"))), entries()),
                                    row("k", list(row(1, list("a", "b")), row(2, list())), row(entries(1, row(7, list("z"))))),
                                    entries("a", entries(1, entries(true, 1.5, false, -0.0)), "b", entries())),
                            row(2, list(), list(), row(null, list(), row(entries())), entries()),
                            row(3, list(NULL, list(NULL, list(NULL))), list(NULL, entries("n", null)), row("n", list(NULL, row(null, null)), null),
                                    entries("n", null, "m", entries(2, null, 3, entries(true, null)))),
                            row(4, null, null, null, null),
                            row(5, list(list(list(5))), list(entries("b", row(null, list(NULL)))), row("q", null, row(NULL)), entries("c", entries())));
        });

        suite.table("nested/repeated-names", "append, ROW columns that repeat the names of each other's fields", t ->
                t.column("id", "INT").column("r", rowType("id", "INT", "r", rowType("id", "STRING", "r", "INT")))
                        .column("s", rowType("id", "INT", "element", "INT", "key", "INT", "value", "INT"))
                        .column("list", array(rowType("list", "INT", "element", "INT")))
                        .create()
                        .write(row(1, row(2, row("three", 4)), row(5, 6, 7, 8), list(row(9, 10))),
                                row(2, row(null, null), null, list(row(null, 1), null)),
                                row(3, null, row(null, null, null, null), null)));

        suite.table("nested/variant", "append, VARIANT", t ->
                t.column("id", "INT").column("v", "VARIANT").create()
                        .write(row(1, "{\"a\":1,\"b\":[true,null,\"x\"],\"c\":{\"d\":1.5}}"), row(2, "\"text\""), row(3, "null"),
                                row(4, "[]"), row(5, "{}"), row(6, "12345678901234567890"), row(7, "-1"), row(8, "1e300"), row(9, null),
                                row(10, "\"größe 😀 \\\"quoted\\\"\"")));

        suite.table("nested/variant-inside", "append, VARIANT in ARRAY, MAP and ROW", t ->
                t.column("id", "INT").column("a", array("VARIANT")).column("m", map("STRING", "VARIANT"))
                        .column("r", rowType("v", "VARIANT", "i", "INT")).create()
                        .write(row(1, list("1", null, "{\"a\":2}"), entries("k", "[1]", "n", null), row("true", 1)),
                                row(2, list(), entries(), row(null, null)), row(3, null, null, null)));

        suite.table("nested/odd-leaves", "append, TIMESTAMP(9), TIME, BYTES, CHAR and DECIMAL inside ARRAY, MAP and ROW", t ->
                t.column("id", "INT")
                        .column("r", rowType("ts", "TIMESTAMP(9)", "ltz", "TIMESTAMP(9) WITH LOCAL TIME ZONE", "tm", "TIME(3)", "b", "BYTES", "c", "CHAR(3)", "d", "DECIMAL(38, 2)"))
                        .column("m", map("STRING", "TIMESTAMP(9)")).column("a", array("TIMESTAMP(9)")).column("bs", array("BINARY(2)"))
                        .column("t", map("TIME(0)", "DECIMAL(5, 1)"))
                        .create()
                        .write(
                                row(1, row("2024-01-31 10:11:12.123456789", "2024-01-31 10:11:12.123456789", "10:11:12.123", "00ff", "ab", "1.25"),
                                        entries("x", "1969-12-31 23:59:59.999999999"), list("2024-01-31 00:00:00", null), list("0102", "ffff"),
                                        entries("01:02:03", "9.5")),
                                row(2, row(null, null, null, null, null, null), entries("y", null), list(), list(NULL), entries()),
                                row(3, null, null, null, null, null)));
    }
}
