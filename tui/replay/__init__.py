"""Recordings drawn again: the same events through the same state, at any speed."""
