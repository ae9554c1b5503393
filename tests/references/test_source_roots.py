"""Packages of Java and its kin: folders below source roots, the same for code and its tests and in several modules."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from gitmem.package_names import package_place
from tests.references.asking import indexed_files, places

FILES = {
    "core/src/main/java/shop/Cart.java": "package shop;\nclass Cart {\n  static void open() {}\n}\n",
    "core/src/main/java/shop/Till.java": "package shop;\nclass Till {}\n",
    "core/src/main/java/stock/Cart.java": "package stock;\npublic class Cart {}\n",
    "core/src/test/java/shop/CartTest.java": """package shop;
class CartTest {
  Cart cart = new Cart();
  void run() { Cart.open(); }
}
""",
    # The modules of examples have the same packages.
    "demo/src/main/java/shop/Cart.java": "package shop;\nclass Cart {}\n",
    "demo/src/main/kotlin/shop/Main.kt": "package shop\nval cart = Cart()\nval till = Till()\n",
    "demo/src/test/java/shop/Fakes.java": """package shop;
class Fakes { Object make() { return new Cart(); } }
class Cart {}
""",
    "libs/one/src/main/java/far/Far.java": "package far;\nclass Far {}\n",
    "libs/two/src/main/java/far/Use.java": "package far;\nclass Use { Object far = new Far(); }\n",
    "ext/src/main/java/far/Far.java": "package far;\nclass Far {}\n",
    # A name with its whole package.
    "app/src/main/java/app/Main.java": """package app;
class Main {
  Object one = new stock.Cart();
  Object two = new com.stock.Cart();
}
""",
    "app/src/main/java/com/stock/Cart.java": "package com.stock;\npublic class Cart {}\n",
    # Names behind the class or namespace that they are in.
    "app/src/main/java/app/Order.java": """package app;
public class Order {
  public static class Builder<T> {}
  public interface Sink {}
  @interface Mark {}
}
""",
    "app/src/main/java/app/Use.java": """package app;
@Order.Mark
class Use extends Order.Builder<String> implements Order.Sink {
  Object one = new Order.Builder<String>();
  Object two = new Order.Builder();
}
""",
    "net/Shop.cs": """namespace Shop {
    public class Line<T> {}
    public interface ISink {}
    public class MarkAttribute : System.Attribute {}
}
""",
    "net/Use.cs": """[Shop.MarkAttribute]
class Use : Shop.Line<int>, Shop.ISink {
    object one = new Shop.Line<string>();
    object two = new Shop.MarkAttribute();
}
""",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("roots"), FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("path", "module", "package"),
    [
        ("core/src/test/java/shop/time/ClockTest.java", "core/", "shop/time"),
        ("src/main/scala-2.13/shop/Clock.scala", "", "shop"),
        ("src/main/java/org/acme/src/main/java/A.java", "", "org/acme/src/main/java"),
        ("plugins/org.acme.ui/src/org/acme/ui/View.java", "plugins/org.acme.ui/", "org/acme/ui"),
        ("test/org.acme.test/src/org/acme/ui/ViewTest.java", "test/org.acme.test/", "org/acme/ui"),
        ("guava-tests/test/com/google/common/test/A.java", "guava-tests/", "com/google/common/test"),
        ("java/src/shop/Cart.java", "java/", "shop"),
        ("shop/Cart.java", "", "shop"),
        ("Cart.java", "", ""),
        ("src/Cart.java", "", ""),
    ],
)
def test_a_package_begins_below_the_source_root(path: str, module: str, package: str) -> None:
    assert package_place(path) == (module, package)


def test_a_test_names_the_class_of_its_package(shop: Searcher) -> None:
    assert places(shop, "core/src/main/java/shop/Cart.java:2", "callers") == ["core/src/test/java/shop/CartTest.java:3"]
    assert places(shop, "core/src/main/java/shop/Cart.java:3", "callers") == ["core/src/test/java/shop/CartTest.java:4"]


def test_the_own_module_comes_before_others_with_the_package(shop: Searcher) -> None:
    assert places(shop, "demo/src/main/java/shop/Cart.java:2", "callers") == ["demo/src/main/kotlin/shop/Main.kt:2"]


def test_the_own_folder_comes_before_the_module(shop: Searcher) -> None:
    assert places(shop, "demo/src/test/java/shop/Fakes.java:3", "callers") == ["demo/src/test/java/shop/Fakes.java:2"]


def test_other_modules_are_equally_far(shop: Searcher) -> None:
    assert places(shop, "ext/src/main/java/far/Far.java:2", "callers") == ["libs/two/src/main/java/far/Use.java:2 2"]
    assert places(shop, "Till", "callers") == ["demo/src/main/kotlin/shop/Main.kt:3"]


def test_a_name_with_its_package_means_that_of_the_package(shop: Searcher) -> None:
    assert places(shop, "com.stock.Cart", "callers") == ["app/src/main/java/app/Main.java:4"]


def test_a_name_behind_its_class_or_namespace_is_called_and_extended(shop: Searcher) -> None:
    assert places(shop, "Order.Builder", "callers") == [f"app/src/main/java/app/Use.java:{line}" for line in (4, 5)]
    assert places(shop, "Order.Builder", "subclasses") == ["app/src/main/java/app/Use.java:3"]
    assert places(shop, "Order.Sink", "implementers") == ["app/src/main/java/app/Use.java:3"]
    assert places(shop, "Order.Mark", "callers") == ["app/src/main/java/app/Use.java:2"]
    assert places(shop, "Line", "callers") == ["net/Use.cs:3"]
    assert places(shop, "Line", "subclasses") == places(shop, "ISink", "implementers") == ["net/Use.cs:2"]
    assert places(shop, "MarkAttribute", "callers") == ["net/Use.cs:1", "net/Use.cs:4"]


KOTLIN = {
    "core/src/commonMain/kotlin/org/koin/Simple.kt": "package org.koin\nclass Simple { class Part }\n",
    "core/src/commonMain/kotlin/org/koin/test/Simple.kt": "package org.koin.test\nclass Simple { class Part }\n",
    "core/src/commonMain/kotlin/org/koin/dsl/Use.kt": """package org.koin.dsl
import org.koin.Simple
fun build() = module { single { Simple.Part() } ; fetchIt() }
fun module(block: Scope.() -> Unit) {}
""",
    "core/src/commonMain/kotlin/org/koin/core/Scope.kt": "package org.koin.core\nclass Scope { fun fetchIt() = 1 }\n",
    "android/src/main/kotlin/org/koin/ext/Ext.kt": "package org.koin.ext\nfun Activity.fetchIt() = 2\n",
    # Folders need not follow the packages.
    "flat/Shop.kt": "package a.shop\nclass Shop\nfun openShop() = Shop()\n",
    "other/Use.kt": "package a.shop\nfun use() { openShop() ; Shop() }\n",
}


@pytest.fixture(scope="module")
def kotlin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("kotlin"), KOTLIN) as searcher:
        yield searcher


def test_a_folder_inside_of_a_package_of_kotlin_is_another_package(kotlin: Searcher) -> None:
    here, use = "core/src/commonMain/kotlin/org/koin/", "core/src/commonMain/kotlin/org/koin/dsl/Use.kt:3"
    assert places(kotlin, f"{here}Simple.kt#Simple.Part", "callers") == [use]
    assert places(kotlin, f"{here}test/Simple.kt#Simple.Part", "callers") == []


def test_a_block_has_the_members_of_an_object_but_no_function_that_is_not_imported(kotlin: Searcher) -> None:
    use = "core/src/commonMain/kotlin/org/koin/dsl/Use.kt:3"
    assert places(kotlin, "Scope.fetchIt", "callers") == [f"{use}+"]
    assert places(kotlin, "android/src/main/kotlin/org/koin/ext/Ext.kt:2", "callers") == []
    assert "other/Use.kt:2" in places(kotlin, "Shop", "callers")
    assert places(kotlin, "openShop", "callers") == ["other/Use.kt:2+"]
