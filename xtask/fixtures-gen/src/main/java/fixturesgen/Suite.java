// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A directory of tables with their manifest. */
final class Suite implements TableSink {
    /** Tables are made here and then copied, so that paths in splits do not depend on the machine. */
    private static final Path WORK = Path.of("/tmp/paimon-fixtures");

    private static final String VERSION_START = "  \"paimonVersion\": \"";
    private static final String ENTRY_START = "    {\"path\": \"";

    private final Path directory;
    private final List<String> only;
    private final boolean withSteps;
    /** Of the tables that do not say another. */
    private String version = Exporter.paimonVersion();
    private final Map<String, String> entries = new TreeMap<>();
    private final IllegalStateException failures = new IllegalStateException("tables failed");

    /** With {@code only}, tables whose path starts with none of these (separated by commas) are left as they are. */
    Suite(Path directory, String only, boolean withSteps) throws IOException {
        this.directory = directory;
        this.only = List.of(only.split(","));
        this.withSteps = withSteps;
        if (Files.exists(directory.resolve("manifest.json"))) {
            for (String line : Files.readAllLines(directory.resolve("manifest.json"))) {
                keep(line);
            }
        }
        if (this.only.contains("")) {
            version = Exporter.paimonVersion();
        }
    }

    /** Keeps the entry of a table that is not made now: not wanted, or made by another version than the others. */
    private void keep(String line) {
        if (line.startsWith(VERSION_START)) {
            version = line.substring(VERSION_START.length(), line.lastIndexOf('"'));
        } else if (line.startsWith(ENTRY_START)) {
            String rest = line.substring(ENTRY_START.length());
            String path = rest.substring(0, rest.indexOf('"'));
            if (!isWanted(path) || line.contains("\"paimonVersion\"")) {
                entries.put(path, line.endsWith(",") ? line.substring(0, line.length() - 1) : line);
            }
        }
    }

    private boolean isWanted(String path) {
        return only.stream().anyMatch(path::startsWith);
    }

    @Override
    public void table(String path, String features, Recipe recipe) throws Exception {
        table(path, features, TimeZone.getDefault(), recipe);
    }

    /** A table that a writer in another time zone made; it is read in the session zone and in that of the writer. */
    void table(String path, String features, TimeZone writerZone, Recipe recipe) throws Exception {
        if (!isWanted(path)) {
            return;
        }
        Path work = WORK.resolve(path);
        delete(work);
        delete(directory.resolve(path));
        TableWriter writer = new TableWriter(work.resolve("table").toString());
        try {
            Zones.in(writerZone, () -> recipe.fill(writer));
            Map<String, Object> entry =
                    Exporter.export(writer, directory.resolve(path), path, List.of(features.split(", *")));
            if (!version.equals(Exporter.paimonVersion())) {
                entry.put("paimonVersion", Exporter.paimonVersion());
            }
            if (withSteps) {
                Exporter.exportSteps(writer, directory.resolve(path).resolve("steps"));
            }
            if (!writerZone.equals(TimeZone.getDefault())) {
                Exporter.exportRows(writer, directory.resolve(path).resolve("expected-in-zone"), writerZone);
                entry.put("writerZone", writerZone.getID());
            }
            entries.put(path, "    " + Json.text(entry));
        } catch (Exception e) {
            failures.addSuppressed(new IllegalStateException("table " + path, e));
        }
        delete(work);
    }

    void finish() throws IOException {
        Map<String, Object> head = new LinkedHashMap<>();
        head.put("paimonVersion", version);
        head.put("sessionZone", TimeZone.getDefault().getID());
        List<String> lines = new ArrayList<>();
        lines.add("{");
        head.forEach((k, v) -> lines.add("  \"" + k + "\": " + Json.text(v) + ","));
        lines.add("  \"tables\": [");
        lines.add(String.join(",\n", entries.values()));
        lines.add("  ]");
        lines.add("}");
        Files.createDirectories(directory);
        Files.write(directory.resolve("manifest.json"), lines);
        if (failures.getSuppressed().length > 0) {
            throw failures;
        }
    }

    static void delete(Path path) throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        try (Stream<Path> walk = Files.walk(path)) {
            for (Path file : walk.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
