import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  formatReceiptTime,
  getSealState,
  prepareRequest,
  type SealRequest,
} from "../../ledger/mod.ts";
import { keyedHash, type Store } from "../../store/mod.ts";
import { Sha256 } from "../schemas/mod.ts";

/** Longest wait for the sequencer. A caller whose wait ends asks for the state by the id. */
const SEAL_TIMEOUT_MS = 20_000;

const Event = z.object({
  service: z.string().trim().min(1).max(200).describe(
    "Service that the event is about: the receipt's subject",
  ),
  event: z.string().trim().min(1).max(200).describe("The event: the receipt's action"),
  status: z.enum(["pending", "complete", "failed", "blocked"]).describe("The receipt's outcome"),
  severity: z.enum(["INFO", "WARN", "ERROR", "CRITICAL"]).optional(),
  details: z.record(z.string(), z.unknown()).optional().describe("Published unchanged"),
  request_id: z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/).optional().describe(
    "Your own id of the event, which makes it safe to repeat the call",
  ),
});

/** Seals an event of a caller's own service. */
export const sealEvent = operation({
  name: "receipts.seal",
  group: "sealing",
  summary: "Seal an event of your own service as a receipt",
  description:
    "All fields are published with the receipt, unencrypted and permanently: send no secrets and no personal data. The " +
    "receipt's category is `api_seal`, which no other receipts have, and its actor is your key: it records your statement, " +
    "not the platform's. The answer comes once the receipt is part of the chain. Sending the same `request_id` again with " +
    "the same fields returns the same receipt; with other fields it is refused with 409.",
  effect: "run",
  access: "key",
  input: Event,
  output: z.object({ ok: z.literal(true), receipt_id: z.string(), sha256: Sha256 }),
  rest: { seal: "POST /api/v1/receipts/seal" },
  presentation: { errors: ["ReceiptConflict", "Unavailable"] },
  governance: {
    rule: "key-decides",
    check(event, { caller }) {
      prepareRequest(toRequest(event, caller.keyId!));
      return Promise.resolve();
    },
  },
  durability: {
    sealsItself: true,
    async recover({ decisionId, keyId, input }, { store }) {
      if (keyId === undefined || input === undefined) return { state: "unknown" };
      const { request_id } = input as z.output<typeof Event>;
      const id = await eventId(store, keyId, request_id, decisionId);
      const request = await getSealState(store.db, id);
      if (!request) return { state: "not_done" };
      const ids = { receipt_id: id };
      if (request.state === "sealed") {
        return { state: "done", ids, output: { ok: true, ...ids, sha256: request.hash } };
      }
      if (request.state === "queued") {
        throw new Problem("Unavailable", `Receipt ${id} is not sealed yet`);
      }
      const message = `Receipt ${id} was refused: ${request.reason}`;
      return { state: "failed", ids, error: { name: "InvalidInput", message } };
    },
  },
  example: {
    input: { service: "billing", event: "nightly-backup", status: "complete", severity: "INFO" },
    output: {
      ok: true,
      receipt_id: "9f2c4b7a01d3e856",
      sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
    },
  },
  run: async (event, { store, caller, sealer, signal, decisionId }) => {
    const keyId = caller.keyId!;
    const id = await eventId(store, keyId, event.request_id, decisionId!);
    await sealer.request({ id, ...toRequest(event, keyId) }); // stored: it will be sealed whatever happens to this call
    const { hash } = await sealer.sealed(id, { timeoutMs: SEAL_TIMEOUT_MS, signal });
    return { ok: true as const, receipt_id: id, sha256: hash };
  },
});

function toRequest(
  { service, event, status, severity, details }: z.output<typeof Event>,
  keyId: string,
): SealRequest {
  return {
    category: "api_seal",
    actor: `key:${keyId}`,
    subject: service,
    action: event,
    outcome: status,
    details: { ...details, ...(severity ? { severity } : {}) },
    timestamp: formatReceiptTime(),
  };
}

/** Returns the receipt id of an event: by the caller's own id, else by the decision that allowed its call. */
async function eventId(
  store: Store,
  keyId: string,
  requestId: string | undefined,
  decisionId: string,
): Promise<string> {
  if (requestId !== undefined) return await receiptIdOf(store, keyId, requestId);
  return (await keyedHash(store, "sealed_events", "decision", decisionId)).toString("hex", 0, 8);
}

/** State of a request to seal. */
export const sealStatus = operation({
  name: "receipts.seal_status",
  group: "sealing",
  summary: "Get the state of a request to seal: queued, sealed or refused",
  effect: "read",
  access: "key",
  input: z.object({
    request_id: z.string().min(1).max(128).describe(
      "Id of the receipt, or the request_id that this key has sent",
    ),
  }),
  output: z.object({
    request_id: z.string(),
    state: z.enum(["queued", "sealed", "refused"]),
    receipt_id: z.string().nullable(),
    sha256: Sha256.nullable(),
    chain_position: z.number().int().nullable(),
  }),
  rest: { seal_status: "GET /api/v1/receipts/seal/{request_id}" },
  presentation: { errors: ["NotFound"] },
  example: {
    input: { request_id: "9f2c4b7a01d3e856" },
    output: {
      request_id: "9f2c4b7a01d3e856",
      state: "sealed",
      receipt_id: "9f2c4b7a01d3e856",
      sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
      chain_position: 41,
    },
  },
  run: async ({ request_id }, { store, caller }) => {
    for (const id of [request_id, await receiptIdOf(store, caller.keyId!, request_id)]) {
      const request = await getSealState(store.db, id);
      if (!request) continue;
      return {
        request_id,
        state: request.state,
        receipt_id: request.state === "sealed" ? id : null,
        sha256: request.hash ?? null,
        chain_position: request.position ?? null,
      };
    }
    throw new Problem("NotFound", `There is no request to seal ${request_id}`);
  },
});

/** Returns the receipt id of a key's request id. No other key's request can take it. */
async function receiptIdOf(store: Store, keyId: string, requestId: string): Promise<string> {
  return (await keyedHash(store, "sealed_events", "request", keyId, requestId)).toString(
    "hex",
    0,
    8,
  );
}
