"""Usages in Terraform: names with what is before them, each known in its folder alone."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "variables.tf": 'variable "region" {\n  default = "x"\n}\n',
    "main.tf": """locals {
  zone = var.region
  all = [
    "region = 1",
  ]
}

resource "aws_vpc" "main" {
  region = var.region
  tags   = local.all
}

data "aws_ami" "main" {}

module "net" {
  source = "./net"
  vpc    = aws_vpc.main.id
  image  = data.aws_ami.main.id
}

output "vpc" {
  value = module.net.vpc
}
""",
    "net/main.tf": 'variable "region" {}\n\nresource "aws_vpc" "main" {\n  region = var.region\n}\n',
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("terraform") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "definitions", "mentions"),
    [
        ("var.region", ["net/main.tf:1", "variables.tf:1"], ["main.tf:2", "main.tf:9", "net/main.tf:4"]),
        ("variable.region", ["net/main.tf:1", "variables.tf:1"], ["main.tf:2", "main.tf:9", "net/main.tf:4"]),
        ("variables.tf:1", ["variables.tf:1"], ["main.tf:2", "main.tf:9"]),
        ("local.all", ["main.tf:3"], ["main.tf:10"]),
        ("main.tf:8", ["main.tf:8"], ["main.tf:17"]),
        ("data.aws_ami.main", ["main.tf:13"], ["main.tf:18"]),
        ("module.net", ["main.tf:15"], ["main.tf:22"]),
        ("output.vpc", ["main.tf:21"], []),
    ],
)
def test_references_mean_the_definition_of_their_folder(
    opened: Searcher, name: str, definitions: list[str], mentions: list[str]
) -> None:
    assert sorted(places(opened, name, "definitions")) == definitions
    assert sorted(places(opened, name, "mentions")) == mentions
