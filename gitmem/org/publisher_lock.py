"""Number of the lock that protects stored blobs that no head refers to yet."""

from typing import Final

BLOB_LOCK: Final = 0x6769746E
"""Advisory lock: shared by publishers, exclusive for the removal of blobs and the division of a database."""
