// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.array;
import static fixturesgen.Values.row;

import java.util.Arrays;

/** How Parquet files are laid out: compression, row groups, pages, encodings. */
final class FileFixtures {
    private FileFixtures() {}

    static void add(Suite suite) throws Exception {
        for (String codec : new String[] {"none", "snappy", "gzip", "lz4", "zstd"}) {
            suite.table("files/compression-" + codec, "append, file.compression=" + codec, t ->
                    write(columns(t.option("file.compression", codec)).create(), 200));
        }
        suite.table("files/row-groups", "append, parquet.block.size=12000, several row groups and pages", t ->
                write(columns(t.option("parquet.block.size", 12000).option("parquet.page.size", 2000)).create(), 1200));
        suite.table("files/row-groups-nested", "append, ARRAY and MAP over several row groups and pages", t -> {
            t.column("id", "INT").column("a", array("INT")).column("m", Values.map("STRING", "BIGINT"))
                    .option("parquet.block.size", 4000).option("parquet.page.size", 1000).create();
            Object[][] rows = new Object[1000][];
            for (int i = 0; i < rows.length; i++) {
                Object[] items = new Object[i % 7];
                for (int k = 0; k < items.length; k++) {
                    items[k] = k == 3 ? null : i * k;
                }
                rows[i] = row(i, i % 11 == 0 ? null : Arrays.asList(items), i % 5 == 0 ? Values.entries() : Values.entries("k" + i % 3, (long) i));
            }
            t.write(rows);
        });
        suite.table("files/no-dictionary", "append, parquet.enable.dictionary=false", t ->
                write(columns(t.option("parquet.enable.dictionary", false)).create(), 100));
        suite.table("files/pages-v2", "append, parquet.writer.version=PARQUET_2_0", t ->
                write(columns(t.option("parquet.writer.version", "PARQUET_2_0")).create(), 300));
        suite.table("files/dictionary-overflow", "append, small dictionary page, pages with and without dictionary", t ->
                write(columns(t.option("parquet.dictionary.page.size", 500).option("parquet.page.size", 1000)).create(), 600));
        suite.table("files/rolled-by-size", "append, target-file-size=1 kb, several files of one commit", t -> {
            t.column("id", "INT").option("target-file-size", "1 kb").create();
            Object[][] rows = new Object[3500][];
            for (int i = 0; i < rows.length; i++) {
                rows[i] = row(i);
            }
            t.write(rows);
        });
        suite.table("files/bloom-filter", "append, Parquet bloom filter of a column", t ->
                write(columns(t.option("parquet.bloom.filter.enabled#s", true)
                        .option("parquet.bloom.filter.expected.ndv#s", 100)).create(), 100));
        suite.table("files/sorted-pages", "append, sorted column, page index good for pruning", t -> {
            t.column("id", "INT").column("s", "STRING").column("d", "DECIMAL(10, 2)").column("ts", "TIMESTAMP(3)")
                    .option("parquet.page.row.count.limit", 50).option("parquet.block.size", 4000).create();
            Object[][] rows = new Object[800][];
            for (int i = 0; i < rows.length; i++) {
                String second = String.format("%02d", i % 60);
                String minute = String.format("%02d", i / 60);
                rows[i] = row(i, String.format("key-%05d", i), i + ".25", "2024-01-31 10:" + minute + ":" + second);
            }
            t.write(rows);
        });
    }

    private static TableWriter columns(TableWriter t) {
        return t.column("id", "INT").column("s", "STRING").column("d", "DOUBLE").column("ts", "TIMESTAMP(3)")
                .column("dec", "DECIMAL(20, 3)");
    }

    private static TableWriter write(TableWriter t, int count) throws Exception {
        Object[][] rows = new Object[count][];
        for (int i = 0; i < count; i++) {
            String text = i % 9 == 4 ? null : "value " + i % 50;
            String time = String.format("2024-01-31 %02d:%02d:%02d.%03d", i / 3600, i / 60 % 60, i % 60, i % 1000);
            rows[i] = row(i, text, i % 13 == 0 ? null : i * 0.5, time, i % 10 == 0 ? null : i + ".125");
        }
        return t.write(rows);
    }
}
