// SPDX-License-Identifier: Apache-2.0

import java.util.LinkedHashMap;
import java.util.Random;
import org.apache.paimon.casting.CastExecutor;
import org.apache.paimon.casting.CastExecutors;
import org.apache.paimon.data.*;
import org.apache.paimon.types.*;
import org.apache.paimon.utils.PartitionPathUtils;
import org.apache.paimon.utils.TypeUtils;

/**
 * Prints java-text.jsonl: what Java answers when it turns values into text and text into values. Made with paimon-bundle 1.4.2 and the
 * Hadoop client 3.3.6 on the class path, JDK 17, -Duser.timezone=UTC.
 */
public class TextVectors {
    static String quote(String s) {
        StringBuilder b = new StringBuilder("\"");
        for (char c : s.toCharArray()) {
            if (c == '"' || c == '\\') b.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e) b.append(String.format("\\u%04x", (int) c));
            else b.append(c);
        }
        return b.append('"').toString();
    }

    static void line(String kind, String type, String input, String output) {
        System.out.println("{\"kind\":" + quote(kind) + ",\"type\":" + quote(type) + ",\"input\":" + quote(input)
                + ",\"output\":" + (output == null ? "null" : quote(output)) + "}");
    }

    /** A value in a form that does not depend on the casts under test. */
    static String show(Object o, DataType t) {
        if (o == null) return "null";
        if (o instanceof Timestamp) return ((Timestamp) o).getMillisecond() + ":" + ((Timestamp) o).getNanoOfMillisecond();
        if (o instanceof Float) return String.format("%08x", Float.floatToIntBits((Float) o));
        if (o instanceof Double) return String.format("%016x", Double.doubleToLongBits((Double) o));
        if (o instanceof Decimal) return ((Decimal) o).toUnscaledBytes().length == 0 ? "" : ((Decimal) o).toBigDecimal().unscaledValue().toString();
        if (o instanceof byte[]) { StringBuilder b = new StringBuilder(); for (byte x : (byte[]) o) b.append(String.format("%02x", x)); return b.toString(); }
        if (o instanceof InternalArray) {
            DataType e = ((ArrayType) t).getElementType();
            InternalArray.ElementGetter g = InternalArray.createElementGetter(e);
            StringBuilder b = new StringBuilder("[");
            for (int i = 0; i < ((InternalArray) o).size(); i++) b.append('<').append(show(g.getElementOrNull((InternalArray) o, i), e)).append('>');
            return b + "]";
        }
        if (o instanceof InternalRow) {
            RowType r = (RowType) t;
            StringBuilder b = new StringBuilder("[");
            for (int i = 0; i < r.getFieldCount(); i++) b.append('<').append(show(InternalRow.createFieldGetter(r.getTypeAt(i), i).getFieldOrNull((InternalRow) o), r.getTypeAt(i))).append('>');
            return b + "]";
        }
        if (o instanceof InternalMap) {
            MapType m = (MapType) t;
            return show(((InternalMap) o).keyArray(), new ArrayType(m.getKeyType())) + show(((InternalMap) o).valueArray(), new ArrayType(m.getValueType()));
        }
        return o.toString();
    }

    @SuppressWarnings("unchecked")
    static void toText(DataType type, Object value) {
        CastExecutor<Object, Object> e = (CastExecutor<Object, Object>) CastExecutors.resolve(type, DataTypes.STRING());
        line("cast_to_string", type.toString(), show(value, type), e.cast(value).toString());
    }

    @SuppressWarnings("unchecked")
    static void fromText(DataType type, String... texts) {
        CastExecutor<Object, Object> e = (CastExecutor<Object, Object>) CastExecutors.resolve(DataTypes.STRING(), type);
        for (String text : texts) {
            String out;
            try { out = show(e.cast(BinaryString.fromString(text)), type); } catch (RuntimeException x) { out = "error"; }
            line("cast_from_string", type.toString(), text, out);
        }
    }

    static void fromPartition(DataType type, String... texts) {
        for (String text : texts) {
            String out;
            try { out = show(TypeUtils.castFromString(text, type), type); } catch (RuntimeException x) { out = "error"; }
            line("partition_from_string", type.toString(), text, out);
        }
    }

    public static void main(String[] args) {
        LinkedHashMap<String, String> spec = new LinkedHashMap<>();
        StringBuilder chars = new StringBuilder();
        for (int i = 0; i < 0x180; i++) chars.append((char) i);
        spec.put("k", chars.toString());
        String path = PartitionPathUtils.generatePartitionPath(spec);
        line("escape", "", chars.toString(), path.substring(2, path.length() - 1));
        for (String s : new String[] {"", "%", "%4", "%41", "%4g", "a%41b", "%E4", "%e4%BD", "%%41", "%2", "x%", "%41%"}) line("unescape", "", s, PartitionPathUtils.unescapePathName(s));

        for (int d : new int[] {0, -1, -719162, -719163, -719528, 2932896, 19782, 11016, -25509}) toText(DataTypes.DATE(), d);
        for (int p = 0; p <= 9; p++) for (int t : new int[] {0, 1, 36000123, 36000100, 36000120, 36000003, 86399999, 86400000, -1}) toText(DataTypes.TIME(p), t);
        for (int p = 0; p <= 9; p++) for (long ms : new long[] {0, -1, 1500, 253402300799999L, -62135596800000L, -62135596800001L, -62167219200000L, 1646252412120L}) for (int n : new int[] {0, 1, 999999, 120000})
            toText(DataTypes.TIMESTAMP(p), Timestamp.fromEpochMillis(ms, n));
        for (long ms : new long[] {0, 60000, 1500, 253402300799999L, 253402300800000L, -62135596800001L, -62167219200001L, -64167219200001L, -1, 1646252412120L}) for (int n : new int[] {0, 1000, 1, 999999}) {
            Timestamp v = Timestamp.fromEpochMillis(ms, n);
            line("timestamp_iso", "", show(v, null), v.toString());
        }
        Random random = new Random(42);
        double[] doubles = {0, -0.0, 1, 0.1, 100.25, 1e7, 9999999, 1e-3, 9.999e-4, 123456.789, Double.MIN_VALUE, Double.MAX_VALUE, Double.MIN_NORMAL, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 2e-3, 1e23, 2e23, 9007199254740993.0, 1e22, 5e-324 * 2, 1e21};
        for (double v : doubles) toText(DataTypes.DOUBLE(), v);
        for (double v : doubles) toText(DataTypes.FLOAT(), (float) v);
        for (int i = 0; i < 500; i++) {
            toText(DataTypes.DOUBLE(), Double.longBitsToDouble(random.nextLong()));
            toText(DataTypes.FLOAT(), Float.intBitsToFloat(random.nextInt()));
            toText(DataTypes.DOUBLE(), random.nextInt(1000000) / 1000.0);
            toText(DataTypes.FLOAT(), random.nextInt(100000) / 100f);
        }
        for (int[] ps : new int[][] {{1, 0}, {1, 1}, {5, 2}, {18, 18}, {38, 0}, {38, 10}, {38, 38}}) for (String u : new String[] {"0", "1", "-1", "7", "-9"})
            toText(DataTypes.DECIMAL(ps[0], ps[1]), Decimal.fromBigDecimal(new java.math.BigDecimal(new java.math.BigInteger(u), ps[1]), ps[0], ps[1]));
        toText(DataTypes.DECIMAL(38, 10), Decimal.fromBigDecimal(new java.math.BigDecimal("-1234567890123456789012345678.0123456789"), 38, 10));
        toText(DataTypes.BYTES(), "ab".getBytes());
        toText(DataTypes.BYTES(), new byte[] {(byte) 0xff, 'a', (byte) 0xe4, (byte) 0xbd, 'b', (byte) 0xf0, (byte) 0x9f, (byte) 0x98});
        toText(DataTypes.BOOLEAN(), true);
        toText(DataTypes.TINYINT(), (byte) -128);
        toText(DataTypes.BIGINT(), Long.MIN_VALUE);

        String[] dates = {"0", "-5", "+5", "19723", " 19723", "19723 ", "2024-01-01", "2024-1-1", "2024-01", "2024", "2024 ", "2024-02-30", "2024-02-29", "2023-02-29", "2024-04-31", "2024-13-01", "2024-00-01", "2024-01-00", "2024-01-32", "2024-01-01 10:00:00", "2024-01-01T10:00:00", " 2024-01-01", "2024 - 01 - 01", "2024- 01- 01", "0000-01-01", "9999-12-31", "10000-01-01", "-001-01-01", "-1-01-01", "", "abc", "2024-01-01x", "2024-01-01-01", "2024-", "2024--1", "2147483648", "99999999999", "+-5", "-", "+", "2024-01-aa", "1900-02-29", "2000-02-29", "1582-10-10", "00002024-1-1", "2024-001-001"};
        fromText(DataTypes.DATE(), dates);
        fromPartition(DataTypes.DATE(), dates);
        String[] times = {"0", "3661001", "-1", "+5", "10", "10:11", "10:11:12", "10:11:12.1", "10:11:12.12", "10:11:12.123", "10:11:12.1234", "10:11:12.1235", "10:11:12.9996", "10:11:12.123456789", "1:2:3", "1:2:3.", "25:00:00", "10:60:00", "10:11:60", "10:11:12+08", "10:11:12+08:00", "10:11:12-08:30", "10:11:12.5+01:00", "10:11+01", ":1:2", "10:", "10:11:", "a", "", " 10:11:12", "10:11:12 ", "10 : 11 : 12", "10:11:12.abc", "10:11:12.1 ", "-10:11:12", "86400000", "99999999999", "10:11:12.0005", "10:11:12.00049", "10 ", " 10", "10+01", "10:+5:3", "1:2:-3", "10:11:12.5x", "10:11:12.5 +01:00", "10:11:12+01:xx", "10:11:12+01:02:03", "10:11:12-+1", "10:11:12+", "10:11:12.5-", "10:11:12.-5", "1:2:3:4", "10::12", "10:11.5", "00000:1:1", "10:11:12.99999", "23:59:59.9999", "10:11:12.1e5", "10:11: 12 . 5", "10:11:12+99:99", "10:11:12 + 01 : 30"};
        fromText(DataTypes.TIME(3), times);
        fromPartition(DataTypes.TIME(0), times);
        String[] timestamps = {"0", "-1", "+1", "1646252412000", "-1500", "2024-01-01", "2024-1-1", "2024-01-01 10:00:00", "2024-01-01 1:2:3", "2024-01-01 10:00", "2024-01-01 10", "2024-01-01 10:00:00.5", "2024-01-01 10:00:00.", "2024-01-01 10:00:00.123456789", "2024-01-01 10:00:00.1234567891", "2024-01-01 10:00:00.987654321", "2024-02-30 10:00:00", "2024-02-29 10:00:00", "2023-02-29", "2024-02-29", "2024-01-01 ", " 2024-01-01", "2024-01-01 24:00:00", "2024-01-01 24:00:00.0", "2024-01-01 24:00:01", "2024-01-01 23:59:60", "2024-13-01", "2024-00-01", "2024-01-00", "0000-01-01", "0001-01-01 00:00:00", "-001-01-01", "9999-12-31 23:59:59.999999999", "10000-01-01", "99999-01-01", "24-01-01", "2024-01", "2024", "2024-01-01Z", "2024-01-01 10:00:00 ", "2024-01-01  10:00:00", "", "abc", "1969-12-31 23:59:59.9999", "1960-01-01 00:00:00.123999999", "99999999999999999999", "2024-04-31", "2024-04-32", "2024-001-01", "12024-01-01", "2024-01-01T", "2024-01-01T10", "2024-01-01t10:00:00"};
        for (int p = 0; p <= 9; p++) { fromText(DataTypes.TIMESTAMP(p), timestamps); fromText(DataTypes.TIMESTAMP_WITH_LOCAL_TIME_ZONE(p), timestamps); }
        String[] numbers = {"0", "-1", "+1", "12.9", "12.", "12.a", ".5", "", "-", "+", "-.5", ".", "-.", "127", "128", "-128", "-129", "32767", "32768", "-32768", "-32769", " 1", "1 ", "1e3", "1_0", "0x10", "2147483647", "2147483648", "-2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "99999999999999999999999", "007", "--1", "1.1.1", "1.-1", "12.99999999999", "12.5 "};
        for (DataType t : new DataType[] {DataTypes.TINYINT(), DataTypes.SMALLINT(), DataTypes.INT(), DataTypes.BIGINT()}) { fromText(t, numbers); fromPartition(t, numbers); }
        String[] floats = {"1", "1.5", " 1.5 ", "NaN", "-NaN", "+NaN", "Infinity", "-Infinity", "+Infinity", "inf", "nan", "infinity", "1e3", "1E+3", "1e-400", "1e400", "1f", "1d", "1.5F", "1.5D", "", "abc", "1e", "e1", ".5", "5.", ".", "-.5e-3", "1_0", "0.1", "-0", "123456789", "16777217", "1e39", "\u00a01.5", "1.5\u0001", "1L", "+-1", "1.7976931348623159e308", "1ff", "f", "Infinityf", "0.1f", "3.4028236e38"};
        for (DataType t : new DataType[] {DataTypes.FLOAT(), DataTypes.DOUBLE()}) { fromText(t, floats); fromPartition(t, floats); }
        String[] decimals = {"1", "1.5", "-1.005", "1.004", "1.005", "+1.5", "1e2", "1E-2", "1e+2", "1.", ".", ".5", "-.5", "", " 1", "1 ", "12345678.12", "123456789.12", "99999999.994", "99999999.995", "1e40", "1e-40", "0e100", "-0", "0.000", "1_0", "abc", "1.2.3", "--1", "1e", "e5", "1e2147483648", "0e2147483647", "1d", "NaN", "5e-3", "4.9999e-3", "0.00499999", "000000000000000000000000000000000000000000001.5", "1e", "1e+", "1e+-1"};
        fromText(DataTypes.DECIMAL(10, 2), decimals);
        fromPartition(DataTypes.DECIMAL(10, 2), decimals);
        fromText(DataTypes.DECIMAL(38, 1), "1111111111111111111111111111111111111.15", "9999999999999999999999999999999999999.95", "9999999999999999999999999999999999999.94", "-9999999999999999999999999999999999999.95");
        fromText(DataTypes.DECIMAL(38, 0), "99999999999999999999999999999999999999.4", "99999999999999999999999999999999999999.5", "199999999999999999999999999999999999999", "1e37", "1e38");
        fromText(DataTypes.DECIMAL(38, 38), "0.99999999999999999999999999999999999999", "0.999999999999999999999999999999999999995", "1", "1e-38", "5e-39", "4e-39");
        String[] booleans = {"t", "T", "true", "TRUE", "y", "yes", "1", "f", "false", "n", "no", "0", "", "on", " true", "tRuE", "2"};
        fromText(DataTypes.BOOLEAN(), booleans);
        fromPartition(DataTypes.BOOLEAN(), booleans);
        String[] strings = {"", "ab", "abcdef", "\u00e9\u4e16\u754c\ud835\udcb3a\ud835\udcb3", "a  "};
        for (DataType t : new DataType[] {DataTypes.CHAR(3), DataTypes.CHAR(8), DataTypes.VARCHAR(3), DataTypes.STRING(), DataTypes.BINARY(3), DataTypes.BINARY(20), DataTypes.VARBINARY(3), DataTypes.BYTES()}) { fromText(t, strings); fromPartition(t, strings); }
        DataType ints = DataTypes.ARRAY(DataTypes.INT());
        fromText(ints, "[]", "[ ]", "[1, 2, 3]", "[1,null,3]", "[1,NULL,3]", "[1,,3]", "[1,2,]", "1,2", "ARRAY(1,2)", "array(1, 2)", "ARRAY()", "ARRAY (1)", "[1,2", "", "[a]", " [1] ", "[[1]]", "[ 1 , 2 ]", "ARRAY[1,2]");
        fromText(DataTypes.ARRAY(DataTypes.STRING()), "[a, b]", "[ a , b ]", "['a,b', c]", "[\"a,b\", c]", "[a\\,b, c]", "[\\\"a]", "[a\\\\b]", "[null, \"null\"]", "[]", "[\"\"]", "[{a,b},c]", "[(a,b),c]", "[a]b, c]", "[a'b, c]", "[a\\]", "[,]", "[a,]", "[\"a\"b]", "[ \" a \" ]", "[(a],b]", "[(a],b),c]", "[\"a\\\"b,c\",d]", "[a \"b, c\" d]", "[a\"b, c]", "[\"a]\",b]", "[\\[a,b]", "[\"[\",b]", "[{a,(b,[c,d]),e},f]", "[a\\\\,b]", "[\\\"a,b\\\",c]", "[a, nul, null ,Null]");
        fromText(DataTypes.ARRAY(ints), "[[1, 2], [3]]", "[[1,2],null,[]]", "[ARRAY(1,2), [3]]", "[[1,2]]");
        fromText(DataTypes.MAP(DataTypes.STRING(), DataTypes.INT()), "{}", "{ }", "{a -> 1}", "{a -> 1, b -> 2}", "{a->1}", "{a ->1}", "{a -> null}", "{null -> 1}", "MAP(a, 1, b, 2)", "map(a,1)", "MAP()", "MAP(a,1,b)", "{a}", "{a -> 1 -> 2}", "{\"a -> b\" -> 1}", "{a: 1}", "{a -> }", "{ -> 1}", "", "{a -> 1, a -> 2}", "{a -> 1,}", "{\"c,d\" -> 1}", "{\"null\" -> 1}", "MAP(\"a,b\", 1)");
        DataType row = DataTypes.ROW(DataTypes.FIELD(0, "a", DataTypes.INT()), DataTypes.FIELD(1, "b", DataTypes.STRING()));
        fromText(row, "{1, abc}", "{1,abc}", "{}", "{ }", "{null, null}", "{1}", "{1, a, b}", "STRUCT(1, abc)", "struct(1, x)", "STRUCT()", "{1, \"a, b\"}", "{1, a\\, b}", "(1, a)", "", "{,}", "{1, }", "{x, y}", "{1, {a, b}}", "{1, [a, b]}", " {1, a} ");
        fromText(DataTypes.ROW(DataTypes.FIELD(0, "a", row), DataTypes.FIELD(1, "b", ints)), "{{1, x}, [1, 2]}", "{STRUCT(1, x), ARRAY(1, 2)}", "{null, null}");
    }
}
