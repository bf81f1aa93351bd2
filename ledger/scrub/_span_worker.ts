/** A thread that verifies parts of the stored chain, over a connection of its own. */
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { openStore, type Role } from "../../store/mod.ts";
import { type SpanRequest, type SpanResult, verifySpan } from "./_span.ts";

/** Whose chain it is. */
export interface SpanSource {
  readonly url: string;
  readonly role: Role;
}

/** What came of it; what went wrong, in words. */
export type SpanAnswer = SpanResult | { readonly error: string };

/** Where the system counts that by thread: who answers requests comes first. */
if (process.platform === "linux") setPriority(10);

const { url, role }: SpanSource = workerData.data;
const store = openStore(url, role, 2);

parentPort!.on("message", async (order: SpanRequest) => {
  const answer: SpanAnswer = await verifySpan(store, order)
    .catch((error) => ({ error: String(error) }));
  parentPort!.postMessage(answer);
});
