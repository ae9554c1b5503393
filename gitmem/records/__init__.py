"""Notes, documents and conversations that users and agents store: add, list, find, change, delete and transfer them."""
