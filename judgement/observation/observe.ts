import { createTimeoutSignal, stripInvisible } from "../../contract/mod.ts";
import type { Observation, ObserverName } from "../../contract/domain/mod.ts";
import { redactLine } from "../../integrations/host/mod.ts";
import { observerOf } from "./_observers.ts";
import { NotHad, type ObserverContext, type Subject } from "./observer.ts";

/** Longest time of a source. */
const TIMEOUT_MS = 9_000;
/** Most that a source may keep, so that a collection stays below 256 KiB. */
const MAX_BYTES = 18 * 1024;
const MAX_OBSERVATIONS = 20;
const MAX_SENTENCE = 500;

/**
 * Lets a source look at a fault. Never throws: what could not be had is an observation, too. Secrets are removed.
 *
 * @returns at most 20 observations with 18 KiB
 */
export async function observe(
  source: ObserverName,
  subject: Subject,
  context: Omit<ObserverContext, "deadline">,
): Promise<readonly Observation[]> {
  const observer = observerOf(source);
  if (!observer.applies(subject)) return [];
  const deadline = createTimeoutSignal(TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener("abort", () => reject(new NotHad("timeout")), { once: true });
  });
  try {
    const look = observer.observe(subject, { ...context, deadline });
    return bound(await Promise.race([look, late]));
  } catch (error) {
    const reason = reasonOf(error);
    return [{
      code: "not_had",
      says: `Could not be looked at: ${reason.replaceAll("_", " ")}.`,
      figures: { reason },
    }];
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof NotHad) return error.reason;
  const { code } = error as { code?: unknown };
  if (code === "EACCES" || code === "EPERM") return "permission";
  return typeof code === "string" ? code.toLowerCase() : "failed";
}

/** Removes secrets, and cuts what is too long: of words the end stays, where programs say why they failed. */
function bound(observations: readonly Observation[]): Observation[] {
  const kept = observations.slice(0, MAX_OBSERVATIONS);
  const sentences = kept.map(({ says }) => clean(says).slice(0, MAX_SENTENCE).toWellFormed());
  let left = MAX_BYTES - Buffer.byteLength(sentences.join(""));
  return kept.map(({ code, text = "", figures }, index) => {
    const sentence = sentences[index]!;
    const bytes = Buffer.from(clean(text));
    const words = bytes.subarray(Math.max(0, bytes.length - left)).toString()
      .replace(/^\uFFFD+/, "");
    left -= Math.min(left, bytes.length);
    return {
      code,
      says: sentence,
      ...(words.trim() ? { text: words } : {}),
      ...(figures ? { figures: cleanFigures(figures) } : {}),
    };
  });
}

function cleanFigures(figures: NonNullable<Observation["figures"]>): typeof figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [
      name,
      typeof value === "string" ? clean(value) : value,
    ]),
  );
}

const clean = (text: string) => redactLine(stripInvisible(text)).toWellFormed();
