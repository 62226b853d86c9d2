"""The parts of membership: who reaches whom, who joins, how a view's successor is decided.

`succession`, `attempt`, `admission` and `reachability` are plain values with rules; `voter` and
`proposer` are the two roles in a ballot; `groupcore.layers.membership` is the layer around them.
"""
