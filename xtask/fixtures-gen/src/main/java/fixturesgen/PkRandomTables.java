// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TimeZone;

/**
 * Random tables with primary keys, numbered {@code FROM} to {@code FROM + COUNT - 1} of a seed. {@code OUT_DIR/N/} gets the table, what was done to
 * it ({@code steps/}) and the rows of every selector ({@code expected/}); {@code failed.txt} instead when Java itself could not.
 */
final class PkRandomTables {
    private PkRandomTables() {}

    static void run(Args args) throws Exception {
        Path out = Path.of(args.position(0, "OUT_DIR"));
        long seed = Long.parseLong(args.position(1, "SEED"));
        int from = Integer.parseInt(args.position(2, "FROM"));
        int count = Integer.parseInt(args.position(3, "COUNT"));
        for (int index = from; index < from + count; index++) {
            Path directory = out.resolve(String.valueOf(index));
            Suite.delete(directory);
            Files.createDirectories(directory);
            TableWriter writer = new TableWriter(directory.resolve("table").toString());
            try {
                PkRandomTable table = new PkRandomTable(seed, index);
                if (table.isUnordered()) {
                    Files.writeString(directory.resolve("unordered"), "");
                }
                table.fill(writer);
                Exporter.exportSteps(writer, directory.resolve("steps"));
                Exporter.exportRows(writer, directory.resolve("expected"), TimeZone.getDefault());
            } catch (Exception e) {
                StringWriter text = new StringWriter();
                e.printStackTrace(new PrintWriter(text));
                Files.writeString(directory.resolve("failed.txt"), text.toString());
            }
        }
    }
}
