"""Tools of toolset `admin`: update the index, stop a run, read the configuration again, open or stop the page.

An agent may use them only in the server's own repository and those that its user has registered or opened. None of them
touches records: notes, documents and conversations survive even a reset.
"""

from typing import Final

from gitmem.mcp.tools.descriptions import FORMAT, REPLACES, ROOT, WRITES, Tool, object_schema

MODES: Final = ("incremental", "full", "reset")

INDEX_UPDATE: Final = Tool(
    "index_update",
    "Update the index",
    "Bring the index up to date and wait for it. Searches do this by themselves; use it after large changes, or with "
    "`full` if results look wrong. Memory is never touched.",
    object_schema(
        {
            "mode": {
                "type": "string",
                "enum": list(MODES),
                "default": MODES[0],
                "description": "full: embed everything again; reset: delete the index first",
            },
            "dry_run": {"type": "boolean", "default": False, "description": "only report"},
            "verbose": {"type": "boolean", "default": False, "description": "name the skipped files"},
            "root": ROOT,
            "format": FORMAT,
        }
    ),
    REPLACES,
)
INDEX_CANCEL: Final = Tool(
    "index_cancel",
    "Stop an index run",
    "Stop the index run of any process. Completed work is kept.",
    object_schema({"root": ROOT, "format": FORMAT}),
    REPLACES,
)
CONFIG_RELOAD: Final = Tool(
    "config_reload",
    "Read the configuration again",
    "Read the configuration again, and open the index with it. If that fails, the server goes on as before.",
    object_schema({"root": ROOT, "format": FORMAT}),
    REPLACES,
)
MANAGER: Final = Tool(
    "manager",
    "Open or stop the web page",
    "Open the web page of the user's repositories in a browser, or stop its server.",
    object_schema(
        {
            "action": {"type": "string", "enum": ["open", "stop"], "default": "open"},
            "browser": {"type": "boolean", "default": True, "description": "false: only return the link"},
        }
    ),
    WRITES,
)

TOOLS: Final = (INDEX_UPDATE, INDEX_CANCEL, CONFIG_RELOAD, MANAGER)
