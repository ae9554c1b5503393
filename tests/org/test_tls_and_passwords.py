"""Encrypted connections with a private CA, and passwords that come from the environment or a file alone."""

import datetime
import ipaddress
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import pytest

pytest.importorskip("cryptography", reason="makes the certificates")

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from gitmem.org.connection import complete_dsn, open_database
from gitmem.org.migrations import migrate
from tests.org.clusters import Cluster, cluster_folder
from tests.org.tls_terminator import TlsTerminator
from tests.sample import Cli, assert_error

SECRET: Final = "correct-horse-battery"
_RULES: Final = "local all postgres trust\nhost all all 127.0.0.1/32 scram-sha-256\n"


class Authority:
    """Private certificate authority with its file."""

    def __init__(self, folder: Path, name: str) -> None:
        self.file = folder / f"{name}.pem"
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = self._build(self._name, self._key, x509.BasicConstraints(ca=True, path_length=None))
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, folder: Path, host: str) -> tuple[Path, Path]:
        """Write a certificate for a host and its key; return the files."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.DNSName(host), x509.IPAddress(ipaddress.ip_address("127.0.0.9"))])
        certificate = self._build(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]), key, names)
        files = folder / f"{host}.crt", folder / f"{host}.key"
        files[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        private = serialization.PrivateFormat.TraditionalOpenSSL
        files[1].write_bytes(
            key.private_bytes(serialization.Encoding.PEM, private, serialization.NoEncryption())
        )  # fmt: skip
        return files

    def _build(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey, extension: x509.ExtensionType
    ) -> x509.Certificate:
        now = datetime.datetime.now(datetime.UTC)
        builder = x509.CertificateBuilder().subject_name(subject).issuer_name(self._name).public_key(key.public_key())
        builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
        builder = builder.not_valid_after(now + datetime.timedelta(days=1)).add_extension(extension, critical=False)
        return builder.sign(self._key, hashes.SHA256())


class Encrypted(NamedTuple):
    """Server, and the port on which it is reached over TLS."""

    cluster: Cluster
    port: int


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Make the authority that the server's certificate is from."""
    return Authority(tmp_path_factory.mktemp("ca"), "organisation")


@pytest.fixture(scope="module")
def encrypted(authority: Authority) -> "Iterator[Encrypted]":
    """Run a server that takes people over TLS with a password alone."""
    with cluster_folder() as folder:
        cluster = Cluster(folder).create()
        (cluster.data / "pg_hba.conf").write_text(_RULES)
        cluster.start()
        with cluster.connect() as database:
            database.execute(f"CREATE ROLE alice LOGIN PASSWORD '{SECRET}'")
            database.execute("GRANT pg_read_all_stats TO alice")
        with open_database(cluster.dsn("postgres")) as database:
            migrate(database)
            database.execute("GRANT gitmem_reader TO alice")
        with TlsTerminator(cluster.port, *authority.issue(folder, "localhost")) as terminator:
            yield Encrypted(cluster, terminator.port)
        cluster.kill()


def over_tls(port: int, root: Path, host: str = "localhost", mode: str = "verify-full") -> str:
    """Return the DSN of alice over TLS."""
    options = f"hostaddr=127.0.0.1&sslmode={mode}&sslrootcert={root}"
    return f"postgresql://alice@{host}:{port}/postgres?{options}"


def test_a_verified_server_is_used(
    encrypted: Encrypted, authority: Authority, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    dsn = over_tls(encrypted.port, authority.file)
    assert cli("org", "repos", "--dsn", dsn).code == 0
    with open_database(dsn) as database:
        assert database.pgconn.ssl_in_use


@pytest.mark.parametrize(
    ("host", "own_authority", "mode", "problem"),
    [
        ("localhost", False, "verify-full", "certificate verify failed"),
        ("localhost", False, "verify-ca", "certificate verify failed"),
        ("db.example.com", True, "verify-full", 'does not match host name "db.example.com"'),
    ],
)
def test_a_wrong_certificate_is_refused_in_one_line(
    encrypted: Encrypted, authority: Authority, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, host: str,
    own_authority: bool, mode: str, problem: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("PGPASSWORD", SECRET)
    root = authority.file if own_authority else Authority(tmp_path, "stranger").file
    outcome = cli("org", "repos", "--dsn", over_tls(encrypted.port, root, host, mode))
    assert_error(outcome, 5, problem, "TLS: `sslrootcert` names the file of the CA")
    assert len(outcome.err.splitlines()) == 2
    assert SECRET not in outcome.err


def test_a_server_without_encryption_is_refused(server: Cluster, authority: Authority, cli: Cli) -> None:
    dsn = over_tls(server.port, authority.file)
    assert_error(cli("org", "repos", "--dsn", dsn), 5, "server does not support SSL", "TLS")


def test_passwords_come_from_the_environment_or_a_file(
    encrypted: Encrypted, authority: Authority, cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = over_tls(encrypted.port, authority.file)
    outcome = cli("org", "repos", "--dsn", dsn)
    assert_error(outcome, 5, "no password supplied", "PGPASS")
    monkeypatch.setenv("PGPASSWORD", "wrong-" + SECRET)
    outcome = cli("org", "repos", "--dsn", dsn)
    assert_error(outcome, 5, "password authentication failed", "PGPASSWORD")
    assert SECRET not in outcome.err
    monkeypatch.delenv("PGPASSWORD")
    passfile = tmp_path / "pgpass"
    passfile.write_text(f"localhost:{encrypted.port}:postgres:alice:{SECRET}\n")
    passfile.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passfile))
    assert cli("org", "repos", "--dsn", dsn).code == 0
    monkeypatch.delenv("PGPASSFILE")
    assert cli("org", "repos", "--dsn", f"{dsn}&passfile={passfile}").code == 0
    service = tmp_path / "services.conf"
    service.write_text(
        f"[code]\nhost=localhost\nport={encrypted.port}\ndbname=postgres\nuser=alice\npassword={SECRET}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(service))
    assert cli("org", "repos", "--dsn", "service=code sslmode=require").code == 0


DSNS: Final = (
    f"postgresql://me:{SECRET}@db/code",
    f"host=db password={SECRET}",
    f"postgresql://me@db/code?password={SECRET}",
    f"postgresql://me@db/code?sslpassword={SECRET}",
    f"postgresql://me:{SECRET}@[",
    f"host=db password='{SECRET}",
    f"host=db password=x {SECRET}",
    f"postgresql://me:x/{SECRET}@db/code",
    f"postgresql://me:{SECRET}/x@db/code",
    f"me:{SECRET}@db/code",
    f"postgresql:/me:{SECRET}@db/code",
    f"postgresql://db/code?oauth_client_secret={SECRET}",
    f"host=db scram_client_key={SECRET}",
)
COMMANDS: Final = (
    ("init",), ("migrate", "--dsn"), ("publish", "--dsn"), ("query", "x", "--dsn"), ("grant", "a", "b", "--dsn"),
    ("revoke", "a", "b", "--dsn"), ("repos", "--dsn"), ("status", "--dsn"), ("drop", "a", "--yes", "--dsn"),
)  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("dsn", [DSNS[0], DSNS[4]])
def test_no_command_takes_or_repeats_a_password(
    indexed: object, cli: Cli, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], dsn: str
) -> None:
    path = str(getattr(indexed, "path", ""))
    monkeypatch.setenv("GITMEM_LOG_LEVEL", "debug")
    outcome = cli("-C", path, "org", *command, dsn)
    assert outcome.code == 2
    assert "DSN" in outcome.err
    assert SECRET not in outcome.err + outcome.out


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://db:5432/code?application_name=a@b",
        "postgresql://db1:1,db2:2/code?user=ci@corp",
        "postgresql://me@[::1]:1/code",
    ],
)
def test_a_dsn_with_ports_and_signs_of_passwords_is_taken(dsn: str) -> None:
    assert "connect_timeout" in complete_dsn(dsn)


@pytest.mark.parametrize("dsn", DSNS)
def test_no_form_of_a_dsn_takes_or_repeats_a_password(cli: Cli, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = cli("org", "repos", "--dsn", dsn)
    assert_error(outcome, 2, "DSN")
    assert SECRET not in outcome.err
    monkeypatch.setenv("GITMEM_ORG", dsn)
    for command in (("org", "repos"), ("org", "status")):
        assert SECRET not in cli(*command).err


def test_the_server_logs_no_password(
    encrypted: Encrypted, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    with open_database(over_tls(encrypted.port, authority.file)) as database:
        rows = database.execute("SELECT query, application_name FROM pg_stat_activity").fetchall()
        assert SECRET not in str(rows)
    assert SECRET not in encrypted.cluster.log()
