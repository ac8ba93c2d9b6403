"""What can be asked of a memory as a whole.

Written by tools/make_api.py from the table of operations; change a request there and run it again.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from bethink.api.handles import Handle, tuple_of
from bethink.features.people.records import PersonErased, PersonFound, PersonItems, PersonWay
from bethink.model.access import AccessPage
from bethink.model.erasures import OpenErasures
from bethink.model.held import HeldKind, HeldPage
from bethink.model.holds import LegalHold
from bethink.model.jobs import Audit, JobKind, JobPage, JobStatus, RunReport, Spending, SpendingBy
from bethink.model.moments import When, beginning, moment
from bethink.model.operations.base import Empty
from bethink.model.operations.erasures import OPEN_ERASURES
from bethink.model.operations.installation import AUDIT, LEARN, LIST_SPACES, LearnRequest, ListSpacesRequest
from bethink.model.setting_entries import SettingEntry
from bethink.model.summaries import Counters, SpacePage

if TYPE_CHECKING:
    from bethink.features.keys.handle import Keys
    from bethink.features.webhooks.handle import Webhooks


class MemoryVerbs(Handle):
    """What can be asked of a memory as a whole."""

    @property
    def keys(self) -> "Keys":
        """The API keys that give callers of a server access to this memory."""
        from bethink.features.keys.handle import Keys  # noqa: PLC0415 - most programs never use it

        return Keys(self._backend)

    @property
    def webhooks(self) -> "Webhooks":
        """The webhooks that receive changes."""
        from bethink.features.webhooks.handle import Webhooks  # noqa: PLC0415 - most programs never use it

        return Webhooks(self._backend)

    async def open_erasures(self) -> OpenErasures:
        """Finish erasures that were interrupted in any space, and list what some place has still to confirm."""
        return await self._run(OPEN_ERASURES, Empty())

    async def page_jobs(
        self, *, status: JobStatus = JobStatus.DEAD, kind: JobKind | None = None, limit: int = 50, after: str = ""
    ) -> JobPage:
        """List the jobs of all spaces that are queued, running, failed or given up, the last queued first.

        A page costs the same however many jobs there are.

        Args:
            status: Only jobs that are queued, running, failed, or dead, which were given up.
            kind: Only jobs of this kind.
            limit: How many jobs to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        from bethink.model.operations.monitoring import PAGE_JOBS, PageJobsRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(PAGE_JOBS, PageJobsRequest(status=status, kind=kind, limit=limit, after=after))

    async def held(self, *, kind: HeldKind | None = None, limit: int = 50, after: str = "") -> HeldPage:
        """List what waits for a person in all spaces, the newest first: claims under review, and changes of documents.

        What is decided while a page is read may be missing in it.

        Args:
            kind: Only claims, or only changes.
            limit: How many items to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        from bethink.model.operations.monitoring import HELD, HeldRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(HELD, HeldRequest(kind=kind, limit=limit, after=after))

    async def spending(
        self, *, since: When | None = None, until: When | None = None, by: SpendingBy = SpendingBy.DAY, limit: int = 20
    ) -> list[Spending]:
        """List what models cost on each day, in all, by kind of work, by model, or by space.

        Args:
            since: The first day; 30 days before the last, if left out.
            until: The last day; today, if left out.
            by: List each day in all, by kind, by model, or by space: those that cost most.
            limit: By space, how many of each day.

        Raises:
            Invalid: for more than 366 days, or 31 by space.
        """
        from bethink.model.operations.monitoring import SPENDING, SpendingRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            SPENDING,
            SpendingRequest(
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                by=by,
                limit=limit,
            ),
        )

    async def page_spaces(self, *, prefix: str = "", limit: int = 50, after: str = "") -> SpacePage:
        """List spaces by name, each with what failed in it and what waits for a person.

        A page costs the same however many spaces there are, and however much they hold.

        Args:
            prefix: Only spaces whose names begin with it.
            limit: How many spaces to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        from bethink.model.operations.monitoring import PAGE_SPACES, PageSpacesRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(PAGE_SPACES, PageSpacesRequest(prefix=prefix, limit=limit, after=after))

    async def counters(self) -> Counters:
        """Count the jobs that are not done by status, and what waits for a person, in all spaces.

        Jobs are counted as their states change, so it costs the same however many there are.
        """
        from bethink.model.operations.monitoring import COUNTERS  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(COUNTERS, Empty())

    async def settings(self) -> list[SettingEntry]:
        """List the settings in force, each with its default and where it comes from. Secrets are masked."""
        from bethink.model.operations.monitoring import SETTINGS  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(SETTINGS, Empty())

    async def list_spaces(self, *, limit: int = 100, after: str = "") -> list[str]:
        """List the names of all spaces that hold anything, in order.

        Args:
            limit: How many names to return at most.
            after: Only spaces that follow this one: the last name of the previous page.
        """
        return await self._run(LIST_SPACES, ListSpacesRequest(limit=limit, after=after))

    async def audit(self) -> Audit:
        """Count the jobs that are not done by status, what was spent today, and violations of invariants."""
        return await self._run(AUDIT, Empty())

    async def learn(self, *, only: Iterable[JobKind] | None = None) -> RunReport:
        """Learn once from everything that is marked, in all spaces, and report what came of it.

        It waits for what this process has already begun in the background, and the report includes what was learnt
        there since the last call. It does not wait for other processes. What changed is then sent to webhooks,
        unless `only` is given.

        Args:
            only: Only these kinds of jobs.
        """
        return await self._run(LEARN, LearnRequest(only=None if only is None else tuple_of(only)))

    async def access(
        self,
        *,
        space: str | None = None,
        key: str | None = None,
        person: str | None = None,
        verb: str | None = None,
        ref: str | None = None,
        since: When | None = None,
        until: When | None = None,
        limit: int = 50,
        after: str = "",
    ) -> AccessPage:
        """List who read, wrote, erased or made keys, the newest first: the access record.

        A page looks at 20,000 entries at most, so a narrow one may be short, even empty, and still have a `next`.
        Questions and texts are never recorded. An entry goes after as many days as `access_keep_days` says.

        Args:
            space: Only what was done in this space.
            key: Only what was done with the key of this prefix.
            person: Only what was done by this person, or for them.
            verb: Only calls of this verb, such as `space.recall`.
            ref: Only what read or changed this: a ref, or `kind:id` for every version of a fact or a document.
            since: Only what was done from this time on.
            until: Only what was done up to this time. A day means its end.
            limit: How many entries to return at most.
            after: Only what follows: the `next` of the previous page.
        """
        from bethink.features.access.operations import ACCESS, AccessRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            ACCESS,
            AccessRequest(
                space=space,
                key=key,
                person=person,
                verb=verb,
                ref=ref,
                since=None if since is None else beginning(since),
                until=None if until is None else moment(until),
                limit=limit,
                after=after,
            ),
        )

    async def find_person(
        self, name: str, *, aliases: Iterable[str] = (), by: Iterable[PersonWay] = tuple(PersonWay), limit: int = 100
    ) -> PersonFound:
        """Count and name what is held of a person, in every space that the caller may see.

        It reads every text. A name that is part of another word is not matched. A key is asked for each of its
        spaces; without one, it is all spaces.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many refs to return at most, for each space. Everything is counted.
        """
        from bethink.features.people.operations import FIND_PERSON, FindPersonRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            FIND_PERSON, FindPersonRequest(name=name, aliases=tuple_of(aliases), by=tuple_of(by), limit=limit)
        )

    async def export_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        limit: int = 1000,
        after: str = "",
    ) -> PersonItems:
        """Return the texts that are held of a person, in every space that the caller may see.

        It reads every text. A name that is part of another word is not matched. A key is asked for each of its
        spaces; without one, it is all spaces.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            limit: How many items to return at most.
            after: Only what follows: the `next` of the page before.
        """
        from bethink.features.people.operations import EXPORT_PERSON, ExportPersonRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            EXPORT_PERSON,
            ExportPersonRequest(name=name, aliases=tuple_of(aliases), by=tuple_of(by), limit=limit, after=after),
        )

    async def forget_person(
        self,
        name: str,
        *,
        aliases: Iterable[str] = (),
        by: Iterable[PersonWay] = tuple(PersonWay),
        reason: str = "",
        dry_run: bool = False,
    ) -> PersonErased:
        """Erase what is held of a person, in every space that the caller may see, with one receipt for each.

        A space under a legal hold is left as it is, and named. A key is asked for each of its spaces; without one,
        it is all spaces.

        Args:
            name: The name of the person: whole words, whose case and accents do not count.
            aliases: Other names of the same person: nicknames, initials, an address.
            by: How to look: by speaker, words and entities.
            reason: Why, for the record: a number of a request, say, and not the name.
            dry_run: Count and name what would go, and remove nothing.
        """
        from bethink.features.people.operations import FORGET_PERSON, ForgetPersonRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(
            FORGET_PERSON,
            ForgetPersonRequest(name=name, aliases=tuple_of(aliases), by=tuple_of(by), reason=reason, dry_run=dry_run),
        )

    async def lift_legal_hold(self, space: str, hold_id: str, reason: str, *, by: str | None = None) -> LegalHold:
        """Lift a legal hold on a space. Erasures that waited for it are finished then.

        A key needs `operate`: one that may only erase cannot lift what forbids it to.

        Args:
            space: The space that it stands on.
            hold_id: The hold, as `hold` and `holds` name it.
            reason: Why it no longer stands.
            by: Who lifts it, for the record; the user who runs the program, if left out.

        Raises:
            NotFound: if the hold does not exist.
        """
        from bethink.features.retention.operations import LIFT, LiftRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(LIFT, LiftRequest(space=space, hold_id=hold_id, reason=reason, by=by))

    async def legal_holds(self, *, limit: int = 100) -> list[LegalHold]:
        """List the legal holds that stand, in all spaces, the newest first.

        Args:
            limit: How many holds to return at most.
        """
        from bethink.features.retention.operations import ALL_HOLDS, HoldsRequest  # noqa: PLC0415 - see tools/make_api.py

        return await self._run(ALL_HOLDS, HoldsRequest(limit=limit))
