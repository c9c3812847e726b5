"""Under what a server runs: its environment, libraries and GPUs, read once when asked."""
