# SPDX-License-Identifier: Apache-2.0
"""The newest version of each key of the files of a table, by DuckDB, into Arrow batches; prints one sample."""
import glob
import json
import resource
import sys
import time

import duckdb

table, key, threads = sys.argv[1], sys.argv[2], sys.argv[3]
files = sorted(glob.glob(f"{table}/bucket-*/*.parquet"))
connection = duckdb.connect(config={"threads": threads})
connection.execute("SET preserve_insertion_order = false")
source = connection.read_parquet(files)
columns = [c for c in source.columns if c != key and not c.startswith("_")]
newest = ", ".join(f"arg_max({c}, _SEQUENCE_NUMBER) AS {c}" for c in columns)
start = time.perf_counter()
reader = connection.sql(f"SELECT {key}, {newest} FROM source GROUP BY {key}").to_arrow_reader(65536)
rows = sum(batch.num_rows for batch in reader)
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "rows": rows, "peak_kib": peak}))
