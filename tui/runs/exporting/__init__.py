"""Runs of the ledger for other programs and people: CSV, JSON, Markdown."""
