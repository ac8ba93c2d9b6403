// Mastra: a processor that recalls before a model is asked, and remembers what was said.
//
//     const memory = new BethinkProcessor({ space, conversation });
//     new Agent({ …, inputProcessors: [memory], outputProcessors: [memory] });
//
// It imports nothing of Mastra: a processor there is whatever has these methods.

import { answer, news, type PromptMessage, type TurnOptions, Turns } from "./turn.js";
import type { MessageInput } from "./types.js";

export type { TurnOptions } from "./turn.js";

type State = Record<string, unknown>;

/**
 * A processor for one conversation, both of input and of output. What it recalls is shown to the model and never stored
 * in Mastra's own memory. If memory fails, the agent goes on without it.
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
        const said = (state.said ??= []) as MessageInput[][];
        said[stepNumber] = news(prompt); // a step that is tried again replaces what it said
        return { prompt: await this.#turns.recalled(prompt) };
    }

    async processOutputResult<M>(
        { messages, result, state }: { messages: M[]; result: { text: string }; state: State },
    ): Promise<M[]> {
        const said = (state.said ?? []) as MessageInput[][];
        await this.#turns.remembered([...said.flat(), ...answer([{ type: "text", text: result.text }])]);
        return messages;
    }
}
