// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.deletionvectors.Bitmap64DeletionVector;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVector;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Prints the vectors of an index file, one a line, in the form of {@code paimon decode deletion-vectors}; {@code again} tells
 * whether Java writes the same bytes for it.
 */
final class DeletionVectorsCommand {
    private DeletionVectorsCommand() {}

    static void run(Args args) throws Exception {
        byte[] file = Files.readAllBytes(Path.of(args.position(0, "FILE")));
        DataInputStream in = new DataInputStream(new ByteArrayInputStream(file));
        int version = in.read();
        if (version != 1) {
            throw new IllegalStateException("version " + version);
        }
        while (in.available() > 0) {
            int offset = file.length - in.available();
            DeletionVector vector = DeletionVector.read(in, null);
            int end = file.length - in.available();
            boolean wide = vector instanceof Bitmap64DeletionVector;
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            int length = vector.serializeTo(new DataOutputStream(bytes));
            // What metadata records must be what Java's reader asks for.
            DeletionVector.read(new DataInputStream(new ByteArrayInputStream(file, offset, end - offset)), (long) length);
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("offset", offset);
            line.put("length", length);
            line.put("kind", wide ? "64-bit" : "32-bit");
            line.put("cardinality", vector.getCardinality());
            line.put("rows", rows(vector));
            line.put("again", java.util.Arrays.equals(bytes.toByteArray(), java.util.Arrays.copyOfRange(file, offset, end)));
            System.out.println(Json.text(line));
        }
    }

    private static List<Object> rows(DeletionVector vector) throws Exception {
        List<Long> rows = new ArrayList<>();
        if (vector instanceof BitmapDeletionVector) {
            ((BitmapDeletionVector) vector).get().iterator().forEachRemaining(row -> rows.add(row.longValue()));
        } else {
            // The 1.4 release has no public iteration for this kind.
            java.lang.reflect.Field field = Bitmap64DeletionVector.class.getDeclaredField("roaringBitmap");
            field.setAccessible(true);
            ((org.apache.paimon.utils.OptimizedRoaringBitmap64) field.get(vector)).forEach(rows::add);
        }
        List<Object> ranges = new ArrayList<>();
        for (int i = 0; i < rows.size(); ) {
            int end = i;
            while (end + 1 < rows.size() && rows.get(end + 1) == rows.get(end) + 1) {
                end++;
            }
            ranges.add(end == i ? (Object) rows.get(i) : List.of(rows.get(i), rows.get(end)));
            i = end + 1;
        }
        return ranges;
    }
}
