"""nginx and wrk: found, or installed where that is possible."""

import os
import shutil
import subprocess

_PACKAGES = {"nginx": "nginx-light", "wrk": "wrk"}
_INSTALL_SECONDS = 600


class ToolMissing(Exception):
    """A program that the benchmark needs is not there and cannot be installed; the text says what to do."""


def find_tool(name: str) -> str:
    """The path of the program, installed with apt first when it is missing and we are root."""
    # Debian keeps nginx in /usr/sbin, which is not on everybody's PATH.
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    found = shutil.which(name, path=places)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _install(_PACKAGES[name])
        found = shutil.which(name, path=places)
    if found is None:
        raise ToolMissing(
            f"{name} is not on PATH and could not be installed. Install it (`apt-get install {_PACKAGES[name]}` as root)"
            " and run the benchmark again."
        )
    return found


def _install(package: str) -> None:
    print(f"Installing {package} with apt-get …", flush=True)
    # RUNLEVEL 1 keeps Debian's init scripts from starting the nginx that was just installed.
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    for command in (
        ["apt-get", "update", "--quiet"],
        ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", package],
    ):
        # A failure shows in the program's absence.
        subprocess.run(
            command, check=False, env=environment, stdout=subprocess.DEVNULL, timeout=_INSTALL_SECONDS
        )
