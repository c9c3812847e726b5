"""A log file, or the files of a multi-node load, through the same engines and phases as a watch.

``explain()`` in report.py is the whole of it: sources.py opens what was named, numbered.py makes lines of
it, reading.py finds the engine and the starts in one file, times.py dates its lines, start.py follows one
start, several.py puts the files of one load together, words.py says it.
"""
