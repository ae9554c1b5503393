"""Only permissively licensed code is used for training."""

import pytest

from models.recipe.licence import forbids, is_permissive, licence_of_copyright, licence_of_text


@pytest.mark.parametrize(
    "licence", ["MIT", "BSD-3-Clause", "Apache-2.0 AND MIT", "GPL-2 or MIT", "Expat", "ISC/MPL-2.0"]
)
def test_permissive_licences_and_choices_are_accepted(licence: str) -> None:
    assert is_permissive(licence)


@pytest.mark.parametrize("licence", ["GPL-3+", "MIT AND GPL-2", "LGPL-2.1 or GPL-2", "SEE LICENSE IN X", "", "MPL-2.0"])
def test_copyleft_mixed_and_unknown_licences_are_refused(licence: str) -> None:
    assert not is_permissive(licence)


def test_the_licence_of_a_copyright_file_is_that_of_all_files() -> None:
    text = "Format: x\n\nFiles: debian/*\nCopyright: me\nLicense: GPL-2\n\nFiles: *\nCopyright: you\nLicense: Expat\n"
    assert licence_of_copyright(text) == "Expat"


def test_a_licence_is_recognised_by_its_text() -> None:
    assert licence_of_text("Permission is hereby granted, free of\n charge, to any person") == "MIT"
    assert licence_of_text("GNU GENERAL PUBLIC LICENSE\nVersion 2") == ""


def test_a_copyleft_notice_at_the_head_of_a_file_is_recognised() -> None:
    assert forbids("/* under the GNU General Public License */")
    assert not forbids("/* under the MIT licence */")
