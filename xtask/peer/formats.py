# SPDX-License-Identifier: Apache-2.0
"""Reads or writes one file with pyarrow.orc or fastavro and prints one sample.

formats.py read FORMAT FILE | formats.py write FORMAT FILE OUT ROWS, FILE being one that we wrote.
"""
import json
import os
import resource
import sys
import time

SAMPLE = 0.2
LONG = 1.0


def reader(kind, path):
    if kind == "orc":
        from pyarrow import orc

        def read():
            file = orc.ORCFile(path)
            return sum(file.read_stripe(i).num_rows for i in range(file.nstripes))

    else:
        import fastavro

        def read():
            with open(path, "rb") as file:
                return sum(1 for _ in fastavro.reader(file))

    return read


def writer(kind, path, out, rows):
    if kind == "orc":
        from pyarrow import orc

        table = orc.ORCFile(path).read().slice(0, rows).combine_chunks()

        def write():
            orc.write_table(table, out, compression="zstd")
            return table.num_rows

    else:
        import itertools

        import fastavro

        with open(path, "rb") as file:
            source = fastavro.reader(file)
            schema = fastavro.parse_schema(source.writer_schema)
            records = list(itertools.islice(source, rows))

        def write():
            with open(out, "wb") as file:
                fastavro.writer(file, schema, records, codec="zstandard", codec_compression_level=1)
            return len(records)

    return write


what, kind, path = sys.argv[1:4]
task = reader(kind, path) if what == "read" else writer(kind, path, sys.argv[4], int(sys.argv[5]))
times = []
while len(times) < 2 or sum(times) < SAMPLE or (len(times) < 4 and sum(times) < LONG):
    start = time.perf_counter()
    rows = task()
    times.append(time.perf_counter() - start)
if what == "write":
    os.remove(sys.argv[4])
times = sorted(times[1:])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": times[len(times) // 2], "rows": rows, "peak_kib": peak}))
