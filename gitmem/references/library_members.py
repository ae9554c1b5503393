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
    "parse stringify next at defineProperty assign create freeze from isArray resolve reject all race now random floor "
    "ceil round abs min max "
    # Of pages and browsers.
    "getItem setItem removeItem key click focus blur load play pause submit reset closest contains matches append "
    "appendChild removeChild insertBefore replaceChild replaceWith cloneNode querySelector querySelectorAll "
    "getElementById getAttribute setAttribute removeAttribute hasAttribute toggle item dispatchEvent preventDefault "
    "stopPropagation stopImmediatePropagation getBoundingClientRect getContext scrollTo scrollBy scrollIntoView "
    "observe unobserve disconnect connect abort arrayBuffer blob formData text headers postMessage pushState "
    "replaceState back forward go assign reload writeText readText getSelection select requestFullscreen "
    "toDataURL toBlob drawImage fillRect fillText measureText animate getReader getWriter pipeTo pipeThrough "
    "randomUUID digest encode decode toISOString getTime getDate getDay getMonth getFullYear toFixed "
    "localeCompare codePointAt fromEntries groupBy at toSorted toReversed values allSettled any".split()
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
    "sum sorted toInt toLong toDouble toFloat toByte toShort toChar toBoolean asSequence intValue longValue "
    "toMap toMutableList associateBy groupBy mapNotNull filterNot filterNotNull flatMap isNullOrEmpty isNullOrBlank "
    "ifEmpty ifBlank orEmpty onEach reversed sortedBy distinct zip take drop takeWhile dropWhile getOrNull getOrElse "
    "firstOrNull lastOrNull lowercase uppercase substringBefore substringAfter removePrefix removeSuffix format "
    "trimIndent trimMargin trimStart trimEnd repeat lines lineSequence padStart padEnd capitalize substringBeforeLast "
    "substringAfterLast replaceFirst replaceFirstChar removeSurrounding toRegex toIntOrNull toLongOrNull toByteArray "
    "encodeToByteArray decodeToString toCharArray isBlank isNotBlank isNotEmpty any all none associate associateWith "
    "partition chunked windowed fold reduce sumOf maxBy maxByOrNull minBy minByOrNull maxOrNull minOrNull flatten "
    "mapIndexed mapTo filterIsInstance filterKeys filterValues mapKeys mapValues forEachIndexed withIndex asReversed "
    "single singleOrNull sortedWith sortedByDescending sortedDescending shuffled slice dropLast takeLast union "
    "intersect subtract toMutableSet toMutableMap toTypedArray coerceAtLeast coerceAtMost coerceIn takeIf takeUnless "
    "runCatching getOrThrow onSuccess onFailure copyInto contentEquals copyOfRange readText writeText readLines "
    "forEachLine useLines bufferedReader readBytes writeBytes".split()
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
    "Cast OfType AsTask GetValue SetValue GetProperty Union Except Aggregate Reverse Sort Find ForEach Exists Delete "
    "Log Equal".split()
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
    "body headers on escape save save! update update! destroy destroy_all create create! find_by find_by! where order "
    "limit offset includes joins left_joins group having pluck ids exists? reload valid? errors all none not or "
    "distinct find_each build new_record? persisted? attributes assign_attributes touch transaction params render "
    "redirect_to head flash session cookies request response".split()
)
_PHP: Final = frozenset(
    "get set has add remove count current key next rewind valid offsetGet offsetSet offsetExists offsetUnset format "
    "jsonSerialize modify getMessage getCode getPrevious getFile getLine getTrace getName getValue toString "
    "__toString __construct __invoke __call __get __set getIterator execute fetch prepare query bind run handle "
    "invoke save delete getTimestamp diff setTimezone getTimezone create make build send write read close open all "
    "first last map filter each push pop merge keys values toArray isEmpty contains clear reset start stop log error "
    "info debug getMethod getUri getBody getContents getHeader getHeaders getHeaderLine hasHeader withHeader withBody "
    "withStatus getStatusCode getReasonPhrase getAttribute getAttributes withAttribute getQueryParams getParsedBody "
    "getPath getHost getQuery getSize getStream getItem getExpiration dispatch process from where orWhere whereIn "
    "whereHas join leftJoin select orderBy groupBy limit offset with has find findOrFail firstOrFail pluck exists "
    "scopes query table insert insertGetId update paginate latest oldest".split()
)
_SWIFT: Final = frozenset(
    "append insert remove removeAll removeFirst removeLast contains map filter reduce forEach sorted sort first last "
    "count isEmpty joined split prefix suffix dropFirst dropLast compactMap flatMap enumerated reversed index "
    "firstIndex hasPrefix hasSuffix lowercased uppercased init description hash encode decode resume cancel start "
    "stop run write read close open load save update add get set min max allSatisfy starts next lock unlock wait "
    "signal async sync sleep fulfill value name send receive sink store subscribe replacingOccurrences components "
    "data string".split()
)

_LUA: Final = frozenset(
    "ipairs pairs next type tostring tonumber print error assert pcall require select unpack setmetatable getmetatable "
    "rawget rawset insert remove concat sort find match gmatch gsub sub format rep reverse lower upper byte char len "
    "floor ceil min max abs random open close read write lines time date new get set add run setup".split()
)
_ELIXIR: Final = frozenset(
    "new get put fetch fetch! update update! delete merge map each reduce filter inspect to_string split join length "
    "size start_link init handle_call handle_cast handle_info handle_continue terminate call cast stop start send "
    "count member? keys values into apply run child_spec changeset parse format encode decode encode! decode!".split()
)
_HASKELL: Final = frozenset(
    "map filter foldr foldl concat concatMap show read return pure fmap mapM mapM_ forM forM_ sequence length null "
    "head tail lookup insert delete member empty union fromList toList not and or any all id const flip zip zipWith "
    "fst snd maybe either putStrLn print error mempty mappend lines words take drop span reverse elem when "
    "unless".split()
)
_OCAML: Final = frozenset(
    "map iter fold fold_left fold_right find find_opt mem add remove length equal compare hash to_string of_string "
    "create get set append concat split rev filter exists for_all sort make init pp print singleton empty".split()
)
_JULIA: Final = frozenset(
    "show print println length size push! pop! append! get get! haskey keys values map filter sum min max isempty join "
    "split parse string copy collect iterate getindex setindex! convert promote_rule eltype open close read write "
    "first last".split()
)
_R: Final = frozenset(
    "print format summary names length c list data.frame lapply sapply vapply map paste paste0 is.null is.na seq_along "
    "nrow ncol stop warning get set merge plot mean sum min max filter select rbind cbind unique order sort".split()
)
_DART: Final = frozenset(
    "toString add addAll remove contains containsKey map where forEach toList toSet length isEmpty isNotEmpty first "
    "last keys values put get set then listen cancel close build dispose initState createState setState copyWith "
    "fromJson toJson hashCode compareTo of call run start stop send read write operator".split()
)
_LISP: Final = frozenset(
    "map filter reduce first rest last second conj assoc get update str print println concat apply list cons car cdr "
    "append length reverse count keys vals merge into nth format error message insert".split()
)

OTHER_MEMBERS: Final[Mapping[str, frozenset[str]]] = {
    "python": _PYTHON, "javascript": _ECMA, "go": _GO, "rust": _RUST, "java": _JAVA, "c": _C, "csharp": _CSHARP,
    "ruby": _RUBY, "php": _PHP, "swift": _SWIFT, "lua": _LUA, "elixir": _ELIXIR, "haskell": _HASKELL, "ocaml": _OCAML,
    "julia": _JULIA, "r": _R, "dart": _DART,
    **dict.fromkeys(("clojure", "elisp", "commonlisp", "scheme", "racket", "fennel", "janet"), _LISP),
}  # fmt: skip
"""Members by family of languages."""

FUNCTIONS: Final[Mapping[str, frozenset[str]]] = {
    **{family: OTHER_MEMBERS[family] for family in ("haskell", "julia", "lua", "ocaml", "r")},
    "java": frozenset(
        "also apply arrayOf assert assertEquals assertFalse assertNotNull assertNull assertThrows assertTrue async "
        "check checkNotNull compareBy delay emptyList emptyMap emptySet error fail flow flowOf generateSequence "
        "intArrayOf launch lazy let linkedMapOf listOf listOfNotNull mapOf maxOf measureTimeMillis minOf mutableListOf "
        "mutableMapOf mutableSetOf print println readLine repeat require requireNotNull run runBlocking runCatching "
        "sequence sequenceOf setOf sortedMapOf suspendCoroutine synchronized takeIf to verify with withContext "
        "withTimeout".split()
    ),
    "javascript": frozenset(
        "afterAll afterEach alert atob beforeAll beforeEach btoa cancelAnimationFrame clearImmediate clearInterval "
        "clearTimeout decodeURI decodeURIComponent describe encodeURI encodeURIComponent escape expect fetch "
        "getComputedStyle isFinite isNaN it matchMedia parseFloat parseInt queueMicrotask requestAnimationFrame "
        "require setImmediate setInterval setTimeout structuredClone test unescape".split()
    ),
    "rust": frozenset(
        "allow assert assert_eq assert_ne cfg cfg_attr column compile_error concat dbg debug_assert debug_assert_eq "
        "debug_assert_ne deny deprecated derive doc drop env eprint eprintln error expect file format format_args "
        "ignore include include_bytes include_str inline line macro_export matches must_use non_exhaustive option_env "
        "panic path print println repr should_panic stringify test thread_local todo unimplemented unreachable vec "
        "warn write writeln".split()
    ),
    "elixir": frozenset(
        "abs apply binding byte_size elem exit get_in hd if inspect length map_size match? max min node pop_in "
        "put_elem put_in raise round self send spawn spawn_link struct struct! tap then throw tl to_charlist "
        "to_string trunc tuple_size unless update_in".split()
    ),
    "c": frozenset(
        "malloc calloc realloc free memcpy memmove memset memcmp memchr strlen strcmp strncmp strcasecmp strncasecmp "
        "strcpy strncpy strcat strncat strdup strndup strchr strrchr strstr strtok strtok_r strtol strtoul strtoll "
        "strtoull strtod strerror atoi atol atof printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf "
        "puts fputs putchar fputc fgetc getc fgets fopen fclose fread fwrite fseek ftell fflush feof ferror perror "
        "scanf sscanf fscanf remove rename abort exit atexit assert getenv setenv system qsort bsearch rand srand abs "
        "time clock localtime localtime_r gmtime gmtime_r mktime strftime nanosleep sleep usleep gettimeofday "
        "clock_gettime open close read write lseek stat fstat unlink mkdir rmdir opendir readdir closedir dup dup2 "
        "pipe fork execvp waitpid kill signal sigaction socket bind listen accept connect send recv sendto recvfrom "
        "setsockopt getsockopt getaddrinfo freeaddrinfo select poll fcntl ioctl mmap munmap pthread_create "
        "pthread_join pthread_mutex_lock pthread_mutex_unlock isalpha isdigit isspace isalnum tolower toupper floor "
        "ceil sqrt pow fabs fmod log exp sin cos min max swap move forward make_pair make_shared make_unique "
        "to_string".split()
    ),
    "php": frozenset(
        "strlen substr strpos stripos strrpos str_replace str_repeat str_pad str_split strtolower strtoupper ucfirst "
        "lcfirst ucwords trim ltrim rtrim explode implode join sprintf printf vsprintf number_format nl2br "
        "htmlspecialchars md5 sha1 hash crc32 base64_encode base64_decode json_encode json_decode serialize "
        "unserialize urlencode rawurlencode http_build_query parse_url parse_str preg_match preg_match_all "
        "preg_replace preg_replace_callback preg_split preg_quote count sizeof in_array array_map array_filter "
        "array_reduce array_merge array_keys array_values array_key_exists array_search array_slice array_splice "
        "array_shift array_unshift array_push array_pop array_flip array_unique array_combine array_fill array_diff "
        "array_intersect array_reverse array_sum array_walk sort usort ksort uksort asort range compact extract min "
        "max abs ceil floor round pow sqrt intdiv rand mt_rand random_int random_bytes is_null is_array is_string "
        "is_int is_bool is_float is_numeric is_object is_callable is_resource isset empty unset intval floatval "
        "strval boolval gettype get_class get_object_vars method_exists property_exists class_exists function_exists "
        "is_a is_subclass_of call_user_func call_user_func_array func_get_args file_get_contents file_put_contents "
        "file_exists is_file is_dir mkdir rmdir unlink rename copy fopen fclose fread fwrite fgets feof fseek ftell "
        "rewind stream_get_contents dirname basename pathinfo realpath getcwd tempnam sys_get_temp_dir glob scandir "
        "date time microtime mktime strtotime gmdate header headers_sent setcookie ob_start ob_get_clean echo print "
        "print_r var_dump var_export define defined constant trigger_error error_log set_error_handler "
        "restore_error_handler spl_object_hash spl_object_id spl_autoload_register iterator_to_array getenv putenv "
        "ini_get ini_set php_sapi_name phpversion extension_loaded gc_collect_cycles usleep sleep uniqid mb_strlen "
        "mb_substr mb_strtolower mb_strtoupper mb_strpos iconv utf8_encode ctype_digit ctype_alpha bin2hex hex2bin "
        "pack unpack".split()
    ),
}
"""Functions, macros and attributes of the library by family, where a bare name needs no import. One of that name may be
the repository's."""

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
    "c": frozenset({"std"}),
    "csharp": frozenset("bool byte char decimal double float int long object short string uint ulong".split()),
    "rust": frozenset(
        "std core alloc bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize".split()
    ),
    "elixir": frozenset(
        "Agent Application Atom Base Code DateTime Date Enum Exception File Float Function GenServer IO Inspect "
        "Integer Kernel Keyword List Logger Macro Map MapSet Module NaiveDateTime Node Path Process Protocol Range "
        "Regex Registry Stream String StringIO Supervisor System Task Time Tuple URI ExUnit Mix binary crypto erlang "
        "ets file filelib filename gen_server io io_lib lists maps math os proplists queue rand re sets string "
        "supervisor timer unicode application code dict ordsets gen_tcp ssl httpc zlib base64 calendar init logger "
        "persistent_term".split()
    ),
    "solidity": frozenset("abi msg block tx address bytes string type".split()),
    "lua": frozenset("string table math io os coroutine debug package utf8 bit jit vim".split()),
}
"""Objects and namespaces of the library that need no import, by family. Their members are never those of a tree."""
