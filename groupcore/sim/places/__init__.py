"""Places on simulated nodes: people draw, drag, grab and walk at several nodes, under faults.

`scenario` and `drawing` say what happens; `program` is what runs on a node; `visitor` is somebody
who sees a part of the place; `looking` says what a look at a screen may find; `cluster` is the
world.
"""
