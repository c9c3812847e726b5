"""The process reader: servers, their trees, their ends and their keys."""
