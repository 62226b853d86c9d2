"""An office for tests: accounts at some nodes, people with roles, a document."""

from __future__ import annotations

from collections.abc import Callable, Coroutine

from groupcore.shared.testing import BAD_WEATHER, World
from server.accounts.accounts import NAME, Accounts
from server.accounts.people import HOME
from server.accounts.roles import USER, Role

ORIGIN = "127.0.0.1"


class Office:
    """Accounts with an owner, Ann; `at` has the object of each node."""

    def __init__(self, world: World, at: list[Accounts], ann: str) -> None:
        self.world = world
        self.at = at
        self.accounts = at[0]
        self.ann = ann
        self.as_ann = USER + ann

    async def hire(self, name: str, role: Role = Role.EDITOR) -> str:
        """A person with a role in HOME; gives the account's id."""
        email = f"{name}@example.org"
        user = await self.accounts.make_user(self.as_ann, name, email, "verifier", ORIGIN)
        if role is not Role.NONE:
            await self.accounts.set_role(self.as_ann, HOME, user, role, ORIGIN)
        return user

    async def document(self, name: str = "plan") -> str:
        """A document of Ann's in HOME."""
        await self.accounts.file_document(self.as_ann, name, HOME, ORIGIN)
        return name


def office(
    main: Callable[[Office], Coroutine[object, None, None]], seed: int = 1, nodes: int = 1
) -> None:
    """Run a program in an office with so many nodes; its replicas are equal in the end."""

    async def begin(world: World) -> None:
        names = "abc"[:nodes]
        at = [await world.node(name).open(Accounts, NAME) for name in names]
        await at[0].offer_ownership("first")
        ann = await at[0].found("first", "Ann", "ann@example.org", "verifier", "Home", ORIGIN)
        await main(Office(world, at, ann))
        await world.settle()
        world.assert_equal(NAME)

    World(seed, BAD_WEATHER).run(begin)
