// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeRoot;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/** A random table with a primary key: its definition, and what is committed to it. */
final class PkRandomTable {
    private static final String[] ENGINES = {"deduplicate", "deduplicate", "deduplicate", "partial-update", "partial-update", "aggregation", "aggregation", "first-row"};
    private static final String[] ORDERED = {"INT", "BIGINT", "TIMESTAMP(3)", "TIMESTAMP(6)", "DATE", "STRING", "DECIMAL(10, 2)", "SMALLINT"};
    private static final int MAX_ROWS = 25;

    private final Random random;
    private final String format;
    private final RandomTypes types;
    private final PkRandomColumns columns;

    private final Map<String, DataType> fields = new LinkedHashMap<>();
    private final List<String> partitions = new ArrayList<>();
    private final List<String> keys = new ArrayList<>();
    private final Map<String, String> options = new LinkedHashMap<>();
    /** Columns that options name: they keep their names. */
    private final Set<String> named = new HashSet<>();
    private final Map<String, String> functions = new LinkedHashMap<>();
    /** Columns whose values must tie now and then. */
    private final Set<String> ordering = new HashSet<>();
    private final List<Object[]> keyPool = new ArrayList<>();
    private String engine;
    private boolean retracts;
    private boolean deletesOnly;

    PkRandomTable(long seed, int index) {
        random = new Random(seed * 1_000_003 + index);
        format = pick("parquet", "parquet", "parquet", "orc", "avro");
        types = new RandomTypes(random, format);
        columns = new PkRandomColumns(random, new RandomValues(random, format));
        addKeys();
        int count = 1 + random.nextInt(6);
        for (int i = 0; i < count; i++) {
            fields.put("v" + i, types.column(random.nextInt(3)));
        }
        addEngine();
        addLayout();
        shuffleColumns();
    }

    /** Elements of arrays may come in any order. */
    boolean isUnordered() {
        return options.keySet().stream().anyMatch(key -> key.endsWith(".distinct"));
    }

    void fill(TableWriter writer) throws Exception {
        fields.forEach(writer::column);
        writer.partitionBy(partitions.toArray(new String[0])).primaryKey(keys.toArray(new String[0]));
        options.forEach(writer::option);
        if (options.get("bucket").equals("-1")) {
            writer.buckets(this::dynamicBucket);
        }
        writer.create();
        fillPool(writer.table().rowType());
        boolean writeOnly = options.containsKey("write-only");
        int commits = 2 + random.nextInt(5);
        for (int i = 0; i < commits; i++) {
            writer.writeInternal(rows(writer.table().rowType(), 1 + random.nextInt(MAX_ROWS)), null);
            if (random.nextInt(4) == 0) {
                writer.compact(writeOnly ? random.nextInt(3) > 0 : true);
            }
            if (random.nextInt(4) == 0) {
                alter(writer);
            }
        }
    }

    private int dynamicBucket(InternalRow row) {
        int hash = 0;
        RowType type = current;
        for (String key : keyNames) {
            int at = type.getFieldIndex(key);
            StringBuilder text = new StringBuilder();
            RowJson.value(text, type.getTypeAt(at), InternalRow.createFieldGetter(type.getTypeAt(at), at).getFieldOrNull(row));
            hash = 31 * hash + text.toString().hashCode();
        }
        return Math.floorMod(hash, 2);
    }

    /** The schema of the rows that are being written, and the key columns by their names of now. */
    private RowType current;
    private final List<String> keyNames = new ArrayList<>();

    private void addKeys() {
        int count = random.nextInt(3) == 0 ? 2 + random.nextInt(2) : 1;
        for (int i = 0; i < count; i++) {
            DataType type;
            do {
                type = random.nextInt(3) == 0 ? Values.type(pick("INT", "BIGINT", "STRING")) : types.bucketKey();
            } while (type.isAnyOf(DataTypeRoot.FLOAT, DataTypeRoot.DOUBLE));
            fields.put("k" + i, type.notNull());
            keys.add(random.nextInt(keys.size() + 1), "k" + i);
        }
        if (random.nextInt(3) == 0) {
            for (int i = 0; i <= random.nextInt(2); i++) {
                fields.put("p" + i, Values.type(pick("INT", "STRING", "DATE", "BOOLEAN", "BIGINT")).notNull());
                partitions.add("p" + i);
                keys.add(random.nextInt(keys.size() + 1), "p" + i);
            }
        }
    }

    private void addEngine() {
        engine = pick(ENGINES);
        options.put("merge-engine", engine);
        boolean ignoreDelete = random.nextInt(6) == 0;
        if (ignoreDelete) {
            options.put("ignore-delete", "true");
        }
        switch (engine) {
            case "deduplicate" -> retracts = true;
            case "aggregation" -> {
                retracts = random.nextBoolean();
                if (retracts && random.nextInt(3) == 0) {
                    options.put("aggregation.remove-record-on-delete", "true");
                }
                for (String name : values()) {
                    if (random.nextInt(4) > 0) {
                        function(name, retracts);
                    }
                }
                if (random.nextInt(4) == 0) {
                    options.put("fields.default-aggregate-function", "last_value");
                }
                // ORC takes a NULL that a merge leaves in a NOT NULL column, other formats do not.
                fields.replaceAll((name, type) -> keys.contains(name) ? type : type.nullable());
            }
            case "partial-update" -> addGroups(ignoreDelete);
            default -> retracts = ignoreDelete;
        }
        if (!engine.equals("first-row") && random.nextInt(3) == 0) {
            List<String> sequence = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(2); i++) {
                fields.put("s" + i, Values.type(ordered()));
                sequence.add("s" + i);
                ordering.add("s" + i);
                named.add("s" + i);
            }
            options.put("sequence.field", String.join(",", sequence));
            if (random.nextInt(3) == 0) {
                options.put("sequence.field.sort-order", "descending");
            }
        }
    }

    private void addGroups(boolean ignoreDelete) {
        List<String> free = values();
        int groups = random.nextInt(3);
        List<String> removing = new ArrayList<>();
        retracts = groups > 0 || ignoreDelete;
        for (int g = 0; g < groups; g++) {
            List<String> order = new ArrayList<>();
            for (int i = 0; i <= random.nextInt(2); i++) {
                String name = "g" + g + "_" + i;
                fields.put(name, Values.type(ordered()));
                order.add(name);
                ordering.add(name);
                named.add(name);
            }
            List<String> guarded = new ArrayList<>();
            for (int i = random.nextInt(3); i >= 0 && !free.isEmpty(); i--) {
                String name = free.remove(random.nextInt(free.size()));
                guarded.add(name);
                named.add(name);
                if (random.nextBoolean()) {
                    function(name, true);
                }
            }
            if (guarded.isEmpty()) {
                fields.put("w" + g, Values.type("INT"));
                guarded.add("w" + g);
                named.add("w" + g);
            }
            options.put("fields." + String.join(",", order) + ".sequence-group", String.join(",", guarded));
            removing.add(order.get(0));
        }
        if (!ignoreDelete && groups > 0 && random.nextInt(3) == 0) {
            options.put("partial-update.remove-record-on-sequence-group", removing.get(random.nextInt(removing.size())));
        } else if (!ignoreDelete && groups == 0 && random.nextInt(2) == 0) {
            options.put("partial-update.remove-record-on-delete", "true");
            retracts = true;
            deletesOnly = random.nextBoolean();
        }
        // Without groups Java takes NULL for a NOT NULL column of the delete as an error.
        fields.replaceAll((name, type) -> keys.contains(name) ? type : type.nullable());
    }

    /** Gives a column a function, with its options. */
    private void function(String name, boolean mayRetract) {
        String function = columns.function(fields.get(name), mayRetract);
        functions.put(name, function);
        // A result can be NULL: Java fails where the column cannot.
        fields.put(name, fields.get(name).nullable());
        named.add(name);
        options.put("fields." + name + ".aggregate-function", function);
        if (function.equals("listagg") || function.equals("collect")) {
            if (random.nextInt(3) == 0 && (function.equals("listagg") || fields.get(name).toString().matches("ARRAY<(INT|BIGINT|STRING)( NOT NULL)?>.*"))) {
                options.put("fields." + name + ".distinct", "true");
            }
            if (function.equals("listagg") && random.nextInt(3) == 0) {
                options.put("fields." + name + ".list-agg-delimiter", pick(";", "||", " "));
            }
        }
    }

    private void addLayout() {
        boolean firstRow = engine.equals("first-row");
        options.put("bucket", random.nextInt(12) == 0 ? "-1" : String.valueOf(1 + random.nextInt(3)));
        boolean vectors = !firstRow && random.nextInt(5) == 0;
        if (vectors) {
            options.put("deletion-vectors.enabled", "true");
            maybe("deletion-vectors.bitmap64", "true");
            if (!Exporter.paimonVersion().startsWith("1.")) {
                maybe("deletion-vectors.merge-on-read", "true");
            }
        }
        String producer = pick("none", "none", "none", "input", "lookup", "full-compaction");
        if ((firstRow && !producer.equals("lookup")) || (vectors && producer.equals("full-compaction"))) {
            producer = "none";
        }
        if (!producer.equals("none")) {
            options.put("changelog-producer", producer);
        }
        if (random.nextInt(5) < 3) {
            options.put("write-only", "true");
        }
        options.put("num-sorted-run.compaction-trigger", pick("2", "3", "5"));
        if (!format.equals("parquet")) {
            options.put("file.format", format);
        } else if (random.nextInt(5) == 0 && !usesParquetOnly()) {
            options.put("file.format.per.level", pick("0:avro", "5:orc", "0:orc,1:avro"));
        }
        maybe("data-file.thin-mode", "true");
        maybe("num-levels", "3", "4", "6");
        maybe("source.split.target-size", "1 b", "2 kb");
        maybe("source.split.open-file-cost", "1 b");
        maybe("metadata.stats-mode", "none", "counts", "truncate(4)", "full");
        maybe("metadata.stats-dense-store", "true", "false");
        maybe("parquet.block.size", "2000");
        maybe("parquet.page.size", "200");
        maybe("parquet.enable.dictionary", "true", "false");
        maybe("manifest.merge-min-count", "2");
        maybe("file.compression", format.equals("avro") ? "snappy" : "zstd", format.equals("orc") ? "zlib" : "zstd");
    }

    /** Types that other formats than Parquet do not hold. */
    private boolean usesParquetOnly() {
        return fields.values().stream().anyMatch(type -> !FormatFixtures.supports("avro", type) || type.toString().contains("CHAR(") || type.toString().contains("TIME"));
    }

    private void shuffleColumns() {
        List<Map.Entry<String, DataType>> all = new ArrayList<>(fields.entrySet());
        if (random.nextInt(3) == 0) {
            java.util.Collections.shuffle(all, random);
        }
        Map<String, DataType> again = new LinkedHashMap<>();
        all.forEach(entry -> again.put(entry.getKey(), entry.getValue()));
        fields.clear();
        fields.putAll(again);
    }

    private void fillPool(RowType type) {
        current = type;
        keyNames.addAll(keys.stream().filter(key -> !partitions.contains(key)).toList());
        int size = 2 + random.nextInt(25);
        for (int i = 0; i < size; i++) {
            Object[] key = new Object[keys.size()];
            for (int k = 0; k < key.length; k++) {
                boolean partition = partitions.contains(keys.get(k));
                key[k] = columns.pooled(keys.get(k), type.getField(keys.get(k)).type(), partition ? 2 : 12);
            }
            keyPool.add(key);
        }
    }

    private List<InternalRow> rows(RowType type, int count) {
        current = type;
        List<String> allKeys = new ArrayList<>(partitions);
        allKeys.addAll(keyNames);
        List<InternalRow> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            GenericRow row = new GenericRow(type.getFieldCount());
            Object[] key = keyPool.get(random.nextInt(keyPool.size()));
            for (DataField field : type.getFields()) {
                int at = type.getFieldIndex(field.name());
                int place = keys.indexOf(original(field.name()));
                if (place >= 0) {
                    row.setField(at, key[place]);
                } else if (ordering.contains(field.name())) {
                    row.setField(at, columns.pooled(field.name(), field.type(), 5));
                } else {
                    row.setField(at, columns.value(field.type(), functions.get(field.name())));
                }
            }
            row.setRowKind(kind());
            rows.add(row);
        }
        return rows;
    }

    private RowKind kind() {
        int choice = random.nextInt(10);
        if (!retracts || choice < 7) {
            return choice == 0 ? RowKind.UPDATE_AFTER : RowKind.INSERT;
        }
        return choice == 7 && !deletesOnly ? RowKind.UPDATE_BEFORE : RowKind.DELETE;
    }

    private final Map<String, String> renamed = new LinkedHashMap<>();

    private String original(String name) {
        return renamed.getOrDefault(name, name);
    }

    private void alter(TableWriter writer) throws Exception {
        RowType type = writer.table().rowType();
        List<DataField> free = type.getFields().stream().filter(field -> !keys.contains(original(field.name())) && !named.contains(field.name())).toList();
        DataField chosen = free.isEmpty() ? null : free.get(random.nextInt(free.size()));
        int number = writer.table().schema().highestFieldId() + 1;
        switch (random.nextInt(5)) {
            case 0 -> {
                DataType added;
                do {
                    added = types.column(1);
                } while (!FormatFixtures.supports("avro", added) && options.containsKey("file.format.per.level"));
                writer.alter(SchemaChange.addColumn("n" + number, added.nullable()));
            }
            case 1 -> {
                if (chosen != null && free.size() > 1) {
                    writer.alter(SchemaChange.dropColumn(chosen.name()));
                    if (random.nextBoolean()) {
                        writer.alter(SchemaChange.addColumn(chosen.name(), Values.type("STRING")));
                    }
                }
            }
            case 2 -> {
                if (chosen != null) {
                    writer.alter(SchemaChange.renameColumn(chosen.name(), "r" + number + "_" + random.nextInt(1000)));
                }
            }
            case 3 -> {
                String key = keyNames.get(random.nextInt(keyNames.size()));
                String name = "K" + random.nextInt(1_000_000);
                writer.alter(SchemaChange.renameColumn(key, name));
                renamed.put(name, original(key));
                keyNames.set(keyNames.indexOf(key), name);
            }
            default -> {
                DataType wide = chosen == null ? null : widened(chosen.type());
                if (wide != null) {
                    writer.alter(SchemaChange.updateColumnType(chosen.name(), wide, true));
                }
            }
        }
        current = writer.table().rowType();
    }

    private static DataType widened(DataType type) {
        String text = switch (type.getTypeRoot()) {
            case TINYINT -> "INT";
            case SMALLINT, INTEGER -> "BIGINT";
            case FLOAT -> "DOUBLE";
            case DECIMAL -> {
                DecimalType decimal = (DecimalType) type;
                yield decimal.getPrecision() > 30 ? null : "DECIMAL(" + (decimal.getPrecision() + 6) + ", " + (decimal.getScale() + 2) + ")";
            }
            default -> null;
        };
        return text == null ? null : Values.type(text).copy(type.isNullable());
    }

    private List<String> values() {
        List<String> names = new ArrayList<>();
        fields.keySet().stream().filter(name -> name.startsWith("v")).forEach(names::add);
        return names;
    }

    private String ordered() {
        String type;
        do {
            type = pick(ORDERED);
        } while (!FormatFixtures.supports(format, Values.type(type)));
        return type;
    }

    private void maybe(String key, String... choices) {
        if (random.nextInt(3) == 0) {
            options.put(key, pick(choices));
        }
    }

    private String pick(String... choices) {
        return choices[random.nextInt(choices.length)];
    }
}
