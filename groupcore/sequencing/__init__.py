"""The data plane: the sequencing service, for many overlapping groups and several sequencers.

`docs/sequencing.md` says how it works. All of it is sans-I/O: `service` is one node's
communication module, the other modules are its parts.
"""
