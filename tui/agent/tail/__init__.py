"""The log reader: one file followed through everything that happens to logs."""
