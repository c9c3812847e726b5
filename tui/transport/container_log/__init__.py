"""The log that a container's runtime keeps of what its first process writes into a pipe."""
