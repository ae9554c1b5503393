"""SQL: procedures of SQL Server, MySQL and Oracle have names, and PostgreSQL is parsed as before."""

import pytest

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.elements import find_elements
from gitmem.types import OCCURRENCE_KINDS
from tests.chunking.coverage_check import assert_sound

SQL_SERVER = """CREATE PROCEDURE [dbo].[Cipher_Delete]
    @Id UNIQUEIDENTIFIER
AS
BEGIN
    SET NOCOUNT ON
    CREATE TABLE #Temp ([Id] UNIQUEIDENTIFIER)

    EXEC [dbo].[User_Bump] @Id
END
GO

-- Names are unique.
CREATE UNIQUE NONCLUSTERED INDEX [IX_Cipher_Name] ON [dbo].[Cipher] ([Name])
GO

CREATE OR ALTER VIEW [dbo].[CipherView]
AS
SELECT * FROM [dbo].[Cipher]
GO

ALTER TABLE [dbo].[Cipher] ADD [Key] VARCHAR (MAX) NULL
"""
MYSQL = """DELIMITER //
CREATE DEFINER=`root`@`localhost` PROCEDURE `add_item`(IN id INT)
BEGIN
  INSERT INTO items VALUES (id);
END //

CREATE TRIGGER after_item AFTER INSERT ON items FOR EACH ROW
BEGIN
  CALL add_item(1);
END //
"""
ORACLE = """CREATE OR REPLACE PACKAGE BODY billing.invoices AS
  PROCEDURE settle(id NUMBER) IS
  BEGIN
    NULL;
  END;
END;
/

create global temporary table drafts (id number)
/
"""
POSTGRES = """CREATE FUNCTION owed(id int) RETURNS int LANGUAGE sql AS $$ SELECT 1 $$;
CREATE TABLE shop.customer (id int, PRIMARY KEY (id));
"""


def units(text: str) -> set[str]:
    data = text.encode()
    blob = chunk_blob(data, "sql")
    assert_sound(data, blob)
    return {f"{unit.chunk_type} {unit.symbol}" for chunk in blob.chunks for unit in (chunk.units or (chunk,))}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SQL_SERVER, "function Cipher_Delete, constant IX_Cipher_Name, type CipherView, section Cipher"),
        (MYSQL, "function add_item, function after_item"),
        (ORACLE, "function invoices, type drafts"),
        (POSTGRES, "function owed, type shop.customer"),
    ],
    ids=["sqlserver", "mysql", "oracle", "postgres"],
)
def test_statements_have_the_names_of_what_they_create(text: str, expected: str) -> None:
    assert {unit for unit in units(text) if unit.partition(" ")[2]} == set(expected.split(", "))


def test_a_procedure_is_an_element_with_its_comment_and_its_batch() -> None:
    text = "-- Removes it.\nCREATE PROC [dbo].[Remove]\nAS\nDELETE FROM [dbo].[Cipher]\nGO\n\nSELECT 1\nGO\n"
    [element] = find_elements(text.encode(), "sql").elements
    assert (element.name, text[element.start : element.end]) == ("Remove", text[: text.index("\n\n")])


def test_procedures_are_definitions_for_usages() -> None:
    _, kinds, names, _ = chunk_blob(SQL_SERVER.encode(), "sql").names
    by_kind = {OCCURRENCE_KINDS[kind]: set[bytes]() for kind in kinds}
    for kind, name in zip(kinds, names, strict=True):
        by_kind[OCCURRENCE_KINDS[kind]].add(name)
    assert {b"Cipher_Delete", b"CipherView"} <= set.union(*(by_kind[kind] for kind in by_kind if kind != "mention"))


def test_rows_belong_to_no_table() -> None:
    text = "CREATE TABLE [Rate] (\n  [Id] int\n);\nINSERT INTO [Rate] VALUES (1);\nINSERT INTO [Rate] VALUES (2);\n"
    [element] = find_elements(text.encode(), "sql").elements
    assert text[element.start : element.end] == text[: text.index("INSERT") - 1]


def test_a_script_of_postgresql_is_no_dialect() -> None:
    text = "CREATE OR REPLACE PROCEDURE bump() LANGUAGE plpgsql AS $body$\nBEGIN\n  NULL;\nEND $body$;\n" + POSTGRES
    assert {"function owed", "type shop.customer"} <= units(text)
    assert "type shop.customer" in units("SELECT rows[1].name FROM orders;\n" + POSTGRES)


@pytest.mark.parametrize("name", ["[sales].[Cipher]", "[Cipher]", "sales.[Cipher]"])
def test_names_in_brackets_are_read_without_them(name: str) -> None:
    assert "section Cipher" in units(f"ALTER TABLE {name} ADD [Key] int;\nSELECT 1 FROM [Cipher]\n")
