// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeFamily;
import org.apache.paimon.types.LocalZonedTimestampType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowType;
import org.apache.paimon.types.TimeType;
import org.apache.paimon.types.TimestampType;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Every type in every file format with every compression. */
final class FormatFixtures {
    private static final List<String> PARQUET_CODECS = List.of("none", "snappy", "gzip", "lz4", "lz4_raw", "zstd");
    private static final List<String> ORC_CODECS = List.of("none", "zlib", "snappy", "lz4", "lzo", "zstd");
    private static final List<String> AVRO_CODECS = List.of("null", "deflate", "snappy", "bzip2", "xz", "zstd");

    /** Tables of other features that are worth writing in another format than Parquet. */
    private static final Set<String> STATS = Set.of("stats/full-dense", "stats/truncate4-dense", "stats/counts-not-dense");

    private FormatFixtures() {}

    static void add(Suite suite) throws Exception {
        codecs(suite, "parquet", PARQUET_CODECS);
        codecs(suite, "orc", ORC_CODECS);
        codecs(suite, "avro", AVRO_CODECS);
        for (String format : List.of("orc", "avro")) {
            TableSink sink = inFormat(suite, format);
            TypeFixtures.add(sink);
            NestedFixtures.add((path, features, recipe) -> {
                if (!path.startsWith("nested/variant")) {
                    sink.table(path, features, recipe);
                }
            });
            StatsFixtures.add((path, features, recipe) -> {
                if (STATS.contains(path)) {
                    sink.table(path, features, recipe);
                }
            });
        }
        ZoneFixtures.add(suite);
        OrcFixtures.add(suite);
        suite.table("formats/mixed", "append, a file in each format", t ->
                t.column("id", "INT").column("s", "STRING").column("ts", "TIMESTAMP(6)").column("d", "DECIMAL(20, 3)").create()
                        .writeWith(Map.of("file.format", "parquet"), row(1, "parquet", "2024-01-31 10:11:12.123456", "1.500"))
                        .writeWith(Map.of("file.format", "orc"), row(2, "orc", "1969-12-31 23:59:59.999999", "-0.001"))
                        .writeWith(Map.of("file.format", "avro"), row(3, "avro", "0001-01-01 00:00:00", null)));
    }

    /** The same tables in a format, without the columns that it cannot hold. */
    private static TableSink inFormat(TableSink suite, String format) {
        return (path, features, recipe) -> suite.table("formats/" + format + "-" + path.replace('/', '-'), named(format, features),
                t -> recipe.fill(prepared(t, format)));
    }

    /** The features of a table, with the format behind the kind of table. */
    static String named(String format, String features) {
        return features.replaceFirst("append, ", "append, " + format + ", ");
    }

    /** A table whose data files have a format. */
    static TableWriter prepared(TableWriter t, String format) {
        return t.supporting(type -> supports(format, type)).option("file.format", format);
    }

    static boolean supports(String format, DataType type) {
        if (format.equals("parquet")) {
            return true;
        }
        return switch (type.getTypeRoot()) {
            case VARIANT -> false;
            case TIME_WITHOUT_TIME_ZONE -> format.equals("orc") || ((TimeType) type).getPrecision() <= 3;
            case TIMESTAMP_WITHOUT_TIME_ZONE -> format.equals("orc") || ((TimestampType) type).getPrecision() <= 6;
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                    format.equals("orc") || ((LocalZonedTimestampType) type).getPrecision() <= 6;
            case ARRAY -> supports(format, ((ArrayType) type).getElementType());
            // Java fails at a MULTISET of anything but text in Avro.
            case MULTISET -> supports(format, ((MultisetType) type).getElementType())
                    && (format.equals("orc") || ((MultisetType) type).getElementType().is(DataTypeFamily.CHARACTER_STRING));
            case MAP -> supports(format, ((MapType) type).getKeyType()) && supports(format, ((MapType) type).getValueType());
            case ROW -> ((RowType) type).getFieldTypes().stream().allMatch(field -> supports(format, field));
            default -> true;
        };
    }

    private static void codecs(Suite suite, String format, List<String> codecs) throws Exception {
        for (String codec : codecs) {
            suite.table("formats/" + format + "-codec-" + codec, "append, " + format + ", every type, file.compression=" + codec,
                    t -> everyType(prepared(t, format).option("file.compression", codec)));
        }
    }

    private static void everyType(TableWriter t) throws Exception {
        t.column("id", "INT").column("text", "STRING");
        TypeFixtures.COLUMNS.forEach((name, column) -> t.column(name, column.get(0)));
        t.column("a", Values.array("INT")).column("m", Values.map("STRING", "INT")).column("mi", Values.map("INT", "STRING"))
                .column("ms", Values.multiset("STRING"))
                .column("r", Values.rowType("x", "INT", "s", "STRING", "deep", Values.array(Values.rowType("d", "DECIMAL(20, 2)"))))
                .column("v", "VARIANT")
                .create();
        List<Object[]> rows = new ArrayList<>();
        for (int i = 1; i <= 6; i++) {
            List<Object> values = new ArrayList<>();
            values.add(i);
            values.add("a text that compresses well ".repeat(8));
            for (List<Object> column : TypeFixtures.COLUMNS.values()) {
                values.add(i == 6 ? null : column.get(i));
            }
            values.addAll(nested(i));
            rows.add(values.toArray());
        }
        t.write(rows.toArray(new Object[0][]));
    }

    private static List<Object> nested(int i) {
        return switch (i) {
            case 1 -> List.of(Values.list(1, null, 3), Values.entries("a", 1, "b", null), Values.entries(1, "x", -1, null),
                    Values.entries("p", 2), row(1, "y", Values.list(row("1.50"), null, row((Object) null))), "{\"k\":[1,null]}");
            case 2 -> List.of(Values.list(), Values.entries(), Values.entries(), Values.entries(), row(null, null, null), "null");
            case 3 -> List.of(Values.list((Object) null), Values.entries("", 0), Values.entries(0, ""), Values.entries("", 1),
                    row(3, "", Values.list()), "\"text\"");
            default -> java.util.Arrays.asList(null, null, null, null, null, null);
        };
    }
}
