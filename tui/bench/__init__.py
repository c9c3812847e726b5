"""Workloads, metrics and statistics of a benchmark. Pure."""
