"""Commands on notes, documents and conversations: add, list, show, change, delete, restore, transfer and purge them."""
