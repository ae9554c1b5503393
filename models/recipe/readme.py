"""Read-me pages to pairs: a heading and its text against the code that they introduce or name."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from gitmem.chunking.languages import language_of
from models.recipe.pairs import LANGUAGES, MAX_CODE, Pair, digest_of, has_substance
from models.recipe.prose import is_question

_FENCE: Final = re.compile(r"(?ms)^```[ \t]*\{?\.?([\w+#-]+)[^\n]*\n(.*?)^```[ \t]*$")
_HEADING: Final = re.compile(r"(?m)^#{1,5}[ \t]+(.+?)[ \t]*#*$")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_NAME: Final = re.compile(r"`(?:[\w.:#]*[.:#])?([A-Za-z_]\w{3,})(?:\([^`]*\))?`")
_SENTENCE: Final = re.compile(r"[^.!?\n]{20,300}[.!?](?=\s|$)")


def readme_pairs(text: str, path: str) -> Iterator[Pair]:
    """The paragraph above a fenced block and, where there is none, its heading, against the block."""
    for found in _FENCE.finditer(text):
        language = _language(found[1])
        code = found[2].rstrip()[:MAX_CODE]
        if not language or not has_substance(code):
            continue
        above = text[max(0, found.start() - 2500) : found.start()]
        headings = _HEADING.findall(above)
        title = _plain(headings[-1]) if headings else ""
        words = _plain(_paragraph(above))
        question = f"{title}: {words}" if words and len(title.split()) < 8 and title else words or title
        if is_question(question) and len(question.split()) >= 3:
            yield Pair(" ".join(question.split()[-50:]), code, language, "heading", path, "", digest_of(code))


def mention_pairs(text: str, known: Mapping[str, Pair]) -> Iterator[Pair]:
    """A sentence that names one definition of the package, against that definition, the name left out."""
    text = _FENCE.sub("", text)
    for found in _SENTENCE.finditer(text):
        names = {name for name in _NAME.findall(found[0]) if name in known}
        if len(names) != 1:
            continue
        pair = known[names.pop()]
        question = _plain(_NAME.sub(lambda name: "" if name[1] in known else name[1], found[0]))
        if len(question.split()) >= 5 and is_question(question):
            yield pair._replace(question=question, kind="mention")


def _language(info: str) -> str:
    info = {"c++": "cpp", "c#": "csharp", "golang": "go", "shell": "", "sh": "", "console": ""}.get(
        info.lower(), info.lower()
    )
    found = info if info in LANGUAGES else language_of(f"x.{info}") if info else ""
    return "typescript" if found == "tsx" else found if found in LANGUAGES else ""


def _paragraph(above: str) -> str:
    last = above.rstrip().rpartition("\n\n")[2].strip()
    return "" if last.startswith(("#", "|", "<", "```", ">")) else last


def _plain(text: str) -> str:
    text = re.sub(r"<[^>]+>|https?://\S+|[*`]+", "", _LINK.sub(r"\1", text))
    return " ".join(text.split()).strip(" :-")
