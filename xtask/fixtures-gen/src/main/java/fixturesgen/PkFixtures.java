// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.after;
import static fixturesgen.Change.before;
import static fixturesgen.Change.delete;

/** Tables with primary keys, written over several commits with versions of the same keys, deletes and compactions. */
final class PkFixtures {
    private PkFixtures() {}

    static void add(TableSink suite) throws Exception {
        PkEngineFixtures.add(suite);
        PkPartialUpdateFixtures.add(suite);
        PkAggregationFixtures.add(suite);
        PkSequenceFixtures.add(suite);
        PkKeyFixtures.add(suite);
        PkFileFixtures.add(suite);
        PkDeletionVectorFixtures.add(suite);
        PkEvolutionFixtures.add(suite);
        PkCaseFixtures.add(suite);
    }

    /** Key INT and two values. */
    static TableWriter simple(TableWriter t) {
        return t.column("id", "INT NOT NULL").column("v", "STRING").column("n", "BIGINT").primaryKey("id");
    }

    /** The same in one bucket whose files only a step of its own compacts. */
    static TableWriter writeOnly(TableWriter t) {
        return t.option("bucket", 1).option("write-only", true);
    }

    /** Five commits to a table like {@link #simple}: inserts, updates, deletes, one key deleted and inserted again. */
    static TableWriter history(TableWriter t, boolean retracts) throws Exception {
        t.change(Change.add(1, "a1", 10), Change.add(2, "b1", 20), Change.add(3, "c1", 30), Change.add(4, null, null));
        t.change(Change.add(2, "b2", 21), Change.add(5, "e1", 50), after(1, "a2", null), Change.add(4, "d2", 40));
        t.change(retracts
                ? new Change[] {delete(3, "c1", 30), before(5, "e1", 50), after(5, "e2", 51), Change.add(6, "f1", 60), delete(7, "g", 1)}
                : new Change[] {Change.add(3, "c2", 31), Change.add(5, null, 51), Change.add(6, "f1", 60)});
        t.change(Change.add(3, "c3", 33), Change.add(1, null, 11), Change.add(8, "h1", 80), Change.add(8, "h2", null));
        t.change(retracts ? new Change[] {delete(1, null, 11), delete(6, "f1", 60), Change.add(9, "i1", 90)}
                : new Change[] {Change.add(6, "f2", null), Change.add(9, "i1", 90)});
        return t;
    }

    /** {@link #history}, then a compaction, and one commit on top of it. */
    static TableWriter historyCompacted(TableWriter t, boolean retracts) throws Exception {
        history(t, retracts).compact(true);
        t.change(Change.add(1, "a9", 19), Change.add(10, "j1", 100));
        return retracts ? t.change(delete(2, "b2", 21), Change.add(3, "c9", null)) : t.change(Change.add(3, "c9", null));
    }

    /** A table in which ours and Java's order of array elements differs, and may. */
    static final String UNORDERED = ", order of elements free";
}
