import { sign } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Platform } from "../calls/mod.ts";
import { BadSetting } from "../config.ts";
import { LOOP_ACTOR, type PlaceSignature } from "../contract/domain/mod.ts";
import {
  canonicalize,
  formatPlaceStatement,
  loadSigningKey,
  NODE_PRIMITIVES,
  PLACE_ENROLLED,
  requestSeal,
  type SigningKey,
} from "../ledger/mod.ts";
import { getPlaceKey, notePlaceKey } from "../store/platform/mod.ts";

/** File of the data folder with the place's key, which its workers share. */
const PLACE_KEY_FILE = "place.key";

/** The place of this process, as receipts name it. */
export interface PlaceSigner {
  /** Signs what the place says of an act. The first call has the place enrolled, where no start has. @throws {BadSetting} */
  sign(
    act: Pick<PlaceSignature, "action_id" | "round" | "step">,
    result: Readonly<Record<string, unknown>>,
  ): Promise<PlaceSignature>;
}

/** An act as a whole, as its receipt has it. */
interface WholeAct {
  readonly action: string;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
}

/** Adds the signature of a place to a receipt that is about one act. @param id of the act */
export async function signWhole<Act extends WholeAct>(
  place: PlaceSigner,
  id: string,
  act: Act,
): Promise<Act> {
  const { action, outcome, details } = act;
  const signed = await place.sign({ action_id: id, round: 0, step: 1 }, {
    ...details,
    action,
    outcome,
  });
  return { ...act, details: { ...details, ...signed } };
}

/** Opens the place of this process. */
export function openPlace(parts: Pick<Platform, "config" | "store">): PlaceSigner {
  let enrolling: Promise<SigningKey> | undefined;
  return {
    async sign({ action_id, round, step }, result) {
      enrolling ??= enrolPlace(parts);
      const { privateKey, publicKey } = await enrolling.catch((error) => {
        enrolling = undefined; // the next act tries again
        throw error;
      });
      const place = publicKey.toString("hex");
      const result_sha256 = NODE_PRIMITIVES.sha256(Buffer.from(canonicalize(result)));
      const text = formatPlaceStatement({ action_id, place, result_sha256, round, step });
      const signature = sign(null, Buffer.from(text), privateKey);
      return { action_id, round, step, place, place_signature: signature.toString("hex") };
    },
  };
}

/**
 * Reads the key of this process's place, and makes it where there is none yet. Where no key is enrolled for the place, this
 * one is, with a receipt; the place's name is private evidence. Safe to repeat, and to run in several workers of the place.
 *
 * @throws {BadSetting} another key is enrolled; the message says what to do
 * @throws {BadKeyFile} others could have read the key's file, or it holds something else
 */
export async function enrolPlace(
  { config: { dataDir, place }, store }: Pick<Platform, "config" | "store">,
): Promise<SigningKey> {
  const db = store.asPlatform();
  const path = join(dataDir, PLACE_KEY_FILE);
  const enrolled = await getPlaceKey(db, place);
  if (enrolled !== undefined && !existsSync(path)) {
    throw new BadSetting(`Cannot act at place ${place} without its key: ${wayOut(place, path)}`);
  }
  const key = loadSigningKey(path);
  const id = key.publicKey.toString("hex");
  const inForce = enrolled ?? await db.transaction(async (trx) => {
    if (!await notePlaceKey(trx, place, id)) return await getPlaceKey(trx, place);
    await requestSeal(trx, {
      category: PLACE_ENROLLED,
      actor: LOOP_ACTOR,
      subject: id,
      action: "places.enrol",
      outcome: "enrolled",
      details: { place: id },
      evidence: { name: place },
    });
    return id;
  });
  if (inForce === id) return key;
  throw new BadSetting(
    `Cannot act at place ${place}: ${path} is another key than the one that is enrolled for it, ` +
      `${inForce?.slice(0, 16)}…: ${wayOut(place, path)}`,
  );
}

const wayOut = (place: string, path: string): string =>
  `bring its key back as ${path}, give this machine another name with SEALOOP_PLACE, or have its key enrolled anew: ` +
  `npm run database -- forget place ${place}`;
