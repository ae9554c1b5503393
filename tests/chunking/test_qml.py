"""QML: the members of components, and what they use."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from tests.chunking.names_in_file import names_of
from tests.references.asking import indexed_files, places

PANEL = """import QtQuick 2.15
import "../tools.js" as Tools

// Lists the rows.
Item {
    id: root
    property int rowCount: 3
    signal rowSelected(int index)
    function resetRows(first) {
        Tools.clearAll(first)
    }
    onRowSelected: resetRows(2)
    header: RowLayout {
        Text { text: "a" }
        Shop.FancyButton {
            id: okButton
            onClicked: root.resetRows(3)
        }
    }
    Connections {
        target: backend
        function onStockChanged() { root.resetRows(4) }
    }
    component Badge: Rectangle {
        property string label
    }
}
"""


def test_members_have_their_names() -> None:
    chunks = chunk_blob(PANEL.encode(), "qmljs").chunks
    names = {f"{unit.chunk_type} {unit.symbol}" for chunk in chunks for unit in (chunk.units or (chunk,))}
    assert names - {"module "} == {
        "property rowCount",
        "function rowSelected",
        "function resetRows",
        "function onRowSelected",
        "property okButton",
        "function onStockChanged",
        "class Badge",
        "property Badge.label",
    }


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            "call",
            "Item Tools.clearAll resetRows RowLayout Text Shop.FancyButton root.resetRows Connections root.resetRows"
            " Rectangle",
        ),
        ("class", "Badge"),
        ("value", "rowCount okButton label"),
        ("alias", "../tools.js:.Tools"),
    ],
)
def test_what_a_component_uses_is_recorded(kind: str, names: str) -> None:
    assert names_of(PANEL, "qmljs", kind) == names.split()


def test_a_handler_mentions_its_signal() -> None:
    assert {"rowSelected", "clicked", "stockChanged"} <= set(names_of(PANEL, "qmljs", "name"))


def test_a_file_is_a_component_and_a_script_is_imported(tmp_path_factory: pytest.TempPathFactory) -> None:
    files = {
        "ui/Panel.qml": PANEL,
        "ui/Main.qml": "Window {\n    Panel {\n        id: panel\n    }\n    onClosing: panel.resetRows(1)\n}\n",
        "tools.js": "function clearAll(first) {\n  return first;\n}\n",
    }
    with indexed_files(tmp_path_factory.mktemp("qml"), files) as searcher:
        assert places(searcher, "Panel", "definitions") == ["ui/Panel.qml:5"]
        assert places(searcher, "Panel", "callers") == ["ui/Main.qml:2+"]
        callers = sorted(places(searcher, "resetRows", "callers"))
        assert callers == ["ui/Main.qml:5", "ui/Panel.qml:12", "ui/Panel.qml:17", "ui/Panel.qml:22"]
        assert places(searcher, "clearAll", "callers") == ["ui/Panel.qml:10"]
