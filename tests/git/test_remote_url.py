"""Which URLs are cloned: every form that could run a command, read a file or leak a password is refused."""

import pytest

from gitmem.errors import UsageError
from gitmem.git.remote_url import is_remote_url, parse_remote_url, require_allowed_host


@pytest.mark.parametrize(
    "text",
    [
        "https://github.com/pallets/flask",
        "https://github.com/pallets/flask.git",
        "https://GitHub.com:443/pallets/flask/",
        "HTTPS://github.com//pallets/flask.git",
        "ssh://git@github.com/pallets/flask.git",
        "ssh://git@github.com:22/pallets/flask",
        "git@github.com:pallets/flask.git",
    ],
)
def test_all_forms_of_a_url_are_one_repository(text: str) -> None:
    url = parse_remote_url(text)
    assert is_remote_url(text)
    assert (url.host, url.name, url.key) == ("github.com", "flask", "github.com/pallets/flask")
    require_allowed_host(url, ["GitHub.com"])


def test_the_short_form_stays_relative_to_the_home_of_the_user() -> None:
    assert parse_remote_url("git@host.example:x/y.git").text == "git@host.example:x/y.git"
    assert parse_remote_url("ssh://git@HOST.example:22/x/y.git").text == "ssh://git@host.example/x/y.git"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ext::sh -c touch% /tmp/x", "control character"),
        ("ext::sh", "`ext::` names a helper"),
        ("fd::17", "`fd::` names a helper"),
        ("https::https://github.com/a/b", "`https::` names a helper"),
        ("https:github.com/a/b", "no valid host"),
        ("file:///etc", "`file` is not a protocol"),
        ("git://github.com/a/b", "`git` is not a protocol"),
        ("http://github.com/a/b", "`http` is not a protocol"),
        ("ftp://github.com/a/b", "`ftp` is not a protocol"),
        ("://github.com/a/b", "`` is not a protocol"),
        ("--upload-pack=x://github.com/a/b", "is not a protocol"),
        ("https:///etc/passwd", "no valid host"),
        ("ssh://-oProxyCommand=x/a", "no valid host"),
        ("git@-oProxyCommand=x:a", "no valid host"),
        ("-oProxyCommand=x@github.com:a", "no valid user"),
        ("ssh://-l@github.com/a", "no valid user"),
        ("git@github.com:--upload-pack=x", "begins with a dash"),
        ("https://github.com\\@evil.example/a", "a user or a password"),
        ("https://github.com/a/b?x=1", "names no repository"),
        ("https://github.com/a/../b", "names no repository"),
        ("https://github.com/", "names no repository"),
        ("https://github.com", "names no repository"),
        ("https://github.com/a\nb", "control character"),
        ("https://github.com/a%0ab", "control character"),
        ("https://github.com%00.example/a", "control character"),
        ("https://[::1]/a/b", "no valid host"),
        ("https://github.com:0x50/a", "no valid host"),
        ("https://github.com/" + "a" * 3000, "too long"),
        ("https://gïthub.com/a", "no valid host"),
    ],
)
def test_other_urls_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as problem:
        parse_remote_url(text)
    assert problem.value.hint


@pytest.mark.parametrize(
    "text",
    [
        "https://hunter2@github.com/a/b", "https://me:hunter2@github.com/a/b", "ssh://git:hunter2@github.com/a/b",
        "https://me:hunter2@@github.com/a/b",
    ],
)  # fmt: skip
def test_a_password_in_a_url_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as problem:
        parse_remote_url(text)
    assert "hunter2" not in problem.value.message + problem.value.hint
    assert "GITMEM_GIT_TOKEN" in problem.value.hint


@pytest.mark.parametrize("text", ["src", "./a:b", "C:\\x", "a/b@c:d", "notes", "", "x:y", "/tmp/a::b"])
def test_paths_are_no_urls(text: str) -> None:
    assert not is_remote_url(text)


@pytest.mark.parametrize("host", ["gitlab.com", "github.com.evil.example", "github.com:8443", "www.github.com"])
def test_only_allowed_hosts_pass_with_their_ports(host: str) -> None:
    with pytest.raises(UsageError, match="is not allowed") as problem:
        require_allowed_host(parse_remote_url(f"https://{host}/a/b"), ["github.com"])
    assert problem.value.hint == f'git config --global gitmem.allowedHosts "github.com, {host}"'
