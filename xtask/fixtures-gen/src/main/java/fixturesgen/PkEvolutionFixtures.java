// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.delete;
import static fixturesgen.Values.row;
import static fixturesgen.Values.type;

import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaChange.Move;

import java.util.List;

/** Schema changes of tables with primary keys: runs of several schemas meet in one merge. */
final class PkEvolutionFixtures {
    private PkEvolutionFixtures() {}

    static void add(TableSink suite) throws Exception {
        for (String engine : List.of("deduplicate", "partial-update", "aggregation")) {
            suite.table("pk/evolution-columns-" + engine, "primary key, " + engine + ", columns added, dropped, added again, renamed, swapped and moved", t -> columns(t, engine));
        }
        suite.table("pk/evolution-first-row", "primary key, first-row, columns added, dropped, renamed", t -> {
            PkFixtures.simple(t).option("bucket", 1).option("merge-engine", "first-row").create();
            t.change(Change.add(1, "a", 1), Change.add(2, "b", 2)).alter(SchemaChange.addColumn("x", type("INT")), SchemaChange.dropColumn("n"));
            t.change(Change.add(1, "A", 1), Change.add(3, "c", 3)).alter(SchemaChange.renameColumn("v", "w")).change(Change.add(3, "C", 3), Change.add(4, "d", 4));
        });
        for (boolean thin : new boolean[] {false, true}) {
            suite.table("pk/evolution-key-renamed" + (thin ? "-thin" : ""), "primary key, a key column renamed twice, data-file.thin-mode=" + thin, t -> {
                PkFixtures.writeOnly(t.column("a", "INT NOT NULL").column("b", "STRING NOT NULL").column("v", "STRING").primaryKey("b", "a")).option("data-file.thin-mode", thin).create();
                t.change(Change.add(1, "x", "1x"), Change.add(2, "y", "2y"), Change.add(3, "z", "3z"));
                t.alter(SchemaChange.renameColumn("a", "key")).change(Change.add(1, "x", "1x+"), delete(2, "y", null));
                t.alter(SchemaChange.renameColumn("key", "K"), SchemaChange.renameColumn("v", "a")).change(Change.add(3, "z", "3z+"), Change.add(4, "w", "4w")).compact(true);
                t.change(Change.add(2, "y", "back"));
            });
        }
        suite.table("pk/evolution-key-moved", "primary key, key columns moved behind the values", t -> {
            PkFixtures.writeOnly(t.column("a", "INT NOT NULL").column("b", "STRING NOT NULL").column("v", "STRING").primaryKey("a", "b")).create();
            t.change(Change.add(1, "x", "1x"), Change.add(2, "y", "2y")).alter(SchemaChange.updateColumnPosition(Move.last("a")), SchemaChange.updateColumnPosition(Move.first("v")));
            t.change(Change.add("1x+", "x", 1), Change.add("3z", "z", 3)).compact(true).change(delete(null, "y", 2));
        });
        widening(suite);
        suite.table("pk/evolution-nested", "primary key, partial-update, fields of a ROW added, dropped, renamed and widened", t -> {
            PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("r", Values.rowType("a", "INT", "b", "STRING")).column("l", Values.array(Values.rowType("x", "INT")))
                    .column("o", "STRING").primaryKey("id")).option("merge-engine", "partial-update").create();
            t.change(Change.add(1, row(1, "x"), Values.list(row(1)), "o"), Change.add(2, row(null, null), null, null), Change.add(3, null, null, "o"));
            t.alter(SchemaChange.addColumn(new String[] {"r", "c"}, type("DOUBLE"), null, null), SchemaChange.renameColumn(new String[] {"r", "a"}, "A"));
            t.change(Change.add(1, null, null, "o2"), Change.add(2, row(2, "y", 2.5), Values.list(row(2)), null));
            t.alter(SchemaChange.dropColumn(new String[] {"r", "b"}), SchemaChange.updateColumnType(new String[] {"r", "A"}, type("BIGINT"), false));
            t.change(Change.add(3, row(1L << 40, 3.5), null, null)).compact(true).change(Change.add(1, row(null, null), null, null));
        });
        // Java cannot go back to a schema without the columns that options name: older snapshots go.
        suite.table("pk/evolution-sequence-renamed", "primary key, the sequence field renamed", t -> {
            PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("s", "INT").column("v", "STRING").primaryKey("id")).option("sequence.field", "s").create();
            t.change(Change.add(1, 5, "a5"), Change.add(2, 1, "b1")).alter(SchemaChange.renameColumn("s", "seq")).change(Change.add(1, 4, "a4"), Change.add(2, 2, "b2")).expire(1);
        });
        suite.table("pk/evolution-group-added", "primary key, partial-update, a group over columns that older files do not have", t -> {
            PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("a", "STRING").primaryKey("id")).option("merge-engine", "partial-update").create();
            t.change(Change.add(1, "a"), Change.add(2, "b")).alter(SchemaChange.addColumn("g", type("INT")), SchemaChange.addColumn("x", type("STRING")));
            t.alter(SchemaChange.setOption("fields.g.sequence-group", "x")).change(Change.add(1, null, 2, "x2"), Change.add(2, "b2", null, "skipped"), Change.add(3, "c", 1, null));
            t.change(Change.add(1, null, 1, "x1"), Change.add(3, null, 1, "x")).expire(2);
        });
        suite.table("pk/evolution-function-changed", "primary key, aggregation, the function of a column altered", t -> {
            PkFixtures.writeOnly(PkFixtures.simple(t)).option("merge-engine", "aggregation").option("fields.n.aggregate-function", "sum").create();
            t.change(Change.add(1, "a", 1)).change(Change.add(1, "b", 2)).alter(SchemaChange.setOption("fields.n.aggregate-function", "max")).change(Change.add(1, null, 0));
        });
        suite.table("pk/evolution-not-null", "primary key, partial-update, NOT NULL dropped from a value", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("v", "STRING NOT NULL").column("n", "INT").primaryKey("id")).create()
                        .change(Change.add(1, "a", 1)).alter(SchemaChange.updateColumnNullability("v", true)).change(Change.add(1, null, 2), Change.add(2, null, null)));
    }

    private static void columns(TableWriter t, String engine) throws Exception {
        PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("a", "INT").column("b", "INT").column("c", "STRING").primaryKey("id")).option("merge-engine", engine);
        if (engine.equals("aggregation")) {
            t.option("fields.default-aggregate-function", "last_value").option("fields.a.aggregate-function", "sum");
        }
        t.create();
        t.change(Change.add(1, 10, 100, "one"), Change.add(2, 20, 200, "two"), Change.add(3, 30, 300, "three"));
        t.alter(SchemaChange.addColumn("d", type("STRING"), null, Move.after("d", "id")), SchemaChange.dropColumn("c"));
        t.change(Change.add(1, "d1", 11, null), Change.add(4, "d4", 40, 400));
        t.alter(SchemaChange.addColumn("c", type("STRING")), SchemaChange.renameColumn("a", "tmp"), SchemaChange.renameColumn("b", "a"), SchemaChange.renameColumn("tmp", "b"));
        t.change(Change.add(2, null, null, 201, "two again"), Change.add(4, null, 41, null, null), Change.add(5, "d5", 50, 500, "five"));
        t.tag("swapped", 3);
        t.alter(SchemaChange.updateColumnPosition(Move.first("c")), SchemaChange.renameColumn("d", "D"));
        t.change(Change.add("three again", 3, "D3", 31, 301)).compact(true);
        t.change(Change.add("last", 1, null, 12, null));
    }

    private static void widening(TableSink suite) throws Exception {
        suite.table("pk/evolution-widened", "primary key, number columns widened: integers, FLOAT to DOUBLE, DECIMAL", t -> {
            PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("t", "TINYINT").column("s", "SMALLINT").column("i", "INT").column("f", "FLOAT").column("d", "DECIMAL(10, 2)").column("l", "INT")
                    .primaryKey("id")).create();
            t.change(Change.add(1, 1, 1, 1, 0.1, "1.00", 1), Change.add(2, -128, -32768, Integer.MIN_VALUE, -1e30, "-99999999.99", Integer.MAX_VALUE), Change.add(3, null, null, null, null, null, null));
            t.alter(SchemaChange.updateColumnType("t", type("INT")), SchemaChange.updateColumnType("s", type("BIGINT")), SchemaChange.updateColumnType("i", type("BIGINT")),
                    SchemaChange.updateColumnType("f", type("DOUBLE")), SchemaChange.updateColumnType("d", type("DECIMAL(20, 4)")), SchemaChange.updateColumnType("l", type("DOUBLE")));
            t.change(Change.add(1, 1 << 20, 1L << 40, 1L << 41, 0.1, "1.0001", 0.5), delete(2, null, null, null, null, null, null), Change.add(4, 4, 4L, 4L, 4.5, "4.0000", 4.25)).compact(true);
            t.change(Change.add(3, 3, 3L, 3L, 3.5, "3.0000", 3.25));
        });
        suite.table("pk/evolution-widened-aggregation", "primary key, aggregation, sum of a column widened from INT to BIGINT", t -> {
            PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("n", "INT").column("f", "FLOAT").primaryKey("id")).option("merge-engine", "aggregation")
                    .option("fields.n.aggregate-function", "sum").option("fields.f.aggregate-function", "max").create();
            t.change(Change.add(1, Integer.MAX_VALUE, 0.1)).alter(SchemaChange.updateColumnType("n", type("BIGINT")), SchemaChange.updateColumnType("f", type("DOUBLE")));
            t.change(Change.add(1, 1L, 0.1), Change.add(2, 1L << 40, null)).change(Change.add(1, 1L, -1.0));
        });
        suite.table("pk/evolution-sequence-widened", "primary key, sequence.field widened from INT to BIGINT", t -> {
            PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("s", "INT").column("v", "STRING").primaryKey("id")).option("sequence.field", "s").create();
            t.change(Change.add(1, 5, "a5"), Change.add(2, Integer.MAX_VALUE, "b")).alter(SchemaChange.updateColumnType("s", type("BIGINT")));
            t.change(Change.add(1, 4L, "a4"), Change.add(2, 1L << 40, "b+"), Change.add(3, -1L, "c"));
        });
    }
}
