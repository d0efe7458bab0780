// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.after;
import static fixturesgen.Change.before;
import static fixturesgen.Change.delete;

/** Merge engine partial-update: sequence groups, aggregators inside them, and what deletes do. */
final class PkPartialUpdateFixtures {
    private PkPartialUpdateFixtures() {}

    static void add(TableSink suite) throws Exception {
        suite.table("pk/partial-update", "primary key, partial-update without groups", t ->
                PkFixtures.historyCompacted(PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "partial-update").create(), false));
        suite.table("pk/partial-update-types", "primary key, partial-update, columns of every shape", t ->
                partial(t.column("id", "INT NOT NULL").column("s", "STRING").column("d", "DECIMAL(20, 3)").column("ts", "TIMESTAMP(6)")
                        .column("b", "BOOLEAN").column("x", "BYTES").column("a", Values.array("INT")).column("m", Values.map("STRING", "INT"))
                        .column("r", Values.rowType("p", "INT", "q", "STRING")))
                        .change(Change.add(1, "one", null, "2024-01-31 10:11:12.123456", null, "00ff", null, Values.entries("k", 1), Values.row(1, null)),
                                Change.add(2, null, "1.500", null, true, null, Values.list(1, null), null, null))
                        .change(Change.add(1, null, "-7.001", null, false, null, Values.list(), null, null),
                                Change.add(2, "two", null, "1969-12-31 23:59:59.999999", null, "", null, Values.entries("z", null), Values.row(null, "q")))
                        .change(Change.add(1, "uno", null, null, null, "01", null, Values.entries(), Values.row(null, null)))
                        .compact(true));
        groups(suite);
        aggregators(suite);
        retracts(suite);
    }

    private static TableWriter partial(TableWriter t) throws Exception {
        return PkFixtures.writeOnly(t.primaryKey("id")).option("merge-engine", "partial-update").create();
    }

    /** id, a and b guarded by g1, c and d guarded by g2, e by nothing. */
    private static TableWriter twoGroups(TableWriter t) {
        return t.column("id", "INT NOT NULL").column("a", "STRING").column("g1", "INT").column("b", "STRING").column("c", "STRING")
                .column("d", "STRING").column("g2", "BIGINT").column("e", "STRING")
                .option("fields.g1.sequence-group", "a,b").option("fields.g2.sequence-group", "c,d");
    }

    private static Change[] outOfOrder() {
        return new Change[] {
            Change.add(1, "a3", 3, "b3", "c1", "d1", 1, "e1"), Change.add(2, "a1", 1, "b1", "c1", "d1", null, null),
            Change.add(3, null, null, null, "c5", null, 5, "e"), Change.add(4, "x", 0, "x", "x", "x", 0, "x")};
    }

    private static Change[] older() {
        return new Change[] {
            Change.add(1, "a2", 2, "b2", "c2", null, 2, null), Change.add(2, null, 1, "b1+", "c9", "d9", 9, "e2"),
            Change.add(3, "a1", 1, "b1", "c4", "d4", 4, null), Change.add(5, "only", null, null, null, null, 7, null)};
    }

    private static Change[] mixed() {
        return new Change[] {
            Change.add(1, null, 4, null, "cn", "dn", null, "e3"), Change.add(2, "a0", 0, "b0", null, null, 9, null),
            Change.add(3, "an", null, "bn", "c6", "d6", 6, "e6"), Change.add(4, null, null, null, null, null, null, null),
            Change.add(5, null, 1, "b", "c", null, 7, "e")};
    }

    private static void groups(TableSink suite) throws Exception {
        suite.table("pk/partial-update-group", "primary key, partial-update, one sequence group, rest unguarded", t ->
                partial(t.column("id", "INT NOT NULL").column("a", "STRING").column("g", "INT").column("b", "STRING").column("c", "STRING")
                        .option("fields.g.sequence-group", "a"))
                        .change(Change.add(1, "a2", 2, "b2", "c2"), Change.add(2, "a1", 1, "b1", null), Change.add(3, "an", null, "bn", "cn"))
                        .change(Change.add(1, "a1", 1, "b1", null), Change.add(2, null, 1, null, "c"), Change.add(3, "a0", 0, null, null))
                        .change(Change.add(1, null, 2, null, "c3"), Change.add(2, "an", null, "b3", null), Change.add(3, "a-1", -1, "b", "c"))
                        .compact(true).change(Change.add(1, "late", 1, "late", null), Change.add(2, "a9", 9, null, null)));
        suite.table("pk/partial-update-two-groups", "primary key, partial-update, two sequence groups out of order, NULL ordering values", t ->
                partial(twoGroups(t)).change(outOfOrder()).change(older()).change(mixed()).compact(true).change(older()));
        suite.table("pk/partial-update-group-of-two", "primary key, partial-update, two ordering columns in one group, one NULL of two", t ->
                partial(t.column("id", "INT NOT NULL").column("a", "STRING").column("g1", "INT").column("g2", "STRING").column("b", "STRING")
                        .option("fields.g1,g2.sequence-group", "a,b"))
                        .change(Change.add(1, "a", 1, "b", "b"), Change.add(2, "a", 1, null, "b"), Change.add(3, "a", null, "x", "b"), Change.add(4, "a", null, null, "b"))
                        .change(Change.add(1, "older", 1, "a", "older"), Change.add(2, "newer", 1, "", null), Change.add(3, "null first", 0, null, null), Change.add(4, "set", null, "", "set"))
                        .change(Change.add(1, null, 2, "a", "b3"), Change.add(2, "older", null, "z", "older"), Change.add(3, "skip", null, null, "skip"), Change.add(4, "set", 0, null, "again"))
                        .compact(true));
        suite.table("pk/partial-update-group-types", "primary key, partial-update, ordering columns TIMESTAMP, DECIMAL, STRING and DATE", t ->
                partial(t.column("id", "INT NOT NULL").column("g1", "TIMESTAMP(3)").column("a", "INT").column("g2", "DECIMAL(20, 2)").column("b", "INT")
                        .column("g3", "STRING").column("c", "INT").column("g4", "DATE").column("d", "INT")
                        .option("fields.g1.sequence-group", "a").option("fields.g2.sequence-group", "b")
                        .option("fields.g3.sequence-group", "c").option("fields.g4.sequence-group", "d"))
                        .change(Change.add(1, "2024-01-01 00:00:00.001", 1, "10.00", 1, "b", 1, "2024-01-02", 1))
                        .change(Change.add(1, "2024-01-01 00:00:00.000", 2, "9.99", 2, "a", 2, "2024-01-01", 2), Change.add(2, "1969-12-31 23:59:59.999", 1, "-1.00", 1, "", 1, "1969-12-31", 1))
                        .change(Change.add(1, "2024-01-01 00:00:00.001", 3, "10.00", 3, "b", 3, "2024-01-02", 3), Change.add(2, "1970-01-01 00:00:00.000", 2, "-1.01", 2, "ü", 2, "1970-01-01", null))
                        .compact(true));
        suite.table("pk/partial-update-group-sequence", "primary key, partial-update, sequence group and sequence.field (descending)", t ->
                partial(t.column("id", "INT NOT NULL").column("s", "INT").column("a", "STRING").column("g", "INT").column("b", "STRING")
                        .option("fields.g.sequence-group", "a").option("sequence.field", "s").option("sequence.field.sort-order", "descending"))
                        .change(Change.add(1, 5, "a1", 1, "b5"), Change.add(2, null, "a2", 2, "bn"))
                        .change(Change.add(1, 7, "a2", 2, "b7"), Change.add(2, 3, "a1", 1, "b3"))
                        .change(Change.add(1, 6, "a2+", 2, null), Change.add(2, 4, "a2+", 2, null)).compact(true));
        suite.table("pk/partial-update-sequence", "primary key, partial-update, sequence.field", t ->
                partial(t.column("id", "INT NOT NULL").column("s", "INT").column("a", "STRING").column("b", "STRING").option("sequence.field", "s"))
                        .change(Change.add(1, 5, "a5", null), Change.add(2, 1, "a1", "b1"), Change.add(3, null, "an", "bn"))
                        .change(Change.add(1, 4, "a4", "b4"), Change.add(2, 2, null, "b2"), Change.add(3, 1, null, "b1"))
                        .change(Change.add(1, 5, null, "b5"), Change.add(2, null, "an", "bn"), Change.add(3, 0, "a0", null)).compact(true)
                        .change(Change.add(1, 3, "a3", "b3"), Change.add(2, 3, "a3", null)));
    }

    private static void aggregators(TableSink suite) throws Exception {
        suite.table("pk/partial-update-aggregators", "primary key, partial-update, sequence group with an aggregator a column, older values merged in front", t ->
                partial(t.column("id", "INT NOT NULL").column("g", "INT").column("s", "BIGINT").column("mx", "INT").column("mn", "INT").column("l", "STRING")
                        .column("f", "STRING").column("fn", "STRING").column("lv", "STRING").column("ln", "STRING").column("c", Values.array("INT"))
                        .column("p", "INT").column("ba", "BOOLEAN").column("bo", "BOOLEAN").column("none", "STRING")
                        .option("fields.g.sequence-group", "s,mx,mn,l,f,fn,lv,ln,c,p,ba,bo,none")
                        .option("fields.s.aggregate-function", "sum").option("fields.mx.aggregate-function", "max").option("fields.mn.aggregate-function", "min")
                        .option("fields.l.aggregate-function", "listagg").option("fields.f.aggregate-function", "first_value")
                        .option("fields.fn.aggregate-function", "first_non_null_value").option("fields.lv.aggregate-function", "last_value")
                        .option("fields.ln.aggregate-function", "last_non_null_value").option("fields.c.aggregate-function", "collect")
                        .option("fields.p.aggregate-function", "product").option("fields.ba.aggregate-function", "bool_and")
                        .option("fields.bo.aggregate-function", "bool_or"))
                        .change(aggregated(1, 5, 1, "five"), aggregated(2, 1, 2, "one"), aggregated(3, null, 3, "null"))
                        .change(aggregated(1, 3, 10, "three"), aggregated(2, 2, 20, null), aggregated(3, 1, 30, "first"))
                        .change(aggregated(1, 7, 100, null), aggregated(2, 1, 200, "again"), aggregated(3, null, 300, "null"), nothing(2, 3))
                        .compact(true)
                        .change(aggregated(1, 0, 1000, "late"), aggregated(2, 9, 2000, "nine"), nothing(1, 0), nothing(4, 1)));
        suite.table("pk/partial-update-default-aggregator", "primary key, partial-update, fields.default-aggregate-function in two groups", t ->
                partial(twoGroups(t).option("fields.default-aggregate-function", "last_non_null_value").option("fields.c.aggregate-function", "listagg"))
                        .change(outOfOrder()).change(older()).change(mixed()).compact(true).change(older()));
        suite.table("pk/partial-update-unguarded-aggregator", "primary key, partial-update, last_non_null_value outside of groups", t ->
                partial(twoGroups(t).option("fields.e.aggregate-function", "last_non_null_value"))
                        .change(outOfOrder()).change(older()).change(mixed()).compact(true));
        suite.table("pk/partial-update-aggregators-retract", "primary key, partial-update, sequence group with aggregators that can retract", t ->
                partial(t.column("id", "INT NOT NULL").column("g", "INT").column("s", "BIGINT").column("p", "DOUBLE").column("lv", "STRING").column("ln", "STRING")
                        .column("c", Values.array("INT")).column("m", Values.map("STRING", "INT")).column("mx", "INT")
                        .option("fields.g.sequence-group", "s,p,lv,ln,c,m,mx").option("fields.s.aggregate-function", "sum")
                        .option("fields.p.aggregate-function", "product").option("fields.lv.aggregate-function", "last_value")
                        .option("fields.ln.aggregate-function", "last_non_null_value").option("fields.c.aggregate-function", "collect")
                        .option("fields.m.aggregate-function", "merge_map").option("fields.mx.aggregate-function", "max").option("fields.mx.ignore-retract", true))
                        .change(retractable(Change::add, 1, 1, 10), retractable(Change::add, 2, 5, 20), retractable(Change::add, 3, null, 30))
                        .change(retractable(Change::add, 1, 2, 4), retractable(Change::before, 2, 5, 5), retractable(Change::delete, 3, 1, 30))
                        .change(retractable(Change::delete, 1, 2, 10), retractable(Change::after, 2, 6, 2), retractable(Change::delete, 2, 1, 20))
                        .compact(true)
                        .change(retractable(Change::before, 1, 0, 4), retractable(Change::delete, 2, null, 1)));
    }

    private static Change aggregated(int id, Integer g, int n, String text) {
        return Change.add(id, g, (long) n, n, n, text, text, text, text, text, Values.list(n, -n), n % 7, n % 3 == 0, n % 3 == 0, text);
    }

    private static Change nothing(int id, Integer g) {
        return Change.add(id, g, null, null, null, null, null, null, null, null, null, null, null, null, null);
    }

    /** One of the factories of {@link Change}. */
    private interface Kind {
        Change of(Object... values);
    }

    private static Change retractable(Kind kind, int id, Integer g, int n) {
        return kind.of(id, g, (long) n, (double) n, "v" + n, n == 4 ? null : "n" + n, Values.list(n, 0), Values.entries("k" + n, n, "same", n), n);
    }

    private static void retracts(TableSink suite) throws Exception {
        suite.table("pk/partial-update-group-retract", "primary key, partial-update, deletes and updates of two sequence groups", t ->
                partial(twoGroups(t)).change(outOfOrder()).change(older())
                        .change(delete(1, null, 4, null, null, null, 1, null), before(2, "a", 0, "b", "c", "d", 10, "e"), delete(4, null, null, null, null, null, null, null),
                                delete(6, "alone", 1, "x", null, null, null, null))
                        .change(Change.add(1, "back", 4, null, null, null, null, null), delete(3, "a1", 1, "b1", "c4", "d4", 4, null), delete(6, "alone", 2, "y", "c", "d", 1, "e"))
                        .compact(true).change(Change.add(6, "six", 3, null, null, null, null, null)));
        suite.table("pk/partial-update-remove-on-delete", "primary key, partial-update.remove-record-on-delete=true", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "partial-update").option("partial-update.remove-record-on-delete", true).create();
            PkFixtures.historyCompacted(t, true);
            t.change(delete(9, "value of the delete", 99)).change(Change.add(9, null, null)).compact(true);
        });
        suite.table("pk/partial-update-remove-on-group", "primary key, partial-update.remove-record-on-sequence-group of one of two groups", t ->
                partial(twoGroups(t).option("partial-update.remove-record-on-sequence-group", "g2"))
                        .change(outOfOrder()).change(older())
                        .change(delete(1, null, 1, null, null, null, 9, null), delete(2, "a", 9, "b", null, null, 1, null), before(3, null, null, null, null, null, 9, null))
                        .change(Change.add(1, null, 1, null, "back", null, 9, null), delete(3, null, null, null, "c", "d", 10, "e"), delete(4, null, 5, null, null, null, null, null))
                        .change(Change.add(3, "a", 0, null, null, null, null, null)).compact(true));
        suite.table("pk/partial-update-remove-on-group-of-two", "primary key, partial-update.remove-record-on-sequence-group, group of two ordering columns, aggregator", t ->
                partial(t.column("id", "INT NOT NULL").column("g1", "INT").column("g2", "INT").column("s", "INT").column("a", "STRING").column("free", "STRING")
                        .option("fields.g1,g2.sequence-group", "s,a").option("fields.s.aggregate-function", "sum")
                        .option("partial-update.remove-record-on-sequence-group", "g1,g2"))
                        .change(Change.add(1, 1, 1, 10, "a", "f"), Change.add(2, 2, 2, 20, "b", "f"), Change.add(3, 1, null, 30, "c", null))
                        .change(delete(1, 1, 1, 5, "x", null), delete(2, 2, 1, 5, "x", null), Change.add(3, 1, 1, 3, null, "f"))
                        .change(Change.add(1, 1, 2, 7, null, null), delete(3, 1, null, 1, null, null)).compact(true));
    }
}
