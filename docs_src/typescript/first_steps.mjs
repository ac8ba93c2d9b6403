import { Bethink, NotFound } from "bethink";

const memory = new Bethink({ url: process.env.MEMORY_URL, key: process.env.MEMORY_KEY });
const mira = memory.space("mira");

await mira.remember("I am allergic to peanuts.", { conversation: "monday" });
const found = await mira.recall("What am I allergic to?", { limit: 3 });
console.log(found.items[0].text, found.items[0].at.getFullYear() > 2000);

const session = await mira.session("monday");
await session.append([{ role: "assistant", content: "Noted.", said_at: new Date() }]);
for await (const record of session.read({ limit: 100 })) console.log(record.number, record.message.content);

try {
    await mira.facts.get("none");
} catch (error) {
    if (error instanceof NotFound) console.log(error.name, error.hint);
}
