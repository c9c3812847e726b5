"""The GPU reader: what the NVIDIA driver tells."""
