"""Child processes for work that may crash, hang or take all memory: hostile blobs and documents."""
