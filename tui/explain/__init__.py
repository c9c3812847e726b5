"""A log file, or the files of a multi-node load, through the same engines and phases as a watch.

``explain()`` in report.py is the whole of it: sources.py opens what was named, numbered.py makes lines of
it, tui.watch.log_reading finds the engine and the starts in one file, several.py puts the files of one load
together, words.py says it.
"""
