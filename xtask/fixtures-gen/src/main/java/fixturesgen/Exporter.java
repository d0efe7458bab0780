// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.Snapshot;
import org.apache.paimon.io.DataOutputViewStreamWrapper;
import org.apache.paimon.table.FileStoreTable;
import org.apache.paimon.table.Table;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.Split;
import org.apache.paimon.table.system.SystemTableLoader;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.stream.Stream;

/** Copies a finished table beside the rows, splits and messages that Java makes of it. */
final class Exporter {
    /** With more snapshots than this, splits are kept for {@code latest}, tags and branches only. */
    private static final int MAX_SNAPSHOTS_WITH_SPLITS = 6;

    private static final int MAX_ROWS_OF_VIEWS = 500;

    private Exporter() {}

    static String paimonVersion() {
        return Snapshot.class.getPackage().getImplementationVersion();
    }

    /** Writes one table into {@code directory} and returns its entry of the manifest. */
    static Map<String, Object> export(
            TableWriter writer, Path directory, String path, List<String> features) throws Exception {
        Path target = directory.resolve("table");
        copy(Path.of(writer.path), target);
        Map<String, FileStoreTable> selectors = selectors(writer.path);
        long snapshots = selectors.keySet().stream().filter(s -> s.startsWith("snapshot-")).count();
        Map<String, Object> splits = new LinkedHashMap<>();
        for (Map.Entry<String, FileStoreTable> entry : selectors.entrySet()) {
            String selector = entry.getKey();
            FileStoreTable table = entry.getValue();
            List<Split> plan = Tables.plan(table);
            Path expected = directory.resolve("expected/" + selector + ".jsonl");
            String failure = writer.failing().get(selector);
            if (failure != null) {
                expected = directory.resolve("errors/" + selector + ".txt");
            }
            Files.createDirectories(expected.getParent());
            Files.writeString(expected, failure == null ? lines(Tables.rows(table, plan)) : failure + "\n");
            if (failure == null && !table.primaryKeys().isEmpty()) {
                exportViews(table, directory, selector);
            }
            boolean numbered = selector.matches("(.*@)?snapshot-.*");
            if (!numbered || (snapshots <= MAX_SNAPSHOTS_WITH_SPLITS && !selector.equals("snapshot-" + snapshots))) {
                splits.put(selector, writeSplits(directory, selector, plan));
            }
        }
        CommitMessageSerializer serializer = new CommitMessageSerializer();
        if (!writer.messages().isEmpty()) {
            try (OutputStream out = Files.newOutputStream(directory.resolve("messages.bin"))) {
                serializer.serializeList(writer.messages(), new DataOutputViewStreamWrapper(out));
            }
        }
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("path", path);
        entry.put("features", features);
        entry.put("location", writer.table().location().toString());
        entry.put("sha256", treeHash(target));
        entry.put("messages", writer.messages().size());
        entry.put("messageVersion", serializer.getVersion());
        entry.put("splitVersion", splitVersion(directory));
        entry.put("splits", splits);
        unlessDefault(entry, "fileFormat", writer, "file.format", "parquet");
        unlessDefault(entry, "manifestFormat", writer, "manifest.format", "avro");
        return entry;
    }

    /**
     * Rows of the system tables: what is compacted ({@code $ro}, of the latest snapshot) and deletes too ({@code $audit_log}, where
     * any row is not {@code +I}).
     */
    private static void exportViews(FileStoreTable table, Path directory, String selector) throws Exception {
        for (String view : List.of("ro", "audit_log")) {
            Path file = directory.resolve("expected-" + view + "/" + selector + ".jsonl");
            Table of = SystemTableLoader.load(view, table);
            List<? extends Split> plan = of.newReadBuilder().newScan().plan().splits();
            List<String> rows = Tables.rows(of, plan);
            boolean telling = view.equals("ro") ? selector.equals("latest")
                    : rows.stream().anyMatch(row -> !row.startsWith("{\"rowkind\": \"+I\""));
            if (telling && rows.size() <= MAX_ROWS_OF_VIEWS) {
                Files.createDirectories(file.getParent());
                Files.writeString(file, lines(rows));
            }
        }
    }

    /** Writes what was done to the table, so that another writer can do the same. */
    static void exportSteps(TableWriter writer, Path directory) throws Exception {
        Files.createDirectories(directory);
        Files.writeString(directory.resolve("create.json"), Json.text(TypeJson.schema(writer.schema())) + "\n");
        List<Map<String, Object>> steps = new ArrayList<>();
        for (Map<String, Object> step : writer.steps()) {
            Map<String, Object> listed = new LinkedHashMap<>(step);
            if (listed.remove("rows") instanceof List<?> rows) {
                Path file = directory.resolve("rows-" + steps.size() + ".jsonl");
                Files.writeString(file, lines(rows.stream().map(Object::toString).toList()));
            }
            steps.add(listed);
        }
        Files.writeString(directory.resolve("steps.json"), Json.text(steps) + "\n");
    }

    private static void unlessDefault(
            Map<String, Object> entry, String name, TableWriter writer, String option, String fallback) {
        String value = writer.table().options().getOrDefault(option, fallback);
        if (!value.equals(fallback)) {
            entry.put(name, value);
        }
    }

    /** Writes the rows of every selector as they are read in a time zone. */
    static void exportRows(TableWriter writer, Path directory, TimeZone zone) throws Exception {
        Files.createDirectories(directory);
        for (Map.Entry<String, FileStoreTable> entry : selectors(writer.path).entrySet()) {
            FileStoreTable table = entry.getValue();
            Path file = directory.resolve(entry.getKey() + ".jsonl");
            Zones.in(zone, () -> Files.writeString(file, lines(Tables.rows(table, Tables.plan(table)))));
        }
    }

    private static String lines(List<String> rows) {
        return rows.isEmpty() ? "" : String.join("\n", rows) + "\n";
    }

    private static Map<String, FileStoreTable> selectors(String path) throws IOException {
        FileStoreTable main = Tables.open(path);
        Map<String, FileStoreTable> selectors = new LinkedHashMap<>();
        addSnapshots(selectors, "", main);
        main.tagManager().allTagNames().stream().sorted()
                .forEach(tag -> selectors.put("tag-" + tag, Tables.at(main, "scan.tag-name", tag)));
        for (String branch : main.branchManager().branches().stream().sorted().toList()) {
            addSnapshots(selectors, branch + "@", main.switchToBranch(branch));
        }
        return selectors;
    }

    private static void addSnapshots(
            Map<String, FileStoreTable> selectors, String prefix, FileStoreTable table)
            throws IOException {
        for (long id : Tables.snapshotIds(table)) {
            selectors.put(
                    prefix + "snapshot-" + id, Tables.at(table, "scan.snapshot-id", String.valueOf(id)));
        }
        selectors.put(prefix + "latest", table);
    }

    private static int writeSplits(Path directory, String selector, List<Split> plan) throws IOException {
        if (!plan.isEmpty()) {
            Files.createDirectories(directory.resolve("splits"));
        }
        for (int i = 0; i < plan.size(); i++) {
            Path file = directory.resolve("splits/" + selector + "-" + i + ".bin");
            try (OutputStream out = Files.newOutputStream(file)) {
                ((DataSplit) plan.get(i)).serialize(new DataOutputViewStreamWrapper(out));
            }
        }
        return plan.size();
    }

    /** The version that the bytes of a split carry, or null when the table has no split. */
    private static Integer splitVersion(Path directory) throws IOException {
        if (!Files.exists(directory.resolve("splits"))) {
            return null;
        }
        List<Path> splits = files(directory.resolve("splits"));
        return splits.isEmpty() ? null : ReadSplitCommand.version(Files.readAllBytes(splits.get(0)));
    }

    private static List<Path> files(Path root) throws IOException {
        try (Stream<Path> walk = Files.walk(root)) {
            return walk.filter(Files::isRegularFile).toList();
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        for (Path file : files(from)) {
            Path target = to.resolve(from.relativize(file).toString());
            Files.createDirectories(target.getParent());
            Files.copy(file, target);
        }
    }

    /**
     * SHA-256 over one line a file, sorted by the bytes of the path: the SHA-256 of the file in hex,
     * two blanks, its path within the table, a line feed (what {@code sha256sum} prints).
     */
    private static String treeHash(Path root) throws Exception {
        List<byte[]> paths = new ArrayList<>();
        for (Path file : files(root)) {
            paths.add(root.relativize(file).toString().getBytes(StandardCharsets.UTF_8));
        }
        paths.sort(Arrays::compareUnsigned);
        MessageDigest tree = MessageDigest.getInstance("SHA-256");
        for (byte[] path : paths) {
            byte[] content = Files.readAllBytes(root.resolve(new String(path, StandardCharsets.UTF_8)));
            String hash = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
            tree.update((hash + "  ").getBytes(StandardCharsets.UTF_8));
            tree.update(path);
            tree.update((byte) '\n');
        }
        return HexFormat.of().formatHex(tree.digest());
    }
}
