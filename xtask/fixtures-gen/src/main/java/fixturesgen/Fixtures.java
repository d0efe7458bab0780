// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.nio.file.Path;

/** All tables of {@code testdata/java}. */
final class Fixtures {
    private Fixtures() {}

    static void writeAll(Args args) throws Exception {
        Suite suite = new Suite(Path.of(args.position(0, "OUT_DIR")), args.option("only", ""), args.option("steps", null) != null);
        BasicFixtures.add(suite);
        PartitionFixtures.add(suite);
        BucketFixtures.add(suite);
        TypeFixtures.add(suite);
        NestedFixtures.add(suite);
        HistoryFixtures.add(suite);
        StatsFixtures.add(suite);
        FileFixtures.add(suite);
        EvolutionFixtures.add(suite);
        DeletionVectorFixtures.add(suite);
        PkFixtures.add(suite);
        LaterFixtures.add(suite);
        FormatFixtures.add(suite);
        NewerFixtures.add(suite);
        BlobFixtures.write(Path.of(args.position(0, "OUT_DIR")), args.option("only", ""));
        suite.finish();
    }
}
