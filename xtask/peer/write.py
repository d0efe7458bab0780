# SPDX-License-Identifier: Apache-2.0
"""Writes the batches of an Arrow file several times with pypaimon-rust, commits once, and prints one sample."""
import json
import resource
import sys
import time

import pyarrow as pa
from pypaimon_rust.datafusion import PaimonCatalog

warehouse, table, source, repeat = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
with pa.ipc.open_file(source) as reader:
    batches = [reader.get_batch(i) for i in range(reader.num_record_batches)]
handle = PaimonCatalog({"warehouse": warehouse}).get_table(table)
start = time.perf_counter()
builder = handle.new_batch_write_builder()
write = builder.new_write()
rows = 0
for _ in range(repeat):
    for batch in batches:
        write.write_arrow(batch)
        rows += batch.num_rows
messages = write.prepare_commit()
builder.new_commit().commit(messages)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "rows": rows, "peak_kib": peak}))
