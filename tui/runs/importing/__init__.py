"""Results of other benchmark clients as runs of the ledger, in this project's definitions.

What a client defines otherwise is worked out anew from its single requests, or left unknown and said.
"""
