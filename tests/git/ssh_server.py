"""sshd on the loopback, with keys of its own: for repositories that are cloned by ssh."""

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

SSH: Final = shutil.which("ssh")
SSHD: Final = shutil.which("sshd", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"]))

# As root, sshd wants an empty folder of the system, which the package of its service makes.
HAS_SSHD: Final = bool(SSHD and SSH and shutil.which("ssh-keygen") and (os.geteuid() or Path("/run/sshd").is_dir()))

_SERVER: Final = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
PidFile none
AuthorizedKeysFile {folder}/authorized
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
SetEnv PATH={path}
"""

_CLIENT: Final = """\
Host 127.0.0.1
Port {port}
User {user}
IdentityFile {folder}/{identity}
IdentitiesOnly yes
IdentityAgent none
UserKnownHostsFile {folder}/{known}
GlobalKnownHostsFile /dev/null
"""


class SshServer:
    """Running server, and configurations for clients of it."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.user = pwd.getpwuid(os.geteuid()).pw_name
        self.port = port

    def client(self, identity: str = "good", known: str = "known") -> str:
        """Return the ssh command of a client with the key `good` or `bad`.

        It has the host key in `known`; another one is `changed`, and any other file knows none.
        """
        place = self.folder / f"client-{identity}-{known}"
        text = _CLIENT.format(port=self.port, user=self.user, folder=self.folder, identity=identity, known=known)
        place.write_text(text, encoding="utf-8")
        return f"{SSH} -F {place}"


@contextmanager
def open_ssh_server(folder: Path) -> Iterator[SshServer]:
    """Run a server until the end of the block."""
    folder.mkdir()
    for name in ("host", "other", "good", "bad"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(folder / name)]
        subprocess.run(command, check=True, capture_output=True)
    shutil.copy(folder / "good.pub", folder / "authorized")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        server = SshServer(folder, free.getsockname()[1])
    for name, key in (("known", "host"), ("changed", "other")):
        public = (folder / f"{key}.pub").read_text(encoding="utf-8")
        (folder / name).write_text(f"[127.0.0.1]:{server.port} {public}", encoding="utf-8")
    text = _SERVER.format(port=server.port, folder=folder, path=os.environ["PATH"])
    (folder / "sshd.conf").write_text(text, encoding="utf-8")
    command = [str(SSHD), "-D", "-e", "-f", str(folder / "sshd.conf")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert any("Server listening" in line for line in process.stderr or ())
            yield server
        finally:
            process.terminate()
