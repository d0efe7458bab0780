// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.table.sink.TableCommitImpl;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Commits messages that another writer prepared. */
final class CommitMessagesCommand {
    private CommitMessagesCommand() {}

    static void run(Args args) throws Exception {
        byte[] bytes = Files.readAllBytes(Path.of(args.position(0, "FILE")));
        int version = Integer.parseInt(args.position(1, "VERSION"));
        FileStoreTable table = Tables.open(args.position(2, "LOCATION"), args);
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        List<CommitMessage> messages = new CommitMessageSerializer().deserializeList(version, in);
        if (in.available() > 0) {
            throw new IllegalArgumentException(in.available() + " bytes follow the messages");
        }
        long identifier =
                Long.parseLong(args.option("identifier", String.valueOf(Long.MAX_VALUE)));
        String user = args.option("user", UUID.randomUUID().toString());
        try (TableCommitImpl commit = table.newCommit(user)) {
            String overwrite = args.option("overwrite", null);
            if (overwrite != null) {
                commit.withOverwrite(partition(overwrite));
            }
            commit.commit(identifier, messages);
        }
        System.out.println(table.snapshotManager().latestSnapshotId());
    }

    private static Map<String, String> partition(String text) {
        Map<String, String> partition = new HashMap<>();
        for (String pair : text.isEmpty() ? new String[0] : text.split(",")) {
            int equals = pair.indexOf('=');
            partition.put(pair.substring(0, equals), pair.substring(equals + 1));
        }
        return partition;
    }
}
