"""Usages that statements show: classes that are extended or created, and methods called without brackets or by name."""

from collections.abc import Iterator

import pytest

from gitmem.answering.searcher import Searcher
from tests.references.asking import indexed_files, places

FILES = {
    "app/models/account.rb": """class Account < Base
  class Line
    def initialize(amount)
    end
  end
  include Cached
  def initialize(name)
  end
  def sync
    syncer = Account::Syncer.new
    syncer.perform
    warm
  end
end
""",
    "app/models/account/syncer.rb": "class Account::Syncer\n  def perform\n  end\nend\n",
    "app/models/family/syncer.rb": "class Family::Syncer\n  def perform\n  end\nend\n",
    "app/models/cached.rb": "module Cached\n  def warm\n  end\nend\n",
    "app/controllers/carts.rb": """class CartsController
  before_action :authenticate!, :touch, only: :sync
  def index
    cart = Cart.find(params[:id])
    authenticate! unless cart
    cart.sync if warm_enough
  end
  private
  def authenticate!
  end
  def warm_enough
  end
end
""",
    "app/controllers/api/line_items_controller.rb": "class Api::LineItemsController\n  def show\n  end\nend\n",
    "config/routes.rb": 'Rails.application.routes.draw do\n  get "x", to: "api/line_items#show"\nend\n',
    "app/views/x.html.erb": '<%= link "x", data: { action: "line_items#show" } %>\n',
    "routes/web.php": """<?php
Route::get('/pages', [PageController::class, 'index']);
Route::get('/page', 'App\\PageController@show');
""",
    "app/PageController.php": """<?php
namespace App;
class PageController {
  function index() {}
  function show() {}
}
class OtherController {
  function index() {}
}
""",
    "lib/report.rb": "Account.new('a').sync\nAccount::Line.new(1)\n",
    "shop/cart.py": "class Cart:\n    def __init__(self, x):\n        self.x = x\n\n\nCart(1)\n",
    "src/Page.php": """<?php
namespace App;
trait Trashed { function trash() {} }
class Page {
  use Trashed;
  function __construct($x) {}
  function go() { $this->trash(); return new Page(1); }
}
""",
    "web/store.ts": "export class Store {\n  constructor(a: number) {}\n}\nconst store = new Store(1)\n",
    "ios/View.swift": "struct View {\n  init(a: Int) {}\n}\nlet view = View(a: 1)\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searcher]:
    with indexed_files(tmp_path_factory.mktemp("constructors") / "shop", FILES) as searcher:
        yield searcher


@pytest.mark.parametrize(
    ("name", "relation", "expected"),
    [
        ("Account::Syncer", "definitions", ["app/models/account/syncer.rb:1"]),
        ("Account::Syncer", "callers", ["app/models/account.rb:10"]),
        ("Account::Syncer.perform", "callers", ["app/models/account.rb:11"]),
        ("Family::Syncer.perform", "callers", []),
        ("Cached", "subclasses", ["app/models/account.rb:6"]),
        ("Cached", "implementers", ["app/models/account.rb:6"]),
        # The class includes it, though another class ends between its header and the statement.
        ("Cached.warm", "callers", ["app/models/account.rb:12"]),
        ("CartsController.authenticate!", "callers", ["app/controllers/carts.rb:2", "app/controllers/carts.rb:5"]),
        ("CartsController.warm_enough", "callers", ["app/controllers/carts.rb:6"]),
        ("Account.sync", "callers", ["app/controllers/carts.rb:6", "lib/report.rb:1"]),
        ("Account", "callers", ["lib/report.rb:1"]),
        ("Account.initialize", "callers", ["lib/report.rb:1"]),
        ("Account::Line.initialize", "callers", ["lib/report.rb:2"]),
        ("Api::LineItemsController.show", "callers", ["config/routes.rb:2"]),
        ("PageController.index", "callers", ["routes/web.php:2"]),
        ("PageController.show", "callers", ["routes/web.php:3"]),
        ("OtherController.index", "callers", []),
        ("Cart.__init__", "callers", ["shop/cart.py:6"]),
        ("Page.__construct", "callers", ["src/Page.php:7"]),
        ("Trashed", "subclasses", ["src/Page.php:5"]),
        ("Trashed.trash", "callers", ["src/Page.php:7"]),
        ("Store.constructor", "callers", ["web/store.ts:4"]),
        ("View.init", "callers", ["ios/View.swift:4"]),
    ],
)
def test_classes_are_extended_and_their_objects_created(
    shop: Searcher, name: str, relation: str, expected: list[str]
) -> None:
    assert [place.partition(" ")[0].rstrip("+") for place in places(shop, name, relation)] == expected
