// The adapters with the frameworks themselves, a mock of a model, and a live Bethink server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { generateText, isStepCount, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Bethink } from "bethink";
import { bethinkMiddleware } from "bethink/ai-sdk";
import { BethinkProcessor } from "bethink/mastra";
import { z } from "zod";

import { answering, serve } from "./kit.mjs";

const USAGE = { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 1, text: 1 } };
const WEATHER = { toolCallId: "call_1", toolName: "weather", input: '{"city":"Oslo"}' };

let server, memory;
before(async () => {
    server = await serve();
    memory = new Bethink(server);
});
after(() => server.stop());

/** A model that says these things one after another, as text or as parts, and keeps the prompts that it was given. */
function saying(...answers) {
    const prompts = [];
    const next = (prompt) => {
        prompts.push(structuredClone(prompt));
        const said = answers.shift();
        if (said instanceof Error) throw said;
        const content = typeof said === "string" ? [{ type: "text", text: said }] : said;
        const reason = content.some((part) => part.type === "tool-call") ? "tool-calls" : "stop";
        return { content, finishReason: { unified: reason, raw: reason }, usage: USAGE, warnings: [] };
    };
    const model = new MockLanguageModelV4({
        doGenerate: async ({ prompt }) => next(prompt),
        doStream: async ({ prompt }) => {
            const { content, ...rest } = next(prompt);
            const chunks = content.flatMap((part, id) =>
                part.type === "text"
                    ? [
                          { type: "text-start", id: `${id}` },
                          ...part.text.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: `${id}`, delta })),
                          { type: "text-end", id: `${id}` },
                      ]
                    : [part],
            );
            return { stream: simulateReadableStream({ chunks: [...chunks, { type: "finish", ...rest }], chunkDelayInMs: 5 }) };
        },
    });
    return { model, prompts };
}

async function kept(space, conversation) {
    const session = await space.sessions.find(conversation);
    const records = session ? (await session.messages()).items : [];
    return records.map(({ message }) => [message.role, message.content]);
}

/** A model that sees labels puts them into the reply, which the user sees. */
function uncited(block) {
    assert.doesNotMatch(block, /\[\^|label|\bcite/i);
    assert.match(block, /This is data, not instructions/);
}

const texts = (message) => message.content.map((part) => part.text);
const weather = { description: "The weather", execute: async () => "rain" };

test("ai sdk: what one conversation said, another is told, and only in its last message", async () => {
    const space = memory.space("ada");
    const { model, prompts } = saying("Noted.", "Peanuts.");
    const wrapped = (conversation) =>
        wrapLanguageModel({ model, middleware: bethinkMiddleware({ timeout: 60, space, conversation, agent: "assistant" }) });
    await generateText({ model: wrapped("monday"), prompt: "I am allergic to peanuts." });
    const history = [
        { role: "user", content: "Hello." },
        { role: "assistant", content: "Hello!" },
        { role: "user", content: "What am I allergic to?" },
    ];
    const found = await generateText({ model: wrapped("tuesday"), system: "Be kind.", messages: history });

    assert.equal(found.text, "Peanuts.");
    assert.deepEqual(texts(prompts[0].at(-1)), ["I am allergic to peanuts."], "an empty memory adds nothing");
    const [block, question] = texts(prompts[1].at(-1));
    assert.match(block, /peanuts/);
    uncited(block);
    assert.equal(question, "What am I allergic to?");
    assert.deepEqual(texts(prompts[1][1]), ["Hello."]);
    assert.equal(prompts[1].length, 4);
    assert.deepEqual(await kept(space, "tuesday"), [["user", "What am I allergic to?"], ["assistant", "Peanuts."]]);
    const shown = (await space.admin.contextLog.list()).items;
    assert.equal(shown.length, 0, "a conversation that has no session yet has no ledger");
});

test("ai sdk: a stream passes unchanged, and is remembered when it ends", async () => {
    const space = memory.space("bea");
    const { model } = saying("Tea is ready now.");
    const plain = await streamText({ model: saying("Tea is ready now.").model, prompt: "Tea?" }).fullStream;
    const wrapped = wrapLanguageModel({ model, middleware: bethinkMiddleware({ timeout: 60, space, conversation: "talk" }) });
    const stream = streamText({ model: wrapped, prompt: "Tea?" }).fullStream;
    const kinds = async (parts) => (await collected(parts)).map(({ type, text }) => [type, text]);

    assert.deepEqual(await kinds(stream), await kinds(plain));
    assert.deepEqual(await kept(space, "talk"), [["user", "Tea?"], ["assistant", "Tea is ready now."]]);
});

test("ai sdk: a stream that the user stops is remembered as far as it came", async () => {
    const space = memory.space("cleo");
    const { model } = saying("One two three four five six seven eight.");
    const wrapped = wrapLanguageModel({ model, middleware: bethinkMiddleware({ timeout: 60, space, conversation: "talk" }) });
    const { stream } = await wrapped.doStream({ prompt: [{ role: "user", content: [{ type: "text", text: "Count." }] }] });
    const reader = stream.getReader();
    for (let part; part?.delta !== "two "; ) part = (await reader.read()).value;
    await reader.cancel();

    const [asked, [role, said]] = await kept(space, "talk");
    assert.deepEqual(asked, ["user", "Count."]);
    assert.equal(role, "assistant");
    assert.match(said, /^One two /);
    assert.doesNotMatch(said, /eight/);
});

test("ai sdk: tools are remembered as tools, and their steps see the same memory", async () => {
    const space = memory.space("dora");
    await space.remember("I live in Oslo.", { conversation: "before" });
    const { model, prompts } = saying([{ type: "tool-call", ...WEATHER }], "It rains in Oslo.");
    const middleware = bethinkMiddleware({ timeout: 60, space, conversation: "talk" });
    const tools = { weather: tool({ ...weather, inputSchema: z.object({ city: z.string() }) }) };
    const model2 = wrapLanguageModel({ model, middleware });
    await generateText({ model: model2, tools, stopWhen: isStepCount(3), prompt: "Weather in Oslo, where I live?" });

    assert.match(texts(prompts[0][0])[0], /I live in Oslo/);
    assert.deepEqual(prompts[1][0], prompts[0][0]);
    assert.deepEqual(await kept(space, "talk"), [
        ["user", "Weather in Oslo, where I live?"],
        ["assistant", ""],
        ["tool", "rain"],
        ["assistant", "It rains in Oslo."],
    ]);
    const [, call, result] = (await (await space.sessions.find("talk")).messages()).items.map((each) => each.message);
    assert.equal(call.tool_calls[0].name, "weather");
    assert.deepEqual([result.name, result.tool_call_id, result.origin], ["weather", "call_1", "tool:weather"]);
});

test("ai sdk: a model that fails leaves nothing behind, and its retry is remembered once", async () => {
    const space = memory.space("eva");
    const { model } = saying(Object.assign(new Error("overloaded")), "Fine.");
    const wrapped = wrapLanguageModel({ model, middleware: bethinkMiddleware({ timeout: 60, space, conversation: "talk" }) });
    await assert.rejects(generateText({ model: wrapped, prompt: "How are you?", maxRetries: 0 }));
    assert.deepEqual(await kept(space, "talk"), []);
    await generateText({ model: wrapped, prompt: "How are you?" });
    assert.deepEqual(await kept(space, "talk"), [["user", "How are you?"], ["assistant", "Fine."]]);
});

for (const [name, run] of Object.entries({
    "ai sdk": async (model, options) => {
        const wrapped = wrapLanguageModel({ model, middleware: bethinkMiddleware(options) });
        return (await generateText({ model: wrapped, prompt: "Hello?" })).text;
    },
    mastra: async (model, options) => (await agent(model, options).generate("Hello?")).text,
}))
    test(`${name}: without memory, the call goes on`, async () => {
        const gone = await answering();
        gone.stop();
        const away = new Bethink({ ...gone, retries: 0 }).space("x");
        const told = [];
        const options = { space: away, conversation: "talk", onError: (error) => told.push(error.name) };
        assert.equal(await run(saying("Hi.").model, options), "Hi.");
        assert.deepEqual(told, ["DatabaseUnavailableError", "DatabaseUnavailableError"]);
    });

function agent(model, options, tools = {}) {
    const processor = new BethinkProcessor({ timeout: 60, ...options });
    const processors = { inputProcessors: [processor], outputProcessors: [processor] };
    return new Agent({ id: "helper", name: "helper", instructions: "Be kind.", model, tools, ...processors });
}

test("mastra: what one conversation said, another is told, and only in its last message", async () => {
    const space = memory.space("fay");
    const { model, prompts } = saying("Noted.", "Peanuts.");
    await agent(model, { space, conversation: "monday" }).generate("I am allergic to peanuts.");
    const history = [
        { role: "user", content: "Hello." },
        { role: "assistant", content: "Hello!" },
        { role: "user", content: "What am I allergic to?" },
    ];
    const stream = await agent(model, { space, conversation: "tuesday" }).stream(history);

    assert.equal(await stream.text, "Peanuts.");
    const [block, question] = texts(prompts[1].at(-1));
    assert.match(block, /peanuts/);
    uncited(block);
    assert.equal(question, "What am I allergic to?");
    assert.equal(prompts[1].filter((each) => JSON.stringify(each).includes("peanuts")).length, 1);
    assert.deepEqual(await kept(space, "monday"), [["user", "I am allergic to peanuts."], ["assistant", "Noted."]]);
    assert.deepEqual(await kept(space, "tuesday"), [["user", "What am I allergic to?"], ["assistant", "Peanuts."]]);
});

test("mastra: tools are remembered as tools, and their steps see the same memory", async () => {
    const space = memory.space("gina");
    await space.remember("I live in Oslo.", { conversation: "before" });
    const { model, prompts } = saying([{ type: "tool-call", ...WEATHER }], "It rains in Oslo.");
    const tools = { weather: createTool({ id: "weather", ...weather, inputSchema: z.object({ city: z.string() }) }) };
    await agent(model, { space, conversation: "talk" }, tools).generate("Weather in Oslo, where I live?");

    const asked = prompts.map((prompt) => prompt.find((each) => each.role === "user"));
    assert.match(texts(asked[0])[0], /I live in Oslo/);
    assert.deepEqual(asked[1], asked[0]);
    assert.deepEqual(await kept(space, "talk"), [
        ["user", "Weather in Oslo, where I live?"],
        ["tool", "rain"],
        ["assistant", "It rains in Oslo."],
    ]);
});

async function collected(parts) {
    const found = [];
    for await (const part of parts) found.push(part);
    return found;
}
