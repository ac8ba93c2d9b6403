"""A plain Python model of documents: how the tree must behave."""

from dataclasses import dataclass, field, replace


class Refused(Exception):
    """What the real thing must refuse, too."""


@dataclass(frozen=True)
class Page:
    """What one version says."""

    slug: str
    body: str
    parent: str | None
    links: tuple[str, ...]


@dataclass
class Tree:
    """Every version of every document, and which are current."""

    versions: dict[str, list[Page]] = field(default_factory=dict[str, list[Page]])
    live: set[str] = field(default_factory=set[str])
    redacted: set[tuple[str, int]] = field(default_factory=set[tuple[str, int]])

    def current(self, document: str) -> Page:
        return self.versions[document][-1]

    def version(self, document: str) -> int:
        return len(self.versions[document])

    def paths(self) -> dict[str, tuple[str, int, str]]:
        """The tree by path: id, version and body."""
        found = {self.path(document): document for document in self.live}
        return {path: (each, self.version(each), self.current(each).body) for path, each in sorted(found.items())}

    def path(self, document: str) -> str:
        steps: list[str] = []
        here: str | None = document
        while here is not None:
            steps.append(self.current(here).slug)
            here = self.current(here).parent
        return "~/" + "/".join(reversed(steps))

    def _check(self, document: str, page: Page) -> None:
        here = page.parent
        while here is not None:
            if here == document or here not in self.live:
                raise Refused
            here = self.current(here).parent
        for other in self.live - {document}:
            if (self.current(other).parent, self.current(other).slug) == (page.parent, page.slug):
                raise Refused
        if any(link == document or link not in self.live for link in page.links):
            raise Refused

    def create(self, document: str, page: Page) -> None:
        if document in self.versions:
            raise Refused
        self._check(document, page)
        self.versions[document] = [page]
        self.live.add(document)

    def update(self, document: str, page: Page, expected: int) -> None:
        if document not in self.live or expected != self.version(document):
            raise Refused
        if page == self.current(document):
            return
        self._check(document, page)
        self.versions[document].append(page)

    def delete(self, document: str, expected: int) -> None:
        if document not in self.live or expected != self.version(document):
            raise Refused
        for other in self.live - {document}:
            page = self.current(other)
            if page.parent == document or document in page.links:
                raise Refused
        self.live.discard(document)

    def restore(self, document: str, version: int, expected: int | None) -> None:
        if not 1 <= version <= self.version(document) or (document, version) in self.redacted:
            raise Refused
        page = self.versions[document][version - 1]
        if document in self.live:
            if expected is None:
                raise Refused
            self.update(document, page, expected)
            return
        if expected is not None:
            raise Refused
        self._check(document, page)
        self.versions[document].append(page)
        self.live.add(document)

    def redact(self, document: str, version: int) -> None:
        past = 1 <= version < self.version(document) or (
            document not in self.live and version == self.version(document)
        )
        if not past:
            raise Refused
        self.redacted.add((document, version))
        self.versions[document][version - 1] = replace(self.versions[document][version - 1], body="")
