"""A log file through the same engines and phases as a watch."""
