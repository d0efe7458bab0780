// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import static fixturesgen.Values.row;

import java.util.List;
import java.util.TimeZone;

/** Times that a process in another time zone wrote: before its zones had whole hours, before 1970, around clock changes. */
final class ZoneFixtures {
    private static final List<String> TIMES = List.of(
            "2024-01-31 10:11:12.123456789", "2024-07-04 23:30:00.000000001", "1970-01-01 00:00:00", "1969-12-31 23:59:59.999999999",
            "1969-12-31 19:00:00", "1899-12-31 23:59:59.5", "1883-11-18 11:00:00.25", "1850-06-01 00:00:00.000001", "1700-02-28 01:02:03.004");
    /** Only as much as 64 bits of nanoseconds hold have nine digits. */
    private static final List<String> FAR = List.of("0001-01-01 00:00:00", "1582-10-15 12:00:00", "9999-12-31 23:59:59.999999");
    /** Wall clock times that a change of the clock skips or repeats. */
    private static final List<String> CHANGES = List.of(
            "2024-03-10 01:59:59.999", "2024-03-10 02:00:00", "2024-03-10 02:30:00", "2024-03-10 03:00:00", "2024-11-03 00:59:59",
            "2024-11-03 01:00:00", "2024-11-03 01:30:00", "2024-11-03 02:00:00", "1883-11-18 12:00:00", "1941-10-01 00:10:00",
            "1945-10-14 23:30:00");

    private ZoneFixtures() {}

    static void add(Suite suite) throws Exception {
        for (String id : List.of("America/New_York", "Asia/Kolkata")) {
            TimeZone zone = TimeZone.getTimeZone(id);
            String city = id.substring(id.indexOf('/') + 1).toLowerCase().replace('_', '-');
            for (String format : List.of("parquet", "orc", "avro")) {
                suite.table("formats/" + format + "-zone-" + city, "append, " + format + ", times written in zone " + id, zone,
                        t -> times(FormatFixtures.prepared(t, format), TIMES, FAR));
            }
            suite.table("formats/orc-zone-" + city + "-instant",
                    "append, orc, orc.timestamp-ltz.legacy.type=false, times written in zone " + id, zone,
                    t -> times(FormatFixtures.prepared(t, "orc").option("orc.timestamp-ltz.legacy.type", false), TIMES, FAR));
            suite.table("formats/orc-zone-" + city + "-changes", "append, orc, times around clock changes written in zone " + id, zone,
                    t -> times(FormatFixtures.prepared(t, "orc"), CHANGES, List.of()));
        }
        suite.table("formats/orc-instant", "append, orc, orc.timestamp-ltz.legacy.type=false", t ->
                times(FormatFixtures.prepared(t, "orc").option("orc.timestamp-ltz.legacy.type", false), TIMES, FAR));
    }

    private static void times(TableWriter t, List<String> times, List<String> far) throws Exception {
        t.column("id", "INT").column("d", "DATE").column("t", "TIME(3)");
        int[] precisions = {0, 3, 6, 9};
        for (int p : precisions) {
            t.column("ts" + p, "TIMESTAMP(" + p + ")").column("ltz" + p, "TIMESTAMP(" + p + ") WITH LOCAL TIME ZONE");
        }
        t.column("a", Values.array("TIMESTAMP(6)")).column("r", Values.rowType("ltz", "TIMESTAMP(6) WITH LOCAL TIME ZONE")).create();
        Object[][] rows = new Object[times.size() + far.size() + 1][];
        for (int i = 0; i < times.size() + far.size(); i++) {
            boolean near = i < times.size();
            String time = near ? times.get(i) : far.get(i - times.size());
            Object[] values = new Object[13];
            values[0] = i;
            values[1] = time.substring(0, 10);
            values[2] = cut(time, 3).substring(11);
            for (int k = 0; k < precisions.length; k++) {
                String digits = near || precisions[k] <= 6 ? cut(time, precisions[k]) : null;
                values[3 + 2 * k] = digits;
                values[4 + 2 * k] = digits;
            }
            values[11] = Values.list(cut(time, 6), null);
            values[12] = row(cut(time, 6));
            rows[i] = values;
        }
        rows[rows.length - 1] = new Object[13];
        t.write(rows);
    }

    private static String cut(String time, int digits) {
        int dot = time.indexOf('.');
        return dot < 0 ? time : time.substring(0, Math.min(time.length(), digits == 0 ? dot : dot + 1 + digits));
    }
}
