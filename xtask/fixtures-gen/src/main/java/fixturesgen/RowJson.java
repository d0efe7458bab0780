// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.Blob;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.variant.Variant;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.LocalZonedTimestampType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowKind;
import org.apache.paimon.types.RowType;
import org.apache.paimon.types.TimeType;
import org.apache.paimon.types.TimestampType;
import org.apache.paimon.types.VectorType;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.HexFormat;
import java.util.List;

/** Prints rows in the form of {@code paimon scan --output jsonl}. */
final class RowJson {
    private RowJson() {}

    /** A row with its kind in a column before the others. */
    static String text(RowType type, InternalRow row, RowKind kind) {
        String text = text(type, row);
        return kind == null ? text : "{\"_VALUE_KIND\": " + kind.toByteValue() + ", " + text.substring(1);
    }

    static String text(RowType type, InternalRow row) {
        StringBuilder out = new StringBuilder();
        row(out, type, row);
        return out.toString();
    }

    private static void row(StringBuilder out, RowType type, InternalRow row) {
        List<DataField> fields = type.getFields();
        out.append('{');
        for (int i = 0; i < fields.size(); i++) {
            DataField field = fields.get(i);
            out.append(i == 0 ? "" : ", ");
            Json.string(out, field.name());
            out.append(": ");
            value(out, field.type(), InternalRow.createFieldGetter(field.type(), i).getFieldOrNull(row));
        }
        out.append('}');
    }

    private static void array(StringBuilder out, DataType elementType, InternalArray array) {
        InternalArray.ElementGetter getter = InternalArray.createElementGetter(elementType);
        out.append('[');
        for (int i = 0; i < array.size(); i++) {
            out.append(i == 0 ? "" : ", ");
            value(out, elementType, getter.getElementOrNull(array, i));
        }
        out.append(']');
    }

    private static void map(StringBuilder out, DataType keyType, DataType valueType, InternalMap map) {
        InternalArray.ElementGetter keys = InternalArray.createElementGetter(keyType);
        InternalArray.ElementGetter values = InternalArray.createElementGetter(valueType);
        out.append('[');
        for (int i = 0; i < map.size(); i++) {
            out.append(i == 0 ? "[" : ", [");
            value(out, keyType, keys.getElementOrNull(map.keyArray(), i));
            out.append(", ");
            value(out, valueType, values.getElementOrNull(map.valueArray(), i));
            out.append(']');
        }
        out.append(']');
    }

    static void value(StringBuilder out, DataType type, Object value) {
        if (value == null) {
            out.append("null");
            return;
        }
        // By name, since newer versions know more types than the one that this is compiled with.
        switch (type.getTypeRoot().name()) {
            case "FLOAT" -> Json.floatValue(out, (Float) value);
            case "DOUBLE" -> Json.doubleValue(out, (Double) value);
            case "DATE" -> Json.string(out, date(LocalDate.ofEpochDay((Integer) value)));
            case "TIME_WITHOUT_TIME_ZONE" ->
                    Json.string(out, time((Integer) value, ((TimeType) type).getPrecision()));
            case "TIMESTAMP_WITHOUT_TIME_ZONE" ->
                    Json.string(out, timestamp((Timestamp) value, ((TimestampType) type).getPrecision()));
            case "TIMESTAMP_WITH_LOCAL_TIME_ZONE" -> {
                int precision = ((LocalZonedTimestampType) type).getPrecision();
                Json.string(out, timestamp((Timestamp) value, precision) + "Z");
            }
            case "BINARY", "VARBINARY", "GEOMETRY", "GEOGRAPHY" ->
                    Json.string(out, HexFormat.of().formatHex((byte[]) value));
            case "BLOB" -> Json.string(out, HexFormat.of().formatHex(((Blob) value).toData()));
            case "VARIANT" ->
                    out.append("{\"variant\": ").append(((Variant) value).toJson()).append('}');
            case "ARRAY" -> array(out, ((ArrayType) type).getElementType(), (InternalArray) value);
            case "VECTOR" -> array(out, ((VectorType) type).getElementType(), (InternalArray) value);
            case "MAP" -> {
                MapType mapType = (MapType) type;
                map(out, mapType.getKeyType(), mapType.getValueType(), (InternalMap) value);
            }
            case "MULTISET" ->
                    map(out, ((MultisetType) type).getElementType(), DataTypes.INT().notNull(), (InternalMap) value);
            case "ROW" -> row(out, (RowType) type, (InternalRow) value);
            case "BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT" -> out.append(value);
            // CHAR, VARCHAR and DECIMAL: their text.
            default -> Json.string(out, value.toString());
        }
    }

    private static String date(LocalDate date) {
        return String.format("%04d-%02d-%02d", date.getYear(), date.getMonthValue(), date.getDayOfMonth());
    }

    private static String clock(int secondOfDay, int nanos, int digits) {
        String clock =
                String.format("%02d:%02d:%02d", secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60);
        return digits == 0 ? clock : clock + "." + String.format("%09d", nanos).substring(0, digits);
    }

    private static String time(int millis, int precision) {
        return clock(millis / 1000, millis % 1000 * 1_000_000, Math.min(precision, 3));
    }

    private static String timestamp(Timestamp timestamp, int precision) {
        LocalDateTime t = timestamp.toLocalDateTime();
        return date(t.toLocalDate()) + " " + clock(t.toLocalTime().toSecondOfDay(), t.getNano(), precision);
    }
}
