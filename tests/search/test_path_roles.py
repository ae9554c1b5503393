"""The role of a file follows from the words at the beginning and end of the names in its path."""

import pytest

from gitmem.search.path_roles import path_role, role_without_tests

_TESTS = (
    "tests.py src/tests.rs src/test.c TestFoo.java HTTPTest.java FooIT.java X.Tests/a.cs integration-tests/a.py "
    "unittests/a.cpp fuzz/a.rs __snapshots__/a.snap e2e/a.ts foo_test.go a.spec.ts app/testUtils/x.js conftest.py "
    "t/0000-basic.sh lib/deploy.t spec/helper.rb parser_spec.rb a-spec.mjs ParserSpec.scala OrderSpecs.cs specs/a.py "
    "src/test/java/org/acme/A.java app/src/androidTest/kotlin/A.kt src/test/java/com/example/A.java"
)
_EXAMPLES = (
    "_examples/a.go stories/a.tsx a.stories.tsx docs_src/a.py bench/a.c demo/a.py code-samples/a.kt sample/a.go "
)
_EXAMPLES += "src/stories/button.css a-stories.jsx"
_AUXILIARY = (
    "node_modules/a.js dist/a.js build/a.js third_party/a.c lib/i18n/x.js a.d.ts x.min.js a_generated.go "
    "single_include/a.hpp singleheader/a.h extras/catch_amalgamated.cpp sqlite-amalgamation/a.c lib/a.esm.js a.cjs.js "
    "NoopEventService.cs metric/noop/meter.go db/mysql-migrations/1.sql locale/app.po src/locales/en.ts "
    "generated-sources/A.java vendor/a.rb migration/1.ts src/main/java/org/generated/A.java src/gen/java/A.java"
)
_TRANSLATIONS = (
    "lang/de/auth.php lang/pt_BR/auth.php lang/en/auth.php locale/de.po po/fr.po app/res/values-zh-rTW/strings.xml "
    "app/de.lproj/Main.strings Strings.de.resx dicts/pt-br.edn metadata/zh-Hans/about.xml src/translations/nl.ts "
    "docs/zh-CN/guide.md messages.es_419.json share/translations/app_pt_BR.ts share/translations/app_en_GB.ts "
    "www/translations/web_sr@latin.ts www/translations/web_ltg.ts "
    "l10n/app_de.arb src/main/resources/messages_zh_Hans.properties lang/strings_fr.json"
)
_DOCUMENTS = (
    "docs/en-US/guide.md README.md docs/a.py CHANGELOG CMakeLists.txt website/a.js LICENSE-MIT LICENSE.python History "
    "NEWS CHANGES.2 SPEC.md"
)
_PLAIN = (
    "include/single/a.h v1/a.go src/latest.py testing.go contest.py audit.go specification/a.py src/unit.rs Makefile "
    "external.py src/t/a.js app/en.lproj/Main.xib app/Base.lproj/Main.xib java/lang/Object.java lang/go/parser.c "
    "lang/ast/a.c "
    "src/history.rs app/LicenseModel.cs licenses_controller.rb "
    "changes.go historyBuffer.ts news_feed.dart src/de.py src/is.rs "
    "values-xx/strings.xml no-op.json my_app-XX.js values-large/strings.xml it_works.py no-op.js "
    "okhttp3/ConnectionSpec.kt src/parse_shape_specs.rs oci/spec.go TypeSpec.java plan_sample.cpp cop/sample.rb "
    "api.spec.yaml inspect.js respects.ts "
    "app/views/stories/show.html.erb models/stories.py src/locale.py GeneratedRouter.scala group_migration.py "
    "Core/PlanMigration/Plan.cs SsoCookieVendor/a.cs doc_comments.rs utils/docs.py use-locale/index.ts migrations.lua "
    "src/main/java/com/example/demo/App.java app/src/commonMain/kotlin/org/samples/test/A.kt "
    "core/src/main/scala-3/play/api/i18n/Messages.scala src/main/proto/org/mock/a.proto "
    "src/main/cljs/cljs/spec/alpha.cljs src/main/resources/messages_en.properties user_id.json src/order_it.ts "
    "l10n/app_all.arb l10n/plan_de.dart"
)


@pytest.mark.parametrize(
    ("paths", "role"),
    [
        (_TESTS, "test"),
        (_EXAMPLES, "example"),
        (_AUXILIARY, "auxiliary"),
        (_TRANSLATIONS, "auxiliary"),
        (_DOCUMENTS, "document"),
        (_PLAIN, ""),
    ],
)
def test_a_path_has_the_role_of_its_words(paths: str, role: str) -> None:
    assert {path: path_role(path) for path in paths.split()} == dict.fromkeys(paths.split(), role)


def test_a_page_in_a_test_folder_belongs_to_the_tests() -> None:
    assert path_role("tests/README.md") == "test"


@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("packages/core/src/TestScheduler.ts", ""),
        ("src/Runners/TestCaseRunner.cs", ""),
        ("theme/ColorSpec.cs", ""),
        ("lib/minitest/test.rb", ""),
        ("packages/bloc_test/lib/src/bloc_test.dart", ""),
        ("kotlinx-coroutines-test/common/src/TestScope.kt", ""),
        ("testkit/play-test/src/main/scala/play/api/test/Fakes.scala", ""),
        ("numpy/testing/utils.py", ""),
        ("examples/TestShop.java", "example"),
        ("docs/testing/client.py", "document"),
        # What belongs to tests without containing any.
        ("tests/helpers.py", "test"),
        ("numpy/testing/tests/data.py", "test"),
        ("packages/bloc_test/test/blocs/counter.dart", "test"),
        ("sbt-test/shop/app/Shop.java", "test"),
        ("e2e/shop/src/index.ts", "test"),
        ("export_test.go", "test"),
        ("conftest.py", "test"),
        ("types/global.test.ts", "test"),
        ("src/shop.spec.ts", "test"),
        ("test_helpers.go", "test"),
        ("src/TestUtils.java", "test"),
        ("t/lib/Shop.pm", "test"),
    ],
)
def test_a_file_without_tests_has_the_role_of_what_is_certain(path: str, role: str) -> None:
    assert path_role(path) == "test"
    assert role_without_tests(path) == role
