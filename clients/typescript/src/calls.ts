// Sends one request, retries it where that is safe, and reports whether it may have been carried out.

import { BethinkError, PermissionDeniedError, ERRORS, InvalidRequestError, ConfigurationError, NotFoundError, OutcomeUnknownError, DatabaseUnavailableError } from "./errors.js";
import type { Problem } from "./types.js";

export interface BethinkOptions {
    /** The address of the server, such as https://memory.example, without /v1. */
    url: string;
    /** API key: bt_…. */
    apiKey: string;
    /** Seconds before an attempt times out (default 30). */
    timeout?: number;
    /** Maximum number of retries (default 5). */
    retries?: number;
    /** Sends the requests, such as a `fetch` with a proxy. */
    fetch?: typeof fetch;
}

/** A request. One that `reads` changes nothing; a `repeatable` one has the same effect when it is sent twice. */
export interface HttpCall {
    method: string;
    path: string;
    body?: Record<string, unknown> | undefined;
    headers?: Record<string, string>;
    reads?: boolean;
    repeatable?: boolean;
    /** Whether it has no timeout. */
    untimed?: boolean;
    /** Seconds that the server may wait, in addition to the timeout. */
    waits?: number;
    signal?: AbortSignal | undefined;
}

/** An attempt that failed and may be retried, after `wait` seconds if the server said so. */
class Failed {
    constructor(readonly error: BethinkError, readonly unknown: boolean, readonly wait?: number) {}
}

const MAX_PAUSE = 60; // seconds; longer waits that a server asks for are an error
const NEVER_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT/;
const NO_TLS = /^(ERR_SSL_|ERR_TLS_|EPROTO|CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/; // no request is sent before the handshake
const WRONG_ADDRESS = "Use the address of a Bethink server, without /v1. Check that the server is not older than this client.";
const CHECK_FIRST =
    "Retry an append only with its idempotency keys. Before you retry anything else, check what is stored.";

/** Sends requests to one server. Safe to share. */
export class Calls {
    readonly #options: Required<BethinkOptions>;

    constructor(options: BethinkOptions) {
        const { url, timeout = 30, retries = 5, fetch = globalThis.fetch } = options ?? {};
        if (!url)
            throw new ConfigurationError("`url` is missing.", {
                hint: 'Pass the address of the server: new Bethink({ url: "http://127.0.0.1:8377", apiKey }).',
            });
        if (!/^https?:\/\/[^@]+$/.test(url))
            throw new ConfigurationError("`url` is not a URL.", {
                hint: url.includes("://") || url.includes("@")
                    ? "Use one such as https://memory.example, without a user or password."
                    : `Add http:// or https://, as in http://${url}.`,
            });
        const apiKey = String(options.apiKey ?? "").trim(); // a key from a file ends with a line break
        if (!/^[!-~]+$/.test(apiKey))
            throw new ConfigurationError("`apiKey` is empty or not plain text.", { hint: "Pass an API key: bt_…." });
        if (!(timeout > 0 && timeout < 2 ** 31 / 1000))
            throw new ConfigurationError(`\`timeout\` cannot be ${timeout}.`, { hint: "Pass seconds: a number above 0." });
        if (!(Number.isInteger(retries) && retries >= 0))
            throw new ConfigurationError(`\`retries\` cannot be ${retries}.`, { hint: "Pass a whole number, 0 or more." });
        this.#options = { url: url.replace(/\/+$/, ""), apiKey, timeout, retries, fetch };
    }

    /** Send a request, retry it where that is safe, and return what `read` returns for the response. */
    async send<T>(call: HttpCall, read: (response: Response) => Promise<T>): Promise<T> {
        let unknown = false;
        for (let attempt = 0; ; attempt++) {
            const result = await this.#once(call, read);
            if (!(result instanceof BethinkError || result instanceof Failed)) return result;
            if (result instanceof BethinkError) throw final(result, call, unknown);
            unknown ||= result.unknown;
            const pause = result.wait ?? pauseAfter(attempt);
            const safe = !unknown || call.reads || call.repeatable;
            if (!safe || attempt >= this.#options.retries || pause > MAX_PAUSE)
                throw final(result.error, call, unknown);
            await sleep(pause, call.signal);
        }
    }

    async #once<T>(call: HttpCall, read: (response: Response) => Promise<T>): Promise<T | BethinkError | Failed> {
        const { url, apiKey, timeout, fetch } = this.#options;
        const { method, path, body, reads = false, signal } = call;
        const headers: Record<string, string> = { authorization: `Bearer ${apiKey}`, ...call.headers };
        if (body) headers["content-type"] = "application/json";
        const json = body && toJson(body);
        const signals = signal ? [signal] : [];
        if (!call.untimed) signals.push(AbortSignal.timeout((timeout + (call.waits ?? 0)) * 1000));
        try {
            const response = await fetch(url + path, {
                method, headers, body: json ?? null, redirect: "manual", signal: AbortSignal.any(signals),
            });
            if (response.ok) return await read(response);
            return refusal(response.status, await response.text(), response.headers.get("retry-after"), reads);
        } catch (cause) {
            signal?.throwIfAborted();
            const error = cause as { name?: string; cause?: { code?: string } };
            const code = error.cause?.code ?? "";
            if (NEVER_SENT.test(code))
                return new Failed(
                    new DatabaseUnavailableError(`Cannot reach the server at ${url}.`, {
                        hint: "Check the address and that the server is running.", cause,
                    }),
                    false,
                );
            if (NO_TLS.test(code))
                return new DatabaseUnavailableError(`Cannot open a TLS connection to ${url}. Nothing was sent.`, {
                    hint: "Check the certificate. If the server has no TLS, use http:// in `url`.", cause,
                });
            if (error.name === "TimeoutError")
                return new Failed(late(timeout + (call.waits ?? 0), reads, cause), true);
            return new Failed(lost("The connection was lost before the server responded.", reads, { cause }), true);
        }
    }
}

function refusal(status: number, body: string, after: string | null, reads: boolean): BethinkError | Failed {
    const [error, nothingDone] = errorFor(status, body, reads);
    const wait = after !== null && /^\d+$/.test(after) ? Number(after) : undefined;
    if (nothingDone) return new Failed(error, false, wait);
    if ((error instanceof OutcomeUnknownError || error instanceof DatabaseUnavailableError) && status !== 500)
        return new Failed(error, true, wait);
    return error;
}

/** Return the error of a response, and whether the server says that nothing was done. */
export function errorFor(status: number, body: string, reads: boolean): [BethinkError, boolean] {
    let problem: Partial<Problem> = {};
    try {
        const tree: unknown = JSON.parse(body);
        if (tree && typeof tree === "object" && !Array.isArray(tree)) problem = tree;
    } catch {
        // the response is not from a Bethink server
    }
    const code = problem.code ?? "";
    const message = problem.detail || problem.title || `The server responded with status ${status}.`;
    const details = { hint: problem.hint, problem };
    if (Object.hasOwn(ERRORS, code)) {
        const error = new ERRORS[code as keyof typeof ERRORS](message, details);
        return [error, error instanceof DatabaseUnavailableError];
    }
    if (status === 401 || status === 403) return [new PermissionDeniedError(message, details), false];
    if (status === 429 || (status === 503 && code)) return [new DatabaseUnavailableError(message, details), true];
    if (status >= 500) return [lost(message, reads, details), false];
    if (status >= 400 && code && code !== "NoSuchPath")
        return [new (status === 404 ? NotFoundError : InvalidRequestError)(message, details), false];
    return [new ConfigurationError(`The server responded with status ${status}.`, { hint: WRONG_ADDRESS, problem }), false];
}

/** Return the error for a request that may have been carried out: a read has at least changed nothing. */
function lost(message: string, reads: boolean, details: object): BethinkError {
    return reads
        ? new DatabaseUnavailableError(message, { hint: "Nothing was written. Retry the call.", ...details })
        : new OutcomeUnknownError(message, { hint: CHECK_FIRST, ...details });
}

function late(seconds: number, reads: boolean, cause: unknown): BethinkError {
    const hint = `${reads ? "Nothing was written." : CHECK_FIRST} To wait longer, raise \`timeout\`.`;
    return lost(`No response within ${seconds} seconds.`, reads, { hint, cause });
}

// An earlier attempt may have been carried out, whatever the last one returned.
function final(error: BethinkError, call: HttpCall, unknown: boolean): BethinkError {
    if (!unknown || call.reads || error instanceof OutcomeUnknownError) return error;
    const message = `An earlier attempt may have been carried out. The last one failed: ${error.message}`;
    return new OutcomeUnknownError(message, { hint: CHECK_FIRST, problem: error.problem, cause: error });
}

/** Convert a request to JSON. */
export function toJson(body: Record<string, unknown>): string {
    return JSON.stringify(body, function (this: Record<string, unknown>, name, value: unknown) {
        const raw = this[name];
        if ((raw instanceof Date && value === null) || (typeof value === "number" && !Number.isFinite(value)))
            throw raw instanceof Date
                ? new InvalidRequestError(`\`${name}\` is not a valid date.`, { hint: "Check how the date was made." })
                : new InvalidRequestError(`\`${name}\` cannot be ${raw}.`, { hint: "Pass a finite number." });
        return typeof value === "string" ? clean(value) : value;
    });
}

/** Replace NUL and lone surrogates, which no database can store. */
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
