"""Documents on simulated nodes: people write at several nodes, under faults.

`scenario` and `drawing` say what happens; `program` is what runs on a node, as `groupcore.aio` does
on a real one; `person` is a page with somebody in front of it; `cluster` is the world.
"""
