import { createTimeoutSignal, stripInvisible } from "../../contract/mod.ts";
import {
  cutText,
  type Observation,
  type ObserverName,
  say,
  type Text,
} from "../../contract/domain/mod.ts";
import { redactLine } from "../../integrations/host/mod.ts";
import { observerOf } from "./_observers.ts";
import { runProgram } from "./_program.ts";
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
  return await lookWithin((deadline) => observer.observe(subject, { ...context, deadline }));
}

/**
 * Runs a command that only looks, for instance for the threads of a process, within the bounds of a source. Never throws.
 *
 * @param does says what it is for
 * @param command program and arguments; or the code of why it can't be run
 */
export async function observeCommand(
  does: string,
  command: readonly string[] | string,
): Promise<Observation> {
  const [seen] = await lookWithin(async () => {
    if (typeof command === "string") throw new NotHad(command);
    const { code, text } = await runProgram(command, MAX_BYTES);
    if (code === "timeout") throw new NotHad(code);
    const says = say`${does} It ended with ${code.replaceAll("_", " ")}.`;
    return [{ code: "looked", says, text, figures: { reason: code } }];
  });
  return seen!.code === "not_had" ? { ...seen!, says: say`${does} ${seen!.says}` } : seen!;
}

/** Looks within the bounds of a source. What could not be had is an observation. */
async function lookWithin(
  look: (deadline: AbortSignal) => Promise<readonly Observation[]>,
): Promise<readonly Observation[]> {
  const deadline = createTimeoutSignal(TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    deadline.addEventListener("abort", () => reject(new NotHad("timeout")), { once: true });
  });
  try {
    return bound(await Promise.race([look(deadline), late]));
  } catch (error) {
    const reason = reasonOf(error);
    return [{
      code: "not_had",
      says: say`Could not be looked at: ${reason.replaceAll("_", " ")}.`,
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
  const sentences = kept.map(({ says }) => cleanSentence(says));
  let left = MAX_BYTES - Buffer.byteLength(sentences.map(String).join(""));
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

/** Cleans a sentence. One that has something to hide is taken for a quote as a whole. */
function cleanSentence(says: Text): Text {
  const cleaned = clean(String(says));
  const whole = cleaned === String(says) ? says : cleaned;
  const cut = cutText(whole, MAX_SENTENCE);
  return typeof cut === "string" ? cut.toWellFormed() : cut;
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
