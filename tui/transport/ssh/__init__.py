"""The way to a host over SSH: by the library, by the user's own connection, or by the system's ssh."""
