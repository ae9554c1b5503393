"""Blocks of Terraform, Kubernetes objects, items of lists and sections of settings have their names."""

import pytest

from gitmem.chunking.chunk import chunk_blob

_TERRAFORM = """# Licence of the module

################################
# Network of the cluster
################################

resource "aws_vpc" "main" {
  cidr_block = var.cidr

  lifecycle {
    prevent_destroy = true
  }
}

data "aws_region" "current" {}

module "nodes" {
  source = "./modules/nodes"
}

variable "cidr" {
  type = string
}

output "vpc_id" {
  value = aws_vpc.main.id
}

locals {
  zones = slice(data.aws_zones.all.names, 0, 3)
  name  = "shop"
}
"""


def symbols(text: str, language: str) -> list[str]:
    chunks = chunk_blob(text.encode(), language).chunks
    return [unit.symbol for chunk in chunks for unit in (chunk.units or (chunk,))]


def test_each_block_of_terraform_is_a_result_named_like_its_references() -> None:
    found = symbols(_TERRAFORM, "terraform")
    assert found == [
        "aws_vpc.main", "data.aws_region.current", "module.nodes", "var.cidr", "output.vpc_id",
        "local", "local.zones", "local.name",
    ]  # fmt: skip


def test_a_headline_in_terraform_belongs_to_the_block_below() -> None:
    data = _TERRAFORM.encode()
    first = chunk_blob(data, "terraform").chunks[0]
    assert b"Network of the cluster" in data[first.start : first.end]


def test_blocks_inside_of_a_large_resource_are_its_text() -> None:
    rules = "".join(f'  ingress {{\n    description = "rule {n}"\n    from_port   = {n}\n  }}\n' for n in range(60))
    assert set(symbols(f'resource "aws_security_group" "main" {{\n{rules}}}\n', "terraform")) == {
        "aws_security_group.main"
    }


def test_values_of_variables_are_results() -> None:
    assert symbols('region = "eu-west-1"\n', "terraform") == ["region"]


_OBJECT = "apiVersion: apps/v1\nkind: {}\nmetadata:\n  labels: {{a: b}}\n  name: {}\nspec:\n  replicas: 2\n"


def test_a_kubernetes_object_has_its_kind_and_name() -> None:
    text = _OBJECT.format("Deployment", "shop") + "---\n" + _OBJECT.format("Service", '"shop.internal"')
    assert symbols(text, "yaml") == ["Deployment/shop, Service/shop.internal"]


def test_keys_of_a_large_object_are_qualified_by_it() -> None:
    text = _OBJECT.format("ConfigMap", "rates") + "data:\n" + "".join(f"  rate_{n}: '{n * n}'\n" for n in range(200))
    assert symbols(text, "yaml")[1].startswith("ConfigMap/rates.data.rate_")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- name: Install nginx\n  apt: {name: nginx}\n- name: 'Start, then enable'\n  service: nginx\n",
         "Install nginx, Start then enable"),
        ("- hosts: all\n  become: true\n  name: Set up {{ role }} hosts\n", "Set up hosts"),
        ("- alert: DiskFull\n  expr: disk > 0.9\n", "DiskFull"),
        ("- uses: actions/checkout@v4\n- {name: inline}\n- name: [a]\n- name: *anchor\n", ""),
        ("apiVersion: kubeadm.k8s.io/v1\nkind: InitConfiguration\n", "InitConfiguration"),
        ("kind: pipeline\nname: build\n", "kind, name"),
    ],
)  # fmt: skip
def test_items_of_lists_have_their_names(text: str, expected: str) -> None:
    assert symbols(text, "yaml") == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[metadata]\nname = shop\n; notes\n[tool:pytest]\naddopts = -q\n", "metadata, tool:pytest"),
        ('[remote "origin"]\n\turl = a\n[user]\n\tname = b\n', "remote.origin, user"),
        ('[gd_scene format=3]\n[node name="Shop Door" type="Area2D"]\nx = 1\n[connection signal="a"]\n', "Shop Door"),
        ("[flake8]\nexclude =\n    [a]\n", "flake8"),
    ],
)  # fmt: skip
def test_sections_of_settings_have_their_names(text: str, expected: str) -> None:
    assert symbols(text, "ini") == [expected]
