// When the network fails: what is sent again, what is not, and what the caller is told. The rules are those of Python.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as bethink from "bethink";
import { answering, cut, json, problem } from "./kit.mjs";

const { Bethink, DatabaseBusyError, InvalidRequestError, ConfigurationError, OutcomeUnknownError, VersionConflictError, DatabaseUnavailableError } = bethink;
const INFO = { space: "a", id: "ses_1", created_at: "2026-03-01T12:30:15.123456Z", metadata: {} };
const STORED = json({ session: INFO, refs: [] }, 201);
const FOUND = json({ question: "x", items: [] });

async function asking(answers, ask, options = {}) {
    const server = await answering(...answers);
    const space = new Bethink({ ...server, ...options }).space("a");
    try {
        return { result: await ask(space).then((value) => ({ value }), (error) => ({ error })), seen: server.seen };
    } finally {
        server.stop();
    }
}

const remember = (space) => space.remember("Tea.");
const recall = (space) => space.recall("Tea?");
const used = (space) => space.admin.contextLog.markUsed(["fact:f:1"]);

test("a message whose answer was lost is sent again with the same key", async () => {
    const { result, seen } = await asking([cut, cut, STORED], remember);
    assert.equal(result.value.session.id, "ses_1");
    const keys = seen.map((each) => each.body.idempotency_key);
    assert.equal(keys.length, 3);
    assert.equal(new Set(keys).size, 1);
    assert.match(keys[0], /^idempotency_[0-9a-f]{32}$/);
});

test("a key of the caller's own is kept, and two calls never share one", async () => {
    const { seen } = await asking([STORED], async (space) => {
        await space.remember("Tea.", { idempotency_key: "mine" });
        await Promise.all([space.remember("Tea."), space.remember("Tea.")]);
    });
    assert.equal(seen[0].body.idempotency_key, "mine");
    assert.notEqual(seen[1].body.idempotency_key, seen[2].body.idempotency_key);
});

test("a read is sent again, and is unavailable at the end", async () => {
    const { result, seen } = await asking([cut], recall, { retries: 2 });
    assert.ok(result.error instanceof DatabaseUnavailableError);
    assert.equal(seen.length, 3);
});

test("what must not happen twice is sent once, and its outcome is unknown", async () => {
    const { result, seen } = await asking([cut], used);
    assert.ok(result.error instanceof OutcomeUnknownError);
    assert.ok(!(result.error instanceof DatabaseUnavailableError));
    assert.match(result.error.hint, /check what is stored/);
    assert.equal(seen.length, 1);
});

test("a recall that the ledger records is sent once; a dry run of forgetting is a read", async () => {
    const shown = await asking([cut, FOUND], (space) => space.recall("Tea?", { session_id: "ses_1" }));
    assert.ok(shown.result.error instanceof OutcomeUnknownError);
    const dry = await asking([cut, json({})], (space) => space.forget("fact:f:1", { dry_run: true }));
    assert.equal(dry.seen.length, 2);
    const wet = await asking([cut, json({})], (space) => space.forget("fact:f:1"));
    assert.ok(wet.result.error instanceof OutcomeUnknownError);
    assert.equal(wet.seen.length, 1);
});

test("what the server refused without doing anything is sent again, as late as it says", async () => {
    const begun = performance.now();
    const { result, seen } = await asking([problem(503, "DatabaseBusyError", { "retry-after": "1" }), json({ result: 1 })], used);
    assert.equal(result.value, 1);
    assert.equal(seen.length, 2);
    assert.ok(performance.now() - begun >= 990);
});

test("a server that asks for more patience than a minute is not waited for", async () => {
    const { result, seen } = await asking([problem(429, "TooMany", { "retry-after": "61" })], recall);
    assert.ok(result.error instanceof DatabaseUnavailableError);
    assert.equal(seen.length, 1);
});

test("an earlier attempt is not forgotten by what the last one was told", async () => {
    const { result } = await asking([cut, problem(422, "InvalidRequestError")], remember);
    assert.ok(result.error instanceof OutcomeUnknownError);
    assert.match(result.error.message, /earlier attempt/);
    const { result: busy } = await asking([cut, problem(503, "DatabaseBusyError")], remember, { retries: 1 });
    assert.ok(busy.error instanceof OutcomeUnknownError);
    const { result: read } = await asking([cut, problem(422, "InvalidRequestError")], recall);
    assert.ok(read.error instanceof InvalidRequestError);
});

test("errors come from one tree, by their code, with a hint and the problem", async () => {
    const { result } = await asking([problem(409, "VersionConflictError", {}, { current: 7 })], remember);
    assert.ok(result.error instanceof VersionConflictError && result.error instanceof bethink.ConflictError);
    assert.equal(result.error.name, "VersionConflictError");
    assert.equal(result.error.current, 7);
    assert.equal(result.error.hint, "do this.");
    assert.equal(result.error.message, "it failed. do this.");
    const busy = await asking([problem(503, "DatabaseBusyError")], recall, { retries: 0 });
    assert.ok(busy.result.error instanceof DatabaseBusyError && busy.result.error instanceof DatabaseUnavailableError);
    assert.ok(busy.result.error instanceof bethink.BethinkError && busy.result.error instanceof Error);
});

test("a code that is no error of ours is not looked up elsewhere", async () => {
    const { result } = await asking([problem(400, "constructor")], recall);
    assert.ok(result.error instanceof InvalidRequestError);
});

test("statuses without a code of ours mean what they mean to Python", async () => {
    const plain = (status) => (response) => response.writeHead(status).end("<html>");
    const told = async (status, ask) => (await asking([plain(status)], ask, { retries: 0 })).result.error;
    assert.ok((await told(401, recall)) instanceof bethink.PermissionDeniedError);
    assert.ok((await told(404, recall)) instanceof ConfigurationError);
    assert.ok((await told(302, recall)) instanceof ConfigurationError);
    assert.ok((await told(502, recall)) instanceof DatabaseUnavailableError);
    assert.ok((await told(502, used)) instanceof OutcomeUnknownError);
    assert.ok((await told(200, recall)) instanceof ConfigurationError);
    const once = await asking([plain(500), STORED], remember);
    assert.ok(once.result.error instanceof OutcomeUnknownError);
    assert.equal(once.seen.length, 1, "a server that failed inside is not asked again");
});

test("where nothing listens, nothing was written", async () => {
    const server = await answering(STORED);
    server.stop();
    const error = await new Bethink({ ...server, retries: 1 }).space("a").admin.contextLog.markUsed(["fact:f:1"]).catch((each) => each);
    assert.ok(error instanceof DatabaseUnavailableError);
    assert.match(error.hint, /is running/);
});

test("an attempt ends at the timeout, and the next one may be answered", async () => {
    const { result, seen } = await asking([() => {}, FOUND], recall, { timeout: 0.2 });
    assert.equal(result.value.question, "x");
    assert.equal(seen.length, 2);
    const { result: late } = await asking([() => {}], used, { timeout: 0.2 });
    assert.ok(late.error instanceof OutcomeUnknownError);
    assert.match(late.error.message, /^No response within 0\.2 seconds\. .*raise `timeout`\.$/);
    const { result: read } = await asking([() => {}], recall, { timeout: 0.2, retries: 0 });
    assert.match(read.error.message, /^No response within 0\.2 seconds\. Nothing was written\. To wait longer/);
});

test("what waits on purpose is given that time, too", async () => {
    const slow = (response) => setTimeout(() => json({ items: [] })(response), 400);
    const { result, seen } = await asking([slow], (space) => space.admin.changes.list({ wait: 2 }), { timeout: 0.2 });
    assert.deepEqual(result.value.items, []);
    assert.equal(seen.length, 1);
});

test("a signal ends a call, also while it pauses", async () => {
    const { result } = await asking([() => {}], (space) => space.recall("x", { signal: AbortSignal.timeout(50) }));
    assert.equal(result.error.name, "TimeoutError");
    const stop = new AbortController();
    setTimeout(() => stop.abort(new Error("enough")), 50);
    const busy = problem(503, "DatabaseBusyError", { "retry-after": "30" });
    const paused = await asking([busy], (space) => space.recall("x", { signal: stop.signal }));
    assert.equal(paused.result.error.message, "enough");
});

test("times go out as ISO 8601 and come back as dates; bad ones and infinite numbers are refused", async () => {
    const when = new Date("2026-03-01T12:30:15.123Z");
    const { result, seen } = await asking([STORED], (space) =>
        space.remember([{ role: "user", content: "Tea.\0 \ud800", said_at: when }]));
    assert.equal(seen[0].body.messages[0].said_at, "2026-03-01T12:30:15.123Z");
    assert.equal(seen[0].body.messages[0].content, "Tea.\ufffd \ufffd");
    assert.deepEqual(result.value.session.created_at, when);
    for (const broken of [{ as_of: new Date("never") }, { budget: Infinity }]) {
        const { result } = await asking([FOUND], (space) => space.recall("x", broken));
        assert.ok(result.error instanceof InvalidRequestError);
        assert.match(result.error.message, /`as_of` is not a valid date\.|`budget` cannot be Infinity\./);
    }
    const { result: queried } = await asking([json({ items: [] })], (space) => space.facts.list({ as_of: new Date("never") }));
    assert.ok(queried.error instanceof InvalidRequestError);
});

test("a query holds lists and objects as JSON, and names cannot leave their place in a path", async () => {
    const { seen } = await asking([json({ items: [] })], async (space) => {
        await space.facts.list({ tags: ["a&b", "ü"], where: { n: { gte: 3 } }, limit: 5, after: undefined });
        await space.facts.versions("../x y/ä");
    });
    const query = new URL(seen[0].url, "http://x").searchParams;
    assert.deepEqual([...query], [["tags", '["a&b","ü"]'], ["where", '{"n":{"gte":3}}'], ["limit", "5"]]);
    assert.equal(seen[1].url, "/v1/spaces/a/facts/..%2Fx%20y%2F%C3%A4/versions");
    for (const name of ["", ".", ".."]) {
        const { result } = await asking([json({})], (space) => space.facts.get(name));
        assert.ok(result.error instanceof InvalidRequestError);
    }
});

test("pages follow each other until there are no more", async () => {
    const fact = (id) => ({ id, created_at: "2026-01-01T00:00:00Z" });
    const { result, seen } = await asking(
        [json({ items: [fact("a"), fact("b")], next: "b" }), json({ items: [fact("c")], next: "" })],
        (space) => Array.fromAsync?.(space.facts.list({ limit: 2 })) ?? collected(space.facts.list({ limit: 2 })),
    );
    assert.deepEqual(result.value.map((each) => each.id), ["a", "b", "c"]);
    assert.deepEqual(seen.map((each) => each.url.split("?")[1]), ["limit=2", "limit=2&after=b"]);
    const empty = await asking([json({ items: [], next: "n" }), json({ items: [1], next: "" })], (space) => collected(space.admin.timeline.list()));
    assert.deepEqual(empty.result.value, [1], "an empty page may go on");
});

async function collected(items) {
    const found = [];
    for await (const item of items) found.push(item);
    return found;
}

test("following goes on where it was cut off", async () => {
    const change = (number) => `id: ${number}\ndata: {"number":${number},"at":"2026-01-01T00:00:00Z","ref":"ü"}\n\n`;
    const parts = (...texts) => async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const text of texts) await new Promise((resolve) => response.write(text, resolve));
        response.socket.destroy();
    };
    const halves = [Buffer.from(change(2)).subarray(0, 55), Buffer.from(change(2)).subarray(55)];
    const { result, seen } = await asking(
        [parts("id: 0\n\n", change(1), ":\n\n"), cut, parts(...halves, change(3).slice(0, 9)), parts(change(3))],
        async (space) => {
            const found = [];
            for await (const each of space.admin.changes.follow()) if (found.push(each) === 3) return found;
        },
    );
    assert.deepEqual(result.value.map((each) => each.number), [1, 2, 3]);
    assert.equal(result.value[1].ref, "ü");
    assert.ok(result.value[0].at instanceof Date);
    assert.deepEqual(seen.map((each) => each.headers["last-event-id"]), [undefined, "1", "1", "2"]);
    const refused = await asking([problem(409, "VersionConflictError", {}, { current: 9 })], (space) => space.admin.changes.follow({ after: 1 }).next());
    assert.ok(refused.result.error instanceof VersionConflictError);
    const ended = await asking([cut], (space) => space.admin.changes.follow({ signal: AbortSignal.timeout(50) }).next());
    assert.deepEqual(ended.result.value, { value: undefined, done: true });
});

test("ask passes each sentence on as it arrives", async () => {
    const sentence = { text: "She lives in Bergen.", refs: ["message:ses_1:1"], working: null };
    const event = (name, data) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    const events = (...parts) => async (response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (const part of parts) await new Promise((resolve) => response.write(part, resolve));
        response.end();
    };
    const answer = { question: "x", text: sentence.text, sentences: [sentence], as_of: "2026-01-01T00:00:00Z" };
    const heard = [];
    const ask = (space) => space.ask("Where?", { spaces: ["team"], timeout: 5, onSentence: (each) => heard.push(each) });

    const complete = await asking([events(":\n\n", event("sentence", sentence), event("answer", answer))], ask);
    const broken = await asking([events(event("sentence", sentence).slice(0, 30))], ask);
    const details = { status: 503, code: "ModelUnavailableError", detail: "The model is away.", hint: "Wait." };
    const failed = await asking([events(event("sentence", sentence), event("problem", details))], ask);
    const refused = await asking([problem(400, "InvalidRequestError")], ask);
    const plain = await asking([json(answer)], (space) => space.ask("Where?"));
    const thrown = await asking([events(event("sentence", sentence), event("answer", answer))], (space) =>
        space.ask("Where?", { onSentence: () => { throw new RangeError("mine"); } }));
    const stopped = await asking([() => {}], (space) =>
        space.ask("Where?", { onSentence: () => {}, signal: AbortSignal.timeout(50) }));

    assert.deepEqual(heard, [sentence, sentence]);
    assert.deepEqual(complete.seen.map((each) => each.url), ["/v1/spaces/a/ask/stream"]);
    assert.deepEqual(complete.seen[0].body, { question: "Where?", spaces: ["team"], timeout: 5 });
    assert.equal(complete.result.value.text, sentence.text);
    assert.ok(complete.result.value.as_of instanceof Date);
    assert.ok(broken.result.error instanceof OutcomeUnknownError);
    assert.match(broken.result.error.message, /incomplete/);
    assert.equal(broken.seen.length, 1);
    assert.ok(failed.result.error instanceof bethink.ModelUnavailableError);
    assert.ok(refused.result.error instanceof InvalidRequestError);
    assert.equal(plain.seen[0].url, "/v1/spaces/a/ask");
    assert.ok(thrown.result.error instanceof RangeError);
    assert.equal(stopped.result.error.name, "TimeoutError");
});

test("a server without TLS was sent nothing, and is not asked again", async () => {
    const plain = await answering(STORED);
    const url = plain.url.replace("http:", "https:");
    try {
        const error = await new Bethink({ ...plain, url }).space("a").forget("fact:f:1").catch((each) => each);
        assert.ok(error instanceof DatabaseUnavailableError && !(error instanceof OutcomeUnknownError));
        assert.match(error.message, /Nothing was sent\. .*use http:\/\//);
        assert.equal(plain.seen.length, 0);
    } finally {
        plain.stop();
    }
});

test("white space around a key is removed", async () => {
    const server = await answering(FOUND);
    await new Bethink({ ...server, apiKey: " bt_x\n" }).space("a").recall("Tea?");
    server.stop();
    assert.equal(server.seen[0].headers.authorization, "Bearer bt_x");
});

test("options that cannot work are refused at once", () => {
    const good = { url: "http://localhost:1", apiKey: "bt_x" };
    const bad = [{ url: "localhost:8377" }, { url: undefined }, { apiKey: undefined }, { apiKey: "a b" }, { url: "ftp://x" }, { url: "http://me:secret@x" }, { apiKey: "" }, { apiKey: "ä" }, { timeout: 0 }, { retries: 1.5 }];
    for (const each of bad)
        assert.throws(() => new Bethink({ ...good, ...each }), (error) => error instanceof ConfigurationError && !!error.hint);
    assert.throws(() => new Bethink(), /`url` is missing/);
    assert.throws(() => new Bethink({ ...good, url: "localhost:8377" }), /Add http:\/\/ .* http:\/\/localhost:8377\./);
    assert.throws(() => new Bethink({ ...good, apiKey: undefined }), /`apiKey` is empty or not plain text/);
});
