/** Seals as many receipts as one process can at once: `_appender.ts <url> <name> <count>`; prints their ids. */
import { openSealer } from "../../../ledger/mod.ts";
import { openStore } from "../../../store/mod.ts";

const [url, name, count] = process.argv.slice(2) as [string, string, string];
const store = openStore(url, "worker", 2);
const sealer = await openSealer(store);
const ids = await Promise.all(Array.from({ length: Number(count) }, async (_, n) => {
  const { id } = await sealer.request({
    category: "test",
    actor: name,
    subject: "subject",
    action: "act",
    outcome: "ok",
    details: { n },
  });
  await sealer.sealed(id, { timeoutMs: 120_000 });
  return id;
}));
process.stdout.write(ids.join("\n"));
await sealer.close();
await store.close();
