"""Published results made again from raw outputs; `benchmarks/published.py` prints the table."""
