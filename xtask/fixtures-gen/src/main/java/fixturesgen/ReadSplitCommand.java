// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.source.DataSplit;

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
        if (expected != null) {
            DataInputDeserializer header = new DataInputDeserializer(bytes);
            header.skipBytesToRead(VERSION_OFFSET);
            int version = header.readInt();
            if (version != Integer.parseInt(expected)) {
                throw new IllegalArgumentException("the split has version " + version + ", not " + expected);
            }
        }
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        DataSplit split = DataSplit.deserialize(in);
        if (in.available() > 0) {
            throw new IllegalArgumentException(in.available() + " bytes follow the split");
        }
        // A split belongs to a snapshot, whose schema can differ from the newest one. Engines plan
        // and read with the same table, which is the newest one unless they travel in time.
        Tables.rows(table, List.of(split)).forEach(System.out::println);
    }
}
