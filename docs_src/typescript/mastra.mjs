import { Agent } from "@mastra/core/agent";
import { MockLanguageModelV4 } from "ai/test";
import { Bethink } from "bethink";
import { BethinkProcessor } from "bethink/mastra";

const content = [{ type: "text", text: "Peanuts." }];
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
const doGenerate = { content, usage, finishReason: { unified: "stop" }, warnings: [] };
const model = new MockLanguageModelV4({ doGenerate }); // use your model here

const space = new Bethink({ url: process.env.MEMORY_URL, apiKey: process.env.MEMORY_KEY }).space("mira");
for (const [conversation, prompt] of [["monday", "I am allergic to peanuts."], ["tuesday", "What am I allergic to?"]]) {
    const memory = new BethinkProcessor({ space, conversation, budget: 1_000, timeout: 20 });
    const processors = { inputProcessors: [memory], outputProcessors: [memory] };
    const agent = new Agent({ id: "helper", name: "helper", instructions: "Be brief.", model, ...processors });
    await agent.generate(prompt);
}
console.log(model.doGenerateCalls[1].prompt.at(-1).content);
