// Mastra: a processor that recalls before the model is called, and stores the messages.
//
//     const memory = new BethinkProcessor({ space, conversation });
//     new Agent({ …, inputProcessors: [memory], outputProcessors: [memory] });
//
// It imports nothing from Mastra: a processor is any object with these methods.

import { newMessages, replyMessages, type PromptMessage, type TurnOptions, Turns } from "./turn.js";
import type { MessageInput } from "./types.js";

export type { TurnOptions } from "./turn.js";

type State = Record<string, unknown>;

/**
 * A processor of input and output for one conversation. The model sees what it recalls, and Mastra's own memory does not
 * store it. If memory fails, the agent continues without it.
 */
export class BethinkProcessor {
    readonly id = "bethink";
    readonly name = "Bethink";
    readonly #turns: Turns;

    constructor(options: TurnOptions) {
        this.#turns = new Turns(options);
    }

    async processLLMRequest<M extends PromptMessage>(
        { prompt, stepNumber, state }: { prompt: M[]; stepNumber: number; state: State },
    ): Promise<{ prompt: M[] }> {
        const steps = (state.steps ??= []) as MessageInput[][];
        steps[stepNumber] = newMessages(prompt); // a retried step replaces its messages
        return { prompt: await this.#turns.withMemory(prompt) };
    }

    async processOutputResult<M>(
        { messages, result, state }: { messages: M[]; result: { text: string }; state: State },
    ): Promise<M[]> {
        const steps = (state.steps ?? []) as MessageInput[][];
        await this.#turns.remember([...steps.flat(), ...replyMessages([{ type: "text", text: result.text }])]);
        return messages;
    }
}
