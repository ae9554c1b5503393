"""What a person or an agent told gitmem: notes, documents and conversations, as records in the repository itself.

Records are blobs under one ref, so git keeps, versions and carries them. Nothing here needs an index.
"""
