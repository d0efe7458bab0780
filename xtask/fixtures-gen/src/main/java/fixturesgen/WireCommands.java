// SPDX-License-Identifier: Apache-2.0
package fixturesgen;

import org.apache.paimon.globalindex.IndexedSplit;
import org.apache.paimon.io.DataInputDeserializer;
import org.apache.paimon.io.DataInputView;
import org.apache.paimon.io.DataOutputView;
import org.apache.paimon.io.DataOutputViewStreamWrapper;
import org.apache.paimon.manifest.ManifestCommittable;
import org.apache.paimon.manifest.ManifestCommittableSerializer;
import org.apache.paimon.table.FallbackReadFileStoreTable.FallbackDataSplit;
import org.apache.paimon.table.sink.CommitMessage;
import org.apache.paimon.table.sink.CommitMessageSerializer;
import org.apache.paimon.table.source.ChainSplit;
import org.apache.paimon.table.source.DataSplit;
import org.apache.paimon.table.source.IncrementalSplit;
import org.apache.paimon.table.source.Split;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Bytes of the protocol: writes samples of every kind, and tells what bytes mean. */
final class WireCommands {
    private static final String FRAME = "org.apache.paimon.table.source.SplitSerializer";

    private WireCommands() {}

    /** {@code wire FILE}: one JSON object a line for each sample that this version can write. */
    static void samples(Args args) throws Exception {
        List<String> lines = new ArrayList<>();
        for (Map.Entry<String, Split> sample : WireSamples.splits().entrySet()) {
            byte[] bare = bare(sample.getValue());
            if (bare != null) {
                lines.add(line(sample.getKey(), "split", null, bare, WireJson.split(sample.getValue())));
            }
            if (Newer.has(FRAME)) {
                byte[] framed = (byte[]) Newer.invoke(Class.forName(FRAME), "serialize", sample.getValue());
                lines.add(line(sample.getKey() + "-framed", "split", null, framed, WireJson.split(sample.getValue())));
            }
        }
        CommitMessageSerializer messages = new CommitMessageSerializer();
        for (Map.Entry<String, List<CommitMessage>> sample : WireSamples.messages().entrySet()) {
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            messages.serializeList(sample.getValue(), new DataOutputViewStreamWrapper(bytes));
            lines.add(line(sample.getKey(), "commit-messages", messages.getVersion(), bytes.toByteArray(),
                    WireJson.messages(sample.getValue())));
        }
        ManifestCommittableSerializer committables = new ManifestCommittableSerializer();
        for (Map.Entry<String, ManifestCommittable> sample : WireSamples.committables().entrySet()) {
            byte[] bytes = committables.serialize(sample.getValue());
            lines.add(line(sample.getKey(), "committable", committables.getVersion(), bytes, WireJson.committable(sample.getValue())));
        }
        Path file = Path.of(args.position(0, "FILE"));
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.write(file, lines);
    }

    private static String line(String name, String kind, Integer version, byte[] bytes, Object value) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("name", name);
        line.put("kind", kind);
        line.put("version", version);
        line.put("paimon", Exporter.paimonVersion());
        line.put("hex", HexFormat.of().formatHex(bytes));
        line.put("value", value);
        return Json.text(line);
    }

    /** The bytes of the class's own serialisation, null when it has none outside of a frame. */
    private static byte[] bare(Split split) throws Exception {
        if (split instanceof IncrementalSplit) {
            return blockData(split);
        }
        try {
            Method method = split.getClass().getMethod("serialize", DataOutputView.class);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            method.invoke(split, new DataOutputViewStreamWrapper(bytes));
            boolean nested = bytes.size() > 8 && new String(bytes.toByteArray(), 0, 8).equals("SPLIT_V1")
                    || split.getClass().getSimpleName().equals("FallbackSplitImpl");
            return nested ? null : bytes.toByteArray();
        } catch (NoSuchMethodException e) {
            return null;
        }
    }

    /** What the private {@code writeObject} of a class writes, without the marks of Java's object stream. */
    private static byte[] blockData(Object object) throws Exception {
        ByteArrayOutputStream stream = new ByteArrayOutputStream();
        Method write = object.getClass().getDeclaredMethod("writeObject", ObjectOutputStream.class);
        write.setAccessible(true);
        try (ObjectOutputStream out = new ObjectOutputStream(stream)) {
            write.invoke(object, out);
        }
        ByteBuffer in = ByteBuffer.wrap(stream.toByteArray());
        in.position(4);
        ByteArrayOutputStream data = new ByteArrayOutputStream();
        while (in.hasRemaining()) {
            int length = in.get() == 0x77 ? in.get() & 0xff : in.getInt();
            data.write(in.array(), in.position(), length);
            in.position(in.position() + length);
        }
        return data.toByteArray();
    }

    /** {@code decode KIND FILE [--version N]}: what the bytes of another writer mean. */
    static void decode(Args args) throws Exception {
        byte[] bytes = Files.readAllBytes(Path.of(args.position(1, "FILE")));
        int version = Integer.parseInt(args.option("version", "0"));
        DataInputDeserializer in = new DataInputDeserializer(bytes);
        Object json = switch (args.position(0, "KIND")) {
            case "data" -> WireJson.split(DataSplit.deserialize(in));
            case "indexed" -> WireJson.split(IndexedSplit.deserialize(in));
            case "chain" -> WireJson.split(ChainSplit.deserialize(in));
            case "fallback-data" -> WireJson.split(FallbackDataSplit.deserialize(in));
            case "incremental" -> {
                in.skipBytesToRead(bytes.length);
                yield WireJson.split(incremental(bytes));
            }
            case "framed" -> WireJson.split(framed(in));
            case "commit-messages" -> WireJson.messages(new CommitMessageSerializer().deserializeList(version, in));
            case "committable" -> {
                in.skipBytesToRead(bytes.length);
                yield WireJson.committable(new ManifestCommittableSerializer().deserialize(version, bytes));
            }
            default -> throw new Args.UsageException("unknown kind " + args.position(0, "KIND"));
        };
        if (in.available() > 0) {
            throw new IllegalArgumentException(in.available() + " bytes follow");
        }
        System.out.println(Json.text(json));
    }

    /** The class has a private {@code readObject} only; the bytes become the block of a Java object stream. */
    private static Split incremental(byte[] bytes) throws Exception {
        ByteBuffer stream = ByteBuffer.allocate(9 + bytes.length).putInt(0xaced0005).put((byte) 0x7a).putInt(bytes.length).put(bytes);
        IncrementalSplit split = new IncrementalSplit(0, null, 0, 0, null, null, null, null, false);
        Method read = IncrementalSplit.class.getDeclaredMethod("readObject", ObjectInputStream.class);
        read.setAccessible(true);
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(stream.array()))) {
            read.invoke(split, in);
            if (in.read() >= 0) {
                throw new IllegalArgumentException("bytes follow the split");
            }
        }
        return split;
    }

    private static Split framed(DataInputView in) throws Exception {
        Method method = Class.forName(FRAME).getMethod("deserialize", DataInputView.class);
        return (Split) method.invoke(null, in);
    }
}
