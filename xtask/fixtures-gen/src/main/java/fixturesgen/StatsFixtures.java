// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.array;
import static fixturesgen.Values.row;
import static fixturesgen.Values.rowType;

/** Column statistics of data files, in all modes. */
final class StatsFixtures {
    private StatsFixtures() {}

    static void add(TableSink suite) throws Exception {
        for (String mode : new String[] {"none", "counts", "truncate(4)", "truncate(16)", "full"}) {
            for (boolean dense : new boolean[] {true, false}) {
                String name = mode.replace("(", "").replace(")", "") + (dense ? "-dense" : "-not-dense");
                suite.table("stats/" + name, "append, metadata.stats-mode=" + mode + ", metadata.stats-dense-store=" + dense, t ->
                        rows(t.option("metadata.stats-mode", mode).option("metadata.stats-dense-store", dense)));
            }
        }
        suite.table("stats/per-field-dense", "append, fields.*.stats-mode, metadata.stats-dense-store=true", t ->
                rows(t.option("fields.id.stats-mode", "none").option("fields.s.stats-mode", "full")
                        .option("fields.d.stats-mode", "counts")));
        suite.table("stats/per-field-not-dense", "append, fields.*.stats-mode, metadata.stats-dense-store=false", t ->
                rows(t.option("fields.id.stats-mode", "none").option("fields.s.stats-mode", "truncate(3)")
                        .option("metadata.stats-dense-store", false)));
        suite.table("stats/keep-first-2", "append, metadata.stats-keep-first-n-columns=2", t ->
                rows(t.option("metadata.stats-keep-first-n-columns", 2)));
        suite.table("stats/partitioned", "append, partitioned, metadata.stats-mode=full", t ->
                t.column("p", "INT").column("id", "INT").column("s", "STRING").partitionBy("p")
                        .option("metadata.stats-mode", "full")
                        .create().write(row(1, 1, "a"), row(1, 2, null), row(2, 3, "z"), row(null, 4, "m")));
        suite.table("stats/modes-changed", "append, another metadata.stats-mode in each commit", t ->
                rows(t).writeWith(java.util.Map.of("metadata.stats-mode", "none"), some(10))
                        .writeWith(java.util.Map.of("metadata.stats-mode", "full"), some(20))
                        .writeWith(java.util.Map.of("metadata.stats-dense-store", "false"), some(30)));
    }

    private static Object[] some(int id) {
        return row(id, "text that is longer than sixteen characters", 1.5, "1.50", "2024-01-31 10:11:12.123456", null, null);
    }

    private static TableWriter rows(TableWriter t) throws Exception {
        return t.column("id", "INT").column("s", "STRING").column("d", "DOUBLE").column("dec", "DECIMAL(10, 2)")
                .column("ts", "TIMESTAMP(6)").column("a", array("INT")).column("r", rowType("x", "INT"))
                .create()
                .write(some(1), row(2, "zzzz😀zzzz", Double.NaN, null, "1969-12-31 23:59:59", Values.list(1), row(1)))
                .write(row(3, null, -0.0, "-0.01", null, null, null), row(4, "", 0.0, "0", null, null, null))
                .write(row(null, null, null, null, null, null, null));
    }
}
