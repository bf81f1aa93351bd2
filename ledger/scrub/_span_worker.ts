/** A thread that verifies parts of the stored chain over a connection of its own. */
import { setPriority } from "node:os";
import { workerData } from "node:worker_threads";
import { openStore, type Role } from "../../store/mod.ts";
import { useRootKey } from "../receipts/mod.ts";
import { answerMessages } from "../threads/mod.ts";
import { type SpanRequest, verifySpan } from "./_span.ts";

/** The database to read. */
export interface SpanSource {
  readonly url: string;
  readonly role: Role;
  /** File of the platform's first ledger key. */
  readonly rootKeyFile: string | undefined;
}

// Linux has priorities for each thread: requests are served first.
if (process.platform === "linux") setPriority(10);

const { url, role, rootKeyFile }: SpanSource = workerData.data;
const store = openStore(url, role, 1);
if (rootKeyFile !== undefined) useRootKey(store, rootKeyFile);

answerMessages((request: SpanRequest) => verifySpan(store, request));
