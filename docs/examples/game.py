"""A game of turns: take one to three of 21 matches; who takes the last one has lost."""

import asyncio

from groupcore.aio import Node
from groupcore.sequencing.names import Process
from groupcore.shared import Changed, SharedObject, operation


class NotYourTurnError(Exception):
    pass


class Matches(SharedObject):
    players: list[Process]
    left: int = 21
    turn: int = 0
    loser: str = ""

    @operation
    def sit_down(self) -> None:
        self.players.append(self.context.process)

    @operation
    def take(self, count: int) -> None:
        """The rules are here, once: every node applies the same moves, in the same order."""
        player = self.context.process
        if self.loser or player != self.players[self.turn]:
            raise NotYourTurnError
        if not 1 <= count <= min(3, self.left):
            raise ValueError(f"take 1 to {min(3, self.left)}")
        self.left -= count
        self.turn = (self.turn + 1) % len(self.players)
        if not self.left:
            self.loser = player.node.name
        self.emit(self.left)


async def play(game: Matches) -> None:
    """Follow the game; when it is one's turn, leave a multiple of four and one, if that can be."""
    async with game.changes() as changes:
        while not game.loser:
            if game.players[game.turn] == game.process:
                await game.take((game.left - 1) % 4 or 1)
            else:
                await anext(changes)


async def tell(game: Matches) -> None:
    """Print the moves as one node sees them; at the others they are the same."""
    async with game.changes() as changes:
        async for change in changes:
            if isinstance(change, Changed):
                (left,) = change.details
                print(f"{change.process.node.name} takes {change.arguments['count']}, {left} left")
                if not left:
                    break


async def main() -> None:
    nodes = [Node("games", node_id=name) for name in ("ann", "bob", "carol")]
    for node in nodes:
        await node.__aenter__()
    games = [await node.open(Matches, "table 1") for node in nodes]
    for game in games:
        await game.sit_down()
    for impatient, count in ((games[1], 1), (games[0], 5)):
        try:
            await impatient.take(count)
        except NotYourTurnError:
            print("it is not yet the turn of", impatient.process.node.name)
        except ValueError as error:
            print(impatient.process.node.name, "is told:", error)
    await asyncio.gather(tell(games[0]), *(play(game) for game in games))
    print("all know who has lost:", *(game.loser for game in games))
    for node in nodes:
        await node.close()


asyncio.run(main())
