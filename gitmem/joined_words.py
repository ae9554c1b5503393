"""Words that code writes as one word or as several: `websocket`, `WebSocket`, `web_socket`. Data only.

Both spellings of nearly all of them were counted in the identifiers of 25 public repositories in some 15 languages.
"""

from typing import Final

SPELLINGS: Final = tuple(
    """
    a 11 y|abs path|ad hoc|add on|alpha numeric|anti alias|api call|api key|app bar|app compat|app data|arg max
    async io|auto close|auto complete|auto correct|auto download|auto fill|auto focus|auto play|auto release
    auto resize|auto save|auto scroll|auto select|auto start|av codec|b 2 b|b tree|back buffer|back space|back tab
    base dir|base line|base name|big int|bit depth|bit field|bit rate|bit set|bit stream|block list|block quote
    boot strap|bottom sheet|broad cast|buf len|built in|byte array|byte code|byte order|c string|cache dir|call back
    can not|caps lock|change log|change set|char set|check box|check list|check mark|check out|cipher suite
    class name|class path|clean up|clear text|client id|clip board|clock id|cloud front|code block|code point
    color map|color space|combo box|command line|content editable|content type|context menu|cookie jar|core audio
    core media|count down|cpu info|cross fade|cube map|cursor line|cut off|d bus|data base|data class|data dog
    data frame|data list|data loader|data set|data source|data store|data stream|data type|deep copy|deep link
    dest dir|dir name|dir path|direct x|dma buf|dot net|double click|drag over|drop down|e 2 e|e book|e tag
    edge case|editor config|else if|end point|ends with|entry point|env var|err msg|err no|error code|f fmpeg
    f string|fail safe|fall back|fast path|fav icon|feature flag|ff mpeg|file handle|file info|file list|file name
    file no|file path|file size|file system|file type|find all|find iter|focus in|focus out|folder id|follow up
    foot note|for each|form data|four cc|frame buffer|frame rate|free bsd|front matter|full path|full screen
    full text|full width|g rpc|game pad|geo json|get addr|get attr|get env|get hostname|get info|get item
    get temp dir|git config|git dir|git hub|git ignore|git lab|go away|grand child|graph ql|group by|h 2 c
    hand shake|hash code|hash map|hash set|hash table|head phone|health check|hello world|hex dump|home dir
    home page|host name|hot key|hot spot|http error|http only|http url|hyper link|i 18 n|i cloud|i frame|i os|i pad
    i phone|i pv 4|i pv 6|in app|in flight|in line|in memory|in place|index map|index of
    indexed db|inner html|input method|instance of|int ptr|io surface|ip address|ip v 4|ip v 6|is ascii|is digit
    is dir|is empty|is instance|j query|j unit|java script|js doc|json rpc|json schema|jump list|k 8 s|keep alive
    key bind|key binding|key board|key chain|key code|key down|key frame|key map|key pad|key pair|key press|key ring
    key set|key space|key store|key up|key value|l 10 n|lat lng|less than|lets encrypt|life cycle|life time
    line break|line no|line number|line strip|linked in|list view|local host|local storage|lock file|log in
    log level|log out|look ahead|look up|loop back|lower case|lua jit|m time|mac os|mac os x|main loop|main thread
    maria db|max len|max length|media type|mem cache|mem cached|menu bar|menu item|merge tool|message box|meta data
    meta field|meta table|micro second|milli second|mime type|min gw|min length|min max|min version|mock server
    mod time|mongo db|monitor info|mouse down|mouse enter|mouse leave|mouse move|mouse over|mouse up|mouse wheel
    msg pack|multi line|multi part|multi select|multi thread|music brainz|my sql|name space|nano second|nav bar
    net bsd|new line|no op|no reply|no wait|no wrap|node js|non blocking|non empty|non exist|non existent
    non negative|non null|non zero|not equal|not found|num lock|o auth|o auth 2|o tel|object id|off screen|off set
    ok http|on click|on error|on line|open ai|open api|open bsd|open gl|open graph|open id|open search|open source
    open ssh|open ssl|open telemetry|out line|over scroll|p 2 p|page down|page up|page view|pass through|pay pal
    phone number|pix fmt|pixel format|place holder|plain text|play station|plug in|pop up|post css|post process
    postgre sql|power shell|pre allocate|pre commit|pre load|pre process|prefix len|progress bar|prose mirror
    proto buf|pub sub|pull request|quick start|r lock|radio button|rate limit|rate limiting|re init|read dir
    read line|read link|read only|read write|real path|real time|recycler view|red hat|ref count|reg ex|reg exp
    rel path|remove prefix|render target|roll up|round robin|round trip|row span|run loop|run time|rw lock|s rgb
    save point|screen saver|screen shot|scroll bar|scroll view|sem ver|send grid|send mail|set default|set up
    short cut|shut down|side effect|sign in|sign off|sign out|sign up|size of|slide show|source map|spell check
    spin box|spin lock|stack overflow|stack trace|start tls|start up|starts with|status bar|status code|status line
    str len|strike out|strike through|string builder|style sheet|sub category|sub class|sub command|sub dir
    sub directory|sub domain|sub folder|sub key|sub menu|sub path|sub process|sub query|sub resource|sub schema
    sub system|sub title|sub titles|sub type|super set|swap chain|sym link|sys info|tab index|tear down|temp dir
    temp file|test case|test data|test set|test suite|text area|text box|text field|text object|text pack|text view
    third party|thread id|thread pool|time delta|time out|time scale|time span|time stamp|time zone|timed out
    title bar|title case|tmp dir|to do|to lower|to number|to upper|tool bar|tool tip|top level|touch pad|touch start
    trade mark|tree sitter|tree view|triangle strip|try lock|type def|type name|type of|type script|u int|u short
    un stage|unique id|unit test|up stream|up time|upper case|url encode|url parse|user agent|user data|user id
    user info|user name|user profile|v sync|var char|view model|view pager|view port|w 3 c|water mark|web cam|web gl
    web hook|web kit|web page|web rtc|web server|web site|web socket|web view|white list|white space|wild card
    wnd proc|work dir|work tree|wrap around|write back|x input|x offset|x open|x path|xml pull|y cb cr|y offset
    you tube|z index|zip file
    """.strip()
    .replace("\n    ", "|")
    .split("|")
)
"""The parts of each word, with spaces between them."""
