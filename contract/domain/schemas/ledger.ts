import { z } from "zod";
import { Count, Digest } from "./ids.ts";

/** Schema of the type `BatchRange`. */
export const BatchRangeSchema = z.object({ first: Count, last: Count });

/** Schema of the type `Place`. */
const PlaceSchema = z.object({
  position: Count,
  previousHash: z.union([z.literal(""), Digest]),
  previousEra: z.union([z.literal(2), z.literal(1), z.literal(3)]).optional(),
});

/** Schema of the type `CheckpointRoot`. */
const CheckpointRootSchema = z.object({ size: Count, root: Digest });

/** Schema of the type `TrustedKey`. */
const TrustedKeySchema = z.object({
  publicKey: Digest,
  fromPosition: Count,
  recoveryKey: Digest.optional(),
  isPinned: z.boolean().optional(),
});

/** Schema of the type `ChainSnapshot`. */
const ChainSnapshotSchema = z.object({
  size: Count,
  hash: Digest,
  keys: z.array(TrustedKeySchema),
});

/** Schema of the type `ScrubPass`. */
export const ScrubPassSchema = z.object({
  pass: Count,
  size: Count,
  place: PlaceSchema,
  tree: z.array(Digest).nullable(),
  checkpoint: CheckpointRootSchema.nullable(),
  known: ChainSnapshotSchema.nullable(),
  lost: z.boolean(),
  found: Count,
});

/** Schema of the type `AnchorBatch`. */
export const AnchorBatchSchema = z.object({
  first: Count,
  last: Count,
  poll_seconds: Count,
  attempt: Count,
});
