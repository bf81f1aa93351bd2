import { createHash, randomUUID } from "node:crypto";
import { WorkflowFailedError } from "@temporalio/client";
import { z } from "zod";
import { Problem } from "../contract/mod.ts";
import { sealState } from "../ledger/mod.ts";
import { SEAL_REQUEST, TASK_QUEUE } from "../workflows/mod.ts";
import type { SealRequest } from "../ledger/mod.ts";
import { type Context, operation } from "./platform.ts";
import { Sha256 } from "./_shapes.ts";

const WAIT_MS = 20_000;

/** Seals an event of somebody's own service as a receipt. */
export const seal = operation({
  name: "receipts.seal",
  group: "sealing",
  summary: "Seal an event of a service of yours as a receipt",
  description:
    "`details` is published with the receipt, for ever, as you send it: put no secrets and no " +
    "personal data in it. The answer comes when the receipt is part of the chain. Sending the same " +
    "`request_id` again with the same fields gives the same receipt.",
  effect: "run",
  access: "key",
  governed: false,
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
  run: async (input, context) => {
    const { caller } = context;
    const id = input.request_id === undefined
      ? randomUUID().replaceAll("-", "").slice(0, 16)
      : ownId(caller.keyId!, input.request_id);
    const { hash } = await sealDurably(context, {
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
      timestamp: new Date().toISOString().replace("Z", "000+00:00"),
    });
    return { ok: true as const, receipt_id: id, sha256: hash };
  },
});

/** An id that a caller gave, made its own: nobody else's request can take it. */
function ownId(keyId: string, requestId: string): string {
  return createHash("sha256").update(`${keyId} ${requestId}`).digest("hex").slice(0, 16);
}

/** Seals through a workflow, so that it happens once it was accepted, whoever dies; waits for the end. */
async function sealDurably({ temporal }: Context, request: SealRequest & { id: string }) {
  const client = await temporal();
  const handle = await client.workflow.start(SEAL_REQUEST, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `seal-${request.id}`,
    workflowIdConflictPolicy: "USE_EXISTING",
    args: [request],
  });
  const late = new Problem(
    "Unavailable",
    `Receipt ${request.id} is accepted and will be sealed, but not within ${WAIT_MS / 1000} s; ` +
      `GET /api/v1/receipts/seal/${request.id} tells when it is`,
  );
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late), WAIT_MS);
  });
  try {
    return await Promise.race([handle.result() as Promise<{ hash: string }>, deadline]);
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    throw new Problem("ReceiptConflict", rootMessage(error));
  } finally {
    clearTimeout(timer);
  }
}

function rootMessage(error: Error): string {
  return error.cause instanceof Error ? rootMessage(error.cause) : error.message;
}

/** Where a seal request stands. */
export const sealStatus = operation({
  name: "receipts.seal_status",
  group: "sealing",
  summary: "Tell whether a seal request is queued, sealed or refused",
  effect: "read",
  access: "key",
  input: z.object({ request_id: z.string().min(1).max(128).describe("The receipt's id") }),
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
  run: async ({ request_id }, { store, temporal }) => {
    const known = await sealState(store.knex, request_id);
    if (known) {
      return {
        request_id,
        state: known.state,
        receipt_id: known.state === "sealed" ? request_id : null,
        sha256: known.hash ?? null,
        chain_position: known.position ?? null,
      };
    }
    const client = await temporal();
    const found = await client.workflow.getHandle(`seal-${request_id}`).describe().catch(() =>
      undefined
    );
    if (!found) throw new Problem("NotFound", `There is no seal request ${request_id}`);
    const state = found.status.name === "RUNNING" ? "queued" as const : "refused" as const;
    return { request_id, state, receipt_id: null, sha256: null, chain_position: null };
  },
});
