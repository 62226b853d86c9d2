"""The data plane on virtual time: processes on simulated nodes, in groups that overlap.

`scenario` and `drawing` say what happens, `host` is what runs on a node, `cluster` the world.
"""
