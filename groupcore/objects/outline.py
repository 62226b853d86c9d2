"""A replicated outline: blocks in an order, each with an id and attributes, found in one step.

The blocks form a chain, so that inserting, deleting and moving cost the same in a document of
ten blocks and of twenty thousand. Positions by number are counted once after each change of the
order and kept until the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from groupcore.objects.refusal import (
    BadChangeError,
    BlockExistsError,
    NoSuchBlockError,
    TooLargeError,
)

AttributeValue: TypeAlias = str | int | bool
"""What an attribute of a block may be set to."""

BLOCKS_MAX = 20_000
"""Most blocks in one outline, unless the caller says otherwise."""


class Block:
    """One block: `attributes` and `text` may be changed, its place only through the outline."""

    __slots__ = ("attributes", "following", "id", "previous", "text")

    def __init__(self, block_id: str, attributes: dict[str, AttributeValue], text: str) -> None:
        self.id = block_id
        self.attributes = attributes
        self.text = text
        self.previous: Block | None = None
        self.following: Block | None = None

    @property
    def previous_id(self) -> str | None:
        """Id of the block before it, None for the first."""
        return None if self.previous is None else self.previous.id

    def __repr__(self) -> str:
        return f"Block({self.id!r}, {self.attributes!r}, {self.text!r})"


class ReplicatedOutline:
    """An ordered list of at most `blocks_max` blocks with unique ids.

    Every operation that changes it either happens as a whole or raises a typed error and changes
    nothing. The same operations in the same order give the same outline at every replica.
    """

    __slots__ = ("_blocks", "_blocks_max", "_first", "_last", "_positions")

    def __init__(self, blocks_max: int = BLOCKS_MAX) -> None:
        self._blocks: dict[str, Block] = {}
        self._blocks_max = blocks_max
        self._first: Block | None = None
        self._last: Block | None = None
        self._positions: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self._blocks)

    def __contains__(self, block_id: object) -> bool:
        return block_id in self._blocks

    def __iter__(self) -> Iterator[Block]:
        block = self._first
        while block is not None:
            yield block
            block = block.following

    @property
    def first(self) -> Block | None:
        """The first block, None in an empty outline."""
        return self._first

    @property
    def last(self) -> Block | None:
        """The last block, None in an empty outline."""
        return self._last

    def get(self, block_id: str) -> Block:
        """The block of this id; NoSuchBlockError when there is none."""
        block = self._blocks.get(block_id)
        if block is None:
            raise NoSuchBlockError(f"there is no block {block_id}")
        return block

    def position(self, block_id: str) -> int:
        """The block's place, 0 for the first; NoSuchBlockError when there is none."""
        positions = self._positions
        if positions is None:
            positions = {block.id: place for place, block in enumerate(self)}
            self._positions = positions
        self.get(block_id)
        return positions[block_id]

    def insert(
        self,
        block_id: str,
        after: str | None,
        attributes: Mapping[str, AttributeValue] | None = None,
        text: str = "",
    ) -> Block:
        """Puts a new block behind `after` (None: at the start) and returns it.

        Raises BlockExistsError, NoSuchBlockError for `after`, TooLargeError when full.
        """
        if block_id in self._blocks:
            raise BlockExistsError(f"there is a block {block_id} already")
        if len(self._blocks) >= self._blocks_max:
            raise TooLargeError(f"a document may hold {self._blocks_max} blocks")
        before = None if after is None else self.get(after)
        block = Block(block_id, dict(attributes or {}), text)
        self._link(block, before)
        self._blocks[block_id] = block
        return block

    def delete(self, block_id: str) -> Block:
        """Takes the block out and returns it, with its neighbours at that time still in it.

        Raises NoSuchBlockError.
        """
        block = self.get(block_id)
        self._unlink(block)
        del self._blocks[block_id]
        return block

    def restore(self, block: Block) -> None:
        """Undoes the deletion of the block, when the order is again what it was right after it."""
        assert block.id not in self._blocks
        self._link(block, block.previous)
        self._blocks[block.id] = block

    def move(self, block_id: str, after: str | None) -> None:
        """Puts the block behind `after` (None: at the start).

        Raises NoSuchBlockError for either, BadChangeError when they are the same.
        """
        block = self.get(block_id)
        if block_id == after:
            raise BadChangeError(f"block {block_id} cannot stand behind itself")
        before = None if after is None else self.get(after)
        self._unlink(block)
        self._link(block, before)

    def _link(self, block: Block, before: Block | None) -> None:
        following = self._first if before is None else before.following
        block.previous = before
        block.following = following
        if before is None:
            self._first = block
        else:
            before.following = block
        if following is None:
            self._last = block
        else:
            following.previous = block
        self._positions = None

    def _unlink(self, block: Block) -> None:
        if block.previous is None:
            self._first = block.following
        else:
            block.previous.following = block.following
        if block.following is None:
            self._last = block.previous
        else:
            block.following.previous = block.previous
        self._positions = None
