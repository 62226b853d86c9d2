"""The jobs' command lines: what is read, what is done with it, what is written and said."""
