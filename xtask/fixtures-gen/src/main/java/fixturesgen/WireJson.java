// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.catalog.TableQueryAuthResult;
import org.apache.paimon.data.BinaryArray;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.globalindex.IndexedSplit;
import org.apache.paimon.index.DeletionVectorMeta;
import org.apache.paimon.index.GlobalIndexMeta;
import org.apache.paimon.index.IndexFileMeta;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FallbackReadFileStoreTable.FallbackDataSplit;
import org.apache.paimon.table.FallbackReadFileStoreTable.FallbackSplitImpl;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageImpl;
import org.apache.paimon.table.source.ChainSplit;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.DeletionFile;
import org.apache.paimon.table.source.IncrementalSplit;
import org.apache.paimon.table.source.QueryAuthSplit;
import org.apache.paimon.table.source.Split;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** What Java's getters tell of splits, commit messages and committables, in the form of {@code paimon decode}. */
final class WireJson {
    private WireJson() {}

    private static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            object.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return object;
    }

    static Map<String, Object> split(Split split) throws Exception {
        if (split instanceof QueryAuthSplit auth) {
            return object("kind", "query-auth", "split", split(auth.split()), "auth", auth(auth.authResult()));
        } else if (split instanceof FallbackDataSplit fallback) {
            return object("kind", "fallback-data", "split", dataSplit(fallback), "isFallback", fallback.isFallback());
        } else if (split instanceof FallbackSplitImpl fallback) {
            return object("kind", "fallback", "split", split(fallback.wrapped()), "isFallback", fallback.isFallback());
        } else if (split instanceof IndexedSplit indexed) {
            List<Object> scores = null;
            if (indexed.scores() != null) {
                scores = new ArrayList<>();
                for (float score : indexed.scores()) {
                    scores.add(score);
                }
            }
            return object("kind", "indexed", "split", dataSplit(indexed.dataSplit()),
                    "rowRanges", indexed.rowRanges().stream().map(range -> List.of(range.from, range.to)).toList(),
                    "scores", scores);
        } else if (split instanceof ChainSplit chain) {
            Object deletions = Newer.get(chain, "deletionFiles", Optional.empty());
            @SuppressWarnings("unchecked")
            Optional<List<DeletionFile>> files = (Optional<List<DeletionFile>>) deletions;
            return object("kind", "chain", "logicalPartition", row(chain.logicalPartition()), "dataFiles", files(chain.dataFiles()),
                    "fileBucketPathMapping", new TreeMap<>(chain.fileBucketPathMapping()),
                    "fileBranchMapping", new TreeMap<>(chain.fileBranchMapping()), "deletionFiles", deletionFiles(files.orElse(null)));
        } else if (split instanceof IncrementalSplit incremental) {
            return object("kind", "incremental", "snapshotId", incremental.snapshotId(), "partition", row(incremental.partition()),
                    "bucket", incremental.bucket(), "totalBuckets", incremental.totalBuckets(),
                    "beforeFiles", files(incremental.beforeFiles()),
                    "beforeDeletionFiles", deletionFiles(incremental.beforeDeletionFiles()),
                    "afterFiles", files(incremental.afterFiles()),
                    "afterDeletionFiles", deletionFiles(incremental.afterDeletionFiles()),
                    "isStreaming", incremental.isStreaming());
        }
        Map<String, Object> data = object("kind", "data");
        data.putAll(dataSplit((DataSplit) split));
        return data;
    }

    private static Object auth(TableQueryAuthResult auth) {
        if (auth == null) {
            return null;
        }
        return object("filter", auth.filter(), "columnMasking", auth.columnMasking() == null ? null : new TreeMap<>(auth.columnMasking()));
    }

    private static Map<String, Object> dataSplit(DataSplit split) throws Exception {
        return object("snapshotId", split.snapshotId(), "partition", row(split.partition()), "bucket", split.bucket(),
                "bucketPath", split.bucketPath(), "totalBuckets", split.totalBuckets(), "dataFiles", files(split.dataFiles()),
                "deletionFiles", deletionFiles(split.deletionFiles().orElse(null)), "isStreaming", split.isStreaming(),
                "rawConvertible", split.rawConvertible());
    }

    private static Object deletionFiles(List<DeletionFile> files) {
        if (files == null) {
            return null;
        }
        List<Object> list = new ArrayList<>();
        for (DeletionFile file : files) {
            list.add(file == null ? null : object("path", file.path(), "offset", file.offset(), "length", file.length(),
                    "cardinality", file.cardinality()));
        }
        return list;
    }

    private static List<Object> files(List<DataFileMeta> files) throws Exception {
        List<Object> list = new ArrayList<>();
        for (DataFileMeta file : files) {
            list.add(file(file));
        }
        return list;
    }

    static Map<String, Object> file(DataFileMeta file) throws Exception {
        long[] sequences = (long[]) Newer.get(file, "columnMaxSequenceNumbers", null);
        return object("fileName", file.fileName(), "fileSize", file.fileSize(), "rowCount", file.rowCount(),
                "minKey", row(file.minKey()), "maxKey", row(file.maxKey()), "keyStats", stats(file.keyStats()),
                "valueStats", stats(file.valueStats()), "minSequenceNumber", file.minSequenceNumber(),
                "maxSequenceNumber", file.maxSequenceNumber(), "schemaId", file.schemaId(), "level", file.level(),
                "extraFiles", file.extraFiles(),
                "creationTime", file.creationTime() == null ? null : file.creationTime().getMillisecond(),
                "deleteRowCount", file.deleteRowCount().orElse(null), "embeddedIndex", hex(file.embeddedIndex()),
                "fileSource", file.fileSource().map(Enum::name).orElse(null), "valueStatsCols", file.valueStatsCols(),
                "externalPath", file.externalPath().orElse(null), "firstRowId", file.firstRowId(), "writeCols", file.writeCols(),
                "writeColsSequences", sequences == null ? null : Arrays.stream(sequences).boxed().toList());
    }

    private static Object stats(SimpleStats stats) {
        BinaryArray counts = stats.nullCounts();
        List<Object> nullCounts = new ArrayList<>();
        for (int i = 0; counts != null && i < counts.size(); i++) {
            nullCounts.add(counts.isNullAt(i) ? null : counts.getLong(i));
        }
        return object("minValues", row(stats.minValues()), "maxValues", row(stats.maxValues()), "nullCounts", nullCounts);
    }

    private static Object row(BinaryRow row) {
        return object("arity", row.getFieldCount(), "hex", hex(row.toBytes()));
    }

    private static String hex(byte[] bytes) {
        return bytes == null ? null : HexFormat.of().formatHex(bytes);
    }

    static Object indexFile(IndexFileMeta file) throws Exception {
        List<Object> ranges = null;
        if (file.dvRanges() != null) {
            ranges = new ArrayList<>();
            for (DeletionVectorMeta range : file.dvRanges().values()) {
                ranges.add(object("dataFileName", range.dataFileName(), "offset", range.offset(), "length", range.length(),
                        "cardinality", range.cardinality()));
            }
        }
        GlobalIndexMeta global = file.globalIndexMeta();
        Object globalJson = null;
        if (global != null) {
            int[] extra = global.extraFieldIds();
            globalJson = object("rowRangeStart", global.rowRangeStart(), "rowRangeEnd", global.rowRangeEnd(),
                    "indexFieldId", global.indexFieldId(), "extraFieldIds", extra == null ? null : Arrays.stream(extra).boxed().toList(),
                    "indexMeta", hex(global.indexMeta()), "sourceMeta", hex((byte[]) Newer.get(global, "sourceMeta", null)));
        }
        return object("indexType", file.indexType(), "fileName", file.fileName(), "fileSize", file.fileSize(),
                "rowCount", file.rowCount(), "dvRanges", ranges, "externalPath", file.externalPath(), "globalIndexMeta", globalJson);
    }

    private static List<Object> indexFiles(Collection<IndexFileMeta> files) throws Exception {
        List<Object> list = new ArrayList<>();
        for (IndexFileMeta file : files) {
            list.add(indexFile(file));
        }
        return list;
    }

    static Map<String, Object> message(CommitMessage message) throws Exception {
        CommitMessageImpl m = (CommitMessageImpl) message;
        return object("partition", row(m.partition()), "bucket", m.bucket(), "totalBuckets", m.totalBuckets(),
                "dataIncrement", object(
                        "newFiles", files(m.newFilesIncrement().newFiles()),
                        "deletedFiles", files(m.newFilesIncrement().deletedFiles()),
                        "changelogFiles", files(m.newFilesIncrement().changelogFiles()),
                        "newIndexFiles", indexFiles(m.newFilesIncrement().newIndexFiles()),
                        "deletedIndexFiles", indexFiles(m.newFilesIncrement().deletedIndexFiles())),
                "compactIncrement", object(
                        "compactBefore", files(m.compactIncrement().compactBefore()),
                        "compactAfter", files(m.compactIncrement().compactAfter()),
                        "changelogFiles", files(m.compactIncrement().changelogFiles()),
                        "newIndexFiles", indexFiles(m.compactIncrement().newIndexFiles()),
                        "deletedIndexFiles", indexFiles(m.compactIncrement().deletedIndexFiles())),
                "checkFromSnapshot", Newer.get(m, "checkFromSnapshot", null));
    }

    static Object messages(List<CommitMessage> messages) throws Exception {
        List<Object> list = new ArrayList<>();
        for (CommitMessage message : messages) {
            list.add(message(message));
        }
        return list;
    }

    static Map<String, Object> committable(ManifestCommittable committable) throws Exception {
        return object("identifier", committable.identifier(), "watermark", committable.watermark(), "logOffsets", Map.of(),
                "properties", new TreeMap<>(committable.properties()), "messages", messages(committable.fileCommittables()));
    }
}
