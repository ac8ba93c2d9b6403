// Shared by the adapters: recall before the model is called, remember after it replied, and never block the turn.

import type { CallOptions, MessageInput, Space } from "./index.js";

export interface TurnOptions {
    /** Space of the end user. */
    space: Space;
    /** Name of the conversation, the same in every turn. */
    conversation: string;
    /** Name of the agent, for spaces that several agents share. */
    agent?: string;
    /** Maximum number of tokens of memory in a turn (default 2000). */
    budget?: number;
    /** Maximum number of seconds that a turn waits for memory, before and after the model call (default 5). */
    timeout?: number;
    /** Called when memory fails; the turn continues (default: log a warning). */
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

const MAX_BLOCKS = 100; // turns whose memory block is cached while their tools run

export class Turns {
    readonly #options: TurnOptions;
    readonly #blocks = new Map<string, string>();

    constructor(options: TurnOptions) {
        this.#options = options;
    }

    /**
     * Return the prompt with a memory block in its last user message. Earlier messages stay the same for prompt caches,
     * and the same block is used again while tools run.
     */
    async withMemory<M extends PromptMessage>(prompt: readonly M[]): Promise<M[]> {
        const at = prompt.findLastIndex((message) => message.role === "user");
        const message = prompt[at];
        const question = message ? textOf(message) : "";
        if (!message || !question) return [...prompt];
        const key = `${at} ${question}`;
        const cached = at < prompt.length - 1 ? this.#blocks.get(key) : undefined;
        const block = cached ?? (await this.#quietly((options) => this.#context(question, options))) ?? "";
        this.#blocks.delete(key);
        this.#blocks.set(key, block);
        if (this.#blocks.size > MAX_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value!);
        if (!block) return [...prompt];
        return prompt.with(at, { ...message, content: [{ type: "text", text: block }, ...partsOf(message)] });
    }

    async #context(question: string, options: CallOptions): Promise<string> {
        const { space, conversation, agent = "assistant", budget = 2_000 } = this.#options;
        const session = await space.sessions.find(conversation, { agent, ...options });
        const handle = session && !session.info.ended_at ? session : space;
        return (await handle.context(question, { budget, citations: false, ...options })).text;
    }

    /** Store messages. */
    async remember(messages: readonly MessageInput[]): Promise<void> {
        const { space, conversation, agent = "assistant" } = this.#options;
        if (messages.length) await this.#quietly((options) => space.remember(messages, { conversation, agent, ...options }));
    }

    async #quietly<T>(call: (options: CallOptions) => Promise<T>): Promise<T | undefined> {
        const { timeout = 5, onError = (error) => console.warn("bethink:", error) } = this.#options;
        try {
            return await call({ signal: AbortSignal.timeout(timeout * 1000) });
        } catch (error) {
            onError(error);
            return undefined;
        }
    }
}

/** Return the new messages of a prompt: user messages and tool results since the model's last reply. */
export function newMessages(prompt: readonly PromptMessage[]): MessageInput[] {
    const since = prompt.slice(prompt.findLastIndex((message) => message.role === "assistant") + 1);
    return since.flatMap((message): MessageInput[] => {
        if (message.role === "tool")
            return partsOf(message)
                .filter((part) => part.type === "tool-result")
                .map(({ toolName, toolCallId, output }) => ({
                    role: "tool", name: String(toolName), tool_call_id: String(toolCallId), content: textOfOutput(output),
                }));
        const content = textOf(message);
        return message.role === "user" && content ? [{ role: "user", content }] : [];
    });
}

/** Return the reply of a model as a message, or none if it is empty. */
export function replyMessages(parts: readonly Part[]): MessageInput[] {
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

function textOfOutput(output: unknown): string {
    const value = (output as { value?: unknown } | null)?.value ?? output;
    return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}
