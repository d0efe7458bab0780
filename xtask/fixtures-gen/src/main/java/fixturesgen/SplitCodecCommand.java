// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.io.DataOutputSerializer;
import org.apache.paimon.table.source.DataSplit;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** How fast Java decodes and encodes the splits of a file (count, then length and bytes of each). */
final class SplitCodecCommand {
    private static final int WARM_UP = 10;
    private static final int SAMPLES = 9;

    private SplitCodecCommand() {}

    static void run(Args args) throws Exception {
        ByteBuffer in = ByteBuffer.wrap(Files.readAllBytes(Path.of(args.position(0, "FILE"))));
        byte[][] bytes = new byte[in.getInt()][];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = new byte[in.getInt()];
            in.get(bytes[i]);
        }
        double[] decode = new double[WARM_UP + SAMPLES];
        double[] encode = new double[WARM_UP + SAMPLES];
        int files = 0;
        long size = 0;
        for (int round = 0; round < decode.length; round++) {
            long start = System.nanoTime();
            List<DataSplit> splits = new ArrayList<>();
            for (byte[] split : bytes) {
                splits.add(DataSplit.deserialize(new DataInputDeserializer(split)));
            }
            decode[round] = (System.nanoTime() - start) / 1e9;
            start = System.nanoTime();
            size = 0;
            for (DataSplit split : splits) {
                DataOutputSerializer out = new DataOutputSerializer(1 << 16);
                split.serialize(out);
                size += out.length();
            }
            encode[round] = (System.nanoTime() - start) / 1e9;
            files = splits.stream().mapToInt(split -> split.dataFiles().size()).sum();
        }
        System.out.printf(
                "{\"files\": %d, \"bytes\": %d, \"encode\": {\"seconds\": %.6f}, \"decode\": {\"seconds\": %.6f}}%n",
                files, size, median(encode), median(decode));
    }

    private static double median(double[] samples) {
        double[] sorted = Arrays.copyOfRange(samples, WARM_UP, samples.length);
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
