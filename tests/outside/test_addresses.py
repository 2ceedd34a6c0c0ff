"""Which addresses and names are on the public Internet."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laconic.outside.addresses import is_local_name, is_public, literal

# First and last address of each block, and of what lies beside it.
NOT_PUBLIC = """
    0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.0 127.255.255.255
    168.63.129.16 169.254.0.0 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.9 192.0.0.170
    192.0.0.255 192.0.2.0 192.0.2.255 192.88.99.0 192.88.99.255 192.168.0.0 192.168.255.255 198.18.0.0
    198.19.255.255 198.51.100.0 198.51.100.255 203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0
    255.255.255.255
    :: ::1 ::2 ::7f00:1 ::808:808 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1
    64:ff9b::808:808 64:ff9b:1::a00:1 100:: 100::1 100:0:0:1::1 1:: 200::1 400::1 1fff:ffff::1 2001:: 2001::1
    2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:1::1 2001:2::1 2001:3::1 2001:10::1 2001:20::1 2001:30::1
    2001:1ff:ffff::1 2001:db8:: 2001:db8:ffff::1 2002:: 2002:7f00:1::1 2002:808:808::1 2002:ffff:ffff::1
    3ffe::1 3fff:: 3fff:fff::1 4000:: 5f00::1 8000::1 fc00::1 fd00:ec2::254 fd20:ce::254 fdff::1 fe00::1 fe80::1
    fe80::1%eth0 febf::1 fec0::1 feff::1 ff00::1 ff02::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff
    2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:192.168.1.1 2a00::5efe:127.0.0.1
""".split()

PUBLIC = """
    1.0.0.0 1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
    168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0
    192.0.3.0 192.31.196.1 192.52.193.1 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.48.1
    198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0 203.0.112.255 203.0.114.0 223.255.255.255
    2000::1 2001:200::1 2001:4860:4860::8888 2001:db7::1 2001:db9::1 2003::1 2606:4700:4700::1111 2620:4f:8000::1
    2a00:1450::1 3ffd::1 3fff:1000::1 2606:4700::5efe:8.8.8.8
""".split()


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_an_address_of_a_special_block_is_not_public(text: str) -> None:
    """No machine on the Internet has it, or it wraps one that may be private."""
    assert not is_public(ip_address(text))


@pytest.mark.parametrize("text", PUBLIC)
def test_an_address_beside_the_special_blocks_is_public(text: str) -> None:
    """The blocks end where the registries say."""
    assert is_public(ip_address(text))


@given(st.ip_addresses())
def test_what_the_standard_library_calls_special_is_not_public(address: IPv4Address | IPv6Address) -> None:
    """The table is at least as strict as Python's own."""
    if not address.is_global or address.is_multicast or address.is_reserved or address.is_link_local:
        assert not is_public(address)


@given(st.ip_addresses())
def test_a_host_that_is_an_address_is_told_from_a_name(address: IPv4Address | IPv6Address) -> None:
    """Addresses are found in the form in which the parser writes them."""
    host = str(address) if isinstance(address, IPv4Address) else f"[{address}]"
    assert literal(host) == address


@pytest.mark.parametrize("name", ["example.com", "a.b1", "1.2.3.4.nip.io", "foo.09", "1.2.3.4.5x", "a.xn--1"])
def test_a_name_is_no_address(name: str) -> None:
    """Digits in a name do not make it an address."""
    assert literal(name) is None


@pytest.mark.parametrize(
    "name",
    """
    localhost a.localhost printer.local metadata.google.internal host.docker.internal x.invalid nas.lan
    localhost.localdomain router.home mail.corp wiki.intranet db.private a.home.arpa home.arpa ipv4only.arpa
    default.service.arpa intranet a.localhost6
    localtest.me a.b.localtest.me lvh.me x.lvh.me app.traefik.me make-127-0-0-1-rebind-8-8-8-8.1u.ms
    127.0.0.1.nip.io app.10.0.0.1.nip.io app-192-168-1-1.nip.io 7f000001.nip.io c0a80101.sslip.io --1.sslip.io
    169.254.169.254.nip.io 8.8.8.8.127.0.0.1.nip.io foo.nip.io 127-0-0-1.sslip.io 999.1.1.1.nip.io 0a000001-8-8-8-8.nip.io
    """.split(),
)
def test_a_local_name_is_known(name: str) -> None:
    """Names of private networks, and public ones that lead into them."""
    assert is_local_name(name)


@pytest.mark.parametrize(
    "name",
    """
    example.com a.b localhost.com local.example internal.example.com home.example.org arpa.example in-addr.arpa
    shop.example x.test abc.onion nip.io www.nip.io sslip.io 8.8.8.8.nip.io app-8-8-8-8.sslip.io 08080808.nip.io
    notlvh.me mylocal.dev xn--bcher-kva.example notnip.io 127.0.0.1.example.com
    """.split(),
)
def test_a_public_name_is_let_through(name: str) -> None:
    """Only whole labels count."""
    assert not is_local_name(name)
