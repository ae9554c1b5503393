"""BitBake: tasks of shell and Python, by lines in files with syntax errors.

The parser ends a task at `'${D}'` or at `$(basename "${lib}")` in a command, for example, and the next ones are lost.
"""

from typing import Final

from gitmem.chunking.grammar import Node, leaf, make_grammar
from gitmem.chunking.grammars.line_grammar import make_line_grammar
from gitmem.chunking.node_names import text_of


def _task_name(node: Node, data: bytes) -> str:
    """Return the name of a task with its override: `do_install:append`."""
    return "".join(text_of(child, data) for child in node.named_children if child.type in ("identifier", "override"))


_LINES: Final = make_line_grammar(
    r"#",
    ("function", r"(?:(?:python|fakeroot)\s+)*(?P<name>[\w.+${}-]+(?::[\w.+${}-]+)*)\s*\(\s*\)\s*\{"),
    ("function", r"def\s+(?P<name>\w+)\s*\("),
    closing=r"\}\s*$",
    is_flat=True,
)

GRAMMARS: Final = {
    "bitbake": make_grammar(
        "bitbake",
        {
            "function_definition": leaf("function", _task_name),
            "anonymous_python_function": leaf("function", _task_name),
            "python_function_definition": leaf("function"),
        },
        otherwise=_LINES,
    )
}
