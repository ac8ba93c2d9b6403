// Every operation against a live server: what goes out is accepted, and what comes back is what the types say.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import * as bethink from "bethink";
import { serve } from "./kit.mjs";

const { Bethink, Session } = bethink;
const OPENAPI = JSON.parse(await readFile(new URL("../../../docs/reference/openapi.json", import.meta.url)));
const NOT_VERBS = ["healthz", "readyz", "metrics"];
const answered = new Map(); // what the server said to each operation: a status

let server, memory, alice;

before(async () => {
    server = await serve();
    memory = new Bethink({ ...server, fetch: noting });
    alice = memory.space("alice/ä b");
});
after(() => server.stop());

const ROUTES = Object.entries(OPENAPI.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => {
        const pattern = new RegExp(`^${path.replace(/\{\w+\}/g, "[^/]+")}$`);
        return { id: operationId, method: method.toUpperCase(), pattern, literal: !path.endsWith("}") };
    }),
);

async function noting(url, options) {
    const response = await fetch(url, options);
    const path = new URL(url).pathname;
    const found = ROUTES.filter((each) => each.method === options.method && each.pattern.test(path));
    const { id } = found.find((each) => each.literal) ?? found[0];
    if (!(answered.get(id) < 300)) answered.set(id, response.status);
    return response;
}

async function all(items) {
    const found = [];
    for await (const item of items) found.push(item);
    return found;
}

test("a space remembers, recalls and explains", async () => {
    const stored = await alice.remember("Anna plays the cello on Fridays.", { conversation: "talk" });
    assert.equal(stored.refs.length, 1);
    const found = await alice.recall("Who plays the cello?", { limit: 3, explain: true });
    assert.match(found.items[0].text, /cello/);
    assert.ok(found.items[0].said_at instanceof Date);
    assert.match((await alice.context("Who plays the cello?", { budget: 500 })).text, /cello/);
    assert.equal((await alice.explain(found.items[0].ref)).origin, "user");
    assert.equal(await alice.admin.contextLog.markUsed([found.items[0].ref]), 1);
    assert.ok((await alice.admin.timeline.list({ limit: 5 })).items.length);
    assert.equal((await alice.admin.health()).name, alice.name);
    assert.ok(Array.isArray((await alice.admin.costs.list()).items));
    assert.ok((await alice.admin.jobs.list()).items);
    assert.equal(typeof (await alice.documents.refresh()), "boolean");
    await alice.admin.learn();
    await memory.learn();
    assert.ok((await alice.admin.erasures.list()).items);
    await assert.rejects(alice.correct("fact:none:1", "Tea."), bethink.NotFoundError);
});

test("a session keeps messages, and asks for itself", async () => {
    const session = await alice.session("talk", { metadata: { at: "2026-01-01T00:00:00Z", said_at: "now" } });
    assert.ok(session instanceof Session);
    assert.ok(session.info.created_at instanceof Date);
    assert.equal(session.info.metadata.at, "2026-01-01T00:00:00Z", "what is not ours is left alone");
    const said = new Date("2026-03-01T12:30:15.123Z");
    const messages = [{ role: "user", content: "I moved to Oslo.", said_at: said, metadata: { when: said } }];
    const [number] = await session.append(messages);
    const records = await session.messages({ last: 1 });
    assert.equal(records.items[0].number, number);
    assert.deepEqual(records.items[0].message.said_at, said);
    assert.equal(records.items[0].message.metadata.when, said.toISOString());
    assert.equal((await session.recall("Oslo?")).items.length > 0, true);
    await session.context("Where do I live?");
    assert.ok((await alice.admin.contextLog.list({ session_id: session.id })).items.every((each) => each.shown_at instanceof Date));
    assert.ok((await alice.admin.contextLog.list()).items.length);
    assert.ok((await session.transcript()).lines.length);
    assert.equal(typeof (await session.stripCitations("Oslo.")), "string");
    assert.equal(typeof (await session.checkpoint()), "boolean");
    assert.equal(typeof (await session.checkpoint({ force: true })), "boolean");
    assert.equal(typeof (await alice.sessions.relearn(session.id)), "boolean");
    assert.equal((await session.waitUntilLearned({ timeout: 0.01 })).session_id, session.id);
    await session.summary();
    assert.equal(await session.retract(number), true);
    assert.equal((await alice.sessions.get(session.id)).id, session.id);
    assert.equal((await alice.sessions.find("talk")).id, session.id);
    assert.equal(await alice.sessions.find("never"), null);
    assert.equal((await alice.sessions.list()).items.length, 1);
    assert.ok(await session.forget({ dry_run: true }));
    const next = await session.restart();
    assert.notEqual(next.id, session.id);
    assert.ok(await (await next.restart("compaction")).end());
});

test("facts are saved, listed page by page, and pinned", async () => {
    const { facts } = alice;
    for (const name of ["a", "b", "c"])
        await facts.save({ id: `f/${name}`, text: `${name} drinks tea.`, metadata: { k: name }, expires_at: "2030-01-01" });
    assert.deepEqual((await all(facts.list({ limit: 2 }))).map((each) => each.id).slice(0, 3), ["f/a", "f/b", "f/c"]);
    assert.ok((await all(facts.history({ limit: 1 }))).length >= 3);
    assert.ok((await facts.get("f/a")).expires_at instanceof Date);
    assert.equal((await facts.get("f/a")).ref, "fact:f/a:1");
    assert.equal((await facts.save(await facts.get("f/c"))).id, "f/c", "a result can be sent back");
    assert.equal((await facts.versions("f/a")).length, 1);
    assert.deepEqual(await facts.sources("f/a"), []);
    assert.deepEqual(await facts.quotes("f/a"), []);
    assert.ok((await facts.search("tea", { limit: 2 })).length);
    assert.equal((await facts.list({ where: { k: "b" } })).items[0].id, "f/b");
    assert.ok((await facts.count()) >= 3);
    assert.ok((await alice.facts.pin("fact:f/a:1")).pinned_at instanceof Date);
    assert.equal((await alice.facts.list({ pinned: true })).items.length, 1);
    assert.equal((await alice.facts.unpin("fact:f/a:1")).pinned_at, null);
    assert.ok(await alice.facts.rate("fact:f/a:1", "useful"));
    assert.ok(await alice.correct("fact:f/a:1", "Anna drinks mate."));
    await assert.rejects(facts.get("none"), (error) => error instanceof bethink.NotFoundError && error.hint.length > 0);
    await assert.rejects(facts.save({ id: "f/b", text: "x" }, { if_version: 7 }), bethink.VersionConflictError);
});

test("reviews are proposed and decided", async () => {
    const { reviews } = alice;
    const { refs } = await alice.remember(["a", "b", "c", "d"].map((each) => ({ role: "user", content: `I like ${each}${each}.` })));
    const proposed = [];
    for (const ref of refs) proposed.push(await reviews.propose(ref, { text: `Likes ${ref}.`, kind: "preference" }));
    assert.equal((await reviews.get(proposed[0].id)).id, proposed[0].id);
    assert.ok((await all(reviews.list({ limit: 1 }))).length >= 4);
    assert.ok(Object.values(await reviews.count()).every(Number.isInteger));
    await reviews.approve(proposed[0].id, { note: "yes" });
    await reviews.reject(proposed[1].id);
    assert.equal((await reviews.approveMany([proposed[2].id])).length, 1);
    assert.equal((await reviews.rejectMany([proposed[3].id])).length, 1);
});

test("rules, retention and legal holds", async () => {
    await alice.admin.rules.set({ instructions: "Learn names." });
    assert.equal((await alice.admin.rules.get()).instructions, "Learn names.");
    const { retention, holds } = alice.admin;
    assert.ok((await retention.set("fact", 365)).set_at instanceof Date);
    assert.equal((await retention.list()).items.length, 1);
    assert.equal(await retention.remove("fact"), undefined);
    await retention.run({ dry_run: true });
    const hold = await holds.place("case 12", { actor: "kari" });
    assert.equal((await holds.list()).items.length, 1);
    assert.equal((await memory.admin.holds.list()).items.length, 1);
    await assert.rejects(alice.forget(undefined, { conversation: "talk" }), bethink.LegalHoldError);
    assert.ok((await memory.admin.holds.lift(alice.name, hold.id, "closed")).lifted_at instanceof Date);
});

test("documents have versions, history and a tree", async () => {
    const { documents } = alice;
    const made = await documents.create({ slug: "people", title: "People", body: "Anna" }, { idempotency_key: "doc 1" });
    assert.equal(made.version, 1);
    assert.ok(await documents.find(undefined, { idempotency_key: "doc 1" }));
    const next = await documents.update(made.id, { slug: "people", title: "People", body: "Anna\nBob" }, 1);
    assert.equal(next.version, 2);
    assert.equal((await documents.get(made.id)).body, "Anna\nBob");
    const entry = (await all(documents.list())).find((item) => item.id === made.id);
    assert.ok(entry.valid_from instanceof Date);
    assert.equal((await documents.find(entry.path)).id, made.id);
    assert.ok((await documents.search("Bob")).length);
    assert.ok(Object.values(await documents.readAll()).every((each) => typeof each === "string"));
    assert.deepEqual(await documents.children(made.id), []);
    await documents.outline(made.id);
    assert.equal((await documents.versions(made.id)).length, 2);
    assert.equal((await all(documents.history(made.id, { limit: 1 }))).length, 2);
    assert.equal((await documents.blame(made.id)).lines.length, 2);
    assert.match(await documents.diff(made.id, 1, 2), /Bob/);
    assert.deepEqual(await documents.sources(made.id, 1), []);
    assert.equal((await documents.restore(made.id, 1, 2)).version, 3);
    await assert.rejects(documents.delete(made.id, 1), (error) => error instanceof bethink.VersionConflictError && error.current === 3);
    assert.equal(await documents.delete(made.id, 3), undefined);
    assert.ok((await documents.changes.list()).items.every((each) => each.created_at instanceof Date));
    for (const decide of ["approve", "reject", "undo"]) await assert.rejects(documents.changes[decide]("none"), bethink.NotFoundError);
});

test("threads take events, step by step", async () => {
    const { threads } = alice;
    const thread = await threads.open();
    assert.match(thread.id, /^thread_/);
    await threads.dispatch(thread.id, { type: "USER_MESSAGE", payload: { text: "tea", at: "2026-01-01" } });
    await threads.setMode(thread.id, "stepping");
    await threads.dispatch(thread.id, { type: "USER_MESSAGE", payload: { text: "more tea" } });
    assert.equal((await threads.queue(thread.id)).length, 1);
    await threads.step(thread.id);
    assert.deepEqual(await threads.failedEvents(thread.id), []);
    const states = await all(threads.states(thread.id, { limit: 1 }));
    assert.ok(states.length >= 2 && states[0].recorded_at instanceof Date);
    assert.ok((await threads.state(thread.id)).chunks.length);
    await threads.diff(thread.id, 0, 1);
    assert.ok((await threads.prompt(thread.id, 1_000)).messages.length);
    await threads.tokens(thread.id);
    assert.notEqual((await threads.fork(thread.id, 1)).id, thread.id);
    await threads.replay(thread.id);
    assert.equal((await threads.get(thread.id)).id, thread.id);
    assert.equal((await all(threads.list({ limit: 1 }))).length, 2);
});

test("memory tests are kept and run", async () => {
    const added = await alice.admin.tests.add("Who plays the cello?", { must: ["Anna"] });
    assert.ok(added.created_at instanceof Date);
    assert.equal((await all(alice.admin.tests.list({ limit: 1 }))).length, 1);
    assert.equal((await alice.admin.tests.run()).length, 1);
    assert.equal(await alice.admin.tests.remove(added.id), undefined);
});

test("changes are listed, and followed as they are made", async () => {
    const seen = await all(alice.admin.changes.list({ after: 0, limit: 2 }));
    assert.ok(seen.length > 2 && seen[0].at instanceof Date);
    const stop = new AbortController();
    const followed = [];
    for await (const change of alice.admin.changes.follow({ after: 0, signal: stop.signal })) {
        followed.push(change);
        if (followed.length === seen.length) await alice.facts.save({ id: "late", text: "Late." });
        if (change.ref.startsWith("fact:late")) stop.abort();
    }
    assert.deepEqual(followed.slice(0, seen.length), seen);
});

test("an archive is a zip", async () => {
    const stream = await alice.admin.exportArchive();
    const bytes = Buffer.concat(await all(stream));
    assert.equal(bytes.subarray(0, 2).toString(), "PK");
});

test("people are found, exported and forgotten", async () => {
    for (const { people } of [alice.admin, memory.admin]) {
        assert.ok(await people.find("Anna"));
        assert.ok((await all(people.export("Anna", { limit: 2 }))).length);
        await people.forget("Anna", { reason: "request 12", dry_run: true });
    }
    await memory.admin.erasures.list();
    assert.equal(typeof (await memory.admin.erasures.publicKey()), "string");
});

test("the operator sees jobs, spending, access and settings", async () => {
    await all(memory.admin.jobs.list({ limit: 2 }));
    const [job] = await all(alice.admin.jobs.list({ limit: 2 }));
    assert.equal((await alice.admin.jobs.get(job.kind, job.key)).job.key, job.key);
    assert.equal(typeof (await alice.admin.jobs.retry(job.kind, job.key)), "boolean");
    await memory.admin.reviews.list();
    await memory.admin.costs.list({ since: new Date("2026-01-01") });
    assert.deepEqual((await all(memory.spaces.list({ limit: 1 }))).map((space) => space.name), [alice.name]);
    await memory.admin.health();
    assert.ok((await memory.admin.settings()).length);
    assert.ok((await memory.admin.access.list({ limit: 1 })).items.length);
    assert.ok(await memory.admin.audit());
});

test("keys and webhooks are made and ended", async () => {
    const { keys, webhooks } = memory.admin;
    const made = await keys.create("reader", ["read"], { spaces: ["alice"], expires_at: new Date("2090-01-01") });
    assert.deepEqual(made.info.expires_at, new Date("2090-01-01"));
    const reader = new Bethink({ url: server.url, apiKey: made.key });
    await assert.rejects(reader.space("alice").remember("x"), bethink.PermissionDeniedError);
    const rotated = await keys.rotate(made.info.prefix, { overlap: 1.5 });
    assert.equal((await keys.list()).items.length, 3);
    assert.equal(await keys.revoke(rotated.info.prefix), undefined);
    const hook = await webhooks.create("https://93.184.215.14/hook");
    assert.equal((await webhooks.list()).items.length, 1);
    assert.deepEqual((await webhooks.deliveries(hook.info.id)).items, []);
    assert.equal(await webhooks.delete(hook.info.id), undefined);
});

test("what needs a model says so", async () => {
    await assert.rejects(alice.ask("What do I drink?"), bethink.BethinkError);
    const streamed = alice.ask("What do I drink?", { onSentence: assert.fail });
    await assert.rejects(streamed, (error) => error instanceof bethink.InvalidRequestError && /model/.test(error.hint));
    await assert.rejects(alice.admin.rules.preview("I like tea."), bethink.BethinkError);
    await assert.rejects(alice.admin.relearning.propose(), bethink.BethinkError);
    await assert.rejects(alice.admin.relearning.apply("rel_1"), bethink.NotFoundError);
    await assert.rejects(alice.admin.relearning.undo("rel_1"), bethink.NotFoundError);
});

test("a space is forgotten", async () => {
    await alice.forget(undefined, { everything: true });
    assert.ok((await memory.space("never").recall("x")).items.length === 0);
});

test("a file is added as text or as bytes, and only once", async () => {
    const shelf = memory.space("shelf");
    const text = "# Tea\n\nThe samovar is lit at four.";
    const first = await shelf.files.add("tea.md", { text });
    assert.deepEqual([first.added, first.unchanged, first.session.metadata.file], [1, 0, "tea.md"]);
    const again = await shelf.files.add("tea.md", { data: Buffer.from(text).toString("base64") });
    assert.deepEqual([again.added, again.unchanged, again.sha256], [0, 1, first.sha256]);
    const found = (await shelf.recall("When is the samovar lit?")).items[0];
    assert.equal(text.slice(found.metadata.start, found.metadata.end), found.text);
});

test("every operation of the server was asked for, and all but a few were done", () => {
    const wanted = ROUTES.map((each) => each.id).filter((id) => !NOT_VERBS.includes(id));
    assert.deepEqual(wanted.filter((id) => !answered.has(id)), []);
    const refused = [...answered].filter(([, status]) => status >= 300).map(([id]) => id).sort();
    assert.deepEqual(refused, [
        "ask", "space_admin_relearning_apply", "space_admin_relearning_propose", "space_admin_relearning_undo",
        "space_admin_rules_preview", "space_documents_changes_approve", "space_documents_changes_reject",
        "space_documents_changes_undo",
    ]);
});
