"""One load over several watched hosts: which belong together, and what they mean together."""
