import { createHash } from "node:crypto";
import { getPublishedCheckpoint } from "../log/mod.ts";
import { exportReceipts, getHead, listLedgerKeys } from "../receipts/mod.ts";
import { z } from "zod";
import { defineOperation, InvalidInput, JsonText } from "../../contract/mod.ts";
import { exampleExported, exampleHowToVerify, Exported, HowToVerify } from "./_api_shapes.ts";
import { howToVerify } from "./_how_to_verify.ts";
import type { LedgerParts } from "./api.ts";

const operation = defineOperation<LedgerParts>();
const common = {
  group: "ledger",
  effect: "read",
  access: "public",
  errors: ["Unavailable"],
} as const;

const MOST_EXPORTED = 1000;
/** Of stored bytes; the text has about three times as many. */
const MOST_EXPORTED_BYTES = 8 * 1024 * 1024;

const exported = operation({
  ...common,
  name: "public_ledger.export",
  summary: "Give receipts whole, oldest first, for verifying elsewhere",
  description:
    "A page ends early where its receipts are large: go on from `to`. With `Accept: application/x-ndjson` all receipts " +
    "from `from` on are streamed, one a line.",
  input: z.object({
    from: z.number().int().min(0).default(0).describe("First position, inclusive"),
    to: z.number().int().min(0).optional().describe(
      "Last position, exclusive; default: 1000 after from",
    ),
  }),
  output: Exported,
  rest: { ledger_export: "GET /api/export" },
  example: { input: { from: 41, to: 42 }, output: exampleExported },
  run: async ({ from, to = from + MOST_EXPORTED }, { store, ledgerUrl }) => {
    if (to < from || to - from > MOST_EXPORTED) {
      const msg = `Expected from ≤ to ≤ from + ${MOST_EXPORTED}`;
      throw new InvalidInput([{ path: ["to"], msg, type: "value_error" }]);
    }
    const [{ size }, found] = await Promise.all([
      getHead(store),
      exportReceipts(store, { from, to }, MOST_EXPORTED_BYTES),
    ]);
    const envelope = JSON.stringify({
      from,
      to: (found.at(-1)?.position ?? from - 1) + 1,
      count: found.length,
      total: size,
      order: "oldest_first",
      max_page_size: MOST_EXPORTED,
      how_to_verify: `${ledgerUrl}/api/how-to-verify`,
    });
    return new JsonText(
      `${envelope.slice(0, -1)},"receipts":[${found.map((r) => r.text).join(",")}]}`,
    );
  },
});

const rules = operation({
  ...common,
  name: "public_ledger.how_to_verify",
  summary: "Tell how to verify a receipt without trusting this service",
  input: z.object({}),
  output: HowToVerify,
  rest: { ledger_how_to_verify: "GET /api/how-to-verify" },
  example: { input: {}, output: exampleHowToVerify },
  run: async (_, { store, ledgerUrl }) => {
    const [known, checkpoint] = await Promise.all([
      listLedgerKeys(store),
      getPublishedCheckpoint(store),
    ]);
    const keys = known.map(({ publicKey, fromPosition }) => ({
      public_key: publicKey,
      fingerprint_sha256: createHash("sha256").update(Buffer.from(publicKey, "hex")).digest("hex"),
      from_position: fromPosition,
    }));
    return howToVerify(keys, ledgerUrl, checkpoint?.verifierKey);
  },
});

/** Doors to the whole ledger, for whoever verifies it elsewhere. */
export const wholeOperations = [exported, rules] as const;
