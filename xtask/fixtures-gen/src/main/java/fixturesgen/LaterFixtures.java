// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.entries;
import static fixturesgen.Values.map;
import static fixturesgen.Values.row;
import static fixturesgen.Values.rowType;
import static fixturesgen.Values.type;

import org.apache.paimon.schema.SchemaChange;

/** Tables that need more than append tables do: to be refused until they are supported. */
final class LaterFixtures {
    private LaterFixtures() {}

    static void add(TableSink suite) throws Exception {
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

        suite.table("later/timestamp9-far", "append, TIMESTAMP(9) beyond 64 bits of nanoseconds, also in ROW and MAP", t ->
                t.column("id", "INT").column("ts", "TIMESTAMP(9)").column("ltz", "TIMESTAMP(9) WITH LOCAL TIME ZONE")
                        .column("r", rowType("ts", "TIMESTAMP(9)")).column("m", map("STRING", "TIMESTAMP(9)")).create()
                        .write(far(1, "9999-12-31 23:59:59.999173513"), far(2, "1582-10-15 00:00:00"), far(3, "0001-01-01 00:00:00"),
                                far(4, "2262-04-11 23:47:16.854775808"), far(5, "1677-09-21 00:12:43.145224191"),
                                far(6, "2024-01-31 10:11:12.123456789")));
    }

    private static Object[] far(int id, String time) {
        return row(id, time, time, row(time), entries("k", time));
    }
}
