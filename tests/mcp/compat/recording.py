"""Recorded sessions: the calls of a client of an older system, and the answers that it expects, in order."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mcp.client.client import Client
from mcp.shared.exceptions import MCPError

from tests.mcp.clients import talk_to_process


class Step(NamedTuple):
    """Call of a tool, and a regular expression for the whole text of its answer.

    Named groups are kept: `{name}` in later arguments and expressions stands for the text of the group. `failed` says
    that the call must fail.
    """

    tool: str
    arguments: dict[str, Any]
    answer: str
    failed: bool = False


def replay(folder: Path, toolset: str, steps: Sequence[Step]) -> list[str]:
    """Replay a session with a real client over standard input and output; return the texts of all answers."""
    texts: list[str] = []

    async def action(client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        groups: dict[str, str] = {}
        for step in steps:
            assert step.tool in names
            arguments = json.loads(fill(json.dumps(step.arguments), groups))
            text = await answer_of(client, step, arguments)
            match = re.fullmatch(fill(step.answer, groups), text, re.DOTALL)
            assert match, f"{step.tool} {arguments}\nanswered {text!r}\nexpected {step.answer!r}"
            groups.update(match.groupdict())
            texts.append(text)

    talk_to_process(folder, action, toolsets=toolset)
    return texts


def fill(text: str, groups: dict[str, str]) -> str:
    """Replace the names of groups by their texts."""
    for name, value in groups.items():
        text = text.replace(f"{{{name}}}", value)
    return text


async def answer_of(client: Client, step: Step, arguments: dict[str, Any]) -> str:
    """Return the text of an answer or error. Values beside the text must be equal to it."""
    try:
        made = await client.call_tool(step.tool, arguments)
    except MCPError as error:
        if not step.failed:
            raise
        return json.dumps({"code": error.code, "message": error.error.message, "data": error.error.data})
    text = str(made.content[0].text)  # type: ignore[union-attr]
    assert bool(made.is_error) == step.failed, text
    assert len(made.content) == 1
    if made.structured_content is not None:
        assert json.loads(text) == made.structured_content
    return text
