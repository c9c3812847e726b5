"""The load generator of the benchmark."""
