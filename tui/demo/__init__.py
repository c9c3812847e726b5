"""A simulated host and engine."""
