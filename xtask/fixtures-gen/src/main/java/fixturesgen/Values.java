// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.variant.GenericVariant;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeJsonParser;
import org.apache.paimon.types.DataTypes;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowType;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Short forms to write types and rows by hand. */
final class Values {
    private Values() {}

    /** An atomic type from its text. */
    static DataType type(String text) {
        return DataTypeJsonParser.parseAtomicTypeSQLString(text);
    }

    /** A type from its text, or a type as it is. */
    static DataType type(Object textOrType) {
        return textOrType instanceof DataType type ? type : type((String) textOrType);
    }

    static DataType array(Object element) {
        return DataTypes.ARRAY(type(element));
    }

    static DataType map(Object key, Object value) {
        return DataTypes.MAP(type(key), type(value));
    }

    static DataType multiset(Object element) {
        return DataTypes.MULTISET(type(element));
    }

    /** A ROW type of names and types in turn. */
    static DataType rowType(Object... namesAndTypes) {
        List<DataField> fields = new ArrayList<>();
        for (int i = 0; i < namesAndTypes.length; i += 2) {
            fields.add(new DataField(i / 2, (String) namesAndTypes[i], type(namesAndTypes[i + 1])));
        }
        return new RowType(fields);
    }

    /** A value of a ROW column, or a row of a table. */
    static Object[] row(Object... values) {
        return values;
    }

    static List<Object> list() {
        return List.of();
    }

    // Fixed numbers of arguments, so that a last one that is null or a row counts as one element.
    static List<Object> list(Object a) {
        return Arrays.asList(new Object[] {a});
    }

    static List<Object> list(Object a, Object b) {
        return Arrays.asList(a, b);
    }

    static List<Object> list(Object a, Object b, Object c) {
        return Arrays.asList(a, b, c);
    }

    /** A MAP of keys and values in turn. */
    static Map<Object, Object> entries(Object... keysAndValues) {
        Map<Object, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put(keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }

    static GenericRow internalRow(RowType type, Object[] values) {
        if (type.getFieldCount() != values.length) {
            throw new IllegalArgumentException("row of " + values.length + " values for " + type);
        }
        GenericRow row = new GenericRow(values.length);
        for (int i = 0; i < values.length; i++) {
            row.setField(i, internal(type.getTypeAt(i), values[i]));
        }
        return row;
    }

    private static Object internal(DataType type, Object v) {
        if (v == null) {
            return null;
        }
        return switch (type.getTypeRoot()) {
            case CHAR, VARCHAR -> BinaryString.fromString((String) v);
            case BINARY, VARBINARY -> v instanceof byte[] bytes ? bytes : HexFormat.of().parseHex((String) v);
            case DECIMAL -> {
                DecimalType decimal = (DecimalType) type;
                yield Decimal.fromBigDecimal(
                        new BigDecimal((String) v), decimal.getPrecision(), decimal.getScale());
            }
            case TINYINT -> ((Number) v).byteValue();
            case SMALLINT -> ((Number) v).shortValue();
            case INTEGER -> ((Number) v).intValue();
            case BIGINT -> ((Number) v).longValue();
            case FLOAT -> ((Number) v).floatValue();
            case DOUBLE -> ((Number) v).doubleValue();
            case DATE -> Math.toIntExact(LocalDate.parse((String) v).toEpochDay());
            case TIME_WITHOUT_TIME_ZONE ->
                    Math.toIntExact(LocalTime.parse((String) v).toNanoOfDay() / 1_000_000);
            case TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE ->
                    Timestamp.fromLocalDateTime(LocalDateTime.parse(((String) v).replace(' ', 'T')));
            case VARIANT -> GenericVariant.fromJson((String) v);
            case ARRAY -> {
                DataType element = ((ArrayType) type).getElementType();
                yield new GenericArray(((List<?>) v).stream().map(e -> internal(element, e)).toArray());
            }
            case MAP -> {
                MapType map = (MapType) type;
                yield internalMap(map.getKeyType(), map.getValueType(), (Map<?, ?>) v);
            }
            case MULTISET ->
                    internalMap(((MultisetType) type).getElementType(), DataTypes.INT(), (Map<?, ?>) v);
            case ROW -> internalRow((RowType) type, (Object[]) v);
            default -> v;
        };
    }

    private static GenericMap internalMap(DataType keyType, DataType valueType, Map<?, ?> entries) {
        Map<Object, Object> map = new LinkedHashMap<>();
        entries.forEach((k, v) -> map.put(internal(keyType, k), internal(valueType, v)));
        return new GenericMap(map);
    }
}
