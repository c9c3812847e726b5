"""The signals reader: what /proc and the kernel tell of the followed server's processes, once a second."""
