import { Bethink, NotFoundError } from "bethink";

const memory = new Bethink({ url: process.env.MEMORY_URL, apiKey: process.env.MEMORY_KEY });
const mira = memory.space("mira");

await mira.remember("I am allergic to peanuts.", { conversation: "monday" });
const { items } = await mira.recall("What am I allergic to?", { limit: 3 });
console.log(items[0].text, items[0].said_at.getFullYear() > 2000);

const session = await mira.session("monday");
await session.append([{ role: "assistant", content: "Noted.", said_at: new Date() }]);
for await (const { number, message } of session.messages({ limit: 100 })) console.log(number, message.content);

await mira.facts.get("none").catch((error) => console.log(error instanceof NotFoundError, error.hint));
