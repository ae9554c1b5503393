"""Object ids."""


def object_id(kind: str, data: bytes, object_format: str) -> str:
    """Return the id of an object by kind (commit, tree or blob) and content. `object_format` is sha1 or sha256."""
    import hashlib  # slow to import, and commands that read no objects do not need it

    digest = hashlib.new(object_format, b"%s %d\0" % (kind.encode("ascii"), len(data)), usedforsecurity=False)
    digest.update(data)
    return digest.hexdigest()
