"""A byte pipe to a host, the agent carried over it, and the cleaning of what comes back."""
