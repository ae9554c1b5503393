"""Templates of reports as excerpts: their descriptions, by the id `template:NAME`."""

import json
from collections.abc import Sequence

from gitmem.actions.report_template import read_template
from gitmem.answering.excerpts import Excerpt
from gitmem.answering.repository_ids import TEMPLATE
from gitmem.errors import GitmemError
from gitmem.workspace import Workspace


def read_templates(workspace: Workspace, names: Sequence[str]) -> dict[str, list[Excerpt] | GitmemError]:
    """Return the descriptions of some templates by name as JSON, or why there are none."""
    found: dict[str, list[Excerpt] | GitmemError] = {}
    for name in names:
        try:
            schema = read_template(workspace, name).schema
        except GitmemError as error:
            found[name] = error
            continue
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        heading = f"{TEMPLATE}:{schema['name']}"
        found[name] = [Excerpt(heading, text.splitlines(), 1, text, {"id": heading, "kind": TEMPLATE})]
    return found
