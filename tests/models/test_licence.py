"""Only permissively licensed code is learnt from."""

import pytest

from models.recipe.licence import forbids, is_permissive, licence_of_copyright, licence_of_text


@pytest.mark.parametrize(
    "licence", ["MIT", "BSD-3-Clause", "Apache-2.0 AND MIT", "GPL-2 or MIT", "Expat", "ISC/MPL-2.0"]
)
def test_permissive_licences_and_choices_are_taken(licence: str) -> None:
    assert is_permissive(licence)


@pytest.mark.parametrize("licence", ["GPL-3+", "MIT AND GPL-2", "LGPL-2.1 or GPL-2", "SEE LICENSE IN X", "", "MPL-2.0"])
def test_copyleft_mixed_and_unknown_licences_are_refused(licence: str) -> None:
    assert not is_permissive(licence)


def test_a_copyright_file_speaks_through_its_stanza_for_all_files() -> None:
    text = "Format: x\n\nFiles: debian/*\nCopyright: me\nLicense: GPL-2\n\nFiles: *\nCopyright: you\nLicense: Expat\n"
    assert licence_of_copyright(text) == "Expat"


def test_a_licence_is_known_by_its_words() -> None:
    assert licence_of_text("Permission is hereby granted, free of\n charge, to any person") == "MIT"
    assert licence_of_text("GNU GENERAL PUBLIC LICENSE\nVersion 2") == ""


def test_a_file_under_another_licence_than_its_package_is_told_by_its_head() -> None:
    assert forbids("/* under the GNU General Public License */")
    assert not forbids("/* under the MIT licence */")
