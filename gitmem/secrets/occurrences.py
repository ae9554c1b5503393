"""Find the places of a text in a larger one. Shared by the scanner and its prefilter; imports nothing."""


def find_places(text: bytes, keyword: bytes) -> list[int]:
    """Return the places of a keyword, which do not overlap."""
    places = []
    place = text.find(keyword)
    while place >= 0:
        places.append(place)
        place = text.find(keyword, place + len(keyword))
    return places
