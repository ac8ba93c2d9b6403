// A Bethink server of the test's own on the loopback address, and servers that fail on purpose.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const PYTHON = process.env.PYTHON ?? "python3";
const SCOPES = ["read", "write", "steer", "erase", "keys", "operate"];

function python(home, ...words) {
    const kept = Object.entries(process.env).filter(([name]) => !/^(BETHINK|XDG)_/.test(name));
    const env = { ...Object.fromEntries(kept), HOME: home };
    return spawn(PYTHON, ["-m", "bethink", ...words, "--database", join(home, "memory.db")], { env, cwd: home });
}

/** Start a server with a database and a key of its own. */
export async function serve() {
    const home = await mkdtemp(join(tmpdir(), "bethink-"));
    const making = python(home, "admin", "keys", "create", "test", "--json", ...SCOPES.flatMap((each) => ["--scope", each]));
    const { data } = JSON.parse(await text(making.stdout));
    const child = python(home, "serve", "--port", "0");
    const ended = once(child, "exit");
    let said = "";
    const url = await new Promise((resolve, reject) => {
        ended.then(() => reject(new Error(`the server ended: ${said}`)));
        for (const stream of [child.stdout, child.stderr])
            stream.on("data", (chunk) => {
                said += chunk;
                const found = /serving at (http:\S+)/.exec(said);
                if (found) resolve(found[1]);
            });
    });
    return {
        url,
        apiKey: data.key,
        async stop() {
            child.kill();
            await ended;
            await rm(home, { recursive: true, force: true });
        },
    };
}

/** Start a server that answers each request with the next of these functions, and the last one from then on. */
export async function answering(...answers) {
    const seen = [];
    const server = createServer(async (request, response) => {
        const body = await text(request);
        seen.push({ method: request.method, url: request.url, headers: request.headers, body: body && JSON.parse(body) });
        const answer = answers.length > 1 ? answers.shift() : answers[0];
        await answer(response, request);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const stop = () => (server.closeAllConnections(), server.close());
    return { url: `http://127.0.0.1:${server.address().port}`, apiKey: "bt_test", seen, stop };
}

/** Answer with JSON. */
export function json(value, status = 200, headers = {}) {
    return (response) => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(JSON.stringify(value));
    };
}

/** Answer with a problem document. */
export function problem(status, code, headers = {}, more = {}) {
    const known = { type: "about:blank", title: code, status, detail: "it failed.", hint: "do this.", code };
    return json({ ...known, ...more }, status, { "content-type": "application/problem+json", ...headers });
}

/** Cut the connection without an answer. */
export function cut(response) {
    response.socket.destroy();
}
