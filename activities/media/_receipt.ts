import type { MediaOrder } from "../../contract/domain/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type { SealRequest } from "../../ledger/mod.ts";
import type { TenantParts } from "../parts.ts";
import { signWhole } from "../place_key.ts";

const TITLES = {
  speech: "voice.speak",
  transcript: "voice.transcribe",
  film: "video.render",
} as const;

/** Something that was made, for its receipt. */
export interface MadeMedia {
  readonly id: string;
  readonly kind: keyof typeof TITLES;
  /** Public: counts, names of programs, lengths. */
  readonly details: Readonly<Record<string, string | number | boolean>>;
  /** Private texts and hashes, to which the receipt commits. */
  readonly evidence: Readonly<Record<string, string>>;
}

/**
 * Returns the receipt of something that was made, as this place signs it. Until it is published, its files are told by
 * commitments alone.
 */
export async function receiptOf(
  { place }: Pick<TenantParts, "place">,
  { id, requested_by, run }: MediaOrder,
  made: MadeMedia,
): Promise<SealRequest> {
  const act = {
    action: TITLES[made.kind],
    outcome: "done",
    details: { id, ...made.details, ...run },
  };
  return {
    id: made.id,
    category: "media_made",
    actor: requested_by,
    subject: id,
    ...await signWhole(place, made.id, act),
    evidence: made.evidence,
  };
}

/**
 * Runs the transaction that ends a request. Where another attempt has ended it meanwhile, that one's result counts.
 *
 * @param finish returns false: it has ended already
 * @param readStored returns what is stored, if this run made it
 * @throws {Problem} `Conflict`: it was ended from outside
 */
export async function finishOnce<Result>(
  { id }: Pick<MediaOrder, "id">,
  finish: () => Promise<boolean>,
  readStored: () => Promise<Result | undefined>,
): Promise<Result> {
  const finished = await finish();
  const result = await readStored();
  if (result !== undefined) return result;
  throw new Problem(
    "Conflict",
    finished ? `Cannot read ${id}, which was just made` : `Cannot end ${id}: it has ended already`,
  );
}
