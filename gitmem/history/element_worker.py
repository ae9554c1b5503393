"""The program that finds the elements of blobs in a process of its own, because parsers may crash or hang.

Started as `python -P -m gitmem.history.element_worker`, or forked. Each request is a language and a blob. The answer
is the fields of `FileElements`.
"""

import os

from gitmem.processes.frames import read_frame, write_frame


def main() -> None:
    """Answer requests until the pipe closes."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output that a library prints must not reach the pipe
    from gitmem.chunking.elements import find_elements

    while True:
        try:
            language, data = read_frame(requests)
        except EOFError:
            return
        elements, comments = find_elements(data, language)
        write_frame(answers, ([tuple(element) for element in elements], comments))


if __name__ == "__main__":
    main()
