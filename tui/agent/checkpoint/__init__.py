"""The checkpoint reader: how large a model's weight files are, by the directory's word alone."""
