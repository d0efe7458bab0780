// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.array;
import static fixturesgen.Values.map;
import static fixturesgen.Values.type;

import org.apache.paimon.data.BinaryString;
import org.apache.paimon.data.Blob;
import org.apache.paimon.data.BlobDescriptor;
import org.apache.paimon.data.Decimal;
import org.apache.paimon.data.GenericArray;
import org.apache.paimon.data.GenericMap;
import org.apache.paimon.data.GenericRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalMap;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.format.FileFormat;
import org.apache.paimon.format.FormatReaderContext;
import org.apache.paimon.format.FormatWriter;
import org.apache.paimon.fs.PositionOutputStream;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.options.Options;
import org.apache.paimon.reader.FileRecordReader;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.types.ArrayType;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.MapType;
import org.apache.paimon.types.RowType;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;

/**
 * Blob files without tables: {@code blob/NAME.blob} and what Java reads from it in {@code blob/NAME.json}. Arrays, maps and
 * placeholders are of Java 2.x, a run with an older version leaves those files as they are.
 *
 * <p>In the {@code .json} files a blob is its bytes in hex, or the checksum of more than 32 bytes.
 */
final class BlobFixtures {
    private static final LocalFileIO FILES = LocalFileIO.create();

    private final Path directory;

    private BlobFixtures(Path directory) {
        this.directory = directory;
    }

    static void write(Path out, String only) throws Exception {
        if (Arrays.stream(only.split(",")).noneMatch(prefix -> "blob".startsWith(prefix) || prefix.startsWith("blob"))) {
            return;
        }
        BlobFixtures fixtures = new BlobFixtures(out.resolve("blob"));
        Files.createDirectories(fixtures.directory);
        fixtures.scalars();
        if (Newer.has("org.apache.paimon.data.BlobArrayPlaceholder")) {
            fixtures.placeholders();
            fixtures.arrays();
            fixtures.maps();
        }
    }

    /** Prints what Java reads from a file, as in the {@code .json} files. */
    static void read(Args args) throws Exception {
        DataType type = fieldType(args.position(1, "TYPE"));
        System.out.println(Json.text(describe(Path.of(args.position(0, "FILE")), type, args.position(1, "TYPE"))));
    }

    /** A type of a blob column; the parser of the program knows atomic types only. */
    private static DataType fieldType(String text) {
        if (text.startsWith("ARRAY<")) {
            return array("BLOB");
        }
        if (text.startsWith("MAP<")) {
            return map(text.substring(4, text.lastIndexOf(',')), "BLOB");
        }
        return type(text);
    }

    private void scalars() throws Exception {
        file("scalar", "BLOB", blob("hello"), null, blob(""), bytes(70_000), blob("\u0000\u00ff"), bytes(5));
        file("empty", "BLOB");
        file("nulls", "BLOB", null, null, null);
        Object[] many = new Object[300];
        for (int i = 0; i < many.length; i++) {
            many[i] = i % 7 == 3 ? null : bytes(i % 11 == 0 ? 300 : i % 5);
        }
        file("many", "BLOB", many);
    }

    private void placeholders() throws Exception {
        file("placeholders", "BLOB", blob("hello"), null, placeholder("Blob"), blob(""), placeholder("Blob"));
        file("placeholders-array", "ARRAY<BLOB>", placeholder("BlobArray"), list(blob("x")), null);
        file("placeholders-map", "MAP<INT, BLOB>", placeholder("BlobMap"), entries(1, blob("x")), null);
    }

    private void arrays() throws Exception {
        Object[] wide = new Object[5000];
        for (int i = 0; i < wide.length; i++) {
            wide[i] = i % 9 == 4 ? null : bytes(i % 30);
        }
        file("array", "ARRAY<BLOB>", list(blob("a"), null, blob(""), blob("bcd")), null, list(), list((Object) null),
                list(bytes(66_000), bytes(1)), list(wide));
    }

    private void maps() throws Exception {
        Object[] wide = new Object[1200];
        for (int i = 0; i < wide.length; i += 2) {
            wide[i] = BinaryString.fromString("key number " + i);
            wide[i + 1] = i % 9 == 4 ? null : bytes(i % 300);
        }
        file("map-string", "MAP<STRING, BLOB>", entries(BinaryString.fromString("k"), blob("v"),
                BinaryString.fromString(""), null, BinaryString.fromString("\u6f22\ud83d\ude00"), blob("")), null, entries(), entries(wide));
        file("map-boolean", "MAP<BOOLEAN, BLOB>", entries(true, blob("t"), false, null));
        file("map-tinyint", "MAP<TINYINT, BLOB>", entries((byte) -128, blob("low"), (byte) 127, blob("high")));
        file("map-smallint", "MAP<SMALLINT, BLOB>", entries(Short.MIN_VALUE, blob("low"), (short) 258, blob("")));
        file("map-int", "MAP<INT, BLOB>", entries(Integer.MIN_VALUE, blob("low"), 66051, null));
        file("map-bigint", "MAP<BIGINT, BLOB>", entries(Long.MIN_VALUE, blob("low"), -1L, blob("x")));
        file("map-date", "MAP<DATE, BLOB>", entries(-719162, blob("first"), 2932896, blob("last")));
        file("map-time", "MAP<TIME(3), BLOB>", entries(0, blob("first"), 86399999, blob("last")));
        file("map-decimal", "MAP<DECIMAL(10, 2), BLOB>", entries(decimal("-1.50", 10, 2), blob("a"), decimal("99999999.99", 10, 2), blob("b")));
        file("map-decimal38", "MAP<DECIMAL(38, 3), BLOB>", entries(decimal("0.000", 38, 3), blob("0"), decimal("0.128", 38, 3), blob("1"),
                decimal("-0.128", 38, 3), blob("2"), decimal("-0.129", 38, 3), null, decimal("99999999999999999999999999999999999.999", 38, 3), blob("3"),
                decimal("-99999999999999999999999999999999999.999", 38, 3), blob("4")));
        file("map-char", "MAP<CHAR(3), BLOB>", entries(BinaryString.fromString("abc"), blob("c"), BinaryString.fromString("a"), blob("d")));
        file("map-binary", "MAP<BYTES, BLOB>", entries(new byte[] {0, (byte) 0xff}, blob("b"), new byte[0], null));
    }

    private void file(String name, String typeText, Object... values) throws Exception {
        DataType type = fieldType(typeText);
        Path file = directory.resolve(name + ".blob");
        try (PositionOutputStream out = FILES.newOutputStream(path(file), true)) {
            FormatWriter writer = format(false).createWriterFactory(rowType(type)).create(out, "none");
            for (Object value : values) {
                writer.addElement(GenericRow.of(value));
            }
            writer.close();
        }
        Files.writeString(directory.resolve(name + ".json"), Json.text(describe(file, type, typeText)) + "\n");
    }

    /** Type, rows, and where the values of each row are: offset and length. */
    private static Map<String, Object> describe(Path file, DataType type, String typeText) throws Exception {
        Map<String, Object> description = new LinkedHashMap<>();
        description.put("type", typeText);
        description.put("rows", rows(file, type, false));
        description.put("places", rows(file, type, true));
        return description;
    }

    private static List<Object> rows(Path file, DataType type, boolean asDescriptor) throws Exception {
        List<Object> rows = new ArrayList<>();
        RowType rowType = rowType(type);
        FormatReaderContext context = Newer.create(FormatReaderContext.class, FILES, path(file), Files.size(file), null, null);
        try (FileRecordReader<InternalRow> reader =
                format(asDescriptor).createReaderFactory(rowType, rowType, null).createReader(context)) {
            RecordReader.RecordIterator<InternalRow> batch;
            while ((batch = reader.readBatch()) != null) {
                InternalRow row;
                while ((row = batch.next()) != null) {
                    rows.add(value(((GenericRow) row).getField(0), type, asDescriptor));
                }
                batch.releaseBatch();
            }
        }
        return rows;
    }

    private static Object value(Object value, DataType type, boolean asDescriptor) {
        if (value == null) {
            return null;
        }
        if (value.getClass().getName().endsWith("Placeholder")) {
            return Map.of("placeholder", true);
        }
        if (value instanceof InternalMap entries) {
            MapType mapType = (MapType) type;
            InternalArray.ElementGetter keys = InternalArray.createElementGetter(mapType.getKeyType());
            List<Object> out = new ArrayList<>();
            for (int i = 0; i < entries.size(); i++) {
                Object key = keys.getElementOrNull(entries.keyArray(), i);
                out.add(Arrays.asList(
                        key instanceof byte[] bytes ? HexFormat.of().formatHex(bytes) : String.valueOf(key),
                        element(entries.valueArray(), i, asDescriptor)));
            }
            return out;
        }
        if (type instanceof ArrayType) {
            InternalArray elements = (InternalArray) value;
            List<Object> out = new ArrayList<>();
            for (int i = 0; i < elements.size(); i++) {
                out.add(element(elements, i, asDescriptor));
            }
            return out;
        }
        return blobValue((Blob) value, asDescriptor);
    }

    private static Object element(InternalArray elements, int i, boolean asDescriptor) {
        return elements.isNullAt(i) ? null : blobValue(elements.getBlob(i), asDescriptor);
    }

    private static Object blobValue(Blob blob, boolean asDescriptor) {
        if (asDescriptor) {
            BlobDescriptor descriptor = blob.toDescriptor();
            return List.of(descriptor.offset(), descriptor.length());
        }
        byte[] data = blob.toData();
        if (data.length <= 32) {
            return HexFormat.of().formatHex(data);
        }
        CRC32 crc = new CRC32();
        crc.update(data);
        return Map.of("crc32", crc.getValue());
    }

    private static FileFormat format(boolean asDescriptor) {
        Options options = new Options();
        options.setString("blob-as-descriptor", Boolean.toString(asDescriptor));
        return FileFormat.fromIdentifier("blob", options);
    }

    private static RowType rowType(DataType type) {
        return RowType.of(type);
    }

    private static org.apache.paimon.fs.Path path(Path file) {
        return new org.apache.paimon.fs.Path(file.toAbsolutePath().toString());
    }

    private static Blob blob(String text) {
        return Blob.fromData(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Blob bytes(int length) {
        byte[] bytes = new byte[length];
        for (int i = 0; i < length; i++) {
            bytes[i] = (byte) (i * 7 + length);
        }
        return Blob.fromData(bytes);
    }

    private static GenericArray list(Object... blobs) {
        return new GenericArray(blobs);
    }

    private static GenericMap entries(Object... keysAndBlobs) throws Exception {
        Map<Object, Object> entries = new LinkedHashMap<>();
        for (int i = 0; i < keysAndBlobs.length; i += 2) {
            entries.put(keysAndBlobs[i], keysAndBlobs[i + 1]);
        }
        return entries.keySet().stream().anyMatch(byte[].class::isInstance)
                ? (GenericMap) Newer.invoke(GenericMap.class, "fromBinaryKeyMap", entries, null)
                : new GenericMap(entries);
    }

    private static Decimal decimal(String text, int precision, int scale) {
        return Decimal.fromBigDecimal(new BigDecimal(text), precision, scale);
    }

    private static Object placeholder(String kind) throws Exception {
        return Class.forName("org.apache.paimon.data." + kind + "Placeholder").getField("INSTANCE").get(null);
    }
}
