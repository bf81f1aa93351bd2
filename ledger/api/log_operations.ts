import { z } from "zod";
import { defineOperation, InvalidInput, Problem } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { encodeLeaf, sha256 } from "../crypto/mod.ts";
import {
  buildConsistencyProof,
  buildInclusionProof,
  computeRootAt,
  createHashReader,
  getPublishedCheckpoint,
} from "../log/mod.ts";
import { findReceipt } from "../receipts/mod.ts";
import { type Hash, hashLeaf } from "../rules/mod.ts";
import { ReceiptId } from "./_operation.ts";

const operation = defineOperation<{ readonly store: Store }>();
const common = {
  group: "log",
  effect: "read",
  access: "public",
  presentation: { errors: ["Unavailable"] },
} as const;
const Size = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
const HashHex = z.string().describe("32 bytes as hex");
const Checkpoint = z.string().describe(
  "Newest signed checkpoint (C2SP tlog-checkpoint), cosignatures included",
);

/** Gets the newest checkpoint. @throws {Problem} `Unavailable`: there is none yet */
async function getCheckpoint(store: Store) {
  const checkpoint = await getPublishedCheckpoint(store);
  if (checkpoint) return checkpoint;
  throw new Problem("Unavailable", "The log has signed no checkpoint yet");
}

const hex = (hash: Hash) => Buffer.from(hash).toString("hex");

const inclusion = operation({
  ...common,
  name: "public_ledger.log_inclusion",
  summary: "Prove that a receipt is in the Merkle log",
  description:
    "The proof leads from the leaf's hash to the root of the tree (RFC 6962). The leaf is the canonical JSON of " +
    "chain_position, id and record_sha256, the SHA-256 of the exported record's canonical form. " +
    "A checkpoint contains a receipt about a second after it was sealed.",
  input: z.object({
    receipt_id: ReceiptId,
    tree_size: Size.optional().describe("Size of the tree; default: the checkpoint's size"),
  }),
  output: z.object({
    receipt_id: z.string(),
    chain_position: z.number().int(),
    leaf: z.string(),
    leaf_hash: HashHex,
    tree_size: z.number().int(),
    root_hash: HashHex,
    hashes: z.array(HashHex),
    checkpoint: Checkpoint,
  }),
  rest: { ledger_log_inclusion: "GET /api/log/inclusion/{receipt_id}" },
  presentation: {
    errors: ["ReceiptNotFound", "AmbiguousReceipt", "Unavailable"],
  },
  example: {
    input: { receipt_id: "9f2c4b7a01d3e856" },
    output: {
      receipt_id: "9f2c4b7a01d3e856",
      chain_position: 0,
      leaf: `{"chain_position":0,"id":"9f2c4b7a01d3e856","record_sha256":"${"ab".repeat(32)}"}`,
      leaf_hash: "c3".repeat(32),
      tree_size: 1,
      root_hash: "c3".repeat(32),
      hashes: [],
      checkpoint: "sealoop.localhost\n1\n…\n\n— sealoop.localhost …\n",
    },
  },
  run: async ({ receipt_id, tree_size }, { store }) => {
    const [receipt, { size: newest, note }] = await Promise.all([
      findReceipt(store, receipt_id),
      getCheckpoint(store),
    ]);
    const size = tree_size ?? newest;
    if (size > newest) throw tooLarge("tree_size", newest);
    if (receipt.position >= size) {
      if (tree_size !== undefined) {
        const msg = `Expected more than ${receipt.position}, the receipt's position`;
        throw new InvalidInput([{ path: ["tree_size"], msg, type: "too_small" }]);
      }
      throw new Problem(
        "Unavailable",
        "No checkpoint contains this receipt yet; the next one will",
        {
          headers: { "retry-after": "1" },
        },
      );
    }
    const read = createHashReader(store);
    const leaf = encodeLeaf(receipt);
    return {
      receipt_id: receipt.id,
      chain_position: receipt.position,
      leaf: leaf.toString(),
      leaf_hash: hex(hashLeaf(leaf, sha256)),
      tree_size: size,
      root_hash: hex(await computeRootAt(size, read, sha256)),
      hashes: (await buildInclusionProof(receipt.position, size, read, sha256)).map(hex),
      checkpoint: note,
    };
  },
});

const consistency = operation({
  ...common,
  name: "public_ledger.log_consistency",
  summary: "Prove that the Merkle log has only grown",
  input: z.object({
    from: Size.describe("Size of the older tree"),
    to: Size.optional().describe("Size of the newer tree; default: the checkpoint's size"),
  }),
  output: z.object({
    from: z.number().int(),
    to: z.number().int(),
    from_root: HashHex,
    to_root: HashHex,
    hashes: z.array(HashHex),
    checkpoint: Checkpoint,
  }),
  rest: { ledger_log_consistency: "GET /api/log/consistency" },
  example: {
    input: { from: 1, to: 1 },
    output: {
      from: 1,
      to: 1,
      from_root: "c3".repeat(32),
      to_root: "c3".repeat(32),
      hashes: [],
      checkpoint: "sealoop.localhost\n1\n…\n\n— sealoop.localhost …\n",
    },
  },
  run: async ({ from, to: wanted }, { store }) => {
    const { size: newest, note } = await getCheckpoint(store);
    const to = wanted ?? newest;
    if (to > newest) throw tooLarge("to", newest);
    if (from > to) {
      const msg = `Expected at most ${to}, the size of the newer tree`;
      throw new InvalidInput([{ path: ["from"], msg, type: "too_large" }]);
    }
    const read = createHashReader(store);
    return {
      from,
      to,
      from_root: hex(await computeRootAt(from, read, sha256)),
      to_root: hex(await computeRootAt(to, read, sha256)),
      hashes: (await buildConsistencyProof(from, to, read, sha256)).map(hex),
      checkpoint: note,
    };
  },
});

const tooLarge = (field: string, newest: number) =>
  new InvalidInput([{
    path: [field],
    msg: `Expected at most ${newest}, the size of the newest checkpoint`,
    type: "too_large",
  }]);

/** Operations on the Merkle log. */
export const logOperations = [inclusion, consistency] as const;
