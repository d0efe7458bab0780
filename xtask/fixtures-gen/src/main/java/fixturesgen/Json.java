// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Collection;
import java.util.Map;
import java.util.function.Predicate;

/** Writes JSON text; items are separated by {@code ", "} and keys end with {@code ": "}. */
final class Json {
    private Json() {}

    static void string(StringBuilder out, String s) {
        out.append('"');
        for (int i = 0; i < s.length(); i++) {
            char c = s.charAt(i);
            switch (c) {
                case '"' -> out.append("\\\"");
                case '\\' -> out.append("\\\\");
                case '\n' -> out.append("\\n");
                case '\r' -> out.append("\\r");
                case '\t' -> out.append("\\t");
                case '\b' -> out.append("\\b");
                case '\f' -> out.append("\\f");
                default -> {
                    if (c < 0x20) {
                        out.append(String.format("\\u%04x", (int) c));
                    } else {
                        out.append(c);
                    }
                }
            }
        }
        out.append('"');
    }

    /** Strings, numbers, booleans, null, maps and collections. */
    static void value(StringBuilder out, Object value) {
        if (value instanceof Map<?, ?> map) {
            String separator = "{";
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                out.append(separator);
                string(out, entry.getKey().toString());
                out.append(": ");
                value(out, entry.getValue());
                separator = ", ";
            }
            out.append(map.isEmpty() ? "{}" : "}");
        } else if (value instanceof Collection<?> items) {
            String separator = "[";
            for (Object item : items) {
                out.append(separator);
                value(out, item);
                separator = ", ";
            }
            out.append(items.isEmpty() ? "[]" : "]");
        } else if (value == null || value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else {
            string(out, value.toString());
        }
    }

    static String text(Object value) {
        StringBuilder out = new StringBuilder();
        value(out, value);
        return out.toString();
    }

    static void doubleValue(StringBuilder out, double v) {
        if (Double.isNaN(v) || Double.isInfinite(v)) {
            string(out, Double.toString(v));
        } else if (v == 0) {
            out.append(1 / v < 0 ? "-0.0" : "0.0");
        } else {
            shortest(out, new BigDecimal(v), 17, d -> d.doubleValue() == v);
        }
    }

    static void floatValue(StringBuilder out, float v) {
        if (Float.isNaN(v) || Float.isInfinite(v)) {
            string(out, Float.toString(v));
        } else if (v == 0) {
            out.append(1 / v < 0 ? "-0.0" : "0.0");
        } else {
            shortest(out, new BigDecimal(v), 9, d -> d.floatValue() == v);
        }
    }

    /** The fewest digits that read back; Double.toString of Java 17 sometimes has one too many. */
    private static void shortest(
            StringBuilder out, BigDecimal exact, int maxDigits, Predicate<BigDecimal> readsBack) {
        RoundingMode[] modes = {RoundingMode.HALF_EVEN, RoundingMode.UP, RoundingMode.DOWN};
        for (int digits = 1; digits <= maxDigits; digits++) {
            for (RoundingMode mode : modes) {
                BigDecimal rounded = exact.round(new MathContext(digits, mode));
                if (readsBack.test(rounded)) {
                    number(out, rounded.stripTrailingZeros());
                    return;
                }
            }
        }
        throw new IllegalStateException("no decimal form reads back as " + exact);
    }

    private static void number(StringBuilder out, BigDecimal d) {
        int exponent = d.precision() - d.scale() - 1;
        if (exponent >= -4 && exponent < 16) {
            out.append(d.scale() <= 0 ? d.setScale(1).toPlainString() : d.toPlainString());
            return;
        }
        String digits = d.unscaledValue().abs().toString();
        out.append(d.signum() < 0 ? "-" : "").append(digits.charAt(0));
        if (digits.length() > 1) {
            out.append('.').append(digits, 1, digits.length());
        }
        out.append('e').append(exponent < 0 ? '-' : '+');
        out.append(Math.abs(exponent) < 10 ? "0" : "").append(Math.abs(exponent));
    }
}
