"""Tools for working on the project; nothing here is part of the library or the server."""
