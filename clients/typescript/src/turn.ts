// What the adapters do in a turn: recall before the model is asked, remember after it answered, and never stand in the way.

import type { CallOptions, MessageInput, Space } from "./index.js";

export interface TurnOptions {
    /** The space of the end user. */
    space: Space;
    /** The name of the conversation, which stays the same from turn to turn. */
    conversation: string;
    /** The name of the agent, for spaces that several agents share. */
    agent?: string;
    /** How many tokens of memory a turn may get; 2000 if left out. */
    budget?: number;
    /** How many seconds a call of the model waits for memory at most, before it and after it; 5 if left out. */
    patience?: number;
    /** Is told what memory could not do; the turn goes on. Without it, a warning is written. */
    onError?: (error: unknown) => void;
}

/** A part of a message, as the Vercel AI SDK and Mastra have them. */
export interface Part {
    type: string;
    text?: unknown;
    toolCallId?: unknown;
    toolName?: unknown;
    input?: unknown;
    output?: unknown;
}

/** A message of a prompt. */
export interface PromptMessage {
    role: string;
    content: unknown;
}

const KEPT = 100; // turns whose memory is remembered while their tools run

export class Turns {
    readonly #options: TurnOptions;
    readonly #blocks = new Map<string, string>();

    constructor(options: TurnOptions) {
        this.#options = options;
    }

    /**
     * Return the prompt with what memory knows in its last message of the user. All before it stays as it is, for the
     * sake of prompt caches, and while tools run the same memory is shown again.
     */
    async recalled<M extends PromptMessage>(prompt: readonly M[]): Promise<M[]> {
        const at = prompt.findLastIndex((message) => message.role === "user");
        const asked = prompt[at];
        const question = asked ? textOf(asked) : "";
        if (!asked || !question) return [...prompt];
        const key = `${at} ${question}`;
        const known = at < prompt.length - 1 ? this.#blocks.get(key) : undefined;
        const block = known ?? (await this.#quietly((options) => this.#context(question, options))) ?? "";
        this.#blocks.delete(key);
        this.#blocks.set(key, block);
        if (this.#blocks.size > KEPT) this.#blocks.delete(this.#blocks.keys().next().value!);
        if (!block) return [...prompt];
        return prompt.with(at, { ...asked, content: [{ type: "text", text: block }, ...partsOf(asked)] });
    }

    async #context(question: string, options: CallOptions): Promise<string> {
        const { space, conversation, agent = "assistant", budget = 2_000 } = this.#options;
        const session = await space.findSession(conversation, { agent, ...options });
        const asked = session && !session.info.ended_at ? session : space;
        return (await asked.context(question, { budget, ...options })).text;
    }

    /** Store what was said. */
    async remembered(messages: readonly MessageInput[]): Promise<void> {
        const { space, conversation, agent = "assistant" } = this.#options;
        if (messages.length) await this.#quietly((options) => space.remember(messages, { conversation, agent, ...options }));
    }

    async #quietly<T>(call: (options: CallOptions) => Promise<T>): Promise<T | undefined> {
        const { patience = 5, onError = (error) => console.warn("bethink:", error) } = this.#options;
        try {
            return await call({ signal: AbortSignal.timeout(patience * 1000) });
        } catch (error) {
            onError(error);
            return undefined;
        }
    }
}

/** Return what is new in a prompt: the words of the user and the results of tools since the model last spoke. */
export function news(prompt: readonly PromptMessage[]): MessageInput[] {
    const since = prompt.slice(prompt.findLastIndex((message) => message.role === "assistant") + 1);
    return since.flatMap((message): MessageInput[] => {
        if (message.role === "tool")
            return partsOf(message)
                .filter((part) => part.type === "tool-result")
                .map(({ toolName, toolCallId, output }) => ({
                    role: "tool", name: String(toolName), tool_call_id: String(toolCallId), content: shown(output),
                }));
        const content = textOf(message);
        return message.role === "user" && content ? [{ role: "user", content }] : [];
    });
}

/** Return what a model said, as a message; none if it said nothing. */
export function answer(parts: readonly Part[]): MessageInput[] {
    const content = textOf({ role: "assistant", content: parts });
    const tool_calls = parts
        .filter((part) => part.type === "tool-call")
        .map(({ toolCallId, toolName, input }) => ({ id: toolCallId, name: toolName, arguments: input }));
    return content || tool_calls.length ? [{ role: "assistant", content, tool_calls }] : [];
}

function partsOf(message: PromptMessage): Part[] {
    const { content } = message;
    return Array.isArray(content) ? content : content ? [{ type: "text", text: String(content) }] : [];
}

function textOf(message: PromptMessage): string {
    return partsOf(message)
        .flatMap((part) => (part.type === "text" && part.text ? [part.text] : []))
        .join("\n");
}

function shown(output: unknown): string {
    const value = (output as { value?: unknown } | null)?.value ?? output;
    return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
