// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.disk.IOManager;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.reader.RecordReader;
import org.apache.paimon.reader.RecordReaderIterator;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.FileStoreTableFactory;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.source.ReadBuilder;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.RowType;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Opens tables by location and reads them whole. */
final class Tables {
    static final IOManager IO_MANAGER = ioManager();

    private Tables() {}

    private static IOManager ioManager() {
        try {
            return IOManager.create(Files.createTempDirectory("fixtures-gen-io").toString());
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    static FileStoreTable open(String location) {
        String path = location.contains("://") || location.startsWith("file:")
                ? location
                : java.nio.file.Path.of(location).toAbsolutePath().normalize().toString();
        return FileStoreTableFactory.create(LocalFileIO.create(), new Path(path));
    }

    static FileStoreTable open(String location, Args args) {
        FileStoreTable table = open(location);
        String branch = args.option("branch", null);
        return branch == null ? table : table.switchToBranch(branch);
    }

    static FileStoreTable at(FileStoreTable table, String option, String value) {
        return table.copy(Map.of(option, value));
    }

    static List<Long> snapshotIds(FileStoreTable table) throws java.io.IOException {
        try (Stream<Long> stream = table.snapshotManager().snapshotIdStream()) {
            return stream.sorted().toList();
        }
    }

    static List<Split> plan(FileStoreTable table) {
        return table.newReadBuilder().newScan().plan().splits();
    }

    /** The rows of some splits as JSON, sorted so that the output is stable. */
    static List<String> rows(Table table, List<? extends Split> splits) throws Exception {
        RowType type = table.rowType();
        ReadBuilder builder = table.newReadBuilder();
        List<String> rows = new ArrayList<>();
        for (Split split : splits) {
            RecordReader<InternalRow> reader =
                    builder.newRead().withIOManager(IO_MANAGER).createReader(split);
            try (RecordReaderIterator<InternalRow> iterator = new RecordReaderIterator<>(reader)) {
                while (iterator.hasNext()) {
                    rows.add(RowJson.text(type, iterator.next()));
                }
            }
        }
        rows.sort(null);
        return rows;
    }
}
