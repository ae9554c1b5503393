"""Read ids of repositories on the server of an organisation; its client is loaded if one is named."""

from collections.abc import Sequence

from gitmem.answering.readings import NameOptions, Reading
from gitmem.errors import GitmemError


def read_from_server(dsn: str, repository: str, names: Sequence[str], options: NameOptions) -> Reading:
    """Read some ids of a published repository. What cannot be read is part of the result."""
    from gitmem.org.published_files import read_published  # with the search, which other ids do not need

    try:
        return read_published(dsn, repository, names, options.rev)
    except GitmemError as error:
        return Reading(dict.fromkeys(names, error), "", (), repository)
