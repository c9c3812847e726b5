"""What a client makes of a benchmark: its figures in text and JSON, and its exit code.

The figures themselves are computed where they are taken (tui/agent/load/metrics.py has the formulas): moments
by the hundred thousand do not belong on a link, and the agent carries no other room.
"""
