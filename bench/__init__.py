"""Benchmarks: claims as commands. `python -m bench --list`, `python -m bench NAME --json`."""
