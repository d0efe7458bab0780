// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.source.DataSplit;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Reads the rows of one serialised split. */
final class ReadSplitCommand {
    /** Where the bytes of a split hold its version: after the magic number. */
    private static final int VERSION_OFFSET = 8;

    private ReadSplitCommand() {}

    static void run(Args args) throws Exception {
        byte[] bytes = Files.readAllBytes(Path.of(args.position(0, "FILE")));
        FileStoreTable table = Tables.open(args.position(1, "LOCATION"), args);
        String expected = args.option("version", null);
        if (expected != null && version(bytes) != Integer.parseInt(expected)) {
            throw new IllegalArgumentException(
                    "the split has version " + version(bytes) + ", not " + expected);
        }
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        DataSplit split = DataSplit.deserialize(in);
        if (in.available() > 0) {
            throw new IllegalArgumentException(in.available() + " bytes follow the split");
        }
        // Read with the newest schema, whatever the snapshot of the split is.
        Tables.rows(table, List.of(split)).forEach(System.out::println);
    }

    static int version(byte[] split) {
        return ByteBuffer.wrap(split).getInt(VERSION_OFFSET);
    }
}
