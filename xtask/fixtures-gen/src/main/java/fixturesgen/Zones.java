// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.util.TimeZone;

/** Runs something as a process in another time zone would. */
final class Zones {
    interface Action {
        void run() throws Exception;
    }

    private Zones() {}

    static void in(TimeZone zone, Action action) throws Exception {
        TimeZone before = TimeZone.getDefault();
        TimeZone.setDefault(zone);
        try {
            action.run();
        } finally {
            TimeZone.setDefault(before);
        }
    }
}
