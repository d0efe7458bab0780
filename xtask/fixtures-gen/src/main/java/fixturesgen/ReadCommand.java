// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.table.FileStoreTable;

/** Prints the rows of a table. */
final class ReadCommand {
    private ReadCommand() {}

    static void run(Args args) throws Exception {
        FileStoreTable table = Tables.open(args.position(0, "LOCATION"), args);
        String snapshotId = args.option("snapshot-id", null);
        String tag = args.option("tag", null);
        if (snapshotId != null) {
            table = Tables.at(table, "scan.snapshot-id", snapshotId);
        } else if (tag != null) {
            table = Tables.at(table, "scan.tag-name", tag);
        }
        Tables.rows(table, Tables.plan(table)).forEach(System.out::println);
    }
}
