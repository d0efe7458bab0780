// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.utils.JsonSerdeUtil;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/** {@code serve}: one command a line of standard input, as a JSON array of words; saves starting a JVM for each. */
final class ServeCommand {
    /** What a command does. */
    interface Runner {
        void run(String[] words) throws Exception;
    }

    private ServeCommand() {}

    /** After the output of each command comes one line: {@code #ok}, or {@code #error} and a JSON text. */
    static void run(Runner runner) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String end = "#ok";
            try {
                runner.run(JsonSerdeUtil.fromJson(line, String[].class));
            } catch (Throwable e) {
                end = "#error " + Json.text(describe(e));
            }
            System.out.println(end);
            System.out.flush();
        }
    }

    private static String describe(Throwable e) {
        StringBuilder text = new StringBuilder();
        for (Throwable cause = e; cause != null && text.length() < 1000; cause = cause.getCause()) {
            text.append(text.length() == 0 ? "" : ": ").append(cause);
        }
        StackTraceElement[] trace = e.getStackTrace();
        return text + (trace.length > 0 ? " at " + trace[0] : "");
    }
}
