"""Perl: packages as statements, declarations of object systems, documentation, and text that made the parser hang."""

import subprocess
import sys

from gitmem.chunking.chunk import chunk_blob
from gitmem.chunking.elements import find_elements
from gitmem.types import OCCURRENCE_KINDS
from tests.chunking.coverage_check import assert_sound

MODULE = b"""package Shop::Cart;
use parent 'Shop::Base';
use List::Util qw(first sum);
use constant LIMIT => 10;

has 'owner';
has items => sub { [] };

=head1 METHODS

=head2 add

Adds an item.

=cut

# Add it.
sub add {
  my ($self, $item) = @_;
  my $log = Shop::Log->new(file => 'x');
  $log->record($item);
  return $self->check(sum(1, 2));
}

sub check { Shop::Util::valid(shift) }

package Shop::Cart::Item;

sub price { 1 }

package main;

sub run { Shop::Cart->new }
subtest 'check' => sub { check(1) };
__END__

=head1 SEE ALSO

Shop::Base
"""


def test_what_follows_a_package_belongs_to_it() -> None:
    symbols = {(each.chunk_type, each.symbol) for each in find_elements(MODULE, "perl").elements}
    assert {
        ("class", "Shop.Cart"), ("method", "Shop.Cart.add"), ("method", "Shop.Cart.check"),
        ("module", "Shop.Cart.Item"), ("method", "Shop.Cart.Item.price"), ("function", "run"),
        ("section", "METHODS > add"), ("section", "SEE ALSO"),
    } <= symbols  # fmt: skip


def test_every_line_of_code_and_documentation_is_in_a_chunk() -> None:
    blob = chunk_blob(MODULE, "perl")
    assert_sound(MODULE, blob)
    assert blob.parsed


def test_a_class_is_one_result_around_its_documentation() -> None:
    chunks = [each for each in chunk_blob(MODULE, "perl").chunks if each.symbol == "Shop.Cart"]
    assert [(each.start_line, each.end_line) for each in chunks] == [(1, 25)]
    assert not any(b"=head" in MODULE[start:end] for start, end in chunks[0].parts)


def test_definitions_and_references() -> None:
    names = chunk_blob(MODULE, "perl").names
    rows = {
        (line, OCCURRENCE_KINDS[kind], name.decode(), receiver.decode())
        for line, kind, name, receiver in zip(*names, strict=True)
    }
    assert {
        (1, "class", "Cart", "Shop"), (2, "base", "Base", "Shop"), (3, "import", "first", "List::Util"),
        (4, "value", "LIMIT", ""), (6, "value", "owner", ""), (7, "value", "items", ""),
        (18, "function", "add", ""), (20, "bound", "log", "Shop::Log"), (21, "call", "record", "$log"),
        (22, "call", "check", "$self"), (22, "call", "sum", ""), (25, "call", "valid", "Shop::Util"),
    } <= rows  # fmt: skip
    # The name of a test is a text, and what it calls in its body is no definition.
    assert {(line, name) for line, kind, name, _ in rows if kind == "function"} == {
        (18, "add"), (25, "check"), (29, "price"), (33, "run"),
    }  # fmt: skip


def test_a_word_and_a_comment_at_the_end_do_not_hang_the_parser() -> None:
    # The scanner is native code that nothing can interrupt, hence the process.
    code = "from gitmem.chunking.chunk import chunk_blob; print(chunk_blob(b'sub f {}\\nreturn # x', 'perl').parsed)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.strip() == "True", done.stderr
