import type { Checkpoint } from "../notes/mod.ts";
import { isSameHash, type Primitives } from "../rules/mod.ts";
import { judgeCheckpoint, type Trust } from "../trust/mod.ts";
import type { EvidenceBundle } from "./bundle.ts";

/** The Merkle log of a file of opened evidence. */
export interface LogView {
  /** Signed by the log; undefined: there is none, or it does not hold. */
  readonly checkpoint: Checkpoint | undefined;
  /** True where the reader knows the log's key from elsewhere. */
  readonly isPinned: boolean;
  readonly faults: readonly string[];
  readonly absent: readonly string[];
}

/** Judges the checkpoint of a file by what the reader trusts. One that is older than the newest seen is as good. */
export function judgeLog(
  { checkpoint: note, log_key }: EvidenceBundle,
  trust: Trust,
  primitives: Primitives,
): LogView {
  const isPinned = trust.logKey !== undefined;
  const shown = { note: note ?? undefined, verifierKey: log_key ?? undefined };
  const ageless = { ...trust, checkpoint: undefined };
  const { checkpoints: [checkpoint], faults, absent } = judgeCheckpoint(ageless, shown, primitives);
  const seen = trust.checkpoint;
  const isFork = seen !== undefined && checkpoint?.size === seen.size &&
    !isSameHash(checkpoint.root, seen.root);
  return {
    checkpoint,
    isPinned,
    faults: [
      ...faults.length > 0 ? ["the file's checkpoint is not one of its log"] : [],
      ...isFork ? ["you have seen another checkpoint of this size: the log was forked"] : [],
    ],
    absent: absent.length > 0 && isPinned
      ? ["the file's checkpoint lacks what the trust file asks for"]
      : [],
  };
}
