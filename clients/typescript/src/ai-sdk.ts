// The Vercel AI SDK: a middleware that recalls before the model is called, and stores the messages.
//
//     const model = wrapLanguageModel({ model: openai("…"), middleware: bethinkMiddleware({ space, conversation }) });
//
// It imports nothing from the SDK: a middleware is any object with these methods.

import { newMessages, replyMessages, type Part, type PromptMessage, type TurnOptions, Turns } from "./turn.js";

export type { TurnOptions } from "./turn.js";

type Params = { prompt: PromptMessage[] };
type StreamPart = { type: string; delta?: unknown; toolCallId?: unknown; toolName?: unknown; input?: unknown };

/**
 * Return a middleware for one conversation. If memory fails, the model call continues without it; if the model fails,
 * nothing is stored, because the turn will be retried.
 */
export function bethinkMiddleware(options: TurnOptions) {
    const turns = new Turns(options);
    const before = new WeakMap<object, readonly PromptMessage[]>();

    function keep(params: Params, parts: readonly Part[]): Promise<void> {
        return turns.remember([...newMessages(before.get(params) ?? params.prompt), ...replyMessages(parts)]);
    }

    return {
        specificationVersion: "v4" as const,

        async transformParams<P extends Params>({ params }: { params: P }): Promise<P> {
            const changed = { ...params, prompt: await turns.withMemory(params.prompt) };
            before.set(changed, params.prompt);
            return changed;
        },

        async wrapGenerate<R extends { content: readonly Part[] }>(
            { doGenerate, params }: { doGenerate: () => PromiseLike<R>; params: Params },
        ): Promise<R> {
            const result = await doGenerate();
            await keep(params, result.content);
            return result;
        },

        async wrapStream<S extends StreamPart, R extends { stream: ReadableStream<S> }>(
            { doStream, params }: { doStream: () => PromiseLike<R & { stream: ReadableStream<S> }>; params: Params },
        ): Promise<R> {
            const result = await doStream();
            const parts: Part[] = [{ type: "text", text: "" }];
            const reader = result.stream.getReader();
            let failed = false;
            const stream = new ReadableStream<S>({
                async pull(controller) {
                    const { done, value } = await reader.read();
                    if (done) {
                        if (!failed) await keep(params, parts);
                        return controller.close();
                    }
                    if (value.type === "text-delta") parts[0]!.text = `${parts[0]!.text}${value.delta}`;
                    else if (value.type === "tool-call") parts.push(value);
                    failed ||= value.type === "error";
                    controller.enqueue(value);
                },
                async cancel(reason) {
                    await reader.cancel(reason);
                    await keep(params, parts); // the part that the user saw
                },
            });
            return { ...result, stream };
        },
    };
}
