// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

import org.apache.paimon.append.AppendCompactCoordinator;
import org.apache.paimon.append.AppendCompactTask;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.deletionvectors.Bitmap64DeletionVector;
import org.apache.paimon.deletionvectors.BitmapDeletionVector;
import org.apache.paimon.deletionvectors.DeletionVector;
import org.apache.paimon.deletionvectors.append.BaseAppendDeleteFileMaintainer;
import org.apache.paimon.index.IndexFileHandler;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileKind;
import org.apache.paimon.manifest.IndexManifestEntry;
import org.apache.paimon.operation.BaseAppendFileStoreWrite;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.table.BucketMode;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.utils.Pair;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongPredicate;

/** Append tables with deletion vectors, made as the row-level DELETE of the Spark engine makes them. */
final class DeletionVectorFixtures {
    /** Which rows of a file are deleted. */
    interface Rows {
        /** Of the file with this number in order of its first row, or null for no vector. */
        LongPredicate of(int file);
    }

    private DeletionVectorFixtures() {}

    static void add(Suite suite) throws Exception {
        for (boolean wide : new boolean[] {false, true}) {
            String bits = wide ? "64-bit" : "32-bit";
            suite.table("deletes/" + bits, "append, deletion vectors of " + bits + ", 3 files, vectors merged, a file without rows, an append after it", t -> {
                simple(t, wide).write(numbers(0, 800)).write(numbers(800, 100)).write(numbers(900, 10));
                // Single rows, every second row, a run.
                delete(t, file -> file == 0 ? row -> row == 7 || row == 799 : file == 1 ? row -> row % 2 == 0 : null);
                delete(t, file -> file == 0 ? row -> row >= 300 && row < 600 : null);
                t.write(numbers(1000, 20));
                // All rows of the third file, and one of the new file.
                delete(t, file -> file == 2 ? row -> true : file == 3 ? row -> row == 0 : null);
            });

            suite.table("deletes/partitioned-" + bits, "append, partitioned, deletion vectors of " + bits + ", a partition overwritten, one dropped", t -> {
                deletable(t, wide).column("p", "STRING").column("id", "INT").column("v", "STRING").partitionBy("p").create();
                t.write(inPartitions(0, 60)).write(inPartitions(60, 30));
                delete(t, file -> row -> row % 5 == file % 5);
                t.overwrite(Map.of("p", "b"), row("b", 1000, "new"));
                delete(t, file -> row -> row == 0);
                try (BatchTableCommit commit = t.table().newBatchWriteBuilder().newCommit()) {
                    commit.truncatePartitions(List.of(Map.of("p", "a")));
                }
                t.write(inPartitions(90, 6));
            });
        }

        suite.table("deletes/mixed", "append, vectors of 32 and 64 bits in one index file", t -> {
            simple(t, false).write(numbers(0, 100)).write(numbers(100, 100)).write(numbers(200, 100)).write(numbers(300, 100));
            delete(t, file -> row -> row % 10 == file, file -> file % 2 == 1);
            delete(t, file -> file == 1 ? row -> row >= 90 : null, file -> true);
        });

        suite.table("deletes/many-index-files", "append, deletion-vector.index-file.target-size=1 b: an index file a vector", t -> {
            simple(t.option("deletion-vector.index-file.target-size", "1 b"), false);
            t.write(numbers(0, 50)).write(numbers(50, 50)).write(numbers(100, 50));
            delete(t, file -> row -> row < 10 * file + 1);
            delete(t, file -> file == 1 ? row -> row == 49 : null);
        });

        suite.table("deletes/bucketed", "append, 2 buckets, deletion vectors", t -> {
            simple(t.option("bucket", 2).option("bucket-key", "id"), false);
            t.write(numbers(0, 200)).write(numbers(200, 100));
            delete(t, file -> row -> row % 3 == 0);
            delete(t, file -> row -> row == 1);
            t.write(numbers(300, 10));
        });

        suite.table("deletes/row-groups", "append, deletion vector over a Parquet file of many row groups and pages", t -> {
            simple(t.option("parquet.block.size", 4_000).option("parquet.page.row.count.limit", 50), false);
            t.write(numbers(0, 9_000));
            delete(t, file -> row -> row % 2 == 1 || (row > 3_000 && row < 4_000));
        });

        suite.table("deletes/tags-and-branches", "append, deletion vectors, tags before and after a delete, branches of both", t -> {
            simple(t, false).write(numbers(0, 40));
            t.table().createTag("before", 1);
            delete(t, file -> row -> row < 10);
            t.table().createTag("after", 2);
            t.table().createBranch("whole", "before");
            t.table().createBranch("cut", "after");
            t.writeToBranch("cut", numbers(100, 3)).write(numbers(40, 5));
            delete(t, file -> row -> row == 4);
        });

        suite.table("deletes/index-beside-data", "append, partitioned, index-file-in-data-file-dir=true, deletion vectors", t -> {
            deletable(t.option("index-file-in-data-file-dir", true), false).column("p", "STRING").column("id", "INT").column("v", "STRING")
                    .partitionBy("p").create();
            t.write(inPartitions(0, 30));
            delete(t, file -> row -> row % 2 == 1);
        });

        suite.table("deletes/compacted", "append, deletion vectors, files compacted and their vectors removed", t -> {
            simple(t.option("compaction.min.file-num", 2), false).write(numbers(0, 100)).write(numbers(100, 100));
            delete(t, file -> row -> row % 2 == file);
            compact(t);
            t.write(numbers(200, 10));
            delete(t, file -> row -> row == 3);
        });

        suite.table("deletes/columns-changed", "append, deletion vectors, a column renamed and one added between deletes", t -> {
            simple(t, false).write(numbers(0, 20));
            delete(t, file -> row -> row == 5);
            t.alter(SchemaChange.renameColumn("v", "w"), SchemaChange.addColumn("x", Values.type("INT")));
            t.write(row(20, "n20", 1), row(21, "n21", 2), row(22, "n22", null));
            delete(t, file -> row -> row == 1);
        });

        suite.table("deletes/switched-off", "append, deletion-vectors.enabled altered to false when rows were deleted", t -> {
            simple(t.option("deletion-vectors.modifiable", true), false).write(numbers(0, 20));
            delete(t, file -> row -> row < 5);
            t.alter(SchemaChange.setOption("deletion-vectors.enabled", "false"));
            t.write(numbers(20, 3));
        });
    }

    private static TableWriter deletable(TableWriter t, boolean wide) {
        t.option("deletion-vectors.enabled", true);
        return wide ? t.option("deletion-vectors.bitmap64", true) : t;
    }

    private static TableWriter simple(TableWriter t, boolean wide) throws Exception {
        return deletable(t, wide).column("id", "INT").column("v", "STRING").create();
    }

    private static Object[][] numbers(int from, int count) {
        Object[][] rows = new Object[count][];
        for (int i = 0; i < count; i++) {
            rows[i] = row(from + i, "n" + (from + i));
        }
        return rows;
    }

    private static Object[][] inPartitions(int from, int count) {
        String[] partitions = {"a", "b", null};
        Object[][] rows = new Object[count][];
        for (int i = 0; i < count; i++) {
            rows[i] = row(partitions[i % 3], from + i, "n" + (from + i));
        }
        return rows;
    }

    static void delete(TableWriter t, Rows rows) throws Exception {
        boolean wide = t.table().coreOptions().deletionVectorBitmap64();
        delete(t, rows, file -> wide);
    }

    /** Marks rows as deleted, on top of what is deleted already, and commits that. */
    private static void delete(TableWriter t, Rows rows, java.util.function.IntPredicate wide) throws Exception {
        FileStoreTable table = Tables.open(t.path);
        IndexFileHandler handler = table.store().newIndexFileHandler();
        var snapshot = table.latestSnapshot().orElseThrow();
        Map<Pair<BinaryRow, Integer>, BaseAppendDeleteFileMaintainer> maintainers = new LinkedHashMap<>();
        List<DataSplit> splits = new ArrayList<>();
        for (Split split : Tables.plan(table)) {
            splits.add((DataSplit) split);
        }
        int number = 0;
        for (DataSplit split : splits) {
            for (DataFileMeta file : split.dataFiles()) {
                LongPredicate deleted = rows.of(number);
                DeletionVector vector = wide.test(number) ? new Bitmap64DeletionVector() : new BitmapDeletionVector();
                number++;
                if (deleted == null) {
                    continue;
                }
                for (long i = 0; i < file.rowCount(); i++) {
                    if (deleted.test(i)) {
                        vector.delete(i);
                    }
                }
                Pair<BinaryRow, Integer> key = Pair.of(split.partition(), split.bucket());
                if (!maintainers.containsKey(key)) {
                    maintainers.put(key, table.bucketMode() == BucketMode.BUCKET_UNAWARE
                            ? BaseAppendDeleteFileMaintainer.forUnawareAppend(handler, snapshot, split.partition())
                            : BaseAppendDeleteFileMaintainer.forBucketedAppend(handler, snapshot, split.partition(), split.bucket()));
                }
                maintainers.get(key).notifyNewDeletionVector(file.fileName(), vector);
            }
        }
        List<CommitMessage> messages = new ArrayList<>();
        for (BaseAppendDeleteFileMaintainer maintainer : maintainers.values()) {
            List<IndexFileMeta> added = new ArrayList<>();
            List<IndexFileMeta> removed = new ArrayList<>();
            for (IndexManifestEntry entry : maintainer.persist()) {
                (entry.kind() == FileKind.ADD ? added : removed).add(entry.indexFile());
            }
            messages.add(new CommitMessageImpl(maintainer.getPartition(), maintainer.getBucket(), null,
                    new DataIncrement(List.of(), List.of(), List.of(), added, removed), CompactIncrement.emptyIncrement()));
        }
        commit(t, table, messages);
    }

    private static void compact(TableWriter t) throws Exception {
        FileStoreTable table = Tables.open(t.path);
        List<CommitMessage> messages = new ArrayList<>();
        for (AppendCompactTask task : new AppendCompactCoordinator(table, false).run()) {
            BaseAppendFileStoreWrite write = (BaseAppendFileStoreWrite) table.store().newWrite("compact");
            write.withIOManager(Tables.IO_MANAGER);
            messages.add(task.doCompact(table, write));
            write.close();
        }
        if (messages.isEmpty()) {
            throw new IllegalStateException("nothing to compact");
        }
        commit(t, table, messages);
    }

    private static void commit(TableWriter t, FileStoreTable table, List<CommitMessage> messages) throws Exception {
        t.messages().addAll(messages);
        try (BatchTableCommit commit = table.newBatchWriteBuilder().newCommit()) {
            commit.commit(messages);
        }
    }
}
