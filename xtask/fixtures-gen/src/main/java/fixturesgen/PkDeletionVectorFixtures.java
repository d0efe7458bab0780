// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.delete;

import java.util.List;

/** Tables with primary keys whose old versions are marked by deletion vectors. */
final class PkDeletionVectorFixtures {
    private PkDeletionVectorFixtures() {}

    static void add(TableSink suite) throws Exception {
        for (boolean wide : new boolean[] {false, true}) {
            String bits = wide ? "64" : "32";
            suite.table("pk/dv-" + bits, "primary key, deletion vectors of " + bits + " bits, the writer compacts", t ->
                    PkFixtures.history(vectors(PkFixtures.simple(t), wide).create(), true).change(delete(9, null, null), Change.add(2, "b9", null)));
            suite.table("pk/dv-levels-" + bits, "primary key, deletion vectors of " + bits + " bits, several vectors in one index file, files on several levels", t -> levels(t, wide));
        }
        suite.table("pk/dv-hidden-level-0", "primary key, deletion vectors, write-only: level 0 is hidden until it is compacted", t -> {
            PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).option("deletion-vectors.enabled", true).create(), true);
            t.compact(true).change(Change.add(1, "hidden", 1), delete(2, null, null)).compact(false).change(Change.add(1, "hidden again", 2));
        });
        for (String engine : List.of("partial-update", "aggregation")) {
            suite.table("pk/dv-" + engine, "primary key, " + engine + ", deletion vectors, changelog-producer=lookup", t -> {
                vectors(PkFixtures.simple(t), false).option("merge-engine", engine).option("changelog-producer", "lookup");
                if (engine.equals("aggregation")) {
                    t.option("fields.n.aggregate-function", "sum");
                }
                PkFixtures.history(t.create(), false).change(Change.add(2, null, 9));
            });
        }
        suite.table("pk/dv-sequence", "primary key, deletion vectors, sequence.field: older versions that come later", t ->
                vectors(PkFixtures.simple(t), false).option("sequence.field", "n").create()
                        .change(Change.add(1, "a5", 5), Change.add(2, "b5", 5), Change.add(3, "cn", null)).change(Change.add(1, "a4", 4), Change.add(2, "b6", 6), Change.add(3, "c0", 0))
                        .change(Change.add(1, "a5+", 5), delete(2, "older", 1), Change.add(3, "cn+", null)).change(delete(1, "newer", 9), Change.add(4, "d", null)));
        suite.table("pk/dv-partitioned", "primary key, partitioned, 2 buckets, deletion vectors, a partition overwritten", t -> {
            vectors(t.column("p", "STRING NOT NULL").column("id", "INT NOT NULL").column("v", "STRING").partitionBy("p").primaryKey("p", "id"), false).option("bucket", 2).create();
            for (int i = 0; i < 3; i++) {
                Change[] changes = new Change[30];
                for (int k = 0; k < changes.length; k++) {
                    changes[k] = (k + i) % 7 == 0 ? delete(k % 2 == 0 ? "a" : "b", k / 2, null) : Change.add(k % 2 == 0 ? "a" : "b", (k + i * 5) / 2, "v" + i);
                }
                t.change(changes);
            }
            t.overwrite(java.util.Map.of("p", "b"), Values.row("b", 1, "new"), Values.row("b", 2, "new")).change(Change.add("b", 1, "newer"), delete("a", 3, null));
        });
        for (String format : List.of("orc", "avro")) {
            suite.table("pk/dv-" + format, "primary key, " + format + ", deletion vectors", t -> levels(t.option("file.format", format), false));
        }
        suite.table("pk/dv-thin", "primary key, data-file.thin-mode=true, deletion vectors", t -> levels(t.option("data-file.thin-mode", true), false));
        suite.table("pk/dv-evolution", "primary key, deletion vectors, columns renamed, added and dropped in between", t -> {
            vectors(PkFixtures.simple(t), false).create();
            t.change(PkFileFixtures.numbers(0, 20, 1, "a")).change(PkFileFixtures.numbers(0, 5, 3, "b"));
            t.alter(org.apache.paimon.schema.SchemaChange.renameColumn("v", "w"), org.apache.paimon.schema.SchemaChange.addColumn("x", Values.type("INT")),
                    org.apache.paimon.schema.SchemaChange.dropColumn("n"));
            t.change(Change.add(1, "c", 1), delete(2, null, null), Change.add(30, "c", null));
        });
    }

    static TableWriter vectors(TableWriter t, boolean wide) {
        t.option("bucket", 1).option("deletion-vectors.enabled", true);
        return wide ? t.option("deletion-vectors.bitmap64", true) : t;
    }

    private static void levels(TableWriter t, boolean wide) throws Exception {
        vectors(PkFixtures.simple(t), wide).option("num-levels", 5).option("compaction.max-size-amplification-percent", 100_000).option("compaction.size-ratio", 0).create();
        t.change(PkFileFixtures.numbers(0, 400, 1, "a")).change(PkFileFixtures.numbers(0, 60, 3, "b")).change(PkFileFixtures.numbers(0, 20, 7, "c"));
        t.change(delete(1, null, null), Change.add(3, "d3", null), Change.add(7, "d7", 7), Change.add(1000, "d", 1)).change(delete(0, null, null), Change.add(1, "back", null));
    }
}
