// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Command line of one command: positions, and options of the form {@code --name value}. */
final class Args {
    static final class UsageException extends RuntimeException {
        UsageException(String message) {
            super(message);
        }
    }

    private final List<String> positions = new ArrayList<>();
    private final Map<String, String> options = new LinkedHashMap<>();

    private Args() {}

    static Args parse(String[] argv) {
        Args args = new Args();
        for (int i = 0; i < argv.length; i++) {
            if (!argv[i].startsWith("--")) {
                args.positions.add(argv[i]);
            } else if (i + 1 < argv.length && !argv[i + 1].startsWith("--")) {
                args.options.put(argv[i].substring(2), argv[++i]);
            } else {
                args.options.put(argv[i].substring(2), "");
            }
        }
        return args;
    }

    String position(int index, String what) {
        if (index >= positions.size()) {
            throw new UsageException("missing argument " + what);
        }
        return positions.get(index);
    }

    String option(String name, String fallback) {
        return options.getOrDefault(name, fallback);
    }
}
