# SPDX-License-Identifier: Apache-2.0
"""Reads a table with pypaimon-rust and prints one sample."""
import json
import resource
import sys
import time

from pypaimon_rust.datafusion import PaimonCatalog

warehouse, table = sys.argv[1], sys.argv[2]
catalog = PaimonCatalog({"warehouse": warehouse})
handle = catalog.get_table(table)
start = time.perf_counter()
builder = handle.new_read_builder()
splits = builder.new_scan().plan().splits()
rows = 0
for batch in builder.new_read().read_arrow(splits):
    rows += batch.num_rows
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "rows": rows, "peak_kib": peak}))
