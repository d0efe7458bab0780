// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.delete;
import static fixturesgen.Values.list;
import static fixturesgen.Values.row;

import java.util.Map;

/** Tables with primary keys that only a Java Paimon newer than the released one writes, or reads as it should. */
final class PkNewerFixtures {
    private PkNewerFixtures() {}

    static void add(TableSink suite) throws Exception {
        for (boolean wide : new boolean[] {false, true}) {
            String bits = wide ? "64" : "32";
            suite.table("newer/pk-dv-merge-on-read-" + bits, "primary key, deletion vectors of " + bits + " bits, deletion-vectors.merge-on-read=true, level 0 merged above them", t -> {
                PkDeletionVectorFixtures.vectors(PkFixtures.simple(t), wide).option("deletion-vectors.merge-on-read", true).option("num-levels", 4).create();
                t.change(PkFileFixtures.numbers(0, 40, 1, "a")).change(PkFileFixtures.numbers(0, 10, 2, "b"));
                t.changeWith(Map.of("write-only", "true"), Change.add(0, "level 0", null), delete(1, null, null), Change.add(100, "new", 1));
                t.changeWith(Map.of("write-only", "true"), Change.add(1, "back", null), delete(100, null, null), delete(5, null, null));
                t.change(Change.add(7, "compacted", 7));
            });
        }
        suite.table("newer/pk-snapshot-ordering", "primary key, sequence.snapshot-ordering=true", t -> {
            PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).option("sequence.snapshot-ordering", true).create(), true).compact(true);
            t.change(Change.add(1, "a9", 19), delete(2, "b2", 21)).change(Change.add(2, "b9", 9));
        });
        suite.table("newer/pk-snapshot-ordering-partial-update", "primary key, partial-update, sequence.snapshot-ordering=true", t ->
                PkFixtures.historyCompacted(PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "partial-update").option("sequence.snapshot-ordering", true).create(), false));
        suite.table("newer/pk-sequence-double", "primary key, sequence.field of type DOUBLE, zeros of both signs and NaN", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("s", "DOUBLE").column("v", "STRING").primaryKey("id")).option("sequence.field", "s").create()
                        .change(Change.add(1, -0.0, "-0"), Change.add(2, Double.POSITIVE_INFINITY, "inf"), Change.add(3, 0.0, "0"), Change.add(4, Double.NaN, "nan"))
                        .change(Change.add(1, 0.0, "0"), Change.add(2, Double.NaN, "nan"), Change.add(3, -0.0, "-0"), Change.add(4, Double.NaN, "nan again"))
                        .change(Change.add(1, -0.0, "-0"), Change.add(2, 0.0, "0"), Change.add(3, Double.POSITIVE_INFINITY, "inf"), Change.add(4, Double.NEGATIVE_INFINITY, "-inf")).compact(true)
                        .change(Change.add(1, Double.NaN, "nan"), Change.add(2, -0.0, "-0")));
        aggregates(suite);
    }

    private static void aggregates(TableSink suite) throws Exception {
        suite.table("newer/pk-listagg-blanks", "primary key, aggregation, listagg of blank texts", t ->
                PkAggregationFixtures.column(PkAggregationFixtures.column(PkAggregationFixtures.aggregation(t), "l", "STRING", "listagg"), "d", "STRING", "listagg").option("fields.d.distinct", true).create()
                        .change(Change.add(1, " ", " "), Change.add(2, "a", "a"), Change.add(3, null, null)).change(Change.add(1, "b", "b"), Change.add(2, "  ", "  "), Change.add(3, " ", " "))
                        .change(Change.add(1, "", ""), Change.add(2, "b, ,c", "b, ,c"), Change.add(3, "\t", "\t")).compact(true).change(Change.add(3, "x", "x")));
        Object nested = Values.array(Values.rowType("k", "INT", "v", "STRING"));
        suite.table("newer/pk-nested-update-limit", "primary key, aggregation, nested_update with count-limit, with and without nested-key" + PkFixtures.UNORDERED, t ->
                PkAggregationFixtures.column(PkAggregationFixtures.column(PkAggregationFixtures.aggregation(t), "keyed", nested, "nested_update"), "free", nested, "nested_update")
                        .option("fields.keyed.nested-key", "k").option("fields.keyed.count-limit", 2).option("fields.free.count-limit", 2).create()
                        .change(limited(1, row(1, "a")), limited(2, row(1, "a"), row(2, "a"), row(3, "a")), limited(3))
                        .change(limited(1, row(1, "b"), row(2, "b")), limited(2, row(4, "b")), limited(3, row(1, "b"), row(2, "b"), row(3, "b")))
                        .change(limited(1, row(2, "c"), row(1, "c")), limited(2, row(1, "c"))).compact(true));
        suite.table("newer/pk-nested-update-sequence", "primary key, aggregation, nested_update with nested-sequence-field" + PkFixtures.UNORDERED, t ->
                PkAggregationFixtures.column(PkAggregationFixtures.aggregation(t), "r", Values.array(Values.rowType("k", "INT", "v", "STRING", "s", "INT")), "nested_update")
                        .option("fields.r.nested-key", "k").option("fields.r.nested-sequence-field", "s").create()
                        .change(Change.add(1, list(row(1, "a", 5), row(2, "a", null)))).change(Change.add(1, list(row(1, "older", 4), row(2, "newer", 0))), Change.add(2, list(row(1, "x", 2), row(1, "y", 1))))
                        .change(Change.add(1, list(row(1, "tie", 5), row(2, "null", null)))).compact(true).change(Change.add(2, list(row(1, "z", 3), row(2, "w", null)))));
        for (String strategy : new String[] {"merge", "ignore"}) {
            suite.table("newer/pk-nested-update-null-key-" + strategy, "primary key, aggregation, nested_update, nested-key-null-strategy=" + strategy + PkFixtures.UNORDERED, t ->
                    PkAggregationFixtures.column(PkAggregationFixtures.aggregation(t), "r", nested, "nested_update")
                            .option("fields.r.nested-key", "k").option("fields.r.nested-key-null-strategy", strategy).create()
                            .change(Change.add(1, list(row(1, "a"), row(null, "n")))).change(Change.add(1, list(row(null, "m"), row(2, "b"))), Change.add(2, list(row(null, "x")))).compact(true)
                            .change(Change.add(2, list(row(null, "y"), row(1, "z")))));
        }
    }

    private static Change limited(int id, Object[]... rows) {
        return Change.add(id, java.util.List.of(rows), java.util.List.of(rows));
    }
}
