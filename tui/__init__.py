"""tminus: a terminal monitor for LLM inference servers while they load."""

__version__ = "0.1.0"
