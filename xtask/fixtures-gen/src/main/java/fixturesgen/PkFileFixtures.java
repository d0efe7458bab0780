// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.delete;

import java.util.List;
import java.util.Map;

/** How the files of a table with primary keys are laid out: formats, levels, many runs, splits, tags and branches. */
final class PkFileFixtures {
    private PkFileFixtures() {}

    static void add(TableSink suite) throws Exception {
        formats(suite);
        runs(suite);
        suite.table("pk/history", "primary key, tags, a branch with commits of its own, expired snapshots", t -> {
            PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).create(), true);
            t.tag("one", 1).tag("three", 3).branch("side", "three");
            t.compact(true).change(Change.add(1, "main", 1)).expire(2);
            t.changeBranch("side", Change.add(1, "side", 1), delete(2, null, null));
        });
        suite.table("pk/overwritten", "primary key, the whole table overwritten", t ->
                PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).create(), true)
                        .overwrite(Map.of(), Values.row(2, "new", 2), Values.row(1, "new", 1)).change(Change.add(2, "newer", null), delete(1, null, null)));
        suite.table("pk/path-directory", "primary key, data-file.path-directory, prefixes of files, changelog-producer=input", t ->
                PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).option("data-file.path-directory", "d").option("data-file.prefix", "p-")
                        .option("changelog-file.prefix", "c-").option("changelog-producer", "input").option("file.suffix.include.compression", true).create(), true));
        suite.table("pk/file-index", "primary key, deletion vectors, bloom filter and bitmap index of values", t ->
                PkFixtures.history(PkFixtures.simple(t).option("bucket", 1).option("deletion-vectors.enabled", true).option("file-index.bloom-filter.columns", "v")
                        .option("file-index.bloom-filter.v.items", 50).option("file-index.bitmap.columns", "n").create(), true));
        suite.table("pk/stats-none", "primary key, metadata.stats-mode=none", t ->
                PkFixtures.historyCompacted(PkFixtures.writeOnly(PkFixtures.simple(t)).option("metadata.stats-mode", "none").create(), true));
        suite.table("pk/capital-names", "primary key, columns with capitals, blanks and quotes in key and values", t ->
                PkFixtures.writeOnly(t.column("The Key", "INT NOT NULL").column("größe", "STRING").column("a.b\"c", "INT").primaryKey("The Key")).create()
                        .change(Change.add(1, "a", 1), Change.add(2, "b", 2)).change(Change.add(1, "a2", null), delete(2, "b", 2)).compact(true));
        suite.table("pk/only-keys", "primary key of all columns", t ->
                PkFixtures.writeOnly(t.column("a", "INT NOT NULL").column("b", "STRING NOT NULL").primaryKey("a", "b")).create()
                        .change(Change.add(1, "a"), Change.add(2, "b")).change(Change.add(1, "a"), delete(2, "b"), Change.add(3, "c")).compact(true).change(delete(1, "a")));
    }

    private static TableWriter everyType(TableWriter t, String format) {
        FormatFixtures.prepared(t, format).column("id", "INT NOT NULL");
        TypeFixtures.COLUMNS.forEach((name, column) -> t.column(name, column.get(0)));
        return t.column("a", Values.array("INT")).column("m", Values.map("STRING", "INT")).column("r", Values.rowType("x", "INT", "s", "STRING")).primaryKey("id");
    }

    private static Change typed(int id, int sample) {
        Object[] row = new Object[TypeFixtures.COLUMNS.size() + 4];
        row[0] = id;
        int i = 1;
        for (List<Object> column : TypeFixtures.COLUMNS.values()) {
            row[i++] = sample == 0 ? null : column.get(sample);
        }
        if (sample > 0) {
            row[i] = Values.list(sample, null);
            row[i + 1] = Values.entries("k", sample);
            row[i + 2] = Values.row(sample, null);
        }
        return Change.add(row);
    }

    private static void formats(TableSink suite) throws Exception {
        for (String format : List.of("parquet", "orc", "avro")) {
            for (boolean thin : new boolean[] {false, true}) {
                suite.table("pk/" + format + (thin ? "-thin" : ""), "primary key, " + format + ", data-file.thin-mode=" + thin, t ->
                        PkFixtures.historyCompacted(PkFixtures.writeOnly(PkFixtures.simple(t)).option("file.format", format).option("data-file.thin-mode", thin).create(), true));
            }
            suite.table("pk/" + format + "-types", "primary key, " + format + ", columns of every type", t ->
                    PkFixtures.writeOnly(everyType(t, format)).create()
                            .change(typed(1, 1), typed(2, 2), typed(3, 0)).change(typed(1, 3), typed(3, 4)).change(typed(2, 0), typed(4, 5)).compact(true).change(typed(1, 2)));
        }
        suite.table("pk/format-per-level", "primary key, file.format.per.level: avro at 0, orc at 5, parquet between", t -> {
            PkFixtures.simple(t).option("bucket", 1).option("num-sorted-run.compaction-trigger", 2).option("num-levels", 6).option("file.format.per.level", "0:avro,5:orc")
                    .option("file.compression.per.level", "0:snappy,5:zlib").create();
            PkFixtures.history(t, true).compact(true);
            t.change(Change.add(1, "a9", 19), delete(2, "b2", 21));
        });
        suite.table("pk/format-changes", "primary key, a run in each format, thin and not", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).create();
            t.changeWith(Map.of("file.format", "parquet"), Change.add(1, "p1", 1), Change.add(2, "p2", 2), Change.add(3, "p3", 3));
            t.changeWith(Map.of("file.format", "orc", "data-file.thin-mode", "true"), Change.add(1, "o1", 10), Change.add(4, "o4", 40));
            t.changeWith(Map.of("file.format", "avro", "data-file.thin-mode", "true"), Change.add(4, "a4", null), delete(2, "p2", 2), Change.add(5, "a5", 5));
            t.changeWith(Map.of("file.format", "avro"), Change.add(5, "a5+", 55), Change.add(6, "a6", 6));
            t.changeWith(Map.of("file.format", "parquet", "data-file.thin-mode", "true"), Change.add(6, "p6", null), Change.add(3, null, null));
        });
        suite.table("pk/changelog-format", "primary key, changelog-producer=input, changelog-file.format=avro", t ->
                PkFixtures.history(PkFixtures.writeOnly(PkFixtures.simple(t)).option("changelog-producer", "input").option("changelog-file.format", "avro").create(), true));
    }

    static Change[] numbers(int from, int count, int step, String v) {
        Change[] changes = new Change[count];
        for (int i = 0; i < count; i++) {
            changes[i] = Change.add(from + i * step, v + (from + i * step), (long) i);
        }
        return changes;
    }

    private static void runs(TableSink suite) throws Exception {
        suite.table("pk/many-runs", "primary key, 20 runs of level 0, updates and deletes", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).create();
            for (int i = 0; i < 20; i++) {
                Change[] changes = new Change[12];
                for (int k = 0; k < changes.length; k++) {
                    int id = (k * 7 + i * 3) % 50;
                    changes[k] = (k + i) % 6 == 0 ? delete(id, null, null) : Change.add(id, "run" + i, (long) k);
                }
                t.change(changes);
            }
        });
        suite.table("pk/many-runs-aggregation", "primary key, aggregation, 20 runs of level 0", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "aggregation").option("fields.n.aggregate-function", "sum").option("fields.v.aggregate-function", "listagg").create();
            for (int i = 0; i < 20; i++) {
                Change[] changes = new Change[10];
                for (int k = 0; k < changes.length; k++) {
                    changes[k] = Change.add((k * 7 + i) % 30, k % 4 == 0 ? null : "r" + i, (long) k);
                }
                t.change(changes);
            }
        });
        suite.table("pk/sections", "primary key, sections of one run and of many, small splits", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("source.split.target-size", "6 kb").option("source.split.open-file-cost", "1 kb").create();
            t.change(numbers(0, 20, 1, "a")).change(numbers(100, 20, 1, "a")).change(numbers(200, 20, 1, "a")).change(numbers(110, 5, 1, "b"));
            t.change(numbers(300, 20, 1, "a")).change(delete(305, null, null), Change.add(319, "last", 1)).change(numbers(400, 3, 1, "a")).change(delete(500, null, null));
        });
        suite.table("pk/raw-splits", "primary key, all files on one level without deletes: splits that need no merge", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("target-file-size", "1 kb").option("source.split.target-size", "1 b").option("source.split.open-file-cost", "1 b").create();
            t.change(numbers(0, 2100, 1, "a")).change(numbers(0, 700, 3, "b")).compact(true).change(Change.add(1, "last", null));
        });
        suite.table("pk/clustered", "primary key, runs whose keys hardly overlap", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).create();
            for (int i = 0; i < 6; i++) {
                t.change(numbers(i * 95, 100, 1, "r" + i + "-"));
            }
        });
        suite.table("pk/batches", "primary key, 3 runs of 1200 rows and fewer, every second key updated", t ->
                PkFixtures.writeOnly(PkFixtures.simple(t)).create().change(numbers(0, 1200, 1, "a")).change(numbers(0, 600, 2, "b")).change(numbers(1, 400, 3, "c")));
        suite.table("pk/buckets", "primary key, 4 buckets, the writer compacts", t -> {
            PkFixtures.simple(t).option("bucket", 4).option("num-sorted-run.compaction-trigger", 2).create();
            for (int i = 0; i < 4; i++) {
                t.change(numbers(i, 60, i + 1, "r" + i + "-"));
            }
            t.change(delete(0, null, null), delete(3, null, null), delete(6, null, null));
        });
    }
}
