"""Templates: their blocks and macros, the names in their tags, and the code between these."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.elements import find_elements
from gitmem.chunking.languages import language_of
from tests.chunking.coverage_check import assert_sound
from tests.chunking.names_in_file import names_of

TEXTS = {
    "page.html.j2": (
        """{% extends "base.html" %}
{% from "forms.html" import input as field, label with context %}
{# Shows the cart. {% block no %} #}
{% block content %}
  {% block inner scoped %}{{ field("a", cart.total()) }}{% endblock inner %}
  {% if is_empty(cart) %}{{ title }}{% endif %}
{% endblock %}

{% macro price(item) -%}
  {{ item.price | money }}
{%- endmacro %}
{% include 'parts/_foot.html' ignore missing %}
""",
        "module:content; function:price",
        "import:/base import:/forms import:input import:label import:/foot call:field call:total call:is_empty",
    ),
    "page.html.twig": (
        "{% embed 'card.html.twig' %}{% block title %}A{% endblock %}{% endembed %}\n"
        "{% block short 'text' %}\n{{ include('blog/_list.html.twig') }}\n{{ path('home') }}\n",
        "module:title",
        "import:/card import:/list call:path",
    ),
    "card.liquid": (
        """{% comment %} {% render 'no' %} {% endcomment %}
{%- render 'price', product: product -%}
{% include nav.html %}
{% schema %}
{ "name": "Card" }
{% endschema %}
""",
        "section:schema",
        "import:/price import:/nav",
    ),
    "post.hbs": (
        '{{!< default}}\n{{!-- {{> no}} --}}\n{{#*inline "row"}}\n<p>{{name}}</p>\n{{/inline}}\n{{> parts/nav}}\n'
        '{{#> "frame"}}x{{/frame}}\n',
        "function:row",
        "import:/default import:/nav import:/frame",
    ),
    "show.blade.php": (
        """@extends('layouts.app')
{{-- @include('no') --}}
@section('title', 'Orders')
@section('content')
  @if(mayEdit($order))
    @include('orders.parts.form', ['a' => 1])
  @endif
  <x-alert.box :order="$order"><x-slot name="a"></x-slot></x-alert.box>
  {{ money($order->total()) }} {!! raw($order) !!}
@stop
@push('scripts')
<script></script>
@endpush
""",
        "module:content; module:scripts",
        "import:/app import:/form import:/box call:mayEdit call:money call:$order.total call:raw",
    ),
    "_helpers.tpl": (
        """{{- define "shop.fullname" -}}
{{- if .Values.name }}{{ range .Values.all }}{{ . }}{{ end }}{{ else }}x{{ end }}
{{- end -}}

{{/* {{ define "no" }} */}}
{{- define "shop.labels" }}
app: {{ include "shop.fullname" . }}
{{ template "partials/head.html" . }}
{{- end }}
""",
        "function:shop.fullname; function:shop.labels",
        "call:shop.fullname import:/head",
    ),
    "row.component.html": (
        '<!-- <no-tag /> -->\n<app-row *ngFor="let x of sorted(all)" [shown]="isShown(x)" (done)="save"></app-row>\n'
        "{{ total(1) }}\n@if (mayEdit()) { <b></b> }\n",
        "",
        "call:app-row call:sorted call:isShown name:save call:total call:mayEdit",
    ),
    "card.html.heex": (
        "<.card title={money(@order.total)}>\n  <Layouts.app a />\n  <%= Shop.Price.show(1) %> @not_called(1)\n"
        "</.card>\n",
        "",
        "call:card call:money call:Layouts.app call:Shop.Price.show",
    ),
    "page.ex": (
        'defmodule Page do\n  def render(assigns) do\n    ~H"""\n    <.card a={money(1)} />\n    """\n  end\n\n'
        '  def other, do: ~H"<.icon />"\n\n  def text, do: "<.no />"\nend\n',
        "module:Page; function:Page.render",
        "call:card call:money call:icon",
    ),
    "list.html.erb": (
        """<%# render "no" %>
<% @orders.each do |order| %>
  <%= render partial: "orders/row", locals: { order: order } %>
  <%- if order.late? -%><%= price_of(order) %><% end -%>
<% end %>
<%% not_called %>
""",
        "",
        "import:/row call:render call:@orders.each call:order.late? call:price_of",
    ),
    "list.ejs": (
        "<%- include('parts/head', { a: 1 }) %>\n<% orders.forEach((order) => { %>\n"
        "  <li><%= money(order.total) %></li>\n<% }) %>\n",
        "",
        "import:/head call:include call:orders.forEach call:money",
    ),
    "Cart.razor": (
        """@page "/cart"
@using Shop.Services
@inject BasketState Basket
@inherits Shop.Base
@* <No /> *@
<PageTitle>Cart</PageTitle>
@foreach (var item in Sorted(items))
{
    <CartRow Item="@item" OnClick="x" @onclick="Update" />
    @Html.Raw(item.Name)
}
<partial name="_Foot" />

@code {
    private string brace = "}"; // }

    /* } */ public int Total() { return Sum('}'); }
}
""",
        "class:; method:Total",
        "import:* import:/Foot type:BasketState type:Shop.Base call:PageTitle call:CartRow call:Sorted call:Html.Raw "
        "name:Update call:Sum",
    ),
    "page.ftl": (
        '<#-- <#macro no> -->\n<#import "lib/forms.ftl" as f>\n<#macro row item>\n${money(item)}\n</#macro>\n'
        "<@f.input />\n",
        "function:row",
        "import:/forms call:money call:f.input",
    ),
    "page.html": (
        '<html th:replace="~{fragments/layout :: layout (~{::body}, 1)}">\n<!-- th:fragment="no" -->\n'
        '<li th:fragment="item (a)"></li>\n<li th:replace="~{::item (1)}"></li>\n'
        "<b>a :: not_called <i></i></b>\n</html>\n",
        "",
        "import:/layout call:layout call:item function:item",
    ),
    "page.jsp": ('<%-- <jsp:include page="no.jsp"/> --%>\n<jsp:include page="/parts/nav.jsp"/>\n', "", "import:/nav"),
    "page.mako": (
        '<%inherit file="base.mako"/>\n<%doc> <%def name="no()"> </%doc>\n<%def name="row(x)">\n'
        "${escape(x)}\n</%def>\n",
        "function:row",
        "import:/base call:escape",
    ),
    "a.pug": (
        "extends layout\n\nmixin row(x)\n  li= x\n\nblock content\n  +row(1)\n",
        "function:row; section:content",
        "",
    ),
    "a.haml": ("-# The cart.\n%ul\n  - items.each do |item|\n    %li= item\n", "", ""),
}


def units_of(path: str) -> set[str]:
    blob = chunk_blob(TEXTS[path][0].encode(), language_of(path))
    assert_sound(TEXTS[path][0].encode(), blob)
    assert blob.parsed
    return {f"{unit.chunk_type}:{unit.symbol}" for chunk in blob.chunks for unit in (chunk.units or (chunk,))}


@pytest.mark.parametrize("path", TEXTS)
def test_blocks_and_macros_are_units(path: str) -> None:
    text, units, _ = TEXTS[path]
    elements = {f"{e.chunk_type}:{e.symbol}" for e in find_elements(text.encode(), language_of(path)).elements}
    expected = set(filter(None, units.split("; "))) - {"class:"}
    assert expected <= elements | units_of(path)
    assert not any(each.partition(":")[2] == "no" for each in elements)


@pytest.mark.parametrize("path", TEXTS)
def test_tags_and_code_mention_names(path: str) -> None:
    text, _, names = TEXTS[path]
    for kind in ("import", "call", "type", "name", "function"):
        found = {each.rpartition(".")[2] for each in names_of(text, language_of(path), kind)}
        whole = set(names_of(text, language_of(path), kind))
        expected = {each.partition(":")[2] for each in names.split() if each.startswith(f"{kind}:")}
        assert all(each in whole or each in found for each in expected), (kind, expected, whole)
        assert not found & {"no", "/no", "No", "not_called", "no-tag"}


def test_a_template_imports_by_the_path_as_written() -> None:
    text, _, _ = TEXTS["show.blade.php"]
    assert names_of(text, "blade", "import") == [
        "layouts/app./app",
        "orders/parts/form./form",
        "components/alert/box./box",
    ]


def test_an_open_block_ends_with_the_one_around_it() -> None:
    long = b"<p>text</p>\n" * 400
    text = b"{% block a %}\n" + long + b"{% macro b() %}\nx\n{% endblock %}\ny\n{% block c %}\nz\n"
    spans = {e.symbol: (e.first_line, e.last_line) for e in find_elements(text, "jinja").elements}
    assert spans == {"a": (1, 404), "a.b": (402, 403), "c": (406, 407)}


def test_the_end_of_a_condition_ends_no_definition() -> None:
    text = TEXTS["_helpers.tpl"][0].encode()
    spans = {e.symbol: (e.first_line, e.last_line) for e in find_elements(text, "gotemplate").elements}
    assert spans["shop.fullname"] == (1, 3)


def test_blocks_nested_deeper_than_any_person_writes_are_read() -> None:
    data = b"".join(b"{%% block b%d %%}\n" % n for n in range(2_000)) + b"{% endblock %}\n" * 2_000
    assert_sound(data, chunk_blob(data, "jinja"))


def test_comments_without_an_end_are_text() -> None:
    data = b"{# " * 50_000 + b"\n{% block a %}\nx\n{% endblock %}\n"
    assert "a" in {chunk.symbol for chunk in chunk_blob(data, "jinja").chunks}


def test_a_member_of_a_razor_component_is_a_method() -> None:
    text = TEXTS["Cart.razor"][0].encode()
    chunks = chunk_blob(text, "razor").chunks
    (method,) = [u for c in chunks for u in (c.units or (c,)) if u.symbol == "Total"]
    assert text[method.start : method.end].strip() == b"/* } */ public int Total() { return Sum('}'); }"


def test_the_class_of_a_razor_component_has_no_name_in_its_file() -> None:
    assert names_of(TEXTS["Cart.razor"][0], "razor", "class") == []
    assert names_of(TEXTS["Cart.razor"][0], "razor", "function") == ["Total"]


def test_a_block_of_code_without_an_end_is_markup() -> None:
    data = b"<p>a</p>\n@code {\n  void F() {\n"
    blob = chunk_blob(data, "razor")
    assert_sound(data, blob)
    assert {chunk.chunk_type for chunk in blob.chunks} == {"module"}


@pytest.mark.parametrize(
    ("path", "text", "language"),
    [
        ("a.html", "<p>{{ x }}</p>", "html"),
        ("a.html", "{% load static %}<p></p>", "jinja"),
        ("a.html", "<p>{% block a %}{{ block.super }}{% endblock %}</p>", "jinja"),
        ("a.html", "---\n---\n{% include nav.html %}", "liquid"),
        ("a.html", '{{ template "head" . }}', "gotemplate"),
        ("a.html", "{{- $x := 1 }}", "gotemplate"),
        ("a.html", '<b (click)="f()"></b>', "angular"),
        ("a.html", "@if (shown) {\n<b></b>\n}\n", "angular"),
        ("deployment.yaml", 'name: {{ include "a.b" . }}', "gotemplate"),
        (".goreleaser.yml", "name: >-\n  {{ .Os }}\n  {{- if .Arm }}v{{ end }}\n", "yaml"),
        ("deploy.yml", "run: ${{ if x }}", "yaml"),
        ("play.yml", 'name: "{{ item }}"', "yaml"),
        ("model.sql", "select * from {{ ref('orders') }}", "jinja"),
        ("model.sql", "select 1", "sql"),
        ("a.tpl", "{{ x }}", "gotemplate"),
        ("a.tpl", "<?php echo 1;", "text"),
        ("nginx.conf.j2", "user {{ user }};", "ini"),
        ("motd.j2", "{{ host }}", "jinja"),
        ("a.ftl", "hello = Hello", "text"),
        ("a.ftl", "<#if a>b</#if>", "freemarker"),
    ],
)
def test_the_content_tells_the_language_of_a_template(path: str, text: str, language: str) -> None:
    assert chunk_blob(text.encode(), language_of(path)).language == language


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("python", 'render(request, "shop/cart.html", c)\nx = "a.html b"\n', ["shop/cart.html./cart"]),
        ("php", "<?php $this->render('blog/show.html.twig');\nview('auth.login');\nMail::markdown('mails.hi');\n",
         ["blog/show.html.twig./show", "auth/login./login", "mails/hi./hi"]),
        ("ruby", 'render "orders/row"\nrender partial: "head"\nrender :new\n', ["orders/row./row", "head./head"]),
        ("java", '@Controller class A { String f() { return "orders/list"; } String g() { return "redirect:/x"; } }\n',
         ["orders/list./list"]),
        ("java", 'class A { String f() { return "orders/list"; } }\n', []),
        ("csharp", 'class A { object F() { return View("Edit"); } }\n', ["Edit./Edit"]),
        ("javascript", "res.render('orders/list', {})\n", ["orders/list./list"]),
        ("go", 'package a\nvar t = parse("tmpl/home.tmpl")\n', ["tmpl/home.tmpl./home"]),
        ("bash", 'cp "a.html" b\n', []),
    ],
)  # fmt: skip
def test_code_mentions_templates_by_their_paths(language: str, text: str, expected: list[str]) -> None:
    assert [each for each in names_of(text, language, "import") if "/" in each] == expected
