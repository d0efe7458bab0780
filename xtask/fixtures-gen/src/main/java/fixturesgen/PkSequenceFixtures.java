// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Change.delete;

/** Which version of a key is the newest: {@code sequence.field} in every form. */
final class PkSequenceFixtures {
    private PkSequenceFixtures() {}

    static void add(TableSink suite) throws Exception {
        for (String order : new String[] {"ascending", "descending"}) {
            suite.table("pk/sequence-" + order, "primary key, sequence.field " + order + ", NULL, ties and deletes", t ->
                    sequence(t, order, "s", "INT")
                            .change(Change.add(1, 5, "a5"), Change.add(2, null, "bn"), Change.add(3, 1, "c1"), Change.add(4, 2, "d2"), Change.add(5, 1, "e1"))
                            .change(Change.add(1, 3, "a3"), Change.add(2, 0, "b0"), Change.add(3, 1, "c1 again"), delete(4, 1, "older delete"), delete(5, 2, "newer delete"))
                            .change(Change.add(1, null, "an"), Change.add(2, null, "bn again"), delete(3, 1, "tie"), Change.add(4, 3, "d3"), Change.add(5, 0, "e0"))
                            .compact(true)
                            .change(Change.add(1, 7, "a7"), Change.add(3, 1, "tie again"), Change.add(5, 9, "e9"), Change.add(6, 1, "f1"), Change.add(6, 0, "f0"))
                            .change(Change.add(1, 2, "a2"), delete(6, null, "null delete"), Change.add(2, -1, "b-1")));
            suite.table("pk/sequence-two-" + order, "primary key, sequence.field of two columns " + order + ", NULL in each", t ->
                    PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("x", "STRING").column("v", "STRING").column("y", "BIGINT").primaryKey("id"))
                            .option("sequence.field", "y,x").option("sequence.field.sort-order", order).create()
                            .change(Change.add(1, "b", "1b", 1), Change.add(2, "b", "1b", 1), Change.add(3, null, "1n", 1), Change.add(4, null, "nn", null))
                            .change(Change.add(1, "a", "1a", 1), Change.add(2, "a", "2a", 2), Change.add(3, "", "1-", 1), Change.add(4, "x", "nx", null))
                            .change(Change.add(1, "ü", "1ü", 1), Change.add(2, null, "2n", 2), Change.add(3, "z", "0z", 0), Change.add(4, null, "0n", 0))
                            .compact(true).change(Change.add(1, "c", "1c", 1), delete(2, "zz", "2zz", 2)));
        }
        String[][] types = {
            {"double", "DOUBLE", "-1.5", "0.25", "1.0E300", "Infinity"}, {"timestamp", "TIMESTAMP(6)", "1969-12-31 23:59:59.999999", "1970-01-01 00:00:00", "2024-01-31 10:11:12.000001", "2024-01-31 10:11:12"},
            {"timestamp9", "TIMESTAMP(9)", "1969-12-31 23:59:59.999999999", "1970-01-01 00:00:00", "2024-01-31 10:11:12.000000001", "2024-01-31 10:11:12.000000002"},
            {"decimal", "DECIMAL(30, 3)", "-0.001", "0.000", "99999999999999999999.999", "1.000"}, {"string", "STRING", "", "a", "ü", "z"}, {"date", "DATE", "1969-12-31", "1970-01-01", "9999-12-31", "2024-01-31"},
            {"boolean", "BOOLEAN", "false", "true", "true", "false"}, {"bytes", "BYTES", "", "7f", "80", "00"}
        };
        for (String[] type : types) {
            suite.table("pk/sequence-" + type[0], "primary key, sequence.field of type " + type[1], t ->
                    sequence(t, "ascending", "s", type[1])
                            .change(value(1, type, 2), value(2, type, 5), value(3, type, 3), value(4, type, 4))
                            .change(value(1, type, 3), value(2, type, 4), value(3, type, 2), value(4, type, 4))
                            .change(value(1, type, 2), value(2, type, 3), value(3, type, 5), value(4, type, 5)).compact(true)
                            .change(value(1, type, 4), value(2, type, 2), value(4, type, 3)));
        }
        suite.table("pk/sequence-is-key", "primary key, sequence.field that is part of the primary key", t ->
                PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("s", "INT NOT NULL").column("v", "STRING").primaryKey("id", "s")).option("sequence.field", "s").create()
                        .change(Change.add(1, 2, "a"), Change.add(1, 1, "b")).change(Change.add(1, 2, "c"), delete(1, 1, "b")).compact(true));
        suite.table("pk/sequence-changed", "primary key, sequence.field set by an alteration", t ->
                sequence(t, "ascending", "s", "INT")
                        .change(Change.add(1, 5, "a5"), Change.add(2, 1, "b1")).change(Change.add(1, 3, "a3"), Change.add(2, 2, "b2")));
        suite.table("pk/sequence-same-commit", "primary key, sequence.field, versions of a key within one commit", t ->
                sequence(t, "ascending", "s", "INT")
                        .change(Change.add(1, 2, "two"), Change.add(1, 3, "three"), Change.add(1, 1, "one"), delete(2, 2, "gone"), Change.add(2, 1, "older"), Change.add(3, 1, "x"), delete(3, 1, "y"))
                        .change(Change.add(2, 2, "same as delete"), Change.add(1, 3, "three again"), Change.add(1, null, "null")));
    }

    private static TableWriter sequence(TableWriter t, String order, String field, String type) throws Exception {
        return PkFixtures.writeOnly(t.column("id", "INT NOT NULL").column("s", type).column("v", "STRING").primaryKey("id"))
                .option("sequence.field", field).option("sequence.field.sort-order", order).create();
    }

    private static Change value(int id, String[] type, int index) {
        String text = type[index];
        Object value = switch (type[1]) {
            case "DOUBLE" -> Double.valueOf(text);
            case "BOOLEAN" -> Boolean.valueOf(text);
            default -> text;
        };
        return Change.add(id, value, "v" + index);
    }
}
