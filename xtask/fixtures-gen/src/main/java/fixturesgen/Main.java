// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import java.nio.charset.StandardCharsets;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.TimeZone;

/** Writes and reads tables with Java Paimon, the judge of the Rust implementation. */
public final class Main {
    private static final String USAGE =
            "usage: fixturesgen.Main COMMAND ... [--session-zone ZONE]\n"
                    + "  fixtures OUT_DIR [--only PREFIX,...] [--steps]\n"
                    + "  read LOCATION [--snapshot-id N | --tag T] [--branch B]\n"
                    + "  read-blob FILE TYPE\n"
                    + "  write-random OUT_DIR SEED COUNT [--format F]\n"
                    + "  write-random-pk OUT_DIR SEED FROM COUNT\n"
                    + "  random-rows SEED COUNT OUT_DIR [--format F]\n"
                    + "  read-split FILE LOCATION [--version N] [--branch B]\n"
                    + "  commit-messages FILE VERSION LOCATION [--branch B] [--user U] [--identifier N]"
                    + " [--overwrite [k=v,...]]\n"
                    + "  wire FILE\n"
                    + "  decode data|incremental|indexed|chain|fallback-data|framed|commit-messages|committable FILE [--version N]\n"
                    + "  deletion-vectors FILE\n"
                    + "  describe LOCATION [--branch B]\n"
                    + "  apply LOCATION STEP\n"
                    + "  split-codec FILE\n"
                    + "  version\n"
                    + "  serve";

    private Main() {}

    public static void main(String[] argv) {
        // Not the console encoding: rows and messages are UTF-8 everywhere.
        System.setOut(new PrintStream(System.out, false, StandardCharsets.UTF_8));
        try {
            run(argv);
            System.out.flush();
        } catch (Args.UsageException e) {
            System.err.println(e.getMessage() + "\n" + USAGE);
            System.exit(2);
        } catch (Throwable e) {
            System.out.flush();
            e.printStackTrace();
            System.exit(1);
        }
        // Paimon keeps worker threads alive.
        System.exit(0);
    }

    private static void run(String[] argv) throws Exception {
        if (argv.length == 0) {
            throw new Args.UsageException("no command given");
        }
        if (!System.getProperty("sun.jnu.encoding", "").equalsIgnoreCase("UTF-8")) {
            throw new IllegalStateException(
                    "file names need a UTF-8 locale: set LC_ALL=C.UTF-8 (or another UTF-8 locale)");
        }
        Args args = Args.parse(Arrays.copyOfRange(argv, 1, argv.length));
        TimeZone.setDefault(TimeZone.getTimeZone(java.time.ZoneId.of(args.option("session-zone", "UTC"))));
        switch (argv[0]) {
            case "fixtures" -> Fixtures.writeAll(args);
            case "read" -> ReadCommand.run(args);
            case "read-blob" -> BlobFixtures.read(args);
            case "write-random" -> RandomTables.run(args);
            case "write-random-pk" -> PkRandomTables.run(args);
            case "random-rows" -> RandomRows.run(args);
            case "read-split" -> ReadSplitCommand.run(args);
            case "commit-messages" -> CommitMessagesCommand.run(args);
            case "wire" -> WireCommands.samples(args);
            case "decode" -> WireCommands.decode(args);
            case "deletion-vectors" -> DeletionVectorsCommand.run(args);
            case "apply" -> TableActions.apply(args);
            case "describe" -> DescribeCommand.run(args);
            case "split-codec" -> SplitCodecCommand.run(args);
            case "version" -> System.out.println(Exporter.paimonVersion());
            case "serve" -> ServeCommand.run(Main::run);
            default -> throw new Args.UsageException("unknown command " + argv[0]);
        }
    }
}
