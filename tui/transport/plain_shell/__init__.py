"""Watching a host that has no fit Python: a POSIX shell runs what every host has, and events come of it."""
