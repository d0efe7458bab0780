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
import org.apache.paimon.types.BinaryType;
import org.apache.paimon.types.CharType;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.LocalZonedTimestampType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.MultisetType;
import org.apache.paimon.types.RowType;
import org.apache.paimon.types.TimeType;
import org.apache.paimon.types.TimestampType;
import org.apache.paimon.types.VarBinaryType;
import org.apache.paimon.types.VarCharType;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Supplier;

/** Random values of a type in Paimon's internal form: bounds and odd values come often. */
final class RandomValues {
    private static final String[] TEXTS = {
        "", " ", "a", "seven77", "eight888", "a text that is longer than sixteen characters", "größe", "日本語", "😀𝄞", "e\u0301",
        "tab\tand\nline", "quote\"'\\", "%2F/=:*?", "NULL", "null", "\u0000", "\u007f\u0001", "trailing ", "1", "true", "2024-01-31",
        "\uffff", "__DEFAULT_PARTITION__"
    };
    private static final double[] DOUBLES = {
        0.0, -0.0, 1, -1, 0.1, 1e-7, 1e21, 1.0 / 3, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY,
        Double.MAX_VALUE, -Double.MAX_VALUE, Double.MIN_VALUE, Double.MIN_NORMAL, 9007199254740993.0, 123456789.125
    };
    private static final float[] FLOATS = {
        0.0f, -0.0f, 1, -1, 0.1f, 1e-7f, 1e21f, 1.0f / 3, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY,
        Float.MAX_VALUE, -Float.MAX_VALUE, Float.MIN_VALUE, Float.MIN_NORMAL, 16777217f, 8.5e9f
    };
    private static final String[] VARIANTS = {
        "null", "true", "1", "-1", "12345678901", "\"text\"", "\"\"", "[]", "{}", "[1,null,\"x\"]", "{\"a\":1,\"b\":{\"c\":[true]}}",
        "1.5", "\"größe 😀\""
    };
    private static final LocalDateTime[] INSTANTS = {
        LocalDateTime.of(1970, 1, 1, 0, 0), LocalDateTime.of(1969, 12, 31, 23, 59, 59, 999_999_999),
        LocalDateTime.of(2024, 2, 29, 12, 0), LocalDateTime.of(1899, 12, 31, 23, 59, 59, 1),
        LocalDateTime.of(1700, 1, 1, 0, 0), LocalDateTime.of(2261, 12, 31, 23, 59, 59, 999_999_999)
    };
    /** Beyond what 64 bits of nanoseconds can hold. */
    private static final LocalDateTime[] FAR_INSTANTS = {
        LocalDateTime.of(1, 1, 1, 0, 0), LocalDateTime.of(9999, 12, 31, 23, 59, 59, 999_999_999),
        LocalDateTime.of(1582, 10, 15, 0, 0)
    };

    private final Random random;
    /** Without what Java's ORC changes: times just before 1970, days of the Julian calendar, blanks at the end of CHAR. */
    private final boolean orc;
    /** Java's Avro reads maps in the order of a hash map. */
    private final boolean avro;

    RandomValues(Random random, String format) {
        this.random = random;
        this.orc = format.equals("orc");
        this.avro = format.equals("avro");
    }

    GenericRow row(RowType type) {
        GenericRow row = new GenericRow(type.getFieldCount());
        for (int i = 0; i < type.getFieldCount(); i++) {
            row.setField(i, value(type.getTypeAt(i)));
        }
        return row;
    }

    Object value(DataType type) {
        return type.isNullable() && random.nextInt(7) == 0 ? null : notNull(type);
    }

    private Object notNull(DataType type) {
        return switch (type.getTypeRoot()) {
            case BOOLEAN -> random.nextBoolean();
            case CHAR -> {
                String text = text(((CharType) type).getLength());
                yield BinaryString.fromString(orc ? text.replaceFirst(" +$", "") : text);
            }
            case VARCHAR -> BinaryString.fromString(text(((VarCharType) type).getLength()));
            case BINARY -> bytes(((BinaryType) type).getLength());
            case VARBINARY -> bytes(random.nextInt(1 + Math.min(20, ((VarBinaryType) type).getLength())));
            case DECIMAL -> decimal(((DecimalType) type).getPrecision(), ((DecimalType) type).getScale());
            case TINYINT -> (byte) integer(Byte.MIN_VALUE, Byte.MAX_VALUE);
            case SMALLINT -> (short) integer(Short.MIN_VALUE, Short.MAX_VALUE);
            case INTEGER -> (int) integer(Integer.MIN_VALUE, Integer.MAX_VALUE);
            case BIGINT -> integer(Long.MIN_VALUE, Long.MAX_VALUE);
            case FLOAT -> random.nextBoolean() ? FLOATS[random.nextInt(FLOATS.length)] : (float) random.nextGaussian() * 1000;
            case DOUBLE -> random.nextBoolean() ? DOUBLES[random.nextInt(DOUBLES.length)] : random.nextGaussian() * 1e6;
            case DATE -> date();
            case TIME_WITHOUT_TIME_ZONE -> time(((TimeType) type).getPrecision());
            case TIMESTAMP_WITHOUT_TIME_ZONE -> timestamp(((TimestampType) type).getPrecision());
            case TIMESTAMP_WITH_LOCAL_TIME_ZONE -> timestamp(((LocalZonedTimestampType) type).getPrecision());
            case VARIANT -> GenericVariant.fromJson(VARIANTS[random.nextInt(VARIANTS.length)]);
            case ARRAY -> array(((ArrayType) type).getElementType());
            case MAP -> map(((MapType) type).getKeyType(), ((MapType) type).getValueType());
            case MULTISET -> multiset(((MultisetType) type).getElementType());
            case ROW -> row((RowType) type);
            default -> throw new IllegalArgumentException("no random values of " + type);
        };
    }

    private String text(int maxLength) {
        String text = TEXTS[random.nextInt(TEXTS.length)];
        if (random.nextInt(3) == 0) {
            text = text + random.nextInt(1000);
        }
        int length = text.codePointCount(0, text.length());
        return length <= maxLength ? text : text.substring(0, text.offsetByCodePoints(0, maxLength));
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        if (random.nextInt(4) != 0) {
            random.nextBytes(bytes);
        }
        return bytes;
    }

    private long integer(long min, long max) {
        return switch (random.nextInt(6)) {
            case 0 -> min;
            case 1 -> max;
            case 2 -> 0;
            case 3 -> -1;
            default -> Math.max(min, Math.min(max, random.nextLong() >> random.nextInt(64)));
        };
    }

    private Decimal decimal(int precision, int scale) {
        BigInteger max = BigInteger.TEN.pow(precision).subtract(BigInteger.ONE);
        BigInteger unscaled = switch (random.nextInt(5)) {
            case 0 -> max;
            case 1 -> BigInteger.ZERO;
            case 2 -> BigInteger.ONE.min(max);
            default -> new BigInteger(1 + random.nextInt(127), random).mod(max.add(BigInteger.ONE));
        };
        BigDecimal value = new BigDecimal(random.nextBoolean() ? unscaled : unscaled.negate(), scale);
        return Decimal.fromBigDecimal(value, precision, scale);
    }

    private int date() {
        return switch (random.nextInt(5)) {
            case 0 -> 0;
            case 1 -> -1;
            case 2 -> (int) LocalDate.of(orc ? 1600 : 1, 1, 1).toEpochDay();
            case 3 -> (int) LocalDate.of(9999, 12, 31).toEpochDay();
            default -> random.nextInt(40000) - 10000;
        };
    }

    private int time(int precision) {
        int day = 86_400_000;
        int millis = random.nextInt(4) == 0 ? day - 1 : random.nextInt(4) == 0 ? 0 : random.nextInt(day);
        int unit = (int) Math.pow(10, 3 - Math.min(3, precision));
        return millis / unit * unit;
    }

    private Timestamp timestamp(int precision) {
        LocalDateTime time;
        int choice = random.nextInt(3);
        if (choice == 0 && precision <= 6) {
            time = FAR_INSTANTS[random.nextInt(FAR_INSTANTS.length)];
        } else if (choice == 1) {
            time = INSTANTS[random.nextInt(INSTANTS.length)];
        } else {
            time = LocalDateTime.ofEpochSecond(
                    random.nextInt(), random.nextInt(1_000_000_000), ZoneOffset.UTC);
        }
        if (orc && (time.getYear() < 1600 || time.getYear() == 1969)) {
            time = time.withYear(1971);
        }
        int unit = (int) Math.pow(10, 9 - precision);
        return Timestamp.fromLocalDateTime(time.withNano(time.getNano() / unit * unit));
    }

    private GenericArray array(DataType element) {
        Object[] items = new Object[random.nextInt(5)];
        for (int i = 0; i < items.length; i++) {
            items[i] = value(element);
        }
        return new GenericArray(items);
    }

    private GenericMap multiset(DataType elementType) {
        return map(elementType, () -> 1 + random.nextInt(5));
    }

    private GenericMap map(DataType keyType, DataType valueType) {
        return map(keyType, () -> value(valueType));
    }

    private GenericMap map(DataType keyType, Supplier<Object> value) {
        Map<Object, Object> map = new LinkedHashMap<>();
        Set<String> seen = new LinkedHashSet<>();
        for (int i = random.nextInt(avro ? 2 : 4); i > 0; i--) {
            Object key = notNull(keyType);
            StringBuilder text = new StringBuilder();
            RowJson.value(text, keyType, key);
            if (seen.add(text.toString())) {
                map.put(key, value.get());
            }
        }
        return new GenericMap(map);
    }
}
