"""Places: a plane of things that people share, in cells that are groups of their own.

`open_place` gives a place at a node; docs/places.md says how it works.
"""

from groupcore.shared.places.cell import Cell
from groupcore.shared.places.outline import PlaceOutline
from groupcore.shared.places.place import Place, open_place
from groupcore.shared.places.talk import PlaceTalk
from groupcore.shared.places.thing import Edit, Thing

__all__ = ["Cell", "Edit", "Place", "PlaceOutline", "PlaceTalk", "Thing", "open_place"]
