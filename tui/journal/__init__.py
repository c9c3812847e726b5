"""Writing and reading recordings."""
