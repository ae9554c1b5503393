"""Dictionary for the words of a record: terms that many files of many repositories have, in alphabetical order.

Half of the records are those of small files, whose words repeat too little to compress well. `tests.bench.common_terms`
chose the terms from 22 repositories in as many languages.
"""

# Stored records need exactly these bytes: another dictionary is another format of records (`blob_record`).

from typing import Final

_TERMS: Final = """
0 1 10 2 3 a about abov absolut abstract accept access action activ add additional after agre alias all allow alreadi
also alwai an analysis and annotation another any apach api app append appli applicabl application are arg argument
aris arrai as assert assertion associat async at attribut authentication author auto automaticalli availabl avoid
background bar base basic basis be becaus been befor begin behavior between bin binari block bodi bool boolean both
branch break buffer build builder business but by byte c cach call callback can cannot case catch caus certificat
chang char character check child children class clear client clos code collection color column com command comment
common compatibiliti compil compiler complet complianc component concurrent condition config configur configuration
connect connection consequential consider const constant construct constructor contain content context continu
contract contributor control convert copi copyright core correct could count creat current currentli custom damag data
debug declar def default defin definition delet dependenci deprecat describ description detail determin dev
development different dir direct directli directori disabl disclaim disclaimer dispatch displai distribut distribution
do doc document documentation doe doesn done download each either element else empti enabl encod end endif ensur entri
enum environment equal err error even event exampl except exception exclud execut execution exist exit expect explicit
explicitli export express expression extend extension external factori fail failur fals featur field file filenam
filter final find first fitness flag follow foo for foreach form format formatter found foundation free from full fun
func function general generat get github given global govern group ha handl handler have head header hello helper here
herebi host however html http id identifier if ignor implement implementation impli import in incidental includ index
indirect info information init initial initializ inlin input insert install instanc instead int integer integration
interfac internal interruption into invalid io is issu it item java join json just keep key kind languag last length
let level liabiliti liabl librari licens like limit limitation line link list literal load local location log logger
long main make map match material max may memori merchantabiliti merg messag method miss mode modifi modification
modul more multipl must name namespac necessari need negligenc net new next nil no node non none noninfringement
normal not note notic now null number object obtain of offset on once one onli open opensourc operation operator
option optional or order org original other otherwis out output overrid packag param parameter parent pars parser part
particular pass path pattern performanc permission permit platform plugin point position possibiliti possibl prefix
present previous print privat process program project properti protect protocol provid provider public publish purpos
push queri rang read receiv redistribution referenc register relativ releas remov render replac report repositori
represent reproduc request requir reset resolv resourc respons restriction result retain return right root run runtim
s same script search second section see select self sequenc server servic session set setup shall shar shell short
should show simpl sinc singl sink size skip so socket softwar some sourc spac special specifi specific split standard
start stat static status stderr stdout still stop stor str stream strict string struct structur styl sub subject
substantial substitut success such summari super support switch syntax system t tag take target templat test text than
that the thei them then ther thes this thread through throw time timeout titl to token tostring tree trigger true try
type under unknown unless until updat url use used useful user using utf util val valid valu var variabl verifi
version view void want warn warranti we what when wher whether which whil will window with without work would wrap
wrapper writ written www you your
"""

COMMON_TERMS: Final = "\n".join(_TERMS.split()).encode()
