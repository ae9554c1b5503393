"""The web page: HTML from templates, over the same operations as the API, and one small script that enriches it."""
