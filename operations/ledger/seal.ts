import { createHash } from "node:crypto";
import { randomHex, formatReceiptTime, getSealState } from "../../ledger/mod.ts";
import { z } from "zod";
import { Problem } from "../../contract/mod.ts";
import { Sha256 } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

/** Longest wait for the sequencer; then the caller asks for the state by the id. */
const SEAL_TIMEOUT_MS = 20_000;

/** Seals an event of somebody's own service as a receipt. */
export const seal = operation({
  name: "receipts.seal",
  group: "sealing",
  summary: "Seal an event of a service of yours as a receipt",
  description:
    "All that you send is published with the receipt, in clear, for ever: put no secrets and no personal data in it. " +
    "The receipt's category is `api_seal`, which only such receipts have, and its actor your key: it is your word, and " +
    "not the platform's. The answer comes when the receipt is part of the chain. Sending the same `request_id` again " +
    "with the same fields gives the same receipt.",
  effect: "run",
  access: "key",
  sealsItself: true,
  input: z.object({
    service: z.string().trim().min(1).max(200).describe(
      "What the event happened to: the receipt's subject",
    ),
    event: z.string().trim().min(1).max(200).describe("What happened: the receipt's action"),
    status: z.enum(["pending", "complete", "failed", "blocked"]).describe("The receipt's outcome"),
    severity: z.enum(["INFO", "WARN", "ERROR", "CRITICAL"]).optional(),
    details: z.record(z.string(), z.unknown()).optional().describe("Published as it is"),
    request_id: z.string().regex(/^[A-Za-z0-9._:-]{1,64}$/).optional()
      .describe("Your own id for this event, so that repeating the call is safe"),
  }),
  output: z.object({ ok: z.literal(true), receipt_id: z.string(), sha256: Sha256 }),
  rest: { seal: "POST /api/v1/receipts/seal" },
  errors: ["ReceiptConflict", "Unavailable"],
  example: {
    input: { service: "billing", event: "nightly-backup", status: "complete", severity: "INFO" },
    output: {
      ok: true,
      receipt_id: "9f2c4b7a01d3e856",
      sha256: "60dcf44792c84378747127b1be1535004a062e75b08fdf7840fffa617e6cd893",
    },
  },
  run: async (input, { caller, sealer, signal }) => {
    const id = input.request_id === undefined
      ? randomHex(16)
      : ownId(caller.keyId!, input.request_id);
    const request = {
      id,
      category: "api_seal",
      actor: `key:${caller.keyId}`,
      subject: input.service,
      action: input.event,
      outcome: input.status,
      details: {
        ...(input.details ?? {}),
        ...(input.severity ? { severity: input.severity } : {}),
      },
      timestamp: formatReceiptTime(),
    };
    await sealer.request(request); // stored: it will be sealed whatever happens now
    const { hash } = await sealer.sealed(id, { timeoutMs: SEAL_TIMEOUT_MS, signal });
    return { ok: true as const, receipt_id: id, sha256: hash };
  },
});

/** Returns the receipt id for a key's own request id, which no other key's request can take. */
function ownId(keyId: string, requestId: string): string {
  return createHash("sha256").update(`${keyId} ${requestId}`).digest("hex").slice(0, 16);
}

/** Tells the state of a seal request. */
export const sealStatus = operation({
  name: "receipts.seal_status",
  group: "sealing",
  summary: "Tell whether a seal request is queued, sealed or refused",
  effect: "read",
  access: "key",
  input: z.object({
    request_id: z.string().min(1).max(128).describe(
      "The receipt's id, or the id that the request was sent with by this key",
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
  errors: ["NotFound"],
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
    for (const id of [request_id, ownId(caller.keyId!, request_id)]) {
      const known = await getSealState(store.asPlatform(), id);
      if (!known) continue;
      return {
        request_id,
        state: known.state,
        receipt_id: known.state === "sealed" ? id : null,
        sha256: known.hash ?? null,
        chain_position: known.position ?? null,
      };
    }
    throw new Problem("NotFound", `There is no seal request ${request_id}`);
  },
});
