// Read by the compilers only: the frameworks must take the adapters for their own.

import { Agent } from "@mastra/core/agent";
import type { InputProcessor, OutputProcessor, Processor } from "@mastra/core/processors";
import { type LanguageModelMiddleware, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { Bethink } from "bethink";
import { bethinkMiddleware } from "bethink/ai-sdk";
import { BethinkProcessor } from "bethink/mastra";

const space = new Bethink({ url: "https://memory.example", apiKey: "bt_x" }).space("mira");

export const middleware: LanguageModelMiddleware = bethinkMiddleware({ space, conversation: "talk" });
export const model = wrapLanguageModel({ model: new MockLanguageModelV4(), middleware });

const memory = new BethinkProcessor({ space, conversation: "talk" });
export const processor: Processor = memory;
export const input: InputProcessor = memory;
export const output: OutputProcessor = memory;
export const agent = new Agent({
    id: "helper",
    name: "helper",
    instructions: "Be kind.",
    model: "openai/gpt-5",
    inputProcessors: [memory],
    outputProcessors: [memory],
});
