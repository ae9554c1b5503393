"""Abbreviations that programmers use in names, with the words that they stand for. Pure."""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from gitmem.words import stem

_COMPARED: Final = 4
"""Letters by which words are compared: an ending may change the others."""

_TABLE: Final = """
admin     administration administrator
alloc     allocate allocation allocator
app       application
arg       argument
async     asynchronous
attr      attribute
auth      authenticate authentication authorize authorization
bin       binary
bool      boolean
btn       button
buf       buffer
calc      calculate calculation calculator
cert      certificate
cfg       config configure configuration
char      character
cmd       command
col       column
conf      config configure configuration
config    configure configuration
conn      connect connection
ctx       context
db        database
decl      declare declaration
def       define definition
dest      destination
dev       development
dict      dictionary
diff      difference
dir       directory
doc       document documentation
dst       destination
elem      element
env       environment
err       error
eval      evaluate evaluation
exec      execute execution executor
expr      expression
ext       extension
fmt       format formatter
fn        function
func      function
gen       generate generation generator
id        identifier
idx       index
img       image
impl      implement implementation
info      information
init      initialize initialization
iter      iterate iterator iteration
lang      language
len       length
lib       library
max       maximum
mem       memory
mgr       manager
min       minimum
msg       message
nav       navigate navigation
norm      normalize normalization
ns        namespace
num       number
obj       object
op        operation operator
opt       option
org       organization
param     parameter
passwd    password
perf      performance
perm      permission
pkg       package
po        position
pref      preference
prev      previous
proc      process procedure
prod      production
prop      property
ptr       pointer
pwd       password
rand      random
rect      rectangle
ref       reference
regexp    regex
repo      repository
req       request
resp      response
sched     schedule scheduler
seq       sequence
spec      specification
src       source
stat      statistics
stmt      statement
str       string
sync      synchronize synchronization synchronous
sy        system
temp      temporary
tmp       temp temporary
tmpl      template
tx        transaction
txn       transaction
usr       user
util      utility
val       value
var       variable
vec       vector
ver       version
win       windows
"""


FULL_FORMS: Final[Mapping[str, tuple[str, ...]]] = {
    short: tuple(words) for short, *words in (line.split() for line in _TABLE.strip().split("\n"))
}
"""The words that each abbreviation stands for.

The abbreviation is stemmed (`sys` is `sy`), the words are not: few are ever needed.
"""


def full_forms(term: str) -> list[str]:
    """Return the stemmed words that a stemmed term may stand for; mostly none."""
    return list(map(stem, FULL_FORMS.get(term, ())))


def abbreviations_of(term: str) -> Sequence[str]:
    """Return the abbreviations of the words that begin like a stemmed term, of which it may be the stem."""
    return _by_beginning().get(term[:_COMPARED], ())


@cache
def _by_beginning() -> Mapping[str, list[str]]:
    """Return the abbreviations by each beginning of their words, up to the letters that are compared."""
    # All words would take a tenth of a query to compare.
    shorts: dict[str, dict[str, None]] = {}
    for short, words in FULL_FORMS.items():
        for word in words:
            for size in range(1, _COMPARED + 1):
                shorts.setdefault(word[:size], {})[short] = None
    return {beginning: list(own) for beginning, own in shorts.items()}
