"""The groupware server: one Starlette application a node, over one channel in total order."""

VERSION = "0.1.0"
"""What `/version`, `welcome` and the build metric tell."""
