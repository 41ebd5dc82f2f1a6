"""Check a built site: opening a page fetches nothing from a network, and every link on the site arrives.

python docs/_ext/check.py docs/_build
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src"}
LOADS |= {"embed": "src", "object": "data", "use": "href", "image": "href"}
INERT = {"canonical", "next", "prev", "search", "index", "author", "license"}
WEB = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
CSS_WEB = re.compile(r"(?:url\(\s*['\"]?|@import\s+['\"])\s*((?:https?:)?//[^'\")\s]+)", re.IGNORECASE)


class Page(HTMLParser):
    """What a page loads by itself, where it leads, and where links into it may arrive."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = CSS_WEB.findall(text)
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the addresses of a tag."""
        found = {name: value for name, value in attrs if value}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and "href" in found and found.get("rel", "") not in INERT:
            self.loads.append(found["href"])
        if found.get(LOADS.get(tag, "")):
            self.loads.append(found[LOADS[tag]])
        self.loads += [part.split()[0] for part in found.get("srcset", "").split(",") if part.split()]
        if "srcdoc" in found:
            self.loads += Page(found["srcdoc"]).loads


def fetched(text: str) -> list[str]:
    """Return the web addresses that a browser fetches when it opens a page.

    >>> fetched('<link rel="stylesheet" href="https://a.org/x.css"><a href="https://b.org">b</a><img src="c.png">')
    ['https://a.org/x.css']
    """
    return [address for address in Page(text).loads if WEB.match(address)]


def problems(site: Path) -> list[str]:
    """Return what is wrong with the pages of a built site."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    found = [] if pages else [f"{site} holds no page"]
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        found += [f"{where} fetches {address}" for address in page.loads if WEB.match(address)]
        local = [a for a in page.loads + page.links if not WEB.match(a) and not urlsplit(a).scheme]
        for address in local:
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                found.append(f"{where} leads to {address}, which does not exist")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{where} leads to {address}, which has no such place")
    for path in site.rglob("*.css"):
        web = CSS_WEB.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)} fetches {address}" for address in web]
    return found


if __name__ == "__main__":
    wrong = problems(Path(sys.argv[1]))
    print("\n".join(wrong) or "every link arrives, and nothing is fetched")
    sys.exit(bool(wrong))
