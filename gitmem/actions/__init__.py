"""One module per thing a user can do; the command line and the servers share them."""
