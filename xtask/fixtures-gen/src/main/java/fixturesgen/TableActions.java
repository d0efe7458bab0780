// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.manifest.BucketEntry;
import org.apache.paimon.options.ExpireConfig;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.utils.JsonSerdeUtil;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is done to a table besides writing rows: steps that can be repeated at a table of another writer. */
final class TableActions {
    private TableActions() {}

    static Map<String, Object> step(String op, Object... keysAndValues) {
        Map<String, Object> step = new LinkedHashMap<>();
        step.put("op", op);
        for (int i = 0; i < keysAndValues.length; i += 2) {
            step.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return step;
    }

    static Map<String, Object> alter(String branch, SchemaChange... changes) {
        List<String> texts = new ArrayList<>();
        for (SchemaChange change : changes) {
            texts.add(JsonSerdeUtil.toFlatJson(change));
        }
        return step("alter", "branch", branch, "changes", texts);
    }

    /** {@code apply LOCATION STEP}: does to a table what a step in JSON says. */
    @SuppressWarnings("unchecked")
    static void apply(Args args) throws Exception {
        run(args.position(0, "LOCATION"), JsonSerdeUtil.fromJson(args.position(1, "STEP"), Map.class));
    }

    /** The messages of the commits that the step made, as far as it makes them itself. */
    @SuppressWarnings("unchecked")
    static List<CommitMessage> run(String location, Map<String, Object> step) throws Exception {
        FileStoreTable table = Tables.open(location);
        switch ((String) step.get("op")) {
            case "tag" -> table.createTag((String) step.get("name"), ((Number) step.get("snapshot")).longValue());
            case "branch" -> {
                String tag = (String) step.get("tag");
                if (tag == null) {
                    table.createBranch((String) step.get("name"));
                } else {
                    table.createBranch((String) step.get("name"), tag);
                }
            }
            case "alter" -> {
                List<SchemaChange> changes = new ArrayList<>();
                for (String change : (List<String>) step.get("changes")) {
                    changes.add(JsonSerdeUtil.fromJson(change, SchemaChange.class));
                }
                String branch = (String) step.get("branch");
                FileStoreTable target = branch == null ? table : table.switchToBranch(branch);
                target.schemaManager().commitChanges(changes);
            }
            case "expire" -> table.newExpireSnapshots().config(ExpireConfig.builder()
                    .snapshotRetainMin(1).snapshotRetainMax(((Number) step.get("keep")).intValue())
                    .snapshotTimeRetain(Duration.ZERO).build()).expire();
            case "truncate" -> {
                try (BatchTableCommit commit = table.newBatchWriteBuilder().newCommit()) {
                    commit.truncatePartitions(List.of((Map<String, String>) step.get("partition")));
                }
            }
            case "compact" -> {
                return compact(table, (Boolean) step.get("full"));
            }
            case "delete-hints" -> {
                for (String hint : List.of("LATEST", "EARLIEST")) {
                    Files.deleteIfExists(Path.of(location, "snapshot", hint));
                }
            }
            default -> throw new IllegalArgumentException("unknown step " + step);
        }
        return List.of();
    }

    /** Compacts every bucket and commits that. */
    static List<CommitMessage> compact(FileStoreTable stored, boolean full) throws Exception {
        FileStoreTable table = stored.copy(Map.of("write-only", "false"));
        BatchWriteBuilder builder = table.newBatchWriteBuilder();
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(Tables.IO_MANAGER);
            for (BucketEntry bucket : table.newSnapshotReader().bucketEntries()) {
                write.compact(bucket.partition(), bucket.bucket(), full);
            }
            List<CommitMessage> messages = write.prepareCommit();
            commit.commit(messages);
            return messages;
        }
    }
}
