// Read by the compilers only: what the types must accept, and what they must refuse.

import { Bethink, type BethinkError, type Change, type Fact, type Page, NotFoundError, type Session, VersionConflictError } from "bethink";
import { bethinkMiddleware } from "bethink/ai-sdk";
import { BethinkProcessor } from "bethink/mastra";

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
function same<A, B>(_: Same<A, B>): void {}

const memory = new Bethink({ url: "https://memory.example", apiKey: "bt_x", timeout: 3 });
const mira = memory.space("mira");

export async function accepted(): Promise<void> {
    const found = await mira.recall("Where does she live?", { as_of: new Date(), limit: 3, signal: AbortSignal.timeout(1) });
    same<Date, (typeof found.items)[0]["said_at"]>(true);
    same<Date | null, typeof found.as_of>(true);
    await mira.recall("x", { as_of: "2026-03-01" });
    await mira.recall("x", { known_at: "2026-03-01" });
    await mira.remember("A text.", { tags: ["tea"] as const, metadata: { any: { thing: [1, null] } } });
    await mira.remember([{ role: "user", content: "x", said_at: new Date() }]);

    const session = await mira.session("talk");
    same<Session, typeof session>(true);
    same<Session | null, Awaited<ReturnType<typeof mira.sessions.find>>>(true);
    same<number[], Awaited<ReturnType<typeof session.append>>>(true);
    same<void, Awaited<ReturnType<typeof mira.admin.retention.remove>>>(true);

    const page = await mira.facts.list({ limit: 5 });
    same<Page<Fact>, typeof page>(true);
    for await (const fact of mira.facts.list()) same<Fact, typeof fact>(true);
    for await (const space of memory.spaces.list()) same<string, typeof space.name>(true);
    for await (const entry of mira.sessions.list()) same<Date | null, typeof entry.last_at>(true);
    for await (const change of mira.admin.changes.follow({ after: 0 })) same<Change, typeof change>(true);
    const answer = await mira.ask("x", { spaces: ["team"], onSentence: (part) => same<string, typeof part.text>(true) });
    same<string[], typeof answer.searches>(true);
    await mira.documents.restore("doc_1", 1, null);
    await memory.admin.keys.create("reader", ["read"]);
    bethinkMiddleware({ space: mira, conversation: "talk" });
    new BethinkProcessor({ space: mira, conversation: "talk", onError: (error: unknown) => void error });
}

export function caught(error: BethinkError): string | number | null {
    if (error instanceof VersionConflictError) return error.current;
    return error instanceof NotFoundError ? error.hint : (error.problem?.code ?? null);
}

export async function refused(): Promise<void> {
    // @ts-expect-error - a question is asked for
    await mira.recall();
    // @ts-expect-error - no such option
    await mira.recall("x", { limt: 3 });
    // @ts-expect-error - no such scope
    await memory.admin.keys.create("reader", ["everything"]);
    // @ts-expect-error - a message has a role
    await mira.remember([{ content: "x" }]);
    // @ts-expect-error - a space has no turn to end
    await mira.checkpoint();
    // @ts-expect-error - a key is needed
    new Bethink({ url: "http://localhost:8377" });
    // @ts-expect-error - nothing to iterate
    for await (const each of mira.facts.count()) void each;
}
