// The client of a Bethink server: `new Bethink({ url, apiKey }).space("mira").recall("Where does she live?")`.

import { type BethinkOptions, Calls, clean, errorFor, type HttpCall, pauseAfter, sleep, toJson } from "./calls.js";
import { BethinkError, ConfigurationError, InvalidRequestError, OutcomeUnknownError } from "./errors.js";
import { FREE, TABLE, TIMES } from "./table.js";
import type * as types from "./types.js";

export type { BethinkOptions } from "./calls.js";
export * from "./errors.js";
export type * from "./types.js";

type Fields = Record<string, unknown>;

interface Operation {
    method: string;
    path: string;
    /** The names of the positional parameters. */
    positional: string[];
    flags: Record<string, string | true>;
}

class Handle {
    /** @internal */
    constructor(readonly _calls: Calls, readonly _bound: Fields = {}) {}
}

/** A Bethink server. */
export class Bethink extends Handle {
    constructor(options: BethinkOptions) {
        super(new Calls(options));
    }

    /** Return a handle on a space. Nothing is sent: a space is created when something is first stored in it. */
    space(name: string): Space {
        return new Space(this._calls, { space: name });
    }
}
export interface Bethink extends types.MemoryOperations {}

/** One space: the memory of a user, a project or a team. */
export class Space extends Handle {
    get name(): string {
        return String(this._bound.space);
    }
}
export interface Space extends types.SpaceOperations<Session> {}

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
export interface Session extends types.SessionOperations<Session> {}

class SpaceAdmin extends Handle {
    async exportArchive(options: types.CallOptions = {}): Promise<ReadableStream<Uint8Array>> {
        return stream(this, "/archive", options.signal);
    }
}

class Changes extends Handle {
    async *follow(options: types.CallOptions & { after?: number } = {}): AsyncGenerator<types.Change, void, void> {
        let last = options.after;
        for (let failures = 0; !options.signal?.aborted; failures++) {
            const stop = new AbortController();
            const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
            let timer = setTimeout(() => stop.abort(), SILENCE);
            try {
                for await (const event of events(await stream(this, "/changes/stream", signal, last))) {
                    clearTimeout(timer);
                    timer = setTimeout(() => stop.abort(), SILENCE);
                    if (event.id) last = Number(event.id);
                    if (event.data) yield withDates(parse(event.data)) as types.Change;
                    if (event.id) failures = 0;
                }
            } catch (error) {
                if (error instanceof BethinkError) throw error;
            } finally {
                clearTimeout(timer);
                stop.abort();
            }
            await sleep(pauseAfter(failures), options.signal).catch(() => {});
        }
    }
}

const SILENCE = 45_000; // the server sends something every 15 seconds
type HandleClass = new (...args: never[]) => Handle;
const CLASSES: Record<string, HandleClass> = {
    memory: Bethink,
    space: Space,
    session: Session,
    "space.admin": SpaceAdmin,
    "space.admin.changes": Changes,
};
const TIME = new Set(TIMES.split(" "));
const OPEN = new Set(FREE.split(" "));

for (let lines = TABLE.split("\n"), base = "", owner: HandleClass = Handle; lines.length; ) {
    const [name = "", method = "", path = "", positional = "", ...flags] = lines.shift()!.split(" ");
    if (name === "=") {
        owner = handleClass(method);
        base = path;
        continue;
    }
    const operation: Operation = {
        method,
        path: path.replace(/^\./, base).replace("~", "/spaces/{space}"),
        positional: positional === "-" ? [] : positional.split(","),
        flags: Object.fromEntries(flags.map((flag) => flag.split("=")).map(([key, value]) => [key, value ?? true])),
    };
    const value = function (this: Handle, ...args: unknown[]) {
        return run(this, operation, args);
    };
    Object.defineProperty(owner.prototype, name, { value, writable: true, configurable: true });
}

/** Return the class of a handle such as `space.admin.jobs`, and give the class above it a property that returns one. */
function handleClass(path: string): HandleClass {
    const kind = (CLASSES[path] ??= class extends Handle {});
    const dot = path.lastIndexOf(".");
    if (dot > 0) {
        const get = function (this: Handle) {
            return new (kind as new (calls: Calls, bound: Fields) => Handle)(this._calls, this._bound);
        };
        const name = path.slice(dot + 1).replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
        Object.defineProperty(handleClass(path.slice(0, dot)).prototype, name, { get, configurable: true });
    }
    return kind;
}

function run(handle: Handle, operation: Operation, args: unknown[]): Promise<unknown> {
    const { signal, ...options } = (args[operation.positional.length] ?? {}) as types.CallOptions;
    const fields: Fields = { ...options, ...handle._bound };
    operation.positional.forEach((name, index) => (fields[name] = args[index]));
    const first = send(handle, operation, fields, signal);
    const { page } = operation.flags;
    return page ? Object.assign(first, { [Symbol.asyncIterator]: () => pages(String(page), first, fields, next) }) : first;

    function next(more: Fields): Promise<unknown> {
        return send(handle, operation, { ...fields, ...more }, signal);
    }
}

async function* pages(cursor: string, first: Promise<unknown>, fields: Fields, next: (more: Fields) => Promise<unknown>) {
    const [field = "", at = ""] = cursor.split(":");
    for (let page = await first; ; ) {
        const items = Array.isArray(page) ? page : (page as { items: unknown[] }).items;
        yield* items;
        let after: unknown = (page as Fields).next;
        if (field !== "next") {
            if (!items.length || fields.last != null) return;
            after = at.split(".").reduce((value, key) => (key ? value[key] : value), items.at(-1));
        }
        if (after == null || after === "") return;
        page = await next({ [field === "next" ? "after" : field]: after });
    }
}

async function send(handle: Handle, operation: Operation, request: Fields, signal?: AbortSignal): Promise<unknown> {
    const { method, flags } = operation;
    const { onSentence, ...fields } = request as Fields & Pick<types.SpaceAskOptions, "onSentence">;
    const fill = flags.fill as string | undefined;
    if (fill) fields[fill] ??= `${fill.split("_")[0]}_${crypto.randomUUID().replaceAll("-", "")}`;
    const retry = retryMode(operation, fields);
    const [waitField = "", wait = 0] = String(flags.wait ?? "").split(":");
    const waits = Number(fields[waitField] ?? wait);
    let path = fillPath(operation.path, fields);
    const bodiless = method === "GET" || method === "DELETE";
    if (bodiless) path += queryOf(fields);
    const call = {
        method, path, body: bodiless ? undefined : fields, signal, waits, untimed: !!flags.untimed,
        reads: retry === "safe", repeatable: retry === "idempotent",
    };
    const text = flags.streams && onSentence
        ? await streamAnswer(handle, { ...call, path: `${path}/stream` }, onSentence)
        : await handle._calls.send(call, (response) => response.text());
    if (!text) return undefined;
    const body = parse(text);
    const part = flags.items ? body.items : flags.result ? body.result : body;
    const result = flags.plain ? part : withDates(part);
    return flags.opens && result ? new Session(handle._calls, result as types.SessionInfo) : result;
}

function parse(text: string): Fields {
    try {
        return JSON.parse(text);
    } catch (cause) {
        throw new ConfigurationError("Cannot read the response.", { hint: "Check the address of the server.", cause });
    }
}

function retryMode({ method, flags }: Operation, fields: Fields): string {
    const usual = method === "GET" ? "safe" : method === "POST" ? "once" : "idempotent";
    const mode = Object.keys(flags).find((flag) => /^(safe|once|idempotent)/.test(flag)) ?? usual;
    const [kind = "", reversing] = mode.split("!");
    return reversing && fields[reversing] ? (kind === "safe" ? "once" : "safe") : kind;
}

/** Fill fields into a path below /v1 and remove them from the fields. No value can leave its segment of the path. */
function fillPath(template: string, fields: Fields): string {
    return `/v1${template.replace(/\{(\w+)\}/g, (_, name: string) => {
        const value = String(fields[name] ?? "");
        delete fields[name];
        if (/^\.{0,2}$/.test(value))
            throw new InvalidRequestError(value ? `\`${name}\` cannot be '${value}'.` : `\`${name}\` is empty.`, {
                hint: "Pass the id as it was returned.",
            });
        return encodeURIComponent(clean(value));
    })}`;
}

function queryOf(fields: Fields): string {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries(JSON.parse(toJson(fields)) as Fields))
        if (value !== null) query.set(name, typeof value === "string" ? value : JSON.stringify(value));
    return query.size ? `?${query}` : "";
}

/** Convert every time in a result to a `Date`. User content stays unchanged. */
function withDates(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(withDates);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(
        Object.entries(value).map(([name, item]) => {
            if (typeof item === "string" && (TIME.has(name) || name.endsWith("_at"))) return [name, new Date(item)];
            return [name, OPEN.has(name) ? item : withDates(item)];
        }),
    );
}

async function stream(handle: Handle, path: string, signal?: AbortSignal, after?: number) {
    const headers: Record<string, string> = after === undefined ? {} : { "last-event-id": String(after) };
    const call = { method: "GET", path: fillPath(`/spaces/{space}${path}`, { ...handle._bound }), headers };
    return handle._calls.send({ ...call, reads: true, untimed: true, signal }, async (response) => response.body!);
}

/** Pass each sentence of an answer to a function as it arrives, and return the complete answer. */
async function streamAnswer(handle: Handle, call: HttpCall, onSentence: (sentence: types.AnswerSentence) => void) {
    const received = events(await handle._calls.send(call, async (response) => response.body!));
    try {
        for (;;) {
            const { value } = await received.next().catch(() => ({ value: undefined }));
            call.signal?.throwIfAborted();
            const { event, data = "" } = value ?? {};
            if (event === "sentence") onSentence(withDates(parse(data)) as types.AnswerSentence);
            if (event === "answer") return data;
            if (event === "problem") throw errorFor(502, data, false)[0];
            if (!value)
                throw new OutcomeUnknownError("The answer is incomplete: the server closed the connection.", {
                    hint: "Call `ask` again.",
                });
        }
    } finally {
        await received.return(undefined).catch(() => {});
    }
}

async function* events(body: ReadableStream<Uint8Array>): AsyncGenerator<Record<string, string>> {
    let buffer = "";
    const decoder = new TextDecoder();
    for await (const chunk of body) {
        const parts = (buffer + decoder.decode(chunk, { stream: true })).split("\n\n");
        buffer = parts.pop() ?? "";
        for (const part of parts)
            yield Object.fromEntries(part.split("\n").map((line) => [line.split(":", 1)[0], line.replace(/^\w*: ?/, "")]));
    }
}
