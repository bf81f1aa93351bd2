/** Receipts of an incident, with all that it takes to verify each of them elsewhere. */
import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { sha256 } from "../../ledger/crypto/mod.ts";
import { buildInclusionProof } from "../../ledger/log/mod.ts";
import {
  createHashReader,
  exportReceipts,
  getHead,
  getPublishedCheckpoint,
  listLedgerKeys,
  listReceiptsBy,
  type StoredReceipt,
  type TrustedKey,
} from "../../ledger/mod.ts";
import { listIntroductions } from "../../ledger/rules/mod.ts";
import type { Store } from "../../store/mod.ts";
import { listTicketEvents, type Ticket } from "../../store/incidents/mod.ts";
import { exampleTicket, TicketId } from "../schemas/mod.ts";
import { requireTicket } from "./tickets/mod.ts";

/** Receipts of one incident that are returned. */
const MAX_RECEIPTS = 100;

const Placed = z.object({
  position: z.number().int(),
  record: z.string().describe("The record as the ledger exports it, byte for byte"),
});

/** Receipts with their proofs. */
export const Proofs = z.object({
  ticket_id: TicketId,
  ledger_url: z.string().describe("Where anybody reads the same"),
  receipts: z.array(
    Placed.extend({
      id: z.string(),
      before: z.string().nullable().describe("The record before; null: it is the first"),
      after: z.string().nullable().describe("The record after; null: it is the newest"),
      inclusion: z.array(z.string()).nullable().describe(
        "Hashes that lead from it to the root of the checkpoint, hex; null: the checkpoint does not contain it yet",
      ),
    }),
  ).describe(`The newest ${MAX_RECEIPTS}, oldest first`),
  waiting: z.array(z.string()).describe("Ids of receipts that are requested and not sealed yet"),
  size: z.number().int().describe("Number of receipts of the ledger"),
  keys: z.array(z.object({
    public_key: z.string(),
    from_position: z.number().int(),
    recovery_key: z.string().optional(),
  })).describe("Published keys, in the order in which they came to be trusted"),
  introductions: z.array(Placed).describe("Receipts that may introduce these keys"),
  checkpoint: z.object({
    note: z.string().describe("Newest signed checkpoint (C2SP tlog-checkpoint)"),
    tree_size: z.number().int(),
    verifier_key: z.string(),
  }).nullable().describe("null: the log has signed none yet"),
}).meta({ id: "ReceiptProofs" });

/** One, in examples. */
export const exampleProofs: z.output<typeof Proofs> = {
  ticket_id: exampleTicket.ticket_id,
  ledger_url: "http://localhost:8082",
  receipts: [],
  waiting: [exampleTicket.receipt_id],
  size: 0,
  keys: [],
  introductions: [],
  checkpoint: null,
};

/** An incident's receipts with their proofs. */
export const ticketReceipts = operation({
  name: "tickets.receipts",
  group: "console",
  extension: true,
  summary: "Get the receipts of a ticket, each with what it takes to verify it elsewhere",
  description:
    "The console's page verifies them in the browser by the code of the ledger's page. What callers have sealed as their own " +
    "events (`api_seal`) is left out, as it proves nothing about the ticket.",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: Proofs,
  rest: { ticket_receipts: "GET /v1/itsm/tickets/{ticket_id}/receipts" },
  presentation: { errors: ["NotFound"] },
  example: {
    input: { ticket_id: exampleTicket.ticket_id },
    output: exampleProofs,
  },
  run: async ({ ticket_id }, { store, urls }) =>
    await readProofs(store, await requireTicket(store, ticket_id), urls.ledger),
});

/** Reads the receipts of a ticket with their proofs. @param ledgerUrl without a slash at the end */
export async function readProofs(
  store: Store,
  { ticket_id, receipt_id }: Ticket,
  ledgerUrl: string,
): Promise<z.output<typeof Proofs>> {
  const [named, events, keys, { size }, checkpoint] = await Promise.all([
    listReceiptsBy(store, { name: ticket_id }, { limit: MAX_RECEIPTS }),
    listTicketEvents(store.db, ticket_id),
    listLedgerKeys(store),
    getHead(store),
    getPublishedCheckpoint(store),
  ]);
  const receipts = named.filter(({ category }) => category !== "api_seal").reverse();
  const sealed = new Set(receipts.map(({ id }) => id));
  const wanted = [...events.map(({ data }) => data.receipt_id), receipt_id]
    .filter((id) => typeof id === "string");
  const placed = receipts.map((receipt) => proveOne(store, receipt, checkpoint?.size ?? 0));
  return {
    ticket_id,
    ledger_url: ledgerUrl,
    receipts: await Promise.all(placed),
    waiting: named.length < MAX_RECEIPTS
      ? [...new Set(wanted)].filter((id) => !sealed.has(id))
      : [],
    size,
    keys: keys.map(printKey),
    introductions: await readAt(store, listIntroductions(keys)),
    checkpoint: checkpoint
      ? {
        note: checkpoint.note,
        tree_size: checkpoint.size,
        verifier_key: checkpoint.verifierKey,
      }
      : null,
  };
}

async function proveOne(
  store: Store,
  { id, position, text }: StoredReceipt,
  treeSize: number,
): Promise<z.output<typeof Proofs>["receipts"][number]> {
  const around = await exportReceipts(store, { from: Math.max(0, position - 1), to: position + 2 });
  const recordAt = (n: number) => around.find((one) => one.position === n)?.text ?? null;
  const proof = position < treeSize
    ? await buildInclusionProof(position, treeSize, createHashReader(store), sha256)
    : undefined;
  return {
    id,
    position,
    record: text,
    before: recordAt(position - 1),
    after: recordAt(position + 1),
    inclusion: proof?.map((hash) => Buffer.from(hash).toString("hex")) ?? null,
  };
}

async function readAt(store: Store, positions: readonly number[]) {
  const found = await Promise.all(
    positions.map((position) => exportReceipts(store, { from: position, to: position + 1 })),
  );
  return found.flat().map(({ position, text }) => ({ position, record: text }));
}

function printKey({ publicKey, fromPosition, recoveryKey }: TrustedKey) {
  const key = { public_key: publicKey, from_position: fromPosition };
  return recoveryKey === undefined ? key : { ...key, recovery_key: recoveryKey };
}
