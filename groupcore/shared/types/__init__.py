"""Shared objects that are ready to use; docs/shared/ has a page on each."""

from groupcore.shared.types.anchor import Anchor, AnchorRange
from groupcore.shared.types.counter import Counter
from groupcore.shared.types.editor import Editor
from groupcore.shared.types.lease import Grant, Lease
from groupcore.shared.types.list import (
    Inserted,
    ItemChanged,
    List,
    Moved,
    NoSuchItemError,
    Removed,
)
from groupcore.shared.types.lock import Granted, HeldError, Lock, NotHeldError, Ticket
from groupcore.shared.types.map import KeyChanged, Map
from groupcore.shared.types.outline import Outline, OutlineEdited
from groupcore.shared.types.presence import Presence, PresenceChanged
from groupcore.shared.types.register import Register
from groupcore.shared.types.rich_text import RichText, RichTextEdited
from groupcore.shared.types.text import Text, TextEdited
from groupcore.shared.types.topic import FifoTopic, Published, Subscription, Topic

__all__ = [
    "Anchor",
    "AnchorRange",
    "Counter",
    "Editor",
    "FifoTopic",
    "Grant",
    "Granted",
    "HeldError",
    "Inserted",
    "ItemChanged",
    "KeyChanged",
    "Lease",
    "List",
    "Lock",
    "Map",
    "Moved",
    "NoSuchItemError",
    "NotHeldError",
    "Outline",
    "OutlineEdited",
    "Presence",
    "PresenceChanged",
    "Published",
    "Register",
    "Removed",
    "RichText",
    "RichTextEdited",
    "Subscription",
    "Text",
    "TextEdited",
    "Ticket",
    "Topic",
]
