// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.GenericRow;
import org.apache.paimon.types.RowType;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Random tables that Java writes, in the form of the fixtures. */
final class RandomTables {
    private RandomTables() {}

    static void run(Args args) throws Exception {
        Suite suite = new Suite(Path.of(args.position(0, "OUT_DIR")), "", false);
        long seed = Long.parseLong(args.position(1, "SEED"));
        int count = Integer.parseInt(args.position(2, "COUNT"));
        for (int i = 0; i < count; i++) {
            RandomTable description = new RandomTable(seed, i, args.option("format", "parquet"));
            suite.table("random-" + seed + "/" + i, "append, random", writer -> write(description, writer));
        }
        suite.finish();
    }

    private static void write(RandomTable description, TableWriter writer) throws Exception {
        description.describe(writer);
        writer.create();
        RowType type = writer.table().rowType();
        List<String> written = new ArrayList<>();
        boolean overwritten = false;
        for (int count : description.commits) {
            List<GenericRow> rows = description.rows(type, count);
            if (description.choose(4) == 0 && !written.isEmpty()) {
                writer.writeInternal(rows, Map.of());
                overwritten = true;
            } else {
                writer.writeInternal(rows, null);
            }
            rows.forEach(row -> written.add(RowJson.text(type, row)));
        }
        if (!overwritten) {
            written.sort(null);
            checkEqual(written, Tables.rows(writer.table(), Tables.plan(writer.table())));
        }
    }

    /** What Java cannot read back as it was written is no measure for others. */
    private static void checkEqual(List<String> written, List<String> read) {
        for (int i = 0; i < Math.max(written.size(), read.size()); i++) {
            String w = i < written.size() ? written.get(i) : "nothing";
            String r = i < read.size() ? read.get(i) : "nothing";
            if (!w.equals(r)) {
                throw new IllegalStateException("Java wrote\n" + w + "\nand read\n" + r);
            }
        }
    }
}
