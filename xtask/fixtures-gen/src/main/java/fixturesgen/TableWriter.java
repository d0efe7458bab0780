// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.data.InternalRow;
import org.apache.paimon.fs.Path;
import org.apache.paimon.fs.local.LocalFileIO;
import org.apache.paimon.schema.Schema;
import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaManager;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.sink.BatchTableCommit;
import org.apache.paimon.table.sink.BatchTableWrite;
import org.apache.paimon.table.sink.BatchWriteBuilder;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.types.DataType;
import org.apache.paimon.types.RowType;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.IntStream;

/** Creates one table, commits to it, and keeps the commit messages. */
final class TableWriter {
    final String path;
    private final Schema.Builder schema = Schema.newBuilder();
    private final List<CommitMessage> messages = new ArrayList<>();
    private final List<Map<String, Object>> steps = new ArrayList<>();
    private final List<Boolean> kept = new ArrayList<>();
    private Predicate<DataType> supported = type -> true;
    private FileStoreTable table;
    /** The bucket of a row where the writer must say it. */
    private ToIntFunction<InternalRow> buckets;
    private final Map<String, String> failing = new HashMap<>();

    TableWriter(String path) {
        this.path = path;
    }

    /** Columns of other types are left out, and so are their values in the rows that are written. */
    TableWriter supporting(Predicate<DataType> types) {
        supported = types;
        return this;
    }

    TableWriter column(String name, Object type) {
        boolean keep = supported.test(Values.type(type));
        kept.add(keep);
        if (keep) {
            schema.column(name, Values.type(type));
        }
        return this;
    }

    TableWriter column(String name, DataType type, String comment, String defaultValue) {
        schema.column(name, type, comment, defaultValue);
        return this;
    }

    TableWriter partitionBy(String... names) {
        schema.partitionKeys(names);
        return this;
    }

    TableWriter primaryKey(String... names) {
        schema.primaryKey(names);
        return this;
    }

    TableWriter option(String key, Object value) {
        schema.option(key, value.toString());
        return this;
    }

    TableWriter comment(String comment) {
        schema.comment(comment);
        return this;
    }

    /** Where the table does not know buckets of rows: those of its dynamic buckets. */
    TableWriter buckets(ToIntFunction<InternalRow> function) {
        buckets = function;
        return this;
    }

    Schema schema() {
        return schema.build();
    }

    TableWriter create() throws Exception {
        new SchemaManager(LocalFileIO.create(), new Path(path)).createTable(schema.build());
        table = Tables.open(path);
        return this;
    }

    FileStoreTable table() {
        return table;
    }

    List<CommitMessage> messages() {
        return messages;
    }

    /** What was done to the table, in order, with rows as JSON. */
    List<Map<String, Object>> steps() {
        return steps;
    }

    /** Appends rows of plain Java values in one commit. */
    TableWriter write(Object[]... rows) throws Exception {
        return writeInternal(internal(table.rowType(), rows), null);
    }

    /** Replaces the given partition, or with an empty one those partitions that the rows have. */
    TableWriter overwrite(Map<String, String> partition, Object[]... rows) throws Exception {
        return writeInternal(internal(table.rowType(), rows), partition);
    }

    TableWriter writeInternal(List<? extends InternalRow> rows, Map<String, String> overwrite)
            throws Exception {
        commit(table, null, Map.of(), rows, overwrite);
        return this;
    }

    TableWriter writeToBranch(String branch, Object[]... rows) throws Exception {
        FileStoreTable onBranch = table.switchToBranch(branch);
        commit(onBranch, branch, Map.of(), internal(onBranch.rowType(), rows), null);
        return this;
    }

    /** Writes with options that hold for this commit only. */
    TableWriter writeWith(Map<String, String> options, Object[]... rows) throws Exception {
        commit(table.copy(options), null, options, internal(table.rowType(), rows), null);
        return this;
    }

    /** Reading at a selector must fail, with this reason, whether this version of Java does so or not. */
    TableWriter failsAt(String selector, String reason) {
        failing.put(selector, reason);
        return this;
    }

    Map<String, String> failing() {
        return failing;
    }

    /** Adds, updates and deletes rows by key in one commit. */
    TableWriter change(Change... changes) throws Exception {
        return changeWith(Map.of(), changes);
    }

    /** The same with options that hold for this commit only. */
    TableWriter changeWith(Map<String, String> options, Change... changes) throws Exception {
        List<InternalRow> rows = new ArrayList<>();
        Arrays.stream(changes).forEach(change -> rows.add(internal(table.rowType(), change)));
        commit(options.isEmpty() ? table : table.copy(options), null, options, rows, null);
        return this;
    }

    TableWriter changeBranch(String branch, Change... changes) throws Exception {
        FileStoreTable onBranch = table.switchToBranch(branch);
        List<InternalRow> rows = new ArrayList<>();
        Arrays.stream(changes).forEach(change -> rows.add(internal(onBranch.rowType(), change)));
        commit(onBranch, branch, Map.of(), rows, null);
        return this;
    }

    private InternalRow internal(RowType type, Change change) {
        return new Change(change.kind(), supported(change.values())).internal(type);
    }

    /** Compacts every bucket, wholly or what the writer picks, also when the table says write-only. */
    TableWriter compact(boolean full) throws Exception {
        return act(TableActions.step("compact", "full", full));
    }

    TableWriter alter(SchemaChange... changes) throws Exception {
        return act(TableActions.alter(null, changes));
    }

    TableWriter alterBranch(String branch, SchemaChange... changes) throws Exception {
        return act(TableActions.alter(branch, changes));
    }

    TableWriter tag(String name, long snapshot) throws Exception {
        return act(TableActions.step("tag", "name", name, "snapshot", snapshot));
    }

    /** A branch without rows, or with those of a tag. */
    TableWriter branch(String name, String tag) throws Exception {
        return act(TableActions.step("branch", "name", name, "tag", tag));
    }

    TableWriter expire(int keep) throws Exception {
        return act(TableActions.step("expire", "keep", keep));
    }

    TableWriter truncate(Map<String, String> partition) throws Exception {
        return act(TableActions.step("truncate", "partition", partition));
    }

    TableWriter deleteHints() throws Exception {
        return act(TableActions.step("delete-hints"));
    }

    private TableWriter act(Map<String, Object> step) throws Exception {
        steps.add(step);
        messages.addAll(TableActions.run(path, step));
        table = Tables.open(path);
        return this;
    }

    private List<InternalRow> internal(RowType type, Object[]... rows) {
        List<InternalRow> internal = new ArrayList<>();
        Arrays.stream(rows).forEach(row -> internal.add(Values.internalRow(type, supported(row))));
        return internal;
    }

    private Object[] supported(Object[] row) {
        if (!kept.contains(false)) {
            return row;
        }
        return IntStream.range(0, row.length).filter(kept::get).mapToObj(i -> row[i]).toArray();
    }

    private void commit(
            FileStoreTable target,
            String branch,
            Map<String, String> options,
            List<? extends InternalRow> rows,
            Map<String, String> overwrite)
            throws Exception {
        boolean keyed = !target.primaryKeys().isEmpty();
        List<String> texts = rows.stream()
                .map(row -> RowJson.text(target.rowType(), row, keyed ? row.getRowKind() : null)).toList();
        steps.add(TableActions.step("write", "branch", branch, "options", options, "overwrite", overwrite, "rows", texts));
        BatchWriteBuilder builder = target.newBatchWriteBuilder();
        if (overwrite != null) {
            builder.withOverwrite(overwrite);
        }
        try (BatchTableWrite write = builder.newWrite();
                BatchTableCommit commit = builder.newCommit()) {
            write.withIOManager(Tables.IO_MANAGER);
            for (InternalRow row : rows) {
                if (buckets == null) {
                    write.write(row);
                } else {
                    write.write(row, buckets.applyAsInt(row));
                }
            }
            List<CommitMessage> prepared = write.prepareCommit();
            messages.addAll(prepared);
            commit.commit(prepared);
        }
    }
}
