// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.types.DataType;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Random column types. */
final class RandomTypes {
    private static final String[] FIELD_NAMES = {"a", "B", "element", "key", "value", "list", "größe", "x y"};

    private final Random random;
    private final String format;

    RandomTypes(Random random, String format) {
        this.random = random;
        this.format = format;
    }

    /** A name that the format can hold: those of Avro are words. */
    static String name(String format, String name) {
        return format.equals("avro") ? name.replaceAll("[^\\p{L}0-9_]", "_") : name;
    }

    /** A column type, with constructed types up to {@code depth} levels deep. */
    DataType column(int depth) {
        DataType type;
        do {
            type = depth > 0 && random.nextInt(3) == 0 ? constructed(depth) : atomic();
        } while (!FormatFixtures.supports(format, type));
        return random.nextInt(6) == 0 ? type.notNull() : type;
    }

    private DataType constructed(int depth) {
        switch (random.nextInt(4)) {
            case 0:
                return Values.array(column(depth - 1));
            case 1:
                return Values.map(key(), column(depth - 1));
            case 2:
                return Values.multiset(element());
            default:
                List<Object> fields = new ArrayList<>();
                int count = 1 + random.nextInt(4);
                int first = random.nextInt(FIELD_NAMES.length);
                for (int i = 0; i < count; i++) {
                    fields.add(name(format, FIELD_NAMES[(first + i) % FIELD_NAMES.length]));
                    fields.add(column(depth - 1));
                }
                return Values.rowType(fields.toArray());
        }
    }

    private DataType atomic() {
        return switch (random.nextInt(14)) {
            case 0 -> Values.type("BYTES");
            case 1 -> Values.type("VARBINARY(" + length() + ")");
            case 2 -> Values.type("BINARY(" + length() + ")");
            case 3 -> Values.type("VARIANT");
            default -> bucketKey();
        };
    }

    /** A type that a partition column can have. */
    DataType partition() {
        String[] texts = {
            "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "STRING", "STRING", "INT"
        };
        DataType type;
        do {
            type = Values.type(random.nextInt(3) == 0 ? parametrised() : pick(texts));
        } while (!FormatFixtures.supports(format, type));
        return type;
    }

    /** A type whose values compare and hash plainly. */
    DataType bucketKey() {
        return partition();
    }

    private DataType key() {
        String[] texts = {
            "STRING", "INT", "BIGINT", "TINYINT", "SMALLINT", "BOOLEAN", "DATE", "TIME(3)", "TIMESTAMP(6)", "TIMESTAMP(9)",
            "DECIMAL(10, 2)", "DECIMAL(30, 5)", "CHAR(3)"
        };
        return Values.type(pick(texts));
    }

    /** Java cannot read a MULTISET of DECIMAL or TIMESTAMP from Parquet. */
    private DataType element() {
        return Values.type(pick(new String[] {"STRING", "INT", "BIGINT", "TINYINT", "BOOLEAN", "DATE", "TIME(3)", "CHAR(3)"}));
    }

    private String parametrised() {
        switch (random.nextInt(6)) {
            case 0:
                return "CHAR(" + length() + ")";
            case 1:
                return "VARCHAR(" + length() + ")";
            case 2:
                return "TIME(" + random.nextInt(4) + ")";
            case 3:
                return "TIMESTAMP(" + random.nextInt(10) + ")";
            case 4:
                return "TIMESTAMP(" + random.nextInt(10) + ") WITH LOCAL TIME ZONE";
            default:
                int[] precisions = {1, 4, 5, 9, 10, 15, 18, 19, 28, 38, 1 + random.nextInt(38)};
                int precision = precisions[random.nextInt(precisions.length)];
                return "DECIMAL(" + precision + ", " + random.nextInt(precision + 1) + ")";
        }
    }

    private int length() {
        return 1 + random.nextInt(20);
    }

    private String pick(String[] texts) {
        return texts[random.nextInt(texts.length)];
    }
}
