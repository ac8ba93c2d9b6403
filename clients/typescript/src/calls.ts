// One request and its answer: sent again where that is safe, and truthful about what may have happened.

import { BethinkError, Denied, ERRORS, Invalid, Misconfigured, NotFound, OutcomeUnknown, Unavailable } from "./errors.js";
import type { Problem } from "./types.js";

export interface BethinkOptions {
    /** The address of the server, such as https://memory.example, without /v1. */
    url: string;
    /** The text of a key: bt_…. */
    key: string;
    /** Seconds after which an attempt is given up; 30 if left out. */
    timeout?: number;
    /** How often a call is sent again at most; 5 if left out. */
    retries?: number;
    /** What sends requests, such as a `fetch` with a proxy of your own. */
    fetch?: typeof fetch;
}

/** A request. One that `reads` changes nothing; a `repeatable` one may be carried out twice and is as once. */
export interface HttpCall {
    method: string;
    path: string;
    body?: Record<string, unknown> | undefined;
    headers?: Record<string, string>;
    reads?: boolean;
    repeatable?: boolean;
    /** Whether it may take as long as it takes. */
    untimed?: boolean;
    /** Seconds that the server may take on purpose, in addition to the timeout. */
    waits?: number;
    signal?: AbortSignal | undefined;
}

/** An attempt failed in a way that may be tried again, after `wait` seconds if the server said so. */
class Failed {
    constructor(readonly error: BethinkError, readonly unknown: boolean, readonly wait?: number) {}
}

const MOST_PATIENCE = 60; // seconds beyond which a server that says when to come back is not waited for
const NEVER_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;
const NOT_HERE = "Give the address of a Bethink server, without /v1; or is it older than this client?";
const LOOK_FIRST =
    "Repeat an append only with its idempotency keys; before you repeat anything else, check what is stored.";

/** The way to one server. Safe to share. */
export class Calls {
    readonly #options: Required<BethinkOptions>;

    constructor(options: BethinkOptions) {
        const { url, key, timeout = 30, retries = 5, fetch = globalThis.fetch } = options;
        if (!/^https?:\/\/[^@]+$/.test(url))
            throw new Misconfigured("the address of the server is not a URL.", {
                hint: "Use one such as https://memory.example, without a user or password.",
            });
        if (!/^[ -~]+$/.test(key))
            throw new Misconfigured("the key is empty or not plain text.", { hint: "Give the text of a key: bt_…." });
        if (!(timeout > 0 && timeout < 2 ** 31 / 1000))
            throw new Misconfigured(`timeout = ${timeout} is not a time.`, { hint: "Give seconds: a number above 0." });
        if (!(Number.isInteger(retries) && retries >= 0))
            throw new Misconfigured(`retries = ${retries} is not a count.`, { hint: "Give a whole number, 0 or more." });
        this.#options = { url: url.replace(/\/+$/, ""), key, timeout, retries, fetch };
    }

    /** Send a request, again where that is safe, and return what `read` makes of the answer. */
    async answered<T>(asked: HttpCall, read: (response: Response) => Promise<T>): Promise<T> {
        let unknown = false;
        for (let attempt = 0; ; attempt++) {
            const found = await this.#once(asked, read);
            if (!(found instanceof BethinkError || found instanceof Failed)) return found;
            if (found instanceof BethinkError) throw final(found, asked, unknown);
            unknown ||= found.unknown;
            const pause = found.wait ?? pauseAfter(attempt);
            const safe = !unknown || asked.reads || asked.repeatable;
            if (!safe || attempt >= this.#options.retries || pause > MOST_PATIENCE)
                throw final(found.error, asked, unknown);
            await sleep(pause, asked.signal);
        }
    }

    async #once<T>(asked: HttpCall, read: (response: Response) => Promise<T>): Promise<T | BethinkError | Failed> {
        const { url, key, timeout, fetch } = this.#options;
        const { method, path, body, reads = false, signal } = asked;
        const headers: Record<string, string> = { authorization: `Bearer ${key}`, ...asked.headers };
        if (body) headers["content-type"] = "application/json";
        const sent = body && written(body);
        const signals = signal ? [signal] : [];
        if (!asked.untimed) signals.push(AbortSignal.timeout((timeout + (asked.waits ?? 0)) * 1000));
        try {
            const response = await fetch(url + path, {
                method, headers, body: sent ?? null, redirect: "manual", signal: AbortSignal.any(signals),
            });
            if (response.ok) return await read(response);
            return refusal(response.status, await response.text(), response.headers.get("retry-after"), reads);
        } catch (cause) {
            signal?.throwIfAborted();
            const why = (cause as { cause?: { code?: string } }).cause?.code ?? "";
            if (NEVER_SENT.test(why))
                return new Failed(
                    new Unavailable(`the server at ${url} cannot be reached.`, {
                        hint: "Check its address, and whether it runs.", cause,
                    }),
                    false,
                );
            return new Failed(lost("the connection to the server was lost before it answered.", reads, { cause }), true);
        }
    }
}

function refusal(status: number, body: string, after: string | null, reads: boolean): BethinkError | Failed {
    const [error, nothingDone] = errorFor(status, body, reads);
    const wait = after !== null && /^\d+$/.test(after) ? Number(after) : undefined;
    if (nothingDone) return new Failed(error, false, wait);
    if ((error instanceof OutcomeUnknown || error instanceof Unavailable) && status !== 500)
        return new Failed(error, true, wait);
    return error;
}

/** Return the error that an answer stands for, and whether the server says that nothing was done. */
function errorFor(status: number, body: string, reads: boolean): [BethinkError, boolean] {
    let problem: Partial<Problem> = {};
    try {
        const found: unknown = JSON.parse(body);
        if (found && typeof found === "object" && !Array.isArray(found)) problem = found;
    } catch {
        // whatever answered was not a Bethink server
    }
    const code = problem.code ?? "";
    const said = problem.detail || problem.title || `the server answered with status ${status}.`;
    const told = { hint: problem.hint, problem };
    if (Object.hasOwn(ERRORS, code)) {
        const error = new ERRORS[code as keyof typeof ERRORS](said, told);
        return [error, error instanceof Unavailable];
    }
    if (status === 401 || status === 403) return [new Denied(said, told), false];
    if (status === 429 || (status === 503 && code)) return [new Unavailable(said, told), true];
    if (status >= 500) return [lost(said, reads, told), false];
    if (status >= 400 && code && code !== "NoSuchPath")
        return [new (status === 404 ? NotFound : Invalid)(said, told), false];
    return [new Misconfigured(`the server answered with status ${status}.`, { hint: NOT_HERE, problem }), false];
}

/** Return the error for a request that may have been carried out: a read has at least changed nothing. */
function lost(said: string, reads: boolean, told: object): BethinkError {
    return reads
        ? new Unavailable(said, { hint: "Nothing was written; retry the call.", ...told })
        : new OutcomeUnknown(said, { hint: LOOK_FIRST, ...told });
}

// Whatever the last attempt was told, an earlier one may have been carried out.
function final(error: BethinkError, asked: HttpCall, unknown: boolean): BethinkError {
    if (!unknown || asked.reads || error instanceof OutcomeUnknown) return error;
    const said = `an earlier attempt may have been carried out; the last one was told: ${error.message}`;
    return new OutcomeUnknown(said, { hint: LOOK_FIRST, problem: error.problem, cause: error });
}

/** Write what is given as JSON. */
export function written(body: Record<string, unknown>): string {
    return JSON.stringify(body, function (this: Record<string, unknown>, name, value: unknown) {
        const raw = this[name];
        if ((raw instanceof Date && value === null) || (typeof value === "number" && !Number.isFinite(value)))
            throw new Invalid(`not JSON: ${name} is ${String(raw)}.`, { hint: "Use a valid time, or a finite number." });
        return typeof value === "string" ? clean(value) : value;
    });
}

/** Replace what no database can store: NUL and lone surrogates. */
export function clean(text: string): string {
    return text.replaceAll("\0", "\ufffd").toWellFormed();
}

/** Return how many seconds to wait after a failed attempt. */
export function pauseAfter(attempt: number): number {
    const longest = Math.min(5, 0.1 * 2 ** attempt);
    return longest / 2 + (Math.random() * longest) / 2;
}

export function sleep(seconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        const stop = () => (clearTimeout(timer), reject(signal?.reason));
        const timer = setTimeout(() => (signal?.removeEventListener("abort", stop), resolve()), seconds * 1000);
        if (signal?.aborted) stop();
        signal?.addEventListener("abort", stop, { once: true });
    });
}
