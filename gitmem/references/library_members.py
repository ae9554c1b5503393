"""Members of the types of a language and of its library. One of that name is often none of the repository.

A call of such a member on an object of unknown type is never certain, however few definitions the name has.
"""

from collections.abc import Mapping
from typing import Final

_BUILT_IN: Final = (str, bytes, list, dict, set, tuple, int, float, type(iter("")), type(open), Exception)
_PYTHON: Final = frozenset(name for type_ in _BUILT_IN for name in dir(type_)) | frozenset(
    "read write close open flush seek readline readlines writelines fileno search match fullmatch group groups sub "
    "run start stop wait send recv connect acquire release put get_nowait submit result cancel done set clear is_set "
    "info debug warning error exception critical exists is_dir is_file mkdir resolve glob read_text write_text append "
    "appendleft popleft most_common total_seconds isoformat strftime date time add_argument parse_args shape reshape "
    "mean sum dtype astype min max all any name path parent stem suffix args kwargs value type id".split()
)
_ECMA: Final = frozenset(
    "push pop shift unshift slice splice concat join map filter forEach reduce reduceRight find findIndex some every "
    "includes indexOf lastIndexOf sort reverse flat flatMap fill keys values entries has get set delete add clear "
    "size then catch finally toString valueOf hasOwnProperty split replace replaceAll trim trimStart trimEnd match "
    "matchAll search test exec charAt charCodeAt startsWith endsWith padStart padEnd repeat substring substr "
    "toLowerCase toUpperCase call apply bind log warn error info debug emit on once off addEventListener "
    "removeEventListener write end read close open send json text status append remove length name type value id "
    "parse stringify next at".split()
)
_GO: Final = frozenset(
    "Error String Close Read Write WriteString Get Set Add Len Less Swap Push Pop Lock Unlock RLock RUnlock Done Wait "
    "Run Start Stop Value Err Name Type Path Header Body Do Format Print Printf Println Scan Next Key Keys Values "
    "Delete Load Store Send Recv Flush Reset Bytes Marshal Unmarshal Encode Decode Open Create Remove Sub Equal "
    "Before After Unix Join Split Exec Query Begin Commit Rollback Prepare Fatal Fatalf Errorf Helper Log Logf Skip "
    "Cleanup Context Cancel Accept Listen Serve ServeHTTP Seek Size Mode Is As Unwrap".split()
)
_RUST: Final = frozenset(
    "new default clone into from try_from try_into as_ref as_mut as_str as_bytes to_string to_owned to_vec unwrap "
    "unwrap_or unwrap_or_else unwrap_or_default expect map map_err and_then or_else ok err ok_or iter iter_mut "
    "into_iter next collect filter filter_map fold len is_empty push push_str pop insert remove get get_mut contains "
    "contains_key entry extend drain clear lock read write flush send recv spawn join poll wait borrow borrow_mut "
    "deref drop eq ne cmp partial_cmp hash fmt index add sub mul div parse trim split chars bytes lines starts_with "
    "ends_with replace take swap sort sort_by reverse min max sum count last first find position any all zip rev "
    "chain enumerate skip step_by peekable peek cloned copied is_some is_none is_ok is_err path display exists "
    "is_file is_dir file_name parent extension open create build args arg status output key value keys values set "
    "load store abs pow sqrt floor ceil round flatten append truncate resize split_at shutdown close connect accept "
    "bind kill id name timeout".split()
)
_JAVA: Final = frozenset(
    "equals hashCode toString getClass compareTo compare get set put add remove contains containsKey containsValue "
    "size isEmpty clear iterator hasNext next stream map filter collect forEach keySet values entrySet getKey "
    "getValue getName getMessage getCause length charAt substring indexOf lastIndexOf split trim replace startsWith "
    "endsWith append insert reverse delete format valueOf parse read write flush close open run call execute submit "
    "start stop join await wait notify lock unlock apply accept test andThen build of copyOf toArray asList addAll "
    "removeAll getOrDefault putIfAbsent computeIfAbsent orElse orElseThrow isPresent ifPresent first last getFirst "
    "getLast push pop peek poll offer name ordinal getId getType getPath getParent exists create newInstance invoke "
    "getBytes print println printf let also use plus minus times toList toSet joinToString matches find group reset "
    "update copy clone error info debug warn trace getInstance getProperty send receive cancel isDone count min max "
    "sum sorted".split()
)
_C: Final = frozenset(
    "size empty begin end cbegin rbegin push_back pop_back emplace_back emplace insert erase find count clear reset "
    "get release at front back data length c_str str substr append resize reserve swap first second lock unlock join "
    "detach load store open close read write flush good fail what key value value_or has_value name type next push "
    "pop top seekg tellg print compare hash copy assign capacity wait notify_one notify_all run start stop init "
    "destroy".split()
)
_CSHARP: Final = frozenset(
    "ToString Equals GetHashCode GetType CompareTo Add AddRange Remove RemoveAt Contains ContainsKey TryGetValue "
    "Clear Count Insert IndexOf ToList ToArray ToDictionary Select SelectMany Where First FirstOrDefault Single Last "
    "Any All OrderBy GroupBy Dispose DisposeAsync Close Open Read ReadAsync Write WriteAsync WriteLine Flush "
    "FlushAsync Append AppendLine Format Join Split Trim Replace Substring StartsWith EndsWith ToLower ToUpper Parse "
    "TryParse Get Set Invoke Create Start Stop Run Wait Cancel Push Pop Peek Enqueue Dequeue MoveNext GetEnumerator "
    "Reset Build Copy CopyTo Clone Send SendAsync Execute ExecuteAsync Concat Min Max Sum Average Distinct Skip Take "
    "Cast OfType GetValue SetValue GetProperty Union Except Aggregate Reverse Sort Find ForEach Exists Delete Log "
    "Equal".split()
)
_RUBY: Final = frozenset(
    "new call to_s to_str to_a to_h to_i to_f to_sym to_proc inspect size length count each each_with_index "
    "each_with_object each_pair map collect flat_map select filter reject reduce inject find detect first last push "
    "pop shift unshift join split gsub sub strip include? member? key? has_key? keys values merge merge! update fetch "
    "dig delete delete_if any? all? none? empty? nil? respond_to? is_a? kind_of? instance_of? send public_send dup "
    "clone freeze frozen? tap then sort sort_by group_by partition compact uniq reverse zip take drop min max sum "
    "index sample write read puts print open close start stop run name id type value path start_with? end_with? match "
    "match? scan format upcase downcase capitalize add remove clear set get concat lines chars bytes encode hash eql? "
    "equal? method class raise message backtrace exist? instance_eval class_eval yield next info debug warn error "
    "body headers".split()
)
_PHP: Final = frozenset(
    "get set has add remove count current key next rewind valid offsetGet offsetSet offsetExists offsetUnset format "
    "jsonSerialize modify getMessage getCode getPrevious getFile getLine getTrace getName getValue toString "
    "__toString __construct __invoke __call __get __set getIterator execute fetch prepare query bind run handle "
    "invoke save delete getTimestamp diff setTimezone getTimezone create make build send write read close open all "
    "first last map filter each push pop merge keys values toArray isEmpty contains clear reset start stop log error "
    "info debug".split()
)
_SWIFT: Final = frozenset(
    "append insert remove removeAll removeFirst removeLast contains map filter reduce forEach sorted sort first last "
    "count isEmpty joined split prefix suffix dropFirst dropLast compactMap flatMap enumerated reversed index "
    "firstIndex hasPrefix hasSuffix lowercased uppercased init description hash encode decode resume cancel start "
    "stop run write read close open load save update add get set min max allSatisfy starts next lock unlock wait "
    "signal async sync sleep fulfill value name send receive sink store subscribe replacingOccurrences components "
    "data string".split()
)

OTHER_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "python": _PYTHON, "javascript": _ECMA, "go": _GO, "rust": _RUST, "java": _JAVA, "c": _C, "csharp": _CSHARP,
    "ruby": _RUBY, "php": _PHP, "swift": _SWIFT,
}  # fmt: skip
"""Members by family of languages."""

POINTERS: Final[Mapping[str, frozenset[str]]] = {
    "rust": frozenset("Arc Rc Box Ref RefMut MutexGuard Cow Pin impl dyn".split()),
    "c": frozenset("unique_ptr shared_ptr weak_ptr auto_ptr auto".split()),
    "java": frozenset({"var"}),
    "csharp": frozenset({"Lazy"}),
}
"""Types by family whose members are those of the object behind them, which the index does not know."""

GLOBALS: Final[Mapping[str, frozenset[str]]] = {
    "javascript": frozenset(
        "Array ArrayBuffer BigInt Boolean Buffer Date Error Function Intl JSON Map Math Number Object Promise Proxy "
        "Reflect RegExp Set String Symbol URL Uint8Array WeakMap WeakSet console globalThis".split()
    ),
}
"""Objects of the library that need no import, by family. Their members are never those of a tree."""
