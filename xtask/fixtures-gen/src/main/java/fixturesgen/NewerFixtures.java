// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.util.Set;

/** A few tables of the other features, as a version of Paimon that is newer than the released one writes them. */
final class NewerFixtures {
    private static final Set<String> TABLES = Set.of(
            "basic/unpartitioned", "partition/two-columns", "bucket/multi-key", "types/wide", "nested/deep", "history/overwrite-dynamic",
            "history/branches", "history/tags", "stats/per-field-dense", "evolution/rename-drop-add", "later/row-tracking");

    private NewerFixtures() {}

    static void add(TableSink suite) throws Exception {
        if (Exporter.paimonVersion().startsWith("1.")) {
            return;
        }
        TableSink sink = (path, features, recipe) -> {
            if (TABLES.contains(path)) {
                suite.table("newer/" + path.replace('/', '-'), features, recipe);
            }
        };
        BasicFixtures.add(sink);
        PartitionFixtures.add(sink);
        BucketFixtures.add(sink);
        TypeFixtures.add(sink);
        NestedFixtures.add(sink);
        HistoryFixtures.add(sink);
        StatsFixtures.add(sink);
        EvolutionFixtures.add(sink);
        LaterFixtures.add(sink);
        PkNewerFixtures.add(suite);
    }
}
