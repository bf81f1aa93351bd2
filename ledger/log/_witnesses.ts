import { setTimeout as sleep } from "node:timers/promises";
import { createTimeoutSignal } from "../../contract/mod.ts";
import { formatSignature, formatVerifierKey } from "./note.ts";
import type { WitnessState } from "./publishing.ts";
import { askLastSize, cosign, type CosignRequest, type Witness } from "./witness.ts";

/** The witnesses of a log, and what is known of each. None of them can keep the others from cosigning. */
export interface Witnesses {
  /** Asks each for the size that it has cosigned last. @param note the newest checkpoint that the log has signed */
  greet(note: string, size: number): Promise<void>;
  /** Asks each to cosign. @returns signature lines of those that did, once there are enough and the others had their time */
  cosign(request: Omit<CosignRequest, "signal">): Promise<string[]>;
  states(): WitnessState[];
}

const TIMEOUT_MS = 5_000;
/** Time that the other witnesses have once enough have cosigned. */
const GRACE_MS = 500;

/**
 * Opens the witnesses of a log.
 *
 * @param quorum number that is enough; 0: all are waited for
 * @param onTrouble called where a witness does not cosign, for another reason than the time before
 */
export function openWitnesses(
  witnesses: readonly Witness[],
  quorum: number,
  onTrouble: (error: unknown) => void,
): Witnesses {
  const known = witnesses.map((witness) => ({
    witness,
    size: undefined as number | undefined,
    problem: undefined as string | undefined,
  }));
  type Known = typeof known[number];

  /** Asks one witness. @returns undefined where it did not answer as it should */
  async function ask<T>(one: Known, question: () => Promise<T>): Promise<T | undefined> {
    try {
      const answer = await question();
      one.problem = undefined;
      return answer;
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      if (one.problem !== problem) onTrouble(error);
      one.problem = problem;
      return undefined;
    }
  }

  async function cosignBy(one: Known, request: Omit<CosignRequest, "signal">): Promise<string> {
    const answer = await ask(one, async () => {
      const signal = createTimeoutSignal(TIMEOUT_MS);
      const { value } = await cosign(one.witness, { ...request, signal }, one.size);
      return formatSignature(one.witness.key, value);
    });
    if (answer === undefined) return "";
    one.size = Math.max(request.size, one.size ?? 0);
    return answer;
  }

  return {
    async greet(note, size) {
      await Promise.all(known.map(async (one) => {
        const signal = createTimeoutSignal(TIMEOUT_MS);
        one.size = await ask(one, () => askLastSize(one.witness, { note, size, signal }));
      }));
    },
    async cosign(request) {
      const lines: string[] = known.map(() => "");
      const count = () => lines.filter(Boolean).length;
      await new Promise<void>((resolve) => {
        const asked = known.map(async (one, n) => {
          lines[n] = await cosignBy(one, request);
          if (quorum > 0 && count() === quorum) sleep(GRACE_MS).then(resolve);
        });
        Promise.all(asked).then(() => resolve());
      });
      return lines.filter(Boolean);
    },
    states: () =>
      known.map(({ witness: { key }, size, problem }) => ({
        name: key.name,
        verifier_key: formatVerifierKey(key),
        size: size ?? null,
        problem: problem ?? null,
      })),
  };
}
