// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.DataTypeRoot;
import org.apache.paimon.types.DecimalType;
import org.apache.paimon.types.VarCharType;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Aggregate functions that fit a type, and values that they can be given many times. */
final class PkRandomColumns {
    private final Random random;
    private final RandomValues values;
    /** Few values a column, where versions must tie. */
    private final Map<String, List<Object>> pools = new HashMap<>();

    PkRandomColumns(Random random, RandomValues values) {
        this.random = random;
        this.values = values;
    }

    /** A function for a column, with what it can retract. */
    String function(DataType type, boolean retracts) {
        List<String> fitting = new ArrayList<>(List.of("last_value", "last_non_null_value"));
        if (!retracts) {
            fitting.addAll(List.of("first_value", "first_non_null_value"));
        }
        switch (type.getTypeRoot()) {
            case TINYINT, SMALLINT, INTEGER, BIGINT, FLOAT, DOUBLE, DECIMAL -> fitting.addAll(retracts ? List.of("sum", "sum", "product") : List.of("sum", "sum", "product", "max", "min"));
            case BOOLEAN -> fitting.addAll(retracts ? List.of() : List.of("bool_and", "bool_or"));
            case CHAR, DATE, TIME_WITHOUT_TIME_ZONE, TIMESTAMP_WITHOUT_TIME_ZONE, TIMESTAMP_WITH_LOCAL_TIME_ZONE -> fitting.addAll(retracts ? List.of() : List.of("max", "min"));
            case VARCHAR -> fitting.addAll(retracts ? List.of() : unbounded(type) ? List.of("max", "min", "listagg", "listagg") : List.of("max", "min"));
            case ARRAY -> {
                // Java cannot take rows out of a collection.
                if (!retracts || !((ArrayType) type).getElementType().is(DataTypeRoot.ROW)) {
                    fitting.add("collect");
                }
            }
            case MAP -> fitting.add("merge_map");
            default -> { }
        }
        return fitting.get(random.nextInt(fitting.size()));
    }

    private static boolean unbounded(DataType type) {
        return ((VarCharType) type).getLength() == VarCharType.MAX_LENGTH;
    }

    /** A value for a column with a function, or without one. */
    Object value(DataType type, String function) {
        if (type.isNullable() && random.nextInt(6) == 0) {
            return null;
        }
        if ("listagg".equals(function)) {
            // Blank texts count in Java 1.4 and do not since 2.0.
            Object text = values.value(type.copy(false));
            return text.toString().isBlank() ? BinaryString.fromString("blank") : text;
        }
        boolean product = "product".equals(function);
        if (!product && !"sum".equals(function)) {
            return values.value(type.isNullable() && random.nextInt(3) == 0 ? type.copy(false) : type);
        }
        // Overflow is an error of newer versions, and division by what was never multiplied is none of anybody.
        int small = product ? random.nextBoolean() ? 1 : -1 : random.nextInt(7) - 3;
        return switch (type.getTypeRoot()) {
            case TINYINT -> (byte) small;
            case SMALLINT -> (short) small;
            case INTEGER -> small;
            case BIGINT -> (long) small;
            case FLOAT -> product ? small * 2.0f : small * 0.1f;
            case DOUBLE -> product ? small * 2.0 : small * 0.1;
            case DECIMAL -> {
                DecimalType decimal = (DecimalType) type;
                BigDecimal exact = product && decimal.getPrecision() > decimal.getScale() ? BigDecimal.valueOf(small) : new BigDecimal(java.math.BigInteger.valueOf(small), decimal.getScale());
                yield Decimal.fromBigDecimal(exact, decimal.getPrecision(), decimal.getScale());
            }
            default -> throw new IllegalArgumentException("no sum of " + type);
        };
    }

    /** One of few values, NULL among them when the column can be. */
    Object pooled(String column, DataType type, int size) {
        List<Object> pool = pools.computeIfAbsent(column, name -> new ArrayList<>());
        while (pool.size() < size) {
            pool.add(pool.isEmpty() && type.isNullable() ? null : plain(type));
        }
        return pool.get(random.nextInt(size));
    }

    /** A value whose order nobody doubts. */
    private Object plain(DataType type) {
        return switch (type.getTypeRoot()) {
            case FLOAT -> random.nextInt(1000) / 8.0f - 50;
            case DOUBLE -> random.nextInt(1000) / 8.0 - 50;
            default -> values.value(type.copy(false));
        };
    }
}
