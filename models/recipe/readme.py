"""Make pairs from README pages: text and heading with the code block below, sentences with the definition they name."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gitmem.chunking.languages import language_of
from models.recipe.pairs import LANGUAGES, MAX_CODE, Pair, digest_of, has_substance
from models.recipe.prose import is_query

_FENCE: Final = re.compile(r"(?ms)^```[ \t]*\{?\.?([\w+#-]+)[^\n]*\n(.*?)^```[ \t]*$")
_HEADING: Final = re.compile(r"(?m)^#{1,5}[ \t]+(.+?)[ \t]*#*$")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NAME: Final = re.compile(r"`(?:[\w.:#]*[.:#])?([A-Za-z_]\w{3,})(?:\([^`]*\))?`")
_SENTENCE: Final = re.compile(r"[^.!?\n]{20,300}[.!?](?=\s|$)")


def readme_pairs(text: str, path: str) -> Iterator[Pair]:
    """Yield each fenced block with a query: a short heading and the paragraph above it, or one of the two."""
    for fence in _FENCE.finditer(text):
        language = _language(fence[1])
        code = fence[2].rstrip()[:MAX_CODE]
        if not language or not has_substance(code):
            continue
        above = text[max(0, fence.start() - 2500) : fence.start()]
        headings = _HEADING.findall(above)
        title = _plain(headings[-1]) if headings else ""
        words = _plain(_paragraph(above))
        query = f"{title}: {words}" if words and len(title.split()) < 8 and title else words or title
        if is_query(query) and len(query.split()) >= 3:
            yield Pair(" ".join(query.split()[-50:]), code, language, "heading", path, "", digest_of(code))


def mention_pairs(text: str, definitions: Mapping[str, Pair]) -> Iterator[Pair]:
    """Yield each sentence that names exactly one definition, without the name, with the code of that definition."""
    text = _FENCE.sub("", text)
    for sentence in _SENTENCE.finditer(text):
        # A sentence with several names would describe how they relate, not any one of them.
        names = {name for name in _NAME.findall(sentence[0]) if name in definitions}
        if len(names) != 1:
            continue
        pair = definitions[names.pop()]
        query = _plain(_NAME.sub(lambda name: "" if name[1] in definitions else name[1], sentence[0]))
        if len(query.split()) >= 5 and is_query(query):
            yield pair._replace(query=query, kind="mention")


def _language(info: str) -> str:
    info = {"c++": "cpp", "c#": "csharp", "golang": "go", "shell": "", "sh": "", "console": ""}.get(
        info.lower(), info.lower()
    )
    language = info if info in LANGUAGES else language_of(f"x.{info}") if info else ""
    return "typescript" if language == "tsx" else language if language in LANGUAGES else ""


def _paragraph(above: str) -> str:
    last = above.rstrip().rpartition("\n\n")[2].strip()
    return "" if last.startswith(("#", "|", "<", "```", ">")) else last


def _plain(text: str) -> str:
    text = re.sub(r"<[^>]+>|https?://\S+|[*`]+", "", _LINK.sub(r"\1", text))
    return " ".join(text.split()).strip(" :-")
