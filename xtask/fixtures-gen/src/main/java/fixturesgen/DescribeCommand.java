// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.Snapshot;
import org.apache.paimon.data.BinaryRow;
import org.apache.paimon.data.InternalArray;
import org.apache.paimon.data.InternalRow;
import org.apache.paimon.io.DataFileMeta;
import org.apache.paimon.manifest.ManifestEntry;
import org.apache.paimon.manifest.ManifestFileMeta;
import org.apache.paimon.stats.SimpleStats;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.types.DataField;
import org.apache.paimon.types.DataTypeFamily;
import org.apache.paimon.types.RowType;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Prints what the metadata of a table say, one JSON object a line, without names and sizes of files: two writers that wrote
 * the same rows in the same way give the same lines.
 */
final class DescribeCommand {
    private DescribeCommand() {}

    static void run(Args args) throws Exception {
        FileStoreTable table = Tables.open(args.position(0, "LOCATION"), args);
        for (long id : Tables.snapshotIds(table)) {
            Snapshot snapshot = table.snapshotManager().snapshot(id);
            List<String> lines = new ArrayList<>();
            for (ManifestEntry entry : table.store().newScan().withSnapshot(id).plan().files()) {
                lines.add(Json.text(file(table, id, entry)));
            }
            for (ManifestFileMeta manifest : table.store().manifestListFactory().create().readDataManifests(snapshot)) {
                lines.add(Json.text(manifest(table, id, manifest)));
            }
            lines.sort(null);
            System.out.println(Json.text(snapshot(snapshot)));
            lines.forEach(System.out::println);
        }
    }

    private static Map<String, Object> snapshot(Snapshot snapshot) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("snapshot", snapshot.id());
        json.put("version", snapshot.version());
        json.put("schemaId", snapshot.schemaId());
        json.put("kind", snapshot.commitKind().name());
        json.put("identifier", snapshot.commitIdentifier());
        json.put("totalRecordCount", snapshot.totalRecordCount());
        json.put("deltaRecordCount", snapshot.deltaRecordCount());
        json.put("changelogRecordCount", snapshot.changelogRecordCount());
        json.put("changelogManifestList", snapshot.changelogManifestList() != null);
        json.put("indexManifest", snapshot.indexManifest() != null);
        json.put("watermark", snapshot.watermark());
        json.put("statistics", snapshot.statistics());
        json.put("nextRowId", snapshot.nextRowId());
        json.put("properties", snapshot.properties());
        return json;
    }

    private static Map<String, Object> file(FileStoreTable table, long id, ManifestEntry entry) {
        DataFileMeta file = entry.file();
        RowType schema = table.schemaManager().schema(file.schemaId()).logicalRowType();
        String directory = table.store().pathFactory().bucketPath(entry.partition(), entry.bucket()).toString();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("file", id);
        json.put("directory", directory.substring(table.location().toString().length()));
        json.put("extension", file.fileName().replaceFirst("^.*-\\d+", ""));
        json.put("partition", hex(entry.partition()));
        json.put("bucket", entry.bucket());
        json.put("totalBuckets", entry.totalBuckets());
        json.put("rowCount", file.rowCount());
        json.put("deleteRowCount", file.deleteRowCount().orElse(null));
        // Where they begin is left to the writer: Java begins at 0 when it overwrites, and at 1 when it has buffered rows.
        json.put("sequenceNumbers", file.maxSequenceNumber() - file.minSequenceNumber() + 1);
        json.put("schemaId", file.schemaId());
        json.put("level", file.level());
        json.put("source", file.fileSource().map(Enum::name).orElse(null));
        json.put("keys", hex(file.minKey()) + "-" + hex(file.maxKey()));
        json.put("extraFiles", file.extraFiles().size());
        json.put("embeddedIndex", file.embeddedIndex() != null);
        json.put("externalPath", file.externalPath().isPresent());
        json.put("valueStatsCols", file.valueStatsCols());
        json.put("writeCols", file.writeCols());
        json.put("firstRowId", file.firstRowId());
        List<String> names = file.valueStatsCols() != null ? file.valueStatsCols() : file.writeCols();
        json.put("statistics", statistics(file.valueStats(), names == null ? schema : schema.project(names)));
        return json;
    }

    private static Map<String, Object> manifest(FileStoreTable table, long id, ManifestFileMeta manifest) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("manifest", id);
        json.put("files", List.of(manifest.numAddedFiles(), manifest.numDeletedFiles()));
        json.put("schemaId", manifest.schemaId());
        json.put("buckets", manifest.minBucket() + "-" + manifest.maxBucket());
        json.put("levels", manifest.minLevel() + "-" + manifest.maxLevel());
        json.put("rowIds", manifest.minRowId() + "-" + manifest.maxRowId());
        json.put("partitions", statistics(manifest.partitionStats(), table.schema().logicalPartitionType()));
        return json;
    }

    /**
     * Bounds of FLOAT and DOUBLE columns are compared when they are plain: Java keeps NaN as the greatest value and zeros with
     * their signs, as its own writer saw them and not as Parquet has them.
     */
    private static Object statistics(SimpleStats stats, RowType type) {
        Map<String, Object> json = new LinkedHashMap<>();
        InternalArray counts = stats.nullCounts();
        boolean plain = true;
        for (int i = 0; i < type.getFieldCount() && i < stats.minValues().getFieldCount(); i++) {
            DataField field = type.getFields().get(i);
            String min = text(field, i, stats.minValues());
            String max = text(field, i, stats.maxValues());
            if (field.type().is(DataTypeFamily.APPROXIMATE_NUMERIC) && List.of("null", "\"NaN\"", "0.0", "-0.0").stream()
                    .anyMatch(odd -> odd.equals(min) || odd.equals(max))) {
                plain = false;
                json.put(field.name(), "odd");
                continue;
            }
            List<Object> bounds = new ArrayList<>(List.of(min, max));
            bounds.add(counts == null || i >= counts.size() || counts.isNullAt(i) ? null : counts.getLong(i));
            json.put(field.name(), bounds);
        }
        if (plain) {
            // The bytes too: a writer may leave out or reserve what no reader looks at.
            json.put("bytes", List.of(hex(stats.minValues()), hex(stats.maxValues())));
        }
        return json;
    }

    private static String text(DataField field, int index, BinaryRow row) {
        StringBuilder out = new StringBuilder();
        RowJson.value(out, field.type(), InternalRow.createFieldGetter(field.type(), index).getFieldOrNull(row));
        return out.toString();
    }

    private static String hex(BinaryRow row) {
        return HexFormat.of().formatHex(row.toBytes());
    }
}
