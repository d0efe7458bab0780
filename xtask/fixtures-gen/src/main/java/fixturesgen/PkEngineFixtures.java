// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.after;
import static fixturesgen.Change.before;
import static fixturesgen.Change.delete;

import org.apache.paimon.schema.SchemaChange;

import java.util.List;

/** Merge engines with every changelog producer, and the options that drop rows or kinds of rows. */
final class PkEngineFixtures {
    private PkEngineFixtures() {}

    static void add(TableSink suite) throws Exception {
        plain(suite);
        producers(suite);
        kinds(suite);
        firstRow(suite);
    }

    private static void plain(TableSink suite) throws Exception {
        suite.table("pk/deduplicate", "primary key, deduplicate, compacted after five commits", t ->
                PkFixtures.historyCompacted(PkFixtures.writeOnly(PkFixtures.simple(t)).create(), true));

        suite.table("pk/deduplicate-compacting", "primary key, deduplicate, 9 commits, the writer compacts", t -> {
            PkFixtures.history(PkFixtures.simple(t).option("bucket", 1).create(), true);
            for (int i = 0; i < 4; i++) {
                t.change(Change.add(i, "late" + i, i), delete(i + 3, null, null), Change.add(20 + i, "new", null));
            }
        });

        suite.table("pk/deduplicate-trigger", "primary key, deduplicate, num-sorted-run.compaction-trigger=2, runs on several levels", t -> {
            PkFixtures.simple(t).option("bucket", 1).option("num-sorted-run.compaction-trigger", 2).option("num-levels", 4).create();
            for (int i = 0; i < 6; i++) {
                Change[] changes = new Change[40 >> i];
                for (int k = 0; k < changes.length; k++) {
                    changes[k] = k % 5 == i ? delete(k, "gone", null) : Change.add(k, "v" + i, (long) k * i);
                }
                t.change(changes);
            }
        });
    }

    private static void producers(TableSink suite) throws Exception {
        for (String engine : List.of("deduplicate", "partial-update", "aggregation", "first-row")) {
            for (String producer : List.of("none", "input", "lookup", "full-compaction")) {
                boolean firstRow = engine.equals("first-row");
                if (firstRow && (producer.equals("input") || producer.equals("full-compaction"))) {
                    continue;
                }
                suite.table("pk/producer-" + producer + "-" + engine, "primary key, " + engine + ", changelog-producer=" + producer + ", the writer compacts", t -> {
                    PkFixtures.simple(t).option("bucket", 1).option("merge-engine", engine).option("changelog-producer", producer);
                    if (producer.equals("full-compaction")) {
                        t.option("full-compaction.delta-commits", 2);
                    }
                    boolean retracts = engine.equals("deduplicate") || engine.equals("aggregation");
                    if (engine.equals("aggregation")) {
                        t.option("fields.n.aggregate-function", "sum").option("fields.v.aggregate-function", "last_value");
                    }
                    PkFixtures.history(t.create(), retracts);
                    if (producer.equals("none")) {
                        t.compact(true);
                    }
                    t.change(Change.add(1, "a9", 19), Change.add(10, "j1", 100));
                });
            }
        }
        suite.table("pk/producer-lookup-row-deduplicate", "primary key, deduplicate, changelog-producer=lookup, changelog-producer.row-deduplicate=true", t ->
                PkFixtures.history(PkFixtures.simple(t).option("bucket", 1).option("changelog-producer", "lookup")
                        .option("changelog-producer.row-deduplicate", true).create(), true).change(Change.add(9, "i1", 90)));
    }

    private static void kinds(TableSink suite) throws Exception {
        for (String engine : List.of("deduplicate", "partial-update", "first-row", "aggregation")) {
            suite.table("pk/ignore-delete-" + engine, "primary key, " + engine + ", ignore-delete=true", t -> {
                PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", engine).option("ignore-delete", true).create();
                PkFixtures.historyCompacted(t, true);
            });
        }
        suite.table("pk/ignore-delete-later", "primary key, deduplicate, ignore-delete set when files have deletes", t -> {
            PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).create(), true);
            t.alter(SchemaChange.setOption("ignore-delete", "true"));
            t.change(Change.add(2, "b9", 9), delete(2, "b9", 9), Change.add(9, "i9", null)).compact(true);
        });
        suite.table("pk/ignore-delete-partial-update-later", "primary key, partial-update, ignore-delete set when files have deletes", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "partial-update").option("partial-update.ignore-delete", true).create();
            t.change(Change.add(1, "a", 1), Change.add(2, "b", 2));
            t.alter(SchemaChange.setOption("ignore-delete", "true"));
            t.change(delete(1, null, null), Change.add(2, null, 3)).change(delete(3, "x", 1));
            t.change(Change.add(3, null, 30)).compact(true);
        });
        suite.table("pk/ignore-update-before", "primary key, deduplicate, ignore-update-before=true", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("ignore-update-before", true).create();
            PkFixtures.historyCompacted(t, true);
            t.change(before(1, "a9", 19), delete(10, null, null));
        });
        suite.table("pk/rowkind-field", "primary key, deduplicate, rowkind.field", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("kind", "STRING").column("v", "STRING").primaryKey("id"))
                        .option("rowkind.field", "kind").create()
                        .change(Change.add(1, "+I", "a"), Change.add(2, "+I", "b"), Change.add(3, "+I", "c"))
                        .change(Change.add(1, "-U", "a"), Change.add(1, "+U", "a2"), Change.add(2, "-D", "b"))
                        .change(delete(3, "+I", "the column tells")).compact(true));
        suite.table("pk/retract-alone", "primary key, deduplicate, every kind as the only or the last version of its key", t ->
                PkFixtures.writeOnly(PkFixtures.simple(t)).create()
                        .change(Change.add(1, "a", 1), before(2, "b", 2), after(3, "c", 3), delete(4, "d", 4))
                        .change(before(1, "a", 1), after(2, "b", 2), delete(3, "c", 3), Change.add(4, "d", 4))
                        .compact(true)
                        .change(before(2, "b", 2), after(5, "e", 5)));
        suite.table("pk/retract-alone-aggregation", "primary key, aggregation, a retract as the only version of its key passes as it is", t ->
                PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "aggregation")
                        .option("fields.n.aggregate-function", "sum").option("fields.v.aggregate-function", "last_value").create()
                        .change(Change.add(1, "a", 1), before(2, "b", 2), after(3, "c", 3), delete(4, "d", 4))
                        .change(before(1, "a", 5), Change.add(2, "b", 20), delete(5, "e", 5), delete(6, "f", 6), Change.add(6, "f", 7))
                        .compact(true)
                        .change(delete(4, null, 1), Change.add(5, null, null)));
        suite.table("pk/default-values", "primary key, default values for NULL, partial-update", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("a", Values.type("INT"), null, "5")
                                .column("b", Values.type("STRING"), null, "def").column("c", "INT").primaryKey("id"))
                        .option("merge-engine", "partial-update").create()
                        .change(Change.add(1, 1, null, 1), Change.add(2, null, "x", null))
                        .change(Change.add(1, null, "y", null), Change.add(2, 2, null, 2)).compact(true));
        suite.table("pk/local-merge", "primary key, deduplicate, local-merge-buffer-size (an option of the writer)", t ->
                PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).option("local-merge-buffer-size", "1 mb").create(), true));
        suite.table("pk/record-level-expire", "primary key, deduplicate, record-level.expire-time: old rows go with the compaction", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("v", "STRING").column("at", "INT").primaryKey("id"))
                        .option("record-level.expire-time", "1 h").option("record-level.time-field", "at").create()
                        .change(Change.add(1, "old", 1000), Change.add(2, "old", 1000), Change.add(3, "future", Integer.MAX_VALUE))
                        .change(Change.add(2, "future", Integer.MAX_VALUE), Change.add(3, "old", 1000), Change.add(4, "always", null))
                        .compact(true)
                        .change(Change.add(5, "old, not compacted", 1000)));
    }

    private static void firstRow(TableSink suite) throws Exception {
        suite.table("pk/first-row", "primary key, first-row, level 0 is hidden until it is compacted", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "first-row").create();
            PkFixtures.historyCompacted(t, false).compact(true);
        });
        suite.table("pk/first-row-buckets", "primary key, first-row, 3 buckets, lookup while writing", t -> {
            PkFixtures.simple(t).option("bucket", 3).option("merge-engine", "first-row").option("changelog-producer", "lookup").create();
            PkFixtures.history(t, false);
        });
        suite.table("pk/first-row-levels", "primary key, first-row, rows on several levels", t -> {
            PkFixtures.simple(t).option("bucket", 1).option("merge-engine", "first-row").option("num-levels", 4).create();
            for (int i = 0; i < 5; i++) {
                Change[] changes = new Change[64 >> i];
                for (int k = 0; k < changes.length; k++) {
                    changes[k] = Change.add(k * 3 + i, "v" + i, (long) k);
                }
                t.change(changes);
            }
        });
    }
}
