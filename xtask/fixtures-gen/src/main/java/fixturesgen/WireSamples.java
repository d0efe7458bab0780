// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.catalog.TableQueryAuthResult;
import org.apache.paimon.data.BinaryArray;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.Timestamp;
import org.apache.paimon.data.serializer.InternalRowSerializer;
import org.apache.paimon.globalindex.IndexedSplit;
import org.apache.paimon.index.DeletionVectorMeta;
import org.apache.paimon.index.GlobalIndexMeta;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.CompactIncrement;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.io.DataIncrement;
import org.apache.paimon.manifest.FileSource;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FallbackReadFileStoreTable;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.source.ChainSplit;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.DeletionFile;
import org.apache.paimon.table.source.IncrementalSplit;
import org.apache.paimon.table.source.QueryAuthSplit;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.types.RowType;
import org.apache.paimon.utils.Range;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Splits, commit messages and committables of every kind, with fields set and unset. */
final class WireSamples {
    private static final BinaryRow PARTITION = row("STRING", "2024-01-31 größe", "INT", 8);
    private static final BinaryRow NULL_PARTITION = row("STRING", null, "INT", null);
    private static final DeletionFile COUNTED = new DeletionFile("file:/t/index/index-1", 1, 22, 3L);
    private static final DeletionFile UNCOUNTED = new DeletionFile("file:/t/index/index-\u0000-😀", 33, 26, null);

    private WireSamples() {}

    static Map<String, Split> splits() throws Exception {
        Map<String, Split> splits = new LinkedHashMap<>();
        DataSplit plain = data(PARTITION, null, false, List.of(plainFile("a"), plainFile("b")), null);
        DataSplit deletions = data(NULL_PARTITION, null, true, List.of(plainFile("a"), plainFile("b"), plainFile("c")),
                Arrays.asList(null, COUNTED, UNCOUNTED));
        DataSplit full = data(PARTITION, 4, true, List.of(fullFile("a"), plainFile("b"), oddFile()), null);
        splits.put("data-without-files", data(BinaryRow.EMPTY_ROW, null, false, List.of(), null));
        splits.put("data-plain", plain);
        splits.put("data-deletion-files", deletions);
        splits.put("data-every-field", full);
        splits.put("incremental", new IncrementalSplit(7, PARTITION, 3, 8, List.of(fullFile("a")), Arrays.asList(COUNTED),
                List.of(plainFile("b"), fullFile("c")), Arrays.asList(null, UNCOUNTED), true));
        splits.put("incremental-without-files", new IncrementalSplit(-1, BinaryRow.EMPTY_ROW, 0, 1, List.of(), null, List.of(), null, false));
        splits.put("indexed", new IndexedSplit(full, List.of(new Range(0, 4), new Range(100, 100), new Range(1L << 40, (1L << 40) + 9)),
                new float[] {0.5f, -0.25f, 12345.678f}));
        splits.put("indexed-without-scores", new IndexedSplit(plain, List.of(), null));
        Map<String, String> branches = new LinkedHashMap<>(Map.of("a", "main"));
        Map<String, String> paths = new LinkedHashMap<>(Map.of("a", "file:/t/p=1/bucket-0"));
        splits.put("chain", Newer.create(ChainSplit.class, PARTITION, List.of(plainFile("a")), branches, paths, null));
        splits.put("chain-every-field",
                Newer.create(ChainSplit.class, PARTITION, List.of(fullFile("a")), branches, paths, Arrays.asList(COUNTED)));
        splits.put("fallback-data", (Split) FallbackReadFileStoreTable.toFallbackSplit(plain, true));
        splits.put("fallback-data-of-main", (Split) FallbackReadFileStoreTable.toFallbackSplit(deletions, false));
        splits.put("fallback", (Split) FallbackReadFileStoreTable.toFallbackSplit(splits.get("indexed"), true));
        splits.put("query-auth", new QueryAuthSplit(full, new TableQueryAuthResult(
                List.of("{\"kind\":\"LEAF\"}", ""), new LinkedHashMap<>(Map.of("größe", "{\"name\":\"NULL\"}")))));
        splits.put("query-auth-without-rules", new QueryAuthSplit(splits.get("chain"), new TableQueryAuthResult(null, null)));
        splits.put("query-auth-without-result", new QueryAuthSplit(plain, null));
        return splits;
    }

    private static DataSplit data(
            BinaryRow partition, Integer totalBuckets, boolean streaming, List<DataFileMeta> files, List<DeletionFile> deletions) {
        DataSplit.Builder builder = DataSplit.builder().withSnapshot(12).withPartition(partition).withBucket(3)
                .withBucketPath("file:/t/dt=2024-01-31 größe/bucket-3").withTotalBuckets(totalBuckets).withDataFiles(files)
                .isStreaming(streaming).rawConvertible(!streaming);
        if (deletions != null) {
            builder.withDataDeletionFiles(deletions);
        }
        return builder.build();
    }

    static Map<String, List<CommitMessage>> messages() throws Exception {
        IndexFileMeta hash = new IndexFileMeta("HASH", "index-hash", 40, 10, (LinkedHashMap<String, DeletionVectorMeta>) null, null);
        LinkedHashMap<String, DeletionVectorMeta> ranges = new LinkedHashMap<>();
        ranges.put("data-b.parquet", new DeletionVectorMeta("data-b.parquet", 1, 22, 2L));
        ranges.put("data-a.parquet", new DeletionVectorMeta("data-a.parquet", 31, 24, null));
        IndexFileMeta vectors = new IndexFileMeta("DELETION_VECTORS", "index-dv", 63, 2, ranges, null);
        IndexFileMeta outside = new IndexFileMeta("DELETION_VECTORS", "index-x", 1, 0, new LinkedHashMap<>(), "file:/elsewhere/index-x");
        GlobalIndexMeta meta = Newer.create(GlobalIndexMeta.class, 0L, 99L, 3, new int[] {5, 6}, new byte[] {1, 2}, new byte[] {3});
        IndexFileMeta global = new IndexFileMeta("btree", "global-1", 77, 100, meta, null);
        GlobalIndexMeta small = Newer.create(GlobalIndexMeta.class, 5L, 5L, 0, null, null, null);
        IndexFileMeta smallGlobal = new IndexFileMeta("bitmap", "global-2", 7, 1, small, "file:/elsewhere/global-2");

        CommitMessage append = new CommitMessageImpl(PARTITION, 1, 4, new DataIncrement(List.of(plainFile("a")), List.of(), List.of()),
                CompactIncrement.emptyIncrement());
        CommitMessage full = new CommitMessageImpl(NULL_PARTITION, 2, 4,
                new DataIncrement(List.of(fullFile("a")), List.of(plainFile("b")), List.of(plainFile("changelog-c")),
                        List.of(hash, vectors, global), List.of(outside, smallGlobal)),
                new CompactIncrement(List.of(plainFile("b"), fullFile("d")), List.of(oddFile()), List.of(plainFile("changelog-e")),
                        List.of(vectors, outside), List.of(hash)));
        CommitMessage compaction = new CommitMessageImpl(BinaryRow.EMPTY_ROW, 0, -1, DataIncrement.emptyIncrement(),
                new CompactIncrement(List.of(plainFile("a"), plainFile("b")), List.of(plainFile("c")), List.of(plainFile("changelog-d")),
                        List.of(hash), List.of(hash)));
        CommitMessage empty = new CommitMessageImpl(BinaryRow.EMPTY_ROW, 0, null, DataIncrement.emptyIncrement(),
                CompactIncrement.emptyIncrement());
        Map<String, List<CommitMessage>> messages = new LinkedHashMap<>();
        messages.put("none", List.of());
        messages.put("empty", List.of(empty));
        messages.put("append", List.of(append));
        messages.put("compaction", List.of(compaction));
        messages.put("deletion-vectors", List.of(new CommitMessageImpl(PARTITION, 0, 1,
                DataIncrement.indexIncrement(List.of(vectors)), CompactIncrement.emptyIncrement())));
        messages.put("every-field", List.of(full));
        messages.put("several", List.of(empty, append, compaction, full));
        return messages;
    }

    static Map<String, ManifestCommittable> committables() throws Exception {
        Map<String, ManifestCommittable> committables = new LinkedHashMap<>();
        Map<String, List<CommitMessage>> messages = messages();
        committables.put("empty", new ManifestCommittable(-1));
        committables.put("batch", new ManifestCommittable(Long.MAX_VALUE, null, messages.get("append")));
        ManifestCommittable streaming = new ManifestCommittable(42, 1_700_000_000_000L, messages.get("several"));
        streaming.addProperty("key", "value größe 😀");
        committables.put("streaming", streaming);
        return committables;
    }

    /** A file with nothing that only newer versions have. */
    private static DataFileMeta plainFile(String name) throws Exception {
        return file("data-" + name + ".parquet", BinaryRow.EMPTY_ROW, BinaryRow.EMPTY_ROW, SimpleStats.EMPTY_STATS,
                stats(row("INT", 1, "STRING", "a"), row("INT", 9, "STRING", "long text of a value"), 0L, 2L), 0, List.of(), 0L, null,
                null, null, null, null, null, null);
    }

    private static DataFileMeta fullFile(String name) throws Exception {
        BinaryRow min = row("INT", -5, "DECIMAL(20, 2)", "-1.50", "TIMESTAMP(6)", "1969-12-31 23:59:59.999999");
        BinaryRow max = row("INT", 5, "DECIMAL(20, 2)", null, "TIMESTAMP(6)", null);
        return file("data-" + name + "-größe 😀\u0000.orc", row("BIGINT", 1L), row("BIGINT", Long.MAX_VALUE),
                stats(row("BIGINT", 1L), row("BIGINT", Long.MAX_VALUE), 0L), stats(min, max, 1L, null, 7L), 5,
                List.of("data-" + name + ".index", "x"), 3L, new byte[] {0, 1, -1}, FileSource.COMPACT, List.of("a", "größe", "c"),
                "s3://bucket/elsewhere/data-" + name, 1L << 40, List.of("a", "_ROW_ID"), new long[] {7, -1, Long.MAX_VALUE});
    }

    /** Empty lists where others have none at all. */
    private static DataFileMeta oddFile() throws Exception {
        return file("", BinaryRow.EMPTY_ROW, BinaryRow.EMPTY_ROW, SimpleStats.EMPTY_STATS, SimpleStats.EMPTY_STATS, 0, List.of(""), null,
                new byte[0], FileSource.APPEND, List.of(), "", 0L, List.of(), new long[0]);
    }

    private static DataFileMeta file(
            String name, BinaryRow minKey, BinaryRow maxKey, SimpleStats keyStats, SimpleStats valueStats, int level,
            List<String> extraFiles, Long deletes, byte[] index, FileSource source, List<String> statsCols, String externalPath,
            Long firstRowId, List<String> writeCols, long[] sequences) throws Exception {
        return (DataFileMeta) Newer.invoke(DataFileMeta.class, "create", name, 1234L, 56L, minKey, maxKey, keyStats, valueStats, 15L, 200L,
                5L, level, extraFiles, Timestamp.fromEpochMillis(1_700_000_000_123L), deletes, index, source, statsCols, externalPath,
                firstRowId, writeCols, sequences);
    }

    private static SimpleStats stats(BinaryRow min, BinaryRow max, Long... nullCounts) {
        return new SimpleStats(min, max, BinaryArray.fromLongArray(nullCounts));
    }

    /** A row of types and values in turn. */
    private static BinaryRow row(Object... typesAndValues) {
        Object[] fields = typesAndValues.clone();
        Object[] values = new Object[fields.length / 2];
        for (int i = 0; i < values.length; i++) {
            values[i] = fields[2 * i + 1];
            fields[2 * i + 1] = fields[2 * i];
            fields[2 * i] = "f" + i;
        }
        RowType type = (RowType) Values.rowType(fields);
        return new InternalRowSerializer(type).toBinaryRow(Values.internalRow(type, values)).copy();
    }
}
