"""Links out of a file and into one: what comes in, what is refused, and that it comes back the same."""

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest

from laconic.clock import now
from laconic.links.browse import Query
from laconic.links.model import LinkDraft
from laconic.web.pages.import_run import Report
from tests.web.pages.dashboard.office import Office, Person
from tests.web.site import outline

TRANSFER = "/dashboard/transfer"
SCRIPT = {"accept": "application/x-ndjson"}


async def bring(
    person: Person, content: bytes, name: str = "links.csv", script: bool = True, **fields: str
) -> httpx.Response:
    return await person.client.post(
        TRANSFER,
        data={"token": await person.token(), **fields},
        files={"file": (name, content)},
        headers=SCRIPT if script else {},
    )


def told(answer: httpx.Response) -> dict[str, Any]:
    """What the script learns at the end."""
    assert answer.status_code == 200, answer.text
    last: dict[str, Any] = json.loads(answer.text.splitlines()[-1])
    return last


async def test_rows_become_links(every_office: Office) -> None:
    """Each with its fields; one bad row spoils no other, and is told by its number in the file."""
    office = every_office
    answer = await bring(
        office.member,
        b"url,code,title\nhttps://a.example/,first1,One\nnonsense,,Two\nhttps://b.example/,x,Three\nhttps://c.example/,,\n",
    )
    end = told(answer)
    assert (end["rows"], end["made"], end["refused"]) == (4, 2, 2)
    assert '<td class="number">3</td>' in end["part"]
    assert '<td class="number">4</td>' in end["part"]
    link = await office.api.services.browser.get(1, 1, "first1")
    assert (link.original_url, link.title) == ("https://a.example/", "One")
    trail = await office.admin.open("/dashboard/audit?action=link.import")
    assert "member@example.com" in trail


async def test_a_page_tells_the_same_without_a_script(office: Office) -> None:
    """One page, whole and well-formed, with the report at its end and nothing of the file as markup."""
    evil = b'url,title\n<script>alert(1)</script>,"</ol><script>"\nhttps://a.example/,ok\n'
    page = await bring(office.member, evil, "<b>.csv", script=False)
    assert page.status_code == 200
    assert "Done, with 1 row left out" in page.text
    assert "&lt;b&gt;.csv" in page.text
    scripts = [tag for tag in outline(page.text) if tag[0] == "script"]
    assert scripts == [("script", "src", "defer")] * 2
    assert page.text.rstrip().endswith("</html>")
    assert page.text.count("<ol") == page.text.count("</ol>")


async def test_what_goes_out_comes_in_again(office: Office) -> None:
    """CSV and NDJSON, with formulas, line breaks, other scripts and dates; the neighbour gets the same links."""
    draft = LinkDraft(
        "https://example.com/?q=%20ü",
        custom_code="round1",
        title='=cmd|"/C calc"!A0',
        description="two\nlines, one “quote”",
        metadata={"campaign": "spring", "n": 3},
        expires_at=now() + 10**12,
        redirect_status=307,
    )
    services = office.api.services
    await services.creator.create(1, None, draft)
    mine = await services.browser.get(1, 1, "round1")
    for form in ("csv", "ndjson"):
        answer = await office.viewer.client.get(f"{TRANSFER}/links.{form}")
        assert "attachment" in answer.headers["content-disposition"]
        end = told(await bring(office.neighbour, answer.content, f"links.{form}", codes="new"))
        assert (end["made"], end["refused"]) == (1, 0), end
    found = (await services.browser.page(office.neighbour_id, Query())).links
    assert len(found) == 2
    for link in found:
        for name in ("original_url", "title", "description", "expires_at", "redirect_status"):
            assert getattr(link, name) == getattr(mine, name), name
        assert json.loads(link.metadata) == {"campaign": "spring", "n": 3}


async def test_an_export_has_all_pages_and_only_the_tenants_own(every_office: Office) -> None:
    """More links than one page of the store, oldest first; the filter picks."""
    office = every_office
    rows = "".join(f"https://example.com/{number}\n" for number in range(2_100))
    assert told(await bring(office.member, f"url\n{rows}".encode()))["made"] == 2_100
    await office.api.services.creator.create(office.neighbour_id, None, LinkDraft("https://theirs.example/"))
    lines = (await office.viewer.client.get(f"{TRANSFER}/links.ndjson")).text.splitlines()
    urls = [json.loads(line)["original_url"] for line in lines]
    assert len(set(urls)) == 2_100
    assert "https://theirs.example/" not in urls
    disabled = await office.viewer.client.get(f"{TRANSFER}/links.csv?state=disabled")
    assert len(disabled.text.splitlines()) == 1
    assert (await office.viewer.client.get(f"{TRANSFER}/links.exe")).status_code == 422
    assert (await office.viewer.client.get(f"{TRANSFER}/links.csv?domain=nowhere.example")).status_code == 422
    assert (await office.viewer.client.get(f"{TRANSFER}/links.csv?search=%00")).status_code == 422


async def test_switched_off_links_are_not_switched_on(office: Office) -> None:
    """An export of a disabled link is refused with a sentence, not made into a live one."""
    line = b'{"original_url":"https://a.example/","short_code":"asleep","is_active":false}\n'
    end = told(await bring(office.member, line, "links.ndjson"))
    assert (end["made"], end["refused"]) == (0, 1)
    assert "switched off" in end["part"]


async def test_wishes_are_done(office: Office) -> None:
    """No second link for the same URL; a domain that the workspace does not have is refused before anything is made."""
    for made in (1, 0):
        assert told(await bring(office.member, b"url\nhttps://a.example/\n", reuse="yes"))["made"] == made
    refused = await bring(office.member, b"url\nhttps://b.example/\n", domain="nowhere.example")
    assert refused.status_code == 422
    assert (await office.member.send(TRANSFER)).status_code == 415
    nothing = await office.member.client.post(
        TRANSFER, files={"token": (None, await office.member.token()), "file": ("", b"")}
    )
    assert nothing.status_code == 422
    assert "Choose a file" in nothing.text


@pytest.mark.parametrize(
    ("content", "name", "words"),
    [
        (b"", "links.csv", "nothing to import"),
        (b"a,b\n1,2\n", "links.csv", "has to name the columns"),
        (b'[{"url": "https://a.example/"}', "links.json", "not complete"),
        (b"\xff\xfe\x00", "links.csv", "has to name the columns"),
        (b"[1, null, {}]", "links.json", "Done, with 3 rows"),
    ],
)
async def test_a_file_that_is_none_is_told(office: Office, content: bytes, name: str, words: str) -> None:
    """Whatever somebody uploads, the answer is a report."""
    assert words in told(await bring(office.member, content, name))["part"]


async def test_an_upload_that_breaks_off_is_told(office: Office) -> None:
    """What came before is made; the report says that the rest did not."""
    token = await office.member.token()
    edge = "edgeedgeedge"

    async def body() -> AsyncIterator[bytes]:
        yield f'--{edge}\r\nContent-Disposition: form-data; name="token"\r\n\r\n{token}\r\n'.encode()
        yield f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n'.encode()
        yield b"url\nhttps://a.example/\nhttps://b.exa"

    headers = {"content-type": f"multipart/form-data; boundary={edge}", **SCRIPT}
    end = told(await office.member.client.post(TRANSFER, content=body(), headers=headers))
    assert end["made"] == 1
    assert "ended early" in end["part"]


def test_results_are_counted_wherever_they_are_cut() -> None:
    """The other process sends them in pieces."""
    lines = [
        b'{"line":1,"status":201,"id":"1"}\n',
        b'{"line":2,"status":200,"existing":true}\n',
        b'{"line":3,"type":"x","status":409,"detail":"taken"}\n',
        b'{"type":"x","status":503,"detail":"cut off"}\n',
    ]

    def pieces(size: int) -> Iterator[bytes]:
        body = b"".join(lines)
        for start in range(0, len(body), size):
            yield body[start : start + size]

    for size in (1, 7, 1000):
        report = Report(first_row=2)
        for piece in pieces(size):
            report.take(piece)
        assert (report.made, report.existing, report.refused, report.rows) == (1, 1, 2, 4)
        assert [(one.row, one.words) for one in report.refusals] == [(4, "taken"), (None, "cut off")]
