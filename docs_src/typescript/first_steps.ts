import { Bethink, NotFoundError } from "bethink";

const { MEMORY_URL: url = "http://127.0.0.1:8377", MEMORY_KEY: apiKey } = process.env;
if (!apiKey) throw new Error("Set MEMORY_KEY to an API key.");
const mira = new Bethink({ url, apiKey }).space("mira");

await mira.remember("I am allergic to peanuts.", { conversation: "monday" });
const { items } = await mira.recall("What am I allergic to?", { limit: 3 });
for (const match of items) console.log(match.text, match.certainty, match.said_at instanceof Date);

const session = await mira.session("monday");
await session.append([{ role: "assistant", content: "Noted.", said_at: new Date() }]);
for await (const { number, message } of session.messages({ limit: 100 })) console.log(number, message.content);

const block = await mira.context("What can Mira eat?", { budget: 1_000 });
const prompt = [{ role: "system", content: `Be brief.\n\n${block.text}` }, { role: "user", content: "What can I eat?" }];
console.log(prompt[0]?.content.includes("peanuts"));

const fact = await mira.facts.save({ id: "allergy", text: "Mira is allergic to peanuts." });
await mira.correct(fact.ref, "Mira is allergic to peanuts and cashews.");
console.log((await mira.forget(fact.ref, { dry_run: true })).facts);

await mira.facts.get("none").catch((error: unknown) => {
    if (!(error instanceof NotFoundError)) throw error;
    console.log(error.hint);
});
