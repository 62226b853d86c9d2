"""Every operation of the API, asked by who may not: refused, and nothing is changed by it.

The table says the least that somebody has to be for each operation. One that the description knows
and the table does not fails the test: nobody adds a route without saying for whom it is.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from enum import IntEnum
from typing import Any

from tests.server.accounts.people import Browser, hire
from tests.server.support import get


class Who(IntEnum):
    """What one is in the workspace and the document that are asked for."""

    NOBODY = 0
    STRANGER = 1
    VIEWER = 2
    EDITOR = 3
    OWNER = 4


LEAST = {
    **dict.fromkeys(
        ("get_session", "post_session", "post_session_oidc", "get_session_oidc_callback"),
        Who.NOBODY,
    ),
    **dict.fromkeys(("post_users_first", "post_users_first_look"), Who.NOBODY),
    "post_invitations_look": Who.NOBODY,
    **dict.fromkeys(("post_password_mail", "post_password_look"), Who.NOBODY),
    **dict.fromkeys(("post_password_reset", "post_session_second"), Who.NOBODY),
    **dict.fromkeys(("post_invitations_accept", "post_links_enter", "get_nodes"), Who.NOBODY),
    "get_openapi_json": Who.NOBODY,
    **dict.fromkeys(("post_session_passkey", "post_session_passkey_begin"), Who.NOBODY),
    # One's own: whoever is signed in.
    **dict.fromkeys(("get_me_passkeys", "post_me_passkeys"), Who.STRANGER),
    **dict.fromkeys(("post_me_passkeys_begin", "post_me_passkeys_passkey_remove"), Who.STRANGER),
    **dict.fromkeys(("delete_session", "post_ticket", "get_me", "patch_me"), Who.STRANGER),
    **dict.fromkeys(("put_me_password", "get_me_sessions", "delete_me_sessions"), Who.STRANGER),
    **dict.fromkeys(("delete_me_sessions_session", "get_workspaces"), Who.STRANGER),
    **dict.fromkeys(("get_tokens", "post_tokens", "delete_tokens_token"), Who.STRANGER),
    **dict.fromkeys(("get_documents", "get_places", "get_files"), Who.STRANGER),
    "delete_me_favourites_item": Who.STRANGER,
    **dict.fromkeys(("post_me_address_mail", "post_me_address_prove"), Who.STRANGER),
    **dict.fromkeys(("post_me_totp", "put_me_totp", "post_me_totp_remove"), Who.STRANGER),
    **dict.fromkeys(("get_me_export_zip", "get_me_erase", "post_me_erase"), Who.STRANGER),
    # To read.
    **dict.fromkeys(("get_documents_doc", "get_documents_doc_markdown"), Who.VIEWER),
    **dict.fromkeys(("get_documents_doc_export_zip", "get_documents_doc_place"), Who.VIEWER),
    **dict.fromkeys(
        ("get_documents_doc_headings", "get_documents_doc_pictures_picture"), Who.VIEWER
    ),
    **dict.fromkeys(("put_me_favourites_item", "get_places_doc"), Who.VIEWER),
    **dict.fromkeys(("get_places_doc_pictures_picture", "get_places_doc_talk"), Who.VIEWER),
    **dict.fromkeys(("get_workspaces_workspace_members", "get_documents_doc_members"), Who.VIEWER),
    # To write.
    **dict.fromkeys(("post_documents", "post_documents_import"), Who.EDITOR),
    **dict.fromkeys(("patch_documents_doc", "post_documents_doc_pictures"), Who.EDITOR),
    **dict.fromkeys(("post_folders", "patch_folders_folder", "post_files_move"), Who.EDITOR),
    **dict.fromkeys(("post_files_trash", "post_files_restore"), Who.EDITOR),
    "post_documents_doc_duplicate": Who.EDITOR,
    **dict.fromkeys(("post_places", "patch_places_doc", "post_places_doc_things"), Who.EDITOR),
    **dict.fromkeys(("patch_places_doc_things", "delete_places_doc_things"), Who.EDITOR),
    **dict.fromkeys(("post_places_doc_pictures", "post_places_doc_duplicate"), Who.EDITOR),
    "delete_places_doc_talk_remark": Who.EDITOR,
    # To say who may.
    **dict.fromkeys(("get_users", "post_users", "patch_users_user"), Who.OWNER),
    **dict.fromkeys(("delete_users_user_sessions", "get_audit", "post_workspaces"), Who.OWNER),
    **dict.fromkeys(("patch_workspaces_workspace", "post_workspaces_workspace_trash"), Who.OWNER),
    **dict.fromkeys(("post_users_user_confirm", "delete_users_user_factors"), Who.OWNER),
    "post_workspaces_workspace_members": Who.OWNER,
    "put_workspaces_workspace_members_user": Who.OWNER,
    "delete_workspaces_workspace_members_user": Who.OWNER,
    "get_workspaces_workspace_invitations": Who.OWNER,
    "post_workspaces_workspace_invitations": Who.OWNER,
    "delete_workspaces_workspace_invitations_invitation": Who.OWNER,
    "post_documents_doc_members": Who.OWNER,
    "put_documents_doc_members_user": Who.OWNER,
    "delete_documents_doc_members_user": Who.OWNER,
    **dict.fromkeys(("get_documents_doc_links", "post_documents_doc_links"), Who.OWNER),
    # To run the cluster.
    **dict.fromkeys(("get_admin_overview", "get_admin_load", "get_admin_groups"), Who.OWNER),
    **dict.fromkeys(("get_admin_groups_group", "get_admin_nodes_node"), Who.OWNER),
    **dict.fromkeys(("get_admin_migrations", "post_admin_migrations"), Who.OWNER),
    **dict.fromkeys(("post_admin_migrations_move_cancel", "get_admin_plans"), Who.OWNER),
    **dict.fromkeys(("post_admin_plans", "get_admin_plans_plan"), Who.OWNER),
    **dict.fromkeys(("post_admin_plans_plan_cancel", "post_admin_nodes_node_drain"), Who.OWNER),
    **dict.fromkeys(("post_admin_nodes_node_revive", "post_admin_nodes_node_leave"), Who.OWNER),
    **dict.fromkeys(("post_admin_keys_rotate", "get_admin_sessions"), Who.OWNER),
    **dict.fromkeys(("post_admin_sessions_end", "get_admin_order", "get_admin_backup"), Who.OWNER),
    **dict.fromkeys(("get_admin_overlap", "get_admin_overlap_group"), Who.OWNER),
    **dict.fromkeys(("get_admin_operations", "post_admin_operations"), Who.OWNER),
    **dict.fromkeys(("get_admin_operations_operation", "get_admin_views"), Who.OWNER),
    "post_admin_operations_operation_cancel": Who.OWNER,
    "get_admin_order_violations": Who.OWNER,
    "get_admin_order_violations_violation": Who.OWNER,
    **dict.fromkeys(("delete_documents_doc_links_link", "post_files_delete"), Who.OWNER),
}


async def test_nobody_does_what_is_not_for_them(ann: Browser) -> None:
    _, described = await get(f"{ann.node.url}/api/v1/openapi.json")
    doc, folder, owner = await ann.create("Plan"), await folder_of(ann), await me(ann)
    board = await board_of(ann)
    named = {"doc": doc, "folder": folder, "workspace": "home", "user": owner, "item": doc}
    filled: dict[str, object] = {
        "items": [doc],
        "workspace": "home",
        "email": "ann@example.org",
        "title": "Mine now",
        "edits": [{"id": "frame-0", "changes": {"text": "Mine now"}}],
    }
    async with AsyncExitStack() as stack:
        people = {Who.NOBODY: await stack.enter_async_context(Browser(ann.node))}
        for who, role in ((Who.STRANGER, ""), (Who.VIEWER, "viewer"), (Who.EDITOR, "editor")):
            await hire(ann, who.name.lower(), role)
            people[who] = await stack.enter_async_context(Browser(ann.node))
            await people[who].sign_in(f"{who.name.lower()}@example.org")
        before = await seen_by(ann, doc, board)
        for path, verbs in described["paths"].items():
            for verb, operation in verbs.items():
                least = LEAST[operation["operationId"]]
                place = path.replace("/places/{doc}", f"/places/{board}")
                for name in (one["name"] for one in operation["parameters"]):
                    place = place.replace(f"{{{name}}}", named.get(name, "x" * 16))
                body = body_of(operation, filled)
                for who, browser in people.items():
                    if who < least:
                        status, answer = await browser.ask(verb.upper(), place, body)
                        assert status in (401, 403, 404), (who, verb, path, status, answer)
        assert await seen_by(ann, doc, board) == before


async def folder_of(ann: Browser) -> str:
    status, made = await ann.ask("POST", "/folders", {"workspace": "home", "name": "Old"})
    assert status == 201, made
    return str(made["id"])


async def board_of(ann: Browser) -> str:
    body = {"title": "Board", "template": "kanban"}
    status, made = await ann.ask("POST", "/places", body)
    assert status == 201, made
    return str(made["id"])


async def me(ann: Browser) -> str:
    return str((await ann.ask("GET", "/me"))[1]["id"])


async def seen_by(ann: Browser, doc: str, board: str) -> list[Any]:
    """What all this would have changed."""
    of_all = ("/users", "/workspaces", "/workspaces/home/members", "/files")
    of_it = (f"/documents/{doc}{part}" for part in ("", "/members", "/links", "/place"))
    asked = (*of_all, *of_it, "/workspaces/home/invitations", f"/places/{board}")
    return [await ann.ask("GET", path) for path in asked]


def body_of(operation: dict[str, Any], filled: dict[str, object]) -> object:
    """The least body that is as described."""
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    if schema is None:
        return None
    return {
        name: filled.get(name, example(schema["properties"][name])) for name in schema["required"]
    }


def example(schema: dict[str, Any]) -> object:
    """Something that fits."""
    if "enum" in schema:
        return schema["enum"][-1]
    if schema.get("items", {}).get("type") == "object":
        return [{"kind": "text"}]
    if "pattern" in schema.get("items", {}):
        return ["frame-0"]
    kinds: dict[str, object] = {"boolean": True, "integer": 1, "array": ["documents:read"]}
    return kinds.get(schema["type"], "correct horse")


def test_a_body_is_made_of_what_is_needed_only() -> None:
    schema = {"required": ["a"], "properties": {"a": {"type": "integer"}, "b": {}}}
    operation = {"requestBody": {"content": {"application/json": {"schema": schema}}}}
    assert body_of(operation, {}) == {"a": 1}
