// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.schema.Schema;
import org.apache.paimon.types.RowType;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Random tables for another writer: what to create and the rows of each commit. */
final class RandomRows {
    private RandomRows() {}

    static void run(Args args) throws Exception {
        long seed = Long.parseLong(args.position(0, "SEED"));
        int count = Integer.parseInt(args.position(1, "COUNT"));
        Path directory = Path.of(args.position(2, "OUT_DIR"));
        for (int i = 0; i < count; i++) {
            Path target = directory.resolve(String.valueOf(i));
            Suite.delete(target);
            Files.createDirectories(target);
            write(new RandomTable(seed, i, args.option("format", "parquet")), target);
        }
    }

    private static void write(RandomTable description, Path target) throws Exception {
        TableWriter writer = new TableWriter("");
        description.describe(writer);
        Schema schema = writer.schema();
        Files.writeString(target.resolve("create.json"), Json.text(TypeJson.schema(schema)) + "\n");

        RowType type = schema.rowType();
        List<String> all = new ArrayList<>();
        for (int k = 0; k < description.commits.length; k++) {
            List<String> batch = new ArrayList<>();
            description.rows(type, description.commits[k]).forEach(row -> batch.add(RowJson.text(type, row)));
            Files.write(target.resolve("batch-" + k + ".jsonl"), batch);
            all.addAll(batch);
        }
        all.sort(null);
        Files.write(target.resolve("expected.jsonl"), all);
    }
}
