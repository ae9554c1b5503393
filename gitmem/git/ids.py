"""Names of objects: what git calls a content."""


def object_id(kind: str, data: bytes, object_format: str) -> str:
    """The id of an object of this kind (commit, tree or blob) and content. `object_format` is sha1 or sha256."""
    import hashlib  # slow to import

    digest = hashlib.new(object_format, b"%s %d\0" % (kind.encode("ascii"), len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
