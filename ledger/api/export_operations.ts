import { z } from "zod";
import { InvalidInput, JsonText } from "../../contract/mod.ts";
import { computeFingerprint } from "../crypto/mod.ts";
import { getPublicSize, getPublishedCheckpoint, getPublishingState } from "../log/mod.ts";
import { exportReceipts, listLedgerKeys } from "../receipts/mod.ts";
import { nameKey } from "../rules/mod.ts";
import { exampleExported, exampleHowToVerify, Exported, HowToVerify } from "./_export_schemas.ts";
import { describeVerification } from "./_how_to_verify.ts";
import { common, operation } from "./_operation.ts";

const MAX_RECEIPTS = 1000;
/** Maximum stored bytes of a page; its text is about three times as long. */
const MAX_BYTES = 8 * 1024 * 1024;

const exported = operation({
  ...common,
  name: "public_ledger.export",
  summary: "Export whole receipts, oldest first, for verifying elsewhere",
  description:
    "A page of large receipts ends early: continue at `to`. With `Accept: application/x-ndjson` all receipts from `from` " +
    "on are streamed, one per line.",
  input: z.object({
    from: z.number().int().min(0).default(0).describe("First position, inclusive"),
    to: z.number().int().min(0).optional().describe(
      "Last position, exclusive; default: 1000 after from",
    ),
  }),
  output: Exported,
  rest: { ledger_export: "GET /api/export" },
  example: { input: { from: 41, to: 42 }, output: exampleExported },
  run: async ({ from, to = from + MAX_RECEIPTS }, { store, ledgerUrl }) => {
    if (to < from || to - from > MAX_RECEIPTS) {
      const msg = `Expected from ≤ to ≤ from + ${MAX_RECEIPTS}`;
      throw new InvalidInput([{ path: ["to"], msg, type: "value_error" }]);
    }
    const size = await getPublicSize(store); // first, so that no receipt is behind it
    const receipts = await exportReceipts(store, { from, to: Math.min(to, size) }, MAX_BYTES);
    const envelope = JSON.stringify({
      from,
      to: (receipts.at(-1)?.position ?? from - 1) + 1,
      count: receipts.length,
      total: size,
      order: "oldest_first",
      max_page_size: MAX_RECEIPTS,
      how_to_verify: `${ledgerUrl}/api/how-to-verify`,
    });
    // Records are inserted as text: printing them again could change their bytes.
    const records = receipts.map(({ text }) => text).join(",");
    return new JsonText(`${envelope.slice(0, -1)},"receipts":[${records}]}`);
  },
});

const howToVerify = operation({
  ...common,
  name: "public_ledger.how_to_verify",
  summary: "Describe how to verify receipts without trusting this service",
  input: z.object({}),
  output: HowToVerify,
  rest: { ledger_how_to_verify: "GET /api/how-to-verify" },
  example: { input: {}, output: exampleHowToVerify },
  run: async (_, { store, ledgerUrl }) => {
    const [trusted, checkpoint, publishing] = await Promise.all([
      listLedgerKeys(store),
      getPublishedCheckpoint(store),
      getPublishingState(store),
    ]);
    const keys = trusted.map((key) => ({
      ...nameKey(key),
      fingerprint_sha256: computeFingerprint(key.publicKey),
    }));
    return describeVerification(keys, ledgerUrl, checkpoint?.verifierKey, publishing);
  },
});

/** Operations for verifying the ledger elsewhere. */
export const exportOperations = [exported, howToVerify] as const;
