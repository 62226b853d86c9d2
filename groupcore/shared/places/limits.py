"""What a place accepts: sizes, counts, and how far it reaches. Lengths are 1/64 of a unit."""

from __future__ import annotations

UNIT = 64
"""So many steps of a coordinate are one unit."""
SIDE = 1 << 31
"""The length of a place's side."""
START = -(SIDE // 3)
"""Where a place begins, on both axes.

So the origin, where most people begin to draw, lies at a third of the side, and of the side of
every cell that contains it: in binary a third is 0.010101…, so no split brings a border near it.
"""
END = START + SIDE
"""Where a place ends, on both axes: the first coordinate that is outside."""
DEPTH_MAX = 14
"""How often a place may be quartered: the smallest cell has a side of 2,048 units."""
SIZE_MAX = 1 << 20
"""Largest width, height and depth of a thing."""
TURN_MAX = 23_040
"""A whole turn, in 1/64 of a degree."""
ORDER_MAX = 1 << 40
"""How far a thing may lie above or below others."""
TEXT_MAX = 10_000
"""Most characters in a thing."""
NAME_MAX = 64
"""Most characters of a name of a property."""
VALUE_MAX = 2_000
"""Most characters of a property."""
PROPERTIES_MAX = 32
"""Most properties of a thing, of its style and its behaviour each."""
POINTS_MAX = 4_000
"""Most numbers of a thing's line: two a point."""
LINKS_MAX = 32
"""Most things that one thing is bound or wired to."""
VOTES_MAX = 200
"""Most people whose votes one thing counts."""
THING_BYTES_MAX = 24_000
"""Largest thing: it has to fit into one message when it is handed over."""
PARCEL_BYTES = 32_000
"""So much is handed over in one message, unless one thing alone is larger."""
THINGS_MAX = 4_000
"""Most things of a cell into which new things are put."""
EDITS_MAX = 500
"""Most things that one operation names."""
PENDING_MAX = 256
"""Most joint moves under way in one cell."""
BALLS_MAX = 64
"""Most balls of one cell that roll at a time; others lie still until one of them does."""
WENT_MAX = 512
"""Of so many things a cell knows where they have gone, the last ones."""
CELLS_MAX = 16_384
"""Most cells of a place: 1,000,000 things lie in some 5,500, spread evenly."""
DIVIDED_MAX = 4_096
"""Most cells of a place in which one is quartered by `divide`, as former versions did."""
SPLIT_ABOVE = 400
"""A cell with more things is quartered."""
SPLIT_BYTES = 128_000
"""So is one with more bytes of things, by `thing.size_bytes`: a page is given a cell as a whole."""
SPLITS_MAX = 256
"""Most cells that are quartered at once."""
MERGE_BELOW = 100
"""Four cells that have fewer things together, and fewer bytes, become one again."""
MERGE_BYTES = 32_000
"""See MERGE_BELOW: a quarter of SPLIT_BYTES, so that nothing goes to and fro."""
TICK_MS = 50
"""Time between two ticks of a cell in which something moves."""
REMARKS_MAX = 500
"""Most remarks that the chat of a place has, the last ones."""
REMARK_MAX = 2_000
"""Most characters of a remark."""
TALK_BYTES_MAX = 200_000
"""Most bytes of all remarks of a place together."""
SPEAKER_MAX = 80
"""Most characters of what a guest is called who makes a remark."""
