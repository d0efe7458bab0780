// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;
import static fixturesgen.Values.type;

import org.apache.paimon.schema.SchemaChange;

/** Tables that need more than append tables do: to be refused until they are supported. */
final class LaterFixtures {
    private LaterFixtures() {}

    static void add(Suite suite) throws Exception {
        suite.table("later/primary-key", "primary key, 2 buckets, an updated row", t ->
                t.column("id", "INT NOT NULL").column("v", "STRING").primaryKey("id").option("bucket", 2).create()
                        .write(row(1, "old"), row(2, "two")).write(row(1, "new"), row(3, "three")));

        suite.table("later/deletion-vectors", "primary key, 1 bucket, deletion vectors", t ->
                t.column("id", "INT NOT NULL").column("v", "STRING").primaryKey("id").option("bucket", 1)
                        .option("deletion-vectors.enabled", true).create()
                        .write(row(1, "old"), row(2, "two"), row(3, "three")).write(row(1, "new"), row(4, "four")));

        suite.table("later/type-change", "append, INT altered to BIGINT, STRING and DECIMAL", t ->
                t.column("a", "INT").column("b", "INT").column("c", "INT").create()
                        .write(row(1, 2, 3), row(null, Integer.MIN_VALUE, -3))
                        .alter(SchemaChange.updateColumnType("a", type("BIGINT")),
                                SchemaChange.updateColumnType("b", type("STRING")),
                                SchemaChange.updateColumnType("c", type("DECIMAL(12, 2)")))
                        .write(row(1L << 40, "text", "3.25")));

        suite.table("later/row-tracking", "append, row tracking", t ->
                t.column("id", "INT").column("v", "STRING").option("row-tracking.enabled", true).create()
                        .write(row(1, "a"), row(2, "b")).write(row(3, "c")));
    }
}
