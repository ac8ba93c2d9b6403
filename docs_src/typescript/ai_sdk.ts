import { generateText, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Bethink } from "bethink";
import { bethinkMiddleware } from "bethink/ai-sdk";

const { MEMORY_URL: url = "http://127.0.0.1:8377", MEMORY_KEY: apiKey } = process.env;
if (!apiKey) throw new Error("Set MEMORY_KEY to an API key.");
const space = new Bethink({ url, apiKey }).space("mira");

const model = new MockLanguageModelV4({
    // use your model here
    doGenerate: {
        content: [{ type: "text", text: "Peanuts." }],
        finishReason: { unified: "stop", raw: "stop" },
        usage: {
            inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
            outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
    },
});

const turns = { monday: "I am allergic to peanuts.", tuesday: "What am I allergic to?" };
for (const [conversation, prompt] of Object.entries(turns)) {
    const middleware = bethinkMiddleware({ space, conversation, budget: 1_000, timeout: 20 });
    await generateText({ model: wrapLanguageModel({ model, middleware }), prompt });
}
console.log(model.doGenerateCalls[1]?.prompt[0]?.content);
