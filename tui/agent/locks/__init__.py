"""The lock reader: lock files of known caches, and locks of the kernel that the followed server waits for."""
