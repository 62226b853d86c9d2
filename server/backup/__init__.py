"""Backups: all that a cluster holds in one file, taken while people write, and put back."""
