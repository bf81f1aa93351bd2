import { z } from "zod";
import type { Context } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { MEDIA_LIMITS, PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { isSpeakable, isUrl, splitSentences, VOICES } from "../../integrations/media/mod.ts";
import type { Db } from "../../store/mod.ts";
import { text } from "../schemas/mod.ts";
import {
  countOpenMedia,
  getMediaFile,
  lockMediaQueue,
  sumMediaBytes,
} from "../../store/media/mod.ts";

/** A voice. */
export const Voice = z.enum(VOICES).default(VOICES[0]).describe("American English, female");

/** Text that is spoken. */
export const SpokenText = text(1, MEDIA_LIMITS.characters)
  .refine((one) => /[\p{L}\p{N}]/u.test(one), "Expected text with words")
  .refine(
    (one) => splitSentences(one).every(isSpeakable),
    "Expected English: the voice has no sounds for a whole sentence of other letters",
  )
  .refine(
    (one) => countSentences([one]) <= MEDIA_LIMITS.sentences,
    `Expected at most ${MEDIA_LIMITS.sentences} sentences; each line counts as one or more`,
  );

const SHA256 = /^[0-9a-f]{64}$/;

/** A path below the inbox folder. */
export const InboxPath = text(1, 500).refine(
  (path) =>
    !isUrl(path) && !path.startsWith("/") && !path.split(/[\\/]/).includes("..") &&
    !/\p{Cc}/u.test(path),
  "Expected a path below the inbox folder, without ..",
);

/** @throws {Problem} `RateLimited`: too many of the tenant's requests for media wait already, or its files are too large */
export async function checkQueue(
  { store, config }: Pick<Context, "store" | "config">,
  db: Db = store.db,
): Promise<void> {
  const { SEALOOP_LIMIT_MEDIA: limit, SEALOOP_LIMIT_MEDIA_BYTES: maxBytes } = config.settings;
  const bytes = await sumMediaBytes(db);
  if (bytes >= maxBytes) {
    throw new Problem(
      "RateLimited",
      `Your files have ${bytes} bytes, of ${maxBytes}: an operator may raise SEALOOP_LIMIT_MEDIA_BYTES`,
    );
  }
  if (await countOpenMedia(db) < limit) return;
  throw new Problem(
    "RateLimited",
    `${limit} requests for speech, transcripts or films of yours wait or run. One at a time is made: try again in 30 s`,
    { headers: { "retry-after": "30" } },
  );
}

/**
 * Adds a request to the tenant's queue, one at a time, so that calls at the same time can't pass the limit together.
 *
 * @throws {Problem} `RateLimited`
 */
export async function enqueue(
  context: Pick<Context, "store" | "config">,
  add: (trx: Db) => Promise<void>,
): Promise<void> {
  await context.store.db.transaction(async (trx) => {
    await lockMediaQueue(trx);
    await checkQueue(context, trx);
    await add(trx);
  });
}

/** Counts the sentences of texts, as they are spoken. */
export function countSentences(texts: readonly string[]): number {
  return texts.reduce((sum, one) => sum + splitSentences(one).length, 0);
}

/** @throws {Problem} `Forbidden`: the inbox folder is the operator's */
export function checkInbox({ store }: Pick<Context, "store">): void {
  if (store.tenant === PLATFORM_TENANT) return;
  throw new Problem("Forbidden", "Cannot read the inbox folder, which is the operator's");
}

/** @throws {Problem} `NotFound`, `Forbidden`: a scene's image may not be used */
export async function checkImage(context: Pick<Context, "store">, image: string): Promise<void> {
  if (!SHA256.test(image)) return checkInbox(context);
  if (await getMediaFile(context.store.db, image)) return;
  throw new Problem("NotFound", "A scene's image is no file of yours");
}

/** Returns the address of a kept file. */
export function mediaUrl(
  { urls }: Pick<Context, "urls">,
  sha256: string,
  name: string,
): string {
  return `${urls.gateway}/media/${sha256}/${name}`;
}
