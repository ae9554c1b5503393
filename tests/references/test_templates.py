"""Templates are included by their paths, call the helpers of their language, and are rendered by code of any."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "app/views/orders/_row.html.erb": "<li><%= price_of(order) %></li>\n",
    "app/views/orders/index.html.erb": '<%= render "row" %>\n<%= render partial: "shared/row" %>\n',
    "app/views/shared/_row.html.erb": "<p></p>\n",
    "app/views/home/index.html.erb": '<%= render "orders/row" %><% price_all 1 %>\n',
    "app/controllers/orders_controller.rb": 'class OrdersController\n  def show\n    render "orders/row"\n  end\n'
    "  def price_all(x)\n  end\nend\n",
    "app/helpers/lines_helper.rb": "module LinesHelper\n  def line(order)\n    price_of(order)\n  end\nend\n",
    "lib/helpers/one.rb": "module One\n  def two_of(x)\n    three_of(x)\n  end\nend\n",
    "lib/helpers/three.rb": "module Three\n  def three_of(x)\n  end\nend\n",
    "app/helpers/orders_helper.rb": "module OrdersHelper\n  def price_of(order)\n    order.price\n  end\nend\n",
    "shop/templates/base.html": "<body>{% block body %}{% endblock %}</body>\n",
    "shop/templates/shop/cart.html": '{% extends "base.html" %}\n'
    '{% import "macros/forms.html" as f %}{{ f.field(1) }}\n',
    "shop/templates/macros/forms.html": "{% macro field(x) %}{{ x }}{% endmacro %}\n",
    "shop/views.py": 'def cart(request):\n    return render(request, "shop/cart.html")\n',
    "web/Basket.razor": '<CartRow Item="@x" />\n@code {\n    void Add() { BasketState.AddAsync(1); }\n}\n',
    "web/CartRow.razor": "<p></p>\n",
    "web/BasketState.cs": "class BasketState\n{\n    public void AddAsync(int x) { }\n}\n",
    "chart/templates/_helpers.tpl": '{{ define "shop.name" }}x{{ end }}\n',
    "chart/templates/service.yaml": 'metadata:\n  name: {{ include "shop.name" . }}\n',
    "models/orders.sql": "select * from {{ ref('stg_orders') }}\n",
    "models/stg_orders.sql": "select * from {{ source('a', 'b') }}\n",
    "pages/head.ejs": "<title><%= title %></title>\n",
    "pages/sub/list.ejs": "<%- include('../head') %>\n",
    "resources/views/orders/form.blade.php": "<form></form>\n",
    "resources/views/orders/edit.blade.php": "@include('orders.form')\n@if(mayEdit($x))@endif\n",
    "ng/row.component.ts": """@Component({ selector: 'app-row', templateUrl: './row.component.html' })
export class RowComponent {
  save() {}
}
""",
    "ng/row.component.html": '<b (click)="save()" *ngIf="shown">{{ price | money }}</b>\n',
    "ng/page.component.ts": """@Component({ selector: 'app-page', template: `<app-row [x]="1" />` })
export class PageComponent {
  save() {}
}
""",
    "ng/list.component.html": '<app-row *ngFor="let x of all" />\n<ring-dial />\n',
    "ng/dial.ts": "class RingDial extends HTMLElement {}\ncustomElements.define('ring-dial', RingDial);\n",
    "lib/core.ex": "defmodule Core do\n  def card(assigns), do: assigns\nend\n",
    "lib/page.ex": "defmodule Page do\n  import Core\n\n  def render(assigns) do\n"
    '    ~H"""\n    <.card />\n    """\n  end\nend\n',
    "lib/page.html.heex": "<Core.card />\n",
    "app/helpers.php": "<?php\nfunction mayEdit($x) { return true; }\n",
    "app/Orders.php": "<?php\nclass Orders { function edit() { return view('orders.edit'); } }\n",
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("templates") / "r", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("path", "importers"),
    [
        (
            "app/views/orders/_row.html.erb",
            [
                "app/controllers/orders_controller.rb:3",
                "app/views/orders/index.html.erb:1",
                "app/views/home/index.html.erb:1",
            ],
        ),
        ("app/views/shared/_row.html.erb", ["app/views/orders/index.html.erb:2"]),
        ("shop/templates/base.html", ["shop/templates/shop/cart.html:1"]),
        ("shop/templates/shop/cart.html", ["shop/views.py:2"]),
        ("shop/templates/macros/forms.html", ["shop/templates/shop/cart.html:2"]),
        ("ng/row.component.html", ["ng/row.component.ts:1"]),
        ("models/stg_orders.sql", ["models/orders.sql:1"]),
        ("pages/head.ejs", ["pages/sub/list.ejs:1"]),
        ("resources/views/orders/form.blade.php", ["resources/views/orders/edit.blade.php:1"]),
        ("resources/views/orders/edit.blade.php", ["app/Orders.php:2"]),
    ],
)
def test_a_template_is_imported_by_its_path(tree: Searcher, path: str, importers: list[str]) -> None:
    assert places(tree, path, "definitions") == [f"{path}:1"]
    assert sorted(places(tree, path, "importers")) == sorted(importers)


@pytest.mark.parametrize(
    ("name", "callers"),
    [
        ("price_of", ["app/helpers/lines_helper.rb:3", "app/views/orders/_row.html.erb:1"]),
        ("Three.three_of", ["lib/helpers/one.rb:3+"]),
        ("OrdersController.price_all", ["app/views/home/index.html.erb:1+"]),
        ("BasketState.AddAsync", ["web/Basket.razor:3"]),
        ("RowComponent.save", ["ng/row.component.html:1"]),
        ("PageComponent.save", []),
        ("Core.card", ["lib/page.html.heex:1", "lib/page.ex:6+"]),
        ("app-row", ["ng/list.component.html:1", "ng/page.component.ts:1"]),
        ("RowComponent", ["ng/list.component.html:1", "ng/page.component.ts:1"]),
        ("PageComponent", []),
        ("RingDial", ["ng/list.component.html:2"]),
        ("CartRow", ["web/Basket.razor:1"]),
        ("shop.name", ["chart/templates/service.yaml:2"]),
        ("mayEdit", ["resources/views/orders/edit.blade.php:2"]),
    ],
)
def test_templates_call_what_code_defines(tree: Searcher, name: str, callers: list[str]) -> None:
    assert places(tree, name, "callers") == callers


def test_a_line_of_a_template_is_the_macro_on_it(tree: Searcher) -> None:
    assert places(tree, "shop/templates/macros/forms.html:1", "definitions") == ["shop/templates/macros/forms.html:1"]
    assert places(tree, "shop/templates/macros/forms.html:1", "callers") == ["shop/templates/shop/cart.html:2"]
    assert places(tree, "field", "callers") == ["shop/templates/shop/cart.html:2"]


def test_templates_are_no_definitions_of_other_names(tree: Searcher) -> None:
    assert places(tree, "row", "definitions") == []
    assert places(tree, "index", "definitions") == []
