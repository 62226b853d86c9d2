"""Results that come later, and several operations as one."""

from __future__ import annotations

import pytest

from groupcore.shared import NotDoneError, Pending, SharedError, SharedObject, operation


class Account(SharedObject):
    """May not hold more than 100."""

    owner: str = "nobody"
    balance: int = 0

    @operation
    def deposit(self, amount: int) -> int:
        self.balance += amount
        if self.balance > 100:
            raise ValueError("too rich")
        return self.balance

    @operation
    def rename(self, owner: str) -> str:
        self.owner = owner
        return owner


async def test_a_transaction_is_all_or_nothing() -> None:
    account = Account()
    async with account.transaction() as both:
        both.deposit(50)
        total = both.deposit(20)
    assert total.result() == 70

    async def fail() -> None:
        async with account.transaction() as both:
            pendings.append(both.rename("ann"))
            both.deposit(50)

    pendings: list[Pending[str]] = []
    with pytest.raises(ValueError, match="too rich"):
        await fail()
    assert isinstance(pendings[0].error, ValueError)
    assert (account.owner, account.balance) == ("nobody", 70)


async def test_a_transaction_whose_block_raises_sends_nothing() -> None:
    account = Account()

    async def change_mind() -> None:
        async with account.transaction() as both:
            both.deposit(1)
            raise RuntimeError("changed my mind")

    with pytest.raises(RuntimeError):
        await change_mind()
    async with account.transaction():
        pass
    with pytest.raises(AttributeError, match="read from the object itself"):
        async with account.transaction() as both:
            _ = both.balance
    assert account.balance == 0


def test_a_result_is_not_there_before_it_is_done() -> None:
    pending: Pending[int] = Pending()
    with pytest.raises(NotDoneError):
        pending.result()
    called: list[bool] = []
    pending.when_done(lambda: called.append(pending.done))
    pending.resolve(3)
    pending.when_done(lambda: called.append(pending.done))
    assert (pending.result(), pending.error, called) == (3, None, [True, True])


async def test_what_is_not_open_cannot_be_waited_for() -> None:
    with pytest.raises(SharedError, match="not open"):
        await Pending[int]()
    account = Account()
    assert await account.deposit(3) == 3
    await account.refresh()
    await account.close()
    assert account.members == (account.process,)
