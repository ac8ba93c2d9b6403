// The client of a Bethink server: `new Bethink({ url, key }).space("mira").recall("Where does she live?")`.

import { type BethinkOptions, Calls, clean, pauseAfter, sleep, written } from "./calls.js";
import { BethinkError, Invalid, Misconfigured } from "./errors.js";
import { FREE, TABLE, TIMES } from "./table.js";
import type * as types from "./types.js";

export type { BethinkOptions } from "./calls.js";
export * from "./errors.js";
export type * from "./types.js";

type Given = Record<string, unknown>;

interface Verb {
    method: string;
    path: string;
    /** The names of what is given by position. */
    given: string[];
    flags: Record<string, string | true>;
}

class Handle {
    /** @internal */
    constructor(readonly _calls: Calls, readonly _bound: Given = {}) {}
}

/** A Bethink server, and what can be asked of it as a whole. */
export class Bethink extends Handle {
    constructor(options: BethinkOptions) {
        super(new Calls(options));
    }

    /** Return the handle of a space. Nothing is sent: a space comes to be when something is remembered in it. */
    space(name: string): Space {
        return new Space(this._calls, { space: name });
    }

    get keys(): types.KeysVerbs {
        return made("keys", this);
    }

    get webhooks(): types.WebhooksVerbs {
        return made("webhooks", this);
    }
}
export interface Bethink extends types.MemoryVerbs {}

/** One space: the memory of an end user, a project or a team. */
export class Space extends Handle {
    get name(): string {
        return String(this._bound.space);
    }

    get facts(): types.FactsVerbs {
        return made("facts", this);
    }

    get reviews(): types.ReviewsVerbs {
        return made("reviews", this);
    }

    get rules(): types.RulesVerbs {
        return made("rules", this);
    }

    get retention(): types.SpaceRetentionVerbs {
        return made("retention", this);
    }

    get documents(): types.DocumentsVerbs {
        return made("documents", this);
    }

    get threads(): types.ThreadsVerbs {
        return made("threads", this);
    }

    get tests(): types.MemoryTestsVerbs {
        return made("tests", this);
    }

    /**
     * Yield each change of the space as it is made: `for await (const change of space.follow())`. It ends with its
     * signal, and connects again by itself where it was cut off. Rejects with `Stale` if changes after this number
     * are no longer kept.
     *
     * @param options.after The number of the last change that was seen; 0 for all that are kept; from now on without.
     */
    async *follow(options: types.CallOptions & { after?: number } = {}): AsyncGenerator<types.MemoryChange, void, void> {
        let last = options.after;
        for (let silent = 0; !options.signal?.aborted; silent++) {
            const stop = new AbortController();
            const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
            let timer = setTimeout(() => stop.abort(), SILENCE);
            try {
                for await (const event of events(await stream(this, "/changes/stream", signal, last))) {
                    clearTimeout(timer);
                    timer = setTimeout(() => stop.abort(), SILENCE);
                    if (event.id) last = Number(event.id);
                    if (event.data) yield dated(parsed(event.data)) as types.MemoryChange;
                    if (event.id) silent = 0;
                }
            } catch (error) {
                if (error instanceof BethinkError) throw error;
            } finally {
                clearTimeout(timer);
                stop.abort();
            }
            await sleep(pauseAfter(silent), options.signal).catch(() => {});
        }
    }

    /** Return the bytes of a file with everything in the space, which `bethink import` reads back. */
    async exportArchive(options: types.CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
        return stream(this, "/archive", options.signal);
    }
}
export interface Space extends types.SpaceVerbs<Session> {}

/** One session of a conversation. It stays valid when the session ends; `info` is from when it was read. */
export class Session extends Handle {
    /** @internal */
    constructor(calls: Calls, readonly info: types.SessionInfo) {
        super(calls, { space: info.space, session_id: info.id });
    }

    get id(): string {
        return this.info.id;
    }
}
export interface Session extends types.SessionVerbs<Session> {}

const SILENCE = 45_000; // the server says something every 15 seconds
const KINDS: Record<string, new (...given: never[]) => Handle> = { memory: Bethink, space: Space, session: Session };
const TIME = new Set(TIMES.split(" "));
const OPEN = new Set(FREE.split(" "));

for (let lines = TABLE.split("\n"), base = "", kind = Handle as (typeof KINDS)[string]; lines.length; ) {
    const [name = "", method = "", path = "", given = "", ...flags] = lines.shift()!.split(" ");
    if (name === "=") {
        kind = KINDS[method] ??= class extends Handle {};
        base = path;
        continue;
    }
    const verb: Verb = {
        method,
        path: path.replace(/^\./, base).replace("~", "/spaces/{space}"),
        given: given === "-" ? [] : given.split(","),
        flags: Object.fromEntries(flags.map((flag) => flag.split("=")).map(([key, value]) => [key, value ?? true])),
    };
    const value = function (this: Handle, ...args: unknown[]) {
        return run(this, verb, args);
    };
    Object.defineProperty(kind.prototype, name, { value, writable: true, configurable: true });
}

function made<T>(kind: string, { _calls, _bound }: Handle): T {
    return new (KINDS[kind] as unknown as new (calls: Calls, bound: Given) => T)(_calls, _bound);
}

function run(handle: Handle, verb: Verb, args: unknown[]): Promise<unknown> {
    const { signal, ...options } = (args[verb.given.length] ?? {}) as types.CallOptions;
    const given: Given = { ...options, ...handle._bound };
    verb.given.forEach((name, place) => (given[name] = args[place]));
    const first = send(handle, verb, given, signal);
    const { page } = verb.flags;
    return page ? Object.assign(first, { [Symbol.asyncIterator]: () => pages(String(page), first, given, next) }) : first;

    function next(more: Given): Promise<unknown> {
        return send(handle, verb, { ...given, ...more }, signal);
    }
}

async function* pages(how: string, first: Promise<unknown>, given: Given, next: (more: Given) => Promise<unknown>) {
    const [field = "", at = ""] = how.split(":");
    for (let page = await first; ; ) {
        const items = Array.isArray(page) ? page : (page as { items: unknown[] }).items;
        yield* items;
        let after: unknown = (page as Given).next;
        if (field !== "next") {
            if (!items.length || given.last != null) return;
            after = at.split(".").reduce((value, key) => (key ? value[key] : value), items.at(-1));
        }
        if (after == null) return;
        page = await next({ [field === "next" ? "after" : field]: after });
    }
}

async function send(handle: Handle, verb: Verb, asked: Given, signal?: AbortSignal): Promise<unknown> {
    const { method, flags } = verb;
    const given = { ...asked };
    const fill = flags.fill as string | undefined;
    if (fill) given[fill] ??= `${fill.split("_")[0]}_${crypto.randomUUID().replaceAll("-", "")}`;
    const retry = retried(verb, given);
    const waits = flags.wait ? Number(given.wait ?? flags.wait) : 0;
    let path = filled(verb.path, given);
    const bodiless = method === "GET" || method === "DELETE";
    if (bodiless) path += queried(given);
    const text = await handle._calls.answered(
        {
            method, path, body: bodiless ? undefined : given, signal, waits, untimed: !!flags.untimed,
            reads: retry === "safe", repeatable: retry === "idempotent",
        },
        (response) => response.text(),
    );
    if (!text) return undefined;
    const whole = parsed(text);
    const part = flags.items ? whole.items : flags.result ? whole.result : whole;
    const found = flags.plain ? part : dated(part);
    return flags.opens && found ? new Session(handle._calls, found as types.SessionInfo) : found;
}

function parsed(text: string): Given {
    try {
        return JSON.parse(text);
    } catch (cause) {
        throw new Misconfigured("cannot read what the server answered.", { hint: "Check the address of the server.", cause });
    }
}

function retried({ method, flags }: Verb, given: Given): string {
    const usual = method === "GET" ? "safe" : method === "POST" ? "once" : "idempotent";
    const said = Object.keys(flags).find((flag) => /^(safe|once|idempotent)/.test(flag)) ?? usual;
    const [kind = "", turned] = said.split("!");
    return turned && given[turned] ? (kind === "safe" ? "once" : "safe") : kind;
}

/** Fill names into a path below /v1, and take them out of what is given. No name can step out of its place. */
function filled(template: string, given: Given): string {
    return `/v1${template.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = String(given[name] ?? "");
        delete given[name];
        if (/^\.{0,2}$/.test(value))
            throw new Invalid(value ? `${name} is '${value}', which no URL can hold.` : `${name} is empty.`, {
                hint: "Give the id as it was returned.",
            });
        return encodeURIComponent(clean(value));
    })}`;
}

function queried(given: Given): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(JSON.parse(written(given)) as Given))
        if (value !== null) query.set(name, typeof value === "string" ? value : JSON.stringify(value));
    return query.size ? `?${query}` : "";
}

/** Put a `Date` in place of every time in a result. What is not ours is left alone. */
function dated(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(dated);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
        Object.entries(value).map(([name, each]) => {
            if (typeof each === "string" && (TIME.has(name) || name.endsWith("_at"))) return [name, new Date(each)];
            return [name, OPEN.has(name) ? each : dated(each)];
        }),
    );
}

async function stream(space: Space, path: string, signal?: AbortSignal, after?: number) {
    const headers: Record<string, string> = after === undefined ? {} : { "last-event-id": String(after) };
    const call = { method: "GET", path: filled(`/spaces/{space}${path}`, { ...space._bound }), headers };
    return space._calls.answered({ ...call, reads: true, untimed: true, signal }, async (found) => found.body!);
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Record<string, string>> {
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of body) {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
        rest = parts.pop() ?? "";
        for (const part of parts)
            yield Object.fromEntries(part.split("\n").map((line) => [line.split(":", 1)[0], line.replace(/^\w*: ?/, "")]));
    }
}
