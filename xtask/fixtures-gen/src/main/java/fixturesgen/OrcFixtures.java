// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

import org.apache.paimon.CoreOptions;

import java.util.Map;

/** How ORC files are laid out, and manifests in ORC. */
final class OrcFixtures {
    private OrcFixtures() {}

    static void add(Suite suite) throws Exception {
        suite.table("formats/orc-char", "append, orc, CHAR with and without trailing blanks, also nested", t ->
                orc(t).column("id", "INT").column("c", "CHAR(5)").column("v", "VARCHAR(5)").column("a", Values.array("CHAR(3)"))
                        .column("m", Values.map("CHAR(3)", "CHAR(2)")).column("r", Values.rowType("c", "CHAR(4)")).create()
                        .write(row(1, "ab", "ab", Values.list("a", "a ", "a  "), Values.entries("k", "v"), row("r")),
                                row(2, "ab ", "ab ", Values.list("", " ", "   "), Values.entries("", " "), row("r ")),
                                row(3, "", "", Values.list(), Values.entries(), row("")),
                                row(4, "   ", "   ", Values.list((Object) null), Values.entries("  ", null), row(" ")),
                                row(5, "abcde", "abcde", Values.list("abc"), Values.entries("abc", "ab"), row("abcd")),
                                row(6, "é😀 ", "é😀 ", Values.list("é😀"), Values.entries("日", "本"), row("日本 ")),
                                row(7, null, null, null, null, null)));
        suite.table("formats/orc-row-index", "append, orc, several row groups and stripes", t ->
                numbered(orc(t).option("orc.row.index.stride", 1000).option("orc.stripe.size", 4096)
                        .option("orc.rows.between.memory.checks", 500)));
        suite.table("formats/orc-no-row-index", "append, orc, without row index", t ->
                numbered(orc(t).option("orc.create.index", false)));
        suite.table("formats/orc-bloom-filter", "append, orc, bloom filters of two columns, several row groups", t ->
                numbered(orc(t).option("orc.row.index.stride", 1000).option("orc.bloom.filter.columns", "id,s")
                        .option("orc.bloom.filter.fpp", "0.01")));
        suite.table("formats/orc-no-dictionary", "append, orc, orc.dictionary.key.threshold=0", t ->
                repeated(orc(t).option("orc.dictionary.key.threshold", 0)));
        suite.table("formats/orc-dictionary", "append, orc, orc.dictionary.key.threshold=1", t ->
                repeated(orc(t).option("orc.dictionary.key.threshold", 1)));
        suite.table("formats/orc-run-lengths-1", "append, orc, orc.write.format=0.11: the first run length encodings", t ->
                repeated(orc(t).option("orc.write.format", "0.11")));
        suite.table("formats/orc-partitioned", "append, orc, partitioned, 2 buckets, several commits", t ->
                orc(t).column("p", "STRING").column("id", "INT").column("v", "DOUBLE").partitionBy("p").option("bucket", 2)
                        .option("bucket-key", "id").create()
                        .write(row("a", 1, 1.5), row("b", 2, -0.0), row(null, 3, Double.NaN)).write(row("a", 4, null), row("b", 5, 0.0)));
        // Newer versions write Avro whatever the option says.
        if (Newer.hasField(CoreOptions.class, "MANIFEST_FORMAT")) {
            manifests(suite);
        }
    }

    private static void manifests(Suite suite) throws Exception {
        suite.table("formats/manifest-orc", "append, manifests in ORC, partitioned, overwrite", t ->
                partitioned(t).write(row("x", 1, "a"), row(null, 2, "b"), row("y", 2, null))
                        .overwrite(Map.of("p", "x", "q", "1"), row("x", 1, "new")).write(row("z", 3, "c")));
        suite.table("formats/manifest-orc-data-orc", "append, orc, manifests in ORC", t ->
                partitioned(t.option("file.format", "orc")).write(row("x", 1, "a"), row("y", 2, "b")).write(row("x", 1, "c")));
        suite.table("formats/manifest-orc-merged", "append, manifests in ORC, 12 commits, manifest.merge-min-count=3", t -> {
            partitioned(t.option("manifest.merge-min-count", 3));
            for (int i = 0; i < 12; i++) {
                t.write(row("p" + i % 3, i % 2, "v" + i));
            }
        });
        for (String codec : new String[] {"null", "snappy", "zstd", "lz4"}) {
            suite.table("formats/manifest-orc-" + codec, "append, manifests in ORC, manifest.compression=" + codec, t ->
                    partitioned(t.option("manifest.compression", codec.equals("null") ? "none" : codec))
                            .write(row("x", 1, "a"), row("y", 2, "b")));
        }
        suite.table("formats/manifest-orc-deletion-vectors",
                "primary key, manifests and index manifests in ORC, deletion vectors", t ->
                t.column("id", "INT NOT NULL").column("v", "STRING").primaryKey("id").option("bucket", 1)
                        .option("manifest.format", "orc").option("deletion-vectors.enabled", true).create()
                        .write(row(1, "old"), row(2, "two"), row(3, "three")).write(row(1, "new"), row(4, "four")));
    }

    private static TableWriter orc(TableWriter t) {
        return FormatFixtures.prepared(t, "orc");
    }

    private static TableWriter partitioned(TableWriter t) throws Exception {
        return t.column("p", "STRING").column("q", "INT").column("v", "STRING").partitionBy("p", "q").option("manifest.format", "orc").create();
    }

    /** 2500 rows in order of both columns, with NULL in between. */
    private static void numbered(TableWriter t) throws Exception {
        Object[][] rows = new Object[2500][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = row(i, i % 250 == 7 ? null : String.format("k%04d", i));
        }
        t.column("id", "INT").column("s", "STRING").create().write(rows);
    }

    /** Runs, steps and patches of numbers; texts that repeat and texts that do not. */
    private static void repeated(TableWriter t) throws Exception {
        t.column("id", "INT").column("few", "STRING").column("many", "STRING").column("run", "BIGINT").column("step", "BIGINT")
                .column("patch", "BIGINT").column("b", "BOOLEAN").column("y", "TINYINT").column("bin", "BYTES").create();
        Object[][] rows = new Object[600][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = row(i, i % 17 == 3 ? null : "value " + i % 5, "t" + i * 7919, (long) (i / 100), i * 1000L - 5,
                    i % 97 == 50 ? (1L << 40) + i : i % 13L, i % 11 == 0 ? null : i / 50 % 2 == 0, (byte) (i / 3),
                    i % 4 == 0 ? null : String.format("%04x", i));
        }
        t.write(rows);
    }
}
