// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;
import static fixturesgen.Values.rowType;
import static fixturesgen.Values.type;

import org.apache.paimon.schema.SchemaChange;
import org.apache.paimon.schema.SchemaChange.Move;

/** Schema changes of append tables, with rows before and after; no type changes. */
final class EvolutionFixtures {
    private EvolutionFixtures() {}

    static void add(TableSink suite) throws Exception {
        suite.table("evolution/add", "append, ADD COLUMN at the end, first and after another", t ->
                two(t).alter(SchemaChange.addColumn("c", type("STRING")))
                        .write(row(3, "z", "new"))
                        .alter(SchemaChange.addColumn("first", type("BIGINT"), "now the first", Move.first("first")),
                                SchemaChange.addColumn("mid", type("DATE"), null, Move.after("mid", "a")))
                        .write(row(40, 4, "2024-01-31", "w", "newer")));

        suite.table("evolution/drop", "append, DROP COLUMN", t ->
                two(t).alter(SchemaChange.dropColumn("a")).write(row("z")));

        suite.table("evolution/rename", "append, RENAME COLUMN", t ->
                two(t).alter(SchemaChange.renameColumn("a", "Renamed")).write(row(3, "z")));

        suite.table("evolution/swap-names", "append, names of two columns of one type swapped", t ->
                t.column("a", "INT").column("b", "INT").create()
                        .write(row(1, 10), row(2, 20))
                        .alter(SchemaChange.renameColumn("a", "tmp"), SchemaChange.renameColumn("b", "a"),
                                SchemaChange.renameColumn("tmp", "b"))
                        .write(row(3, 30)));

        suite.table("evolution/drop-and-add-again", "append, a dropped name added again, old rows NULL", t ->
                two(t).alter(SchemaChange.dropColumn("b")).alter(SchemaChange.addColumn("b", type("STRING")))
                        .write(row(3, "z")));

        suite.table("evolution/drop-and-add-other-type", "append, a dropped name added again with another type", t ->
                two(t).alter(SchemaChange.dropColumn("b")).alter(SchemaChange.addColumn("b", type("INT")))
                        .write(row(3, 30)));

        suite.table("evolution/reorder", "append, columns moved", t ->
                t.column("a", "INT").column("b", "STRING").column("c", "DOUBLE").create()
                        .write(row(1, "x", 1.5))
                        .alter(SchemaChange.updateColumnPosition(Move.first("c")))
                        .write(row(2.5, 2, "y"))
                        .alter(SchemaChange.updateColumnPosition(Move.after("c", "a")))
                        .alter(SchemaChange.updateColumnPosition(Move.last("a")))
                        .write(row(3.5, "z", 3)));

        suite.table("evolution/rename-drop-add", "append, partitioned, all changes, tags on every state", t -> {
            t.column("p", "INT").column("id", "INT").column("name", "STRING").partitionBy("p").create()
                    .write(row(1, 1, "a"), row(2, 2, "b"));
            t.tag("v1", 1);
            t.alter(SchemaChange.addColumn("age", type("INT"))).write(row(1, 3, "c", 30));
            t.tag("v2", 2);
            t.alter(SchemaChange.renameColumn("id", "key")).alter(SchemaChange.dropColumn("name")).write(row(2, 4, 40));
            t.tag("v3", 3);
            t.alter(SchemaChange.addColumn("name", type("STRING"), null, Move.first("name"))).write(row("d", 1, 5, 50));
        });

        suite.table("evolution/nested", "append, fields of a ROW added, dropped and renamed", t -> {
            t.column("id", "INT").column("r", rowType("a", "INT", "b", "STRING"))
                    .column("l", Values.array(rowType("x", "INT", "y", "INT")))
                    .column("m", Values.map("STRING", rowType("x", "INT"))).create()
                    .write(row(1, row(1, "x"), Values.list(row(1, 2)), Values.entries("k", row(1))), row(2, null, null, null))
                    .alter(SchemaChange.addColumn(new String[] {"r", "c"}, type("DOUBLE"), null, null),
                            SchemaChange.addColumn(new String[] {"l", "element", "z"}, type("STRING"), null, null),
                            SchemaChange.addColumn(new String[] {"m", "value", "w"}, type("STRING"), null, null))
                    .write(row(3, row(3, "y", 3.5), Values.list(row(3, 4, "five")), Values.entries("k", row(3, "w"))))
                    .alter(SchemaChange.renameColumn(new String[] {"r", "a"}, "Aa"),
                            SchemaChange.dropColumn(new String[] {"r", "b"}),
                            SchemaChange.dropColumn(new String[] {"l", "element", "x"}))
                    .write(row(4, row(4, 4.5), Values.list(row(6, "seven"), null), Values.entries("k", row(null, null))));
        });

        suite.table("evolution/all-columns-new", "append, every column of the first file dropped", t ->
                two(t).alter(SchemaChange.addColumn("c", type("INT")))
                        .alter(SchemaChange.dropColumn("a"), SchemaChange.dropColumn("b"))
                        .write(row(30)));

        suite.table("evolution/add-with-default", "append, a column added, then given a default value", t ->
                two(t).alter(SchemaChange.addColumn("c", type("INT")))
                        .alter(SchemaChange.updateColumnDefaultValue(new String[] {"c"}, "5"))
                        .write(row(3, "z", null), row(4, "w", 6)));

        suite.table("evolution/options-changed", "append, options and comments changed, no column", t ->
                two(t).alter(SchemaChange.setOption("target-file-size", "1 mb"), SchemaChange.updateColumnComment("a", "the key"),
                                SchemaChange.updateComment("a table"))
                        .write(row(3, "z")).alter(SchemaChange.removeOption("target-file-size")));

        suite.table("evolution/not-null-to-null", "append, NOT NULL dropped from a column", t ->
                t.column("a", "INT NOT NULL").column("b", "STRING").create().write(row(1, "x"))
                        .alter(SchemaChange.updateColumnNullability("a", true)).write(row(null, "y")));
    }

    private static TableWriter two(TableWriter t) throws Exception {
        return t.column("a", "INT").column("b", "STRING").create().write(row(1, "x"), row(2, "y"));
    }
}
