// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.GenericRow;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowType;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** The description of a random append table, and random rows for it. */
final class RandomTable {
    private static final String[] NAMES = {
        "id", "Name", "größe", "with blank", "a.b", "_x", "VALUE", "c7", "quote\"d", "日本", "k", "long_name_with_many_letters"
    };

    final Map<String, DataType> columns = new LinkedHashMap<>();
    final List<String> partitionKeys = new ArrayList<>();
    final Map<String, String> options = new LinkedHashMap<>();
    /** How many rows each commit appends. */
    final int[] commits;

    private final String format;
    private final Random random;
    private final RandomValues values;
    /** Few values a partition column, so that partitions get more than one row. */
    private final Map<String, List<Object>> partitionValues = new LinkedHashMap<>();

    RandomTable(long seed, int index, String format) {
        this.format = format;
        random = new Random(seed * 1_000_003 + index);
        values = new RandomValues(random, format);
        boolean manyRows = random.nextInt(6) == 0;
        addColumns(manyRows ? 1 + random.nextInt(4) : 1 + random.nextInt(12));
        addBuckets();
        addOptions();
        commits = new int[1 + random.nextInt(4)];
        for (int i = 0; i < commits.length; i++) {
            commits[i] = manyRows ? 1000 + random.nextInt(1500) : 1 + random.nextInt(40);
        }
    }

    /** A fresh choice, for what the table does besides appending. */
    int choose(int bound) {
        return random.nextInt(bound);
    }

    void describe(TableWriter writer) {
        columns.forEach(writer::column);
        writer.partitionBy(partitionKeys.toArray(new String[0]));
        options.forEach(writer::option);
    }

    List<GenericRow> rows(RowType type, int count) {
        List<GenericRow> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            GenericRow row = values.row(type);
            partitionValues.forEach((name, choices) ->
                    row.setField(type.getFieldIndex(name), choices.get(random.nextInt(choices.size()))));
            rows.add(row);
        }
        return rows;
    }

    private void addColumns(int count) {
        RandomTypes types = new RandomTypes(random, format);
        int partitions = random.nextInt(2) * (1 + random.nextInt(2));
        for (int i = 0; i < count + partitions; i++) {
            String name = RandomTypes.name(format, NAMES[i % NAMES.length] + (i < NAMES.length ? "" : i));
            columns.put(name, i < count ? types.column(3) : types.partition());
            if (i >= count) {
                // The keys can come in another order than the columns.
                partitionKeys.add(random.nextInt(partitionKeys.size() + 1), name);
            }
        }
        for (String name : partitionKeys) {
            List<Object> choices = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                choices.add(values.value(columns.get(name)));
            }
            partitionValues.put(name, choices);
        }
    }

    private void addBuckets() {
        List<String> candidates = new ArrayList<>();
        columns.forEach((name, type) -> {
            if (!partitionKeys.contains(name) && type.isAnyOf(org.apache.paimon.types.DataTypeFamily.PREDEFINED)
                    && !type.is(org.apache.paimon.types.DataTypeRoot.VARIANT)) {
                candidates.add(name);
            }
        });
        if (candidates.isEmpty() || random.nextInt(5) < 3) {
            return;
        }
        List<String> keys = new ArrayList<>();
        for (int i = 0; i <= random.nextInt(3); i++) {
            String key = candidates.remove(random.nextInt(candidates.size()));
            keys.add(key);
            if (candidates.isEmpty()) {
                break;
            }
        }
        options.put("bucket", String.valueOf(1 + random.nextInt(4)));
        options.put("bucket-key", String.join(",", keys));
    }

    private void addOptions() {
        maybe("metadata.stats-mode", "none", "counts", "truncate(" + (1 + random.nextInt(20)) + ")", "full");
        maybe("metadata.stats-dense-store", "true", "false");
        maybe("metadata.stats-keep-first-n-columns", "0", "1", "3");
        if (!format.equals("parquet")) {
            options.put("file.format", format);
        }
        switch (format) {
            case "orc" -> maybe("file.compression", "none", "zlib", "snappy", "lz4", "zstd");
            case "avro" -> maybe("file.compression", "null", "deflate", "snappy", "zstd");
            default -> maybe("file.compression", "none", "snappy", "gzip", "lz4", "zstd");
        }
        maybe("parquet.enable.dictionary", "true", "false");
        maybe("parquet.block.size", "2000", "20000");
        maybe("parquet.page.size", "200", "2000");
        maybe("parquet.writer.version", "PARQUET_1_0", "PARQUET_2_0");
        maybe("target-file-size", "1 b", "4 kb", "1 mb");
        maybe("partition.legacy-name", "true", "false");
        maybe("partition.default-name", "__NONE__");
        maybe("manifest.merge-min-count", "2", "3");
        maybe("manifest.target-file-size", "1 kb");
        maybe("orc.stripe.size", "10000", "100000");
        maybe("orc.row.index.stride", "1000");
        maybe("orc.dictionary.key.threshold", "0", "1");
        maybe("manifest.format", "orc");
        maybe("manifest.compression", options.containsKey("manifest.format") ? "none" : "null", "snappy", "zstd");
        maybe("data-file.prefix", "d-");
        maybe("file.suffix.include.compression", "true");
        maybe("write-only", "true");
    }

    private void maybe(String key, String... choices) {
        if (random.nextInt(3) == 0) {
            options.put(key, choices[random.nextInt(choices.length)]);
        }
    }
}
