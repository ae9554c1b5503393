"""A macro in front of a declaration belongs to it and hides neither its name nor the members of a class."""

import pytest

from gitmem.chunking.annotation_macros import with_commented_annotations
from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.parse import parse_tree
from gitmem.types import OCCURRENCE_KINDS
from tests.chunking.names_in_file import names_of

_ACTOR = """\
#include "Weapon.generated.h"

UENUM(BlueprintType)
enum class EState : uint8 { Idle UMETA(DisplayName = "(Idle"), Firing };

/** A weapon. */
UCLASS(Blueprintable,
       meta = (DisplayName = "A (b"))
class SHOP_API AWeapon : public AActor
{
    GENERATED_BODY()

public:
    /** Fires once. */
    UFUNCTION(BlueprintCallable)
    void Fire(const FVector& Direction);

    UPROPERTY(ReplicatedUsing = OnRep_Damage) float Damage;
};
"""
_WINDOW = """\
// Shop
class Window : public QWidget
{
    Q_OBJECT
    Q_PROPERTY(bool active READ isActive)

public slots:
    void open(const QString& path);
};

class Empty {
    Q_DISABLE_COPY(Empty)
};
"""
_LIBRARY = """\
#include "shop.h"

G_BEGIN_DECLS

typedef struct _Shop Shop;

SHOP_AVAILABLE_IN_ALL
Shop * shop_new (void);
SHOP_DEPRECATED_FOR(shop_new)
unsigned long shop_count (Shop *shop);
"""
_PLAIN = """\
#define SHOP_ITEMS(X) \\
    X(apple) \\
    SHOP_MORE(pear)
int total;

TEST(Shop, Opens)
{
    SHOP_FOREACH(item, items)
        item->open();
    SHOP_CHECK(a)
}

DEFINE_SHOP(fruit)
int first;

DWORD
find(int a) { return a; }
"""


def units(text: str, language: str = "cpp") -> list[tuple[int, int, str, str]]:
    chunks = chunk_blob(text.encode(), language).chunks
    found = [unit for chunk in chunks for unit in (chunk.units or (chunk,))]
    return [(unit.start_line, unit.end_line, unit.chunk_type, unit.symbol) for unit in found if unit.symbol]


@pytest.mark.parametrize("feed", ["\n", "\r\n"])
def test_an_actor_of_unreal_has_its_members_with_their_macros(feed: str) -> None:
    assert units(_ACTOR.replace("\n", feed)) == [
        (3, 4, "enum", "EState"),
        (6, 19, "class", "AWeapon"),
        (14, 16, "method", "AWeapon.Fire"),
        (18, 18, "field", "AWeapon.Damage"),
    ]


def test_the_names_in_macros_are_mentions() -> None:
    names = chunk_blob(_ACTOR.encode(), "cpp").names
    found = {(line, OCCURRENCE_KINDS[kind], text) for line, kind, text in zip(*names[:3], strict=True)}
    assert {(15, "call", b"UFUNCTION"), (15, "type", b"BlueprintCallable"), (18, "type", b"OnRep_Damage")} <= found


def test_a_macro_in_a_comment_has_no_names() -> None:
    names = chunk_blob(b"/* As in\nUFUNCTION(Callable)\nvoid fire(int a);\n*/\nint x;\n", "cpp").names
    assert b"UFUNCTION" not in names[2]


def test_a_widget_of_qt_has_its_slots() -> None:
    found = {(kind, symbol) for *_, kind, symbol in units(_WINDOW)}
    assert found == {("class", "Window"), ("method", "Window.open"), ("class", "Empty")}


def test_functions_of_a_library_have_their_names() -> None:
    found = {symbol for *_, symbol in units(_LIBRARY, "c")}
    assert found >= {"Shop", "shop_new", "shop_count"}
    assert not found & {"G_BEGIN_DECLS", "SHOP_AVAILABLE_IN_ALL", "SHOP_DEPRECATED_FOR"}


def test_macros_that_stand_for_members_or_begin_a_namespace_hide_nothing() -> None:
    fields = "struct shop {\n  SHOP_FIELDS\n};\n\n#define OPEN 1\nSHOP_BEGIN\n\n#if OPEN\nint total(int a);\n#endif\n"
    assert not parse_tree(fields.encode(), "c", 10).root_node.has_error
    assert names_of(fields, "c", "class") == ["shop"]
    assert names_of(fields, "c", "type") == ["SHOP_FIELDS", "SHOP_BEGIN"]
    enumerators = "enum {\n  OPEN\n};\nenum { CLOSED,\n  SOLD\n};\n"
    assert names_of(enumerators, "c", "value") == ["OPEN", "CLOSED", "SOLD"]


def test_statements_definitions_and_types_are_no_annotations() -> None:
    data = _PLAIN.encode()
    assert with_commented_annotations(data, data, "cpp") == data
    data = _ACTOR.encode()
    assert with_commented_annotations(data, data, "java") == data
    assert len(with_commented_annotations(data, data, "cpp")) == len(data)


def test_unbalanced_macros_end_the_search() -> None:
    data = b"\nSHOP(\n" * 60 + b"\nSHOP(a)\nint x;\n"
    assert with_commented_annotations(data, data, "c") == data
