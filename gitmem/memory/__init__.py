"""Notes, documents and conversations that users and agents store, as records in the repository itself.

Records are blobs under one ref, so git stores, versions and transfers them. Nothing in this package needs an index.
"""
