import type { Operation } from "../../contract/mod.ts";
import { fit, type LeftOut } from "./fit.ts";
import { outline } from "./outline.ts";
import { pick, type View } from "./view.ts";

/** Characters of a result, its texts and its structured content together. */
export const MAX_RESULT = 4_096;
/** Of these, the sentences have at most so many, and the metadata and the JSON around it so many. */
const MAX_SENTENCES = 1_800;
const RESERVED = 600;
/** Places that are named where something was left out. */
const MAX_NAMED = 4;

/** A value in the form that an agent gets. */
export interface Shaped {
  /** Sentences, the most important first; then what was left out, and how to get it. */
  readonly text: string;
  /** JSON. */
  readonly value: unknown;
}

/**
 * Shapes an output for an agent, whose memory is short: sentences, and the fields beside them, without what does not fit.
 *
 * @param value JSON of the operation's output, made safe already
 */
export function shape<C>(
  operation:
    & Pick<Operation<C>, "presentation">
    & Partial<Pick<Operation<C>, "output" | "durability">>,
  value: unknown,
  { verbose, fields }: View,
): Shaped {
  const picked = fields ? pick(value, fields) : undefined;
  const chosen = picked?.value ?? value;
  const sentences = fields ? [] : tellOutput(operation, value);
  if (verbose) return { text: [...sentences, ...outline(chosen)].join("\n"), value: chosen };
  const told = sentences.length > 0 ? cutLines(sentences, MAX_SENTENCES) : [];
  const room = MAX_RESULT - RESERVED - lengthOf(told);
  // Without sentences the outline says all that the fields do, and as much again.
  const { value: fitted, leftOut } = fit(chosen, told.length > 0 ? room : room / 2);
  const lines = told.length > 0 ? told : outline(fitted);
  return {
    text: [...lines, ...describeMissing(picked), ...describeLeftOut(leftOut)].join("\n"),
    value: fitted,
  };
}

/** Returns an operation's sentences. A call of a run that goes on without it returns the run, of which they don't speak. */
function tellOutput<C>(
  { presentation: { tell } = {}, durability, output }: Parameters<typeof shape<C>>[0],
  value: unknown,
): readonly string[] {
  const isOutput = !durability?.longRunning || !output || output.safeParse(value).success;
  return tell && isOutput ? tell(value) : [];
}

const lengthOf = (lines: readonly string[]) =>
  lines.reduce((sum, line) => sum + line.length + 1, 0);

/** Returns the first lines that fit, and says how many don't. */
function cutLines(lines: readonly string[], maxLength: number): string[] {
  let length = 0;
  const kept = lines.filter((line) => (length += line.length + 1) <= maxLength);
  if (kept.length === 0) return [`${lines[0]!.slice(0, maxLength - 1)}…`];
  const rest = lines.length - kept.length;
  return rest === 0 ? kept : [...kept, `${rest} more ${rest === 1 ? "line" : "lines"}.`];
}

function describeMissing(picked: ReturnType<typeof pick> | undefined): string[] {
  if (!picked || picked.missing.length === 0) return [];
  return [
    `There is no field ${picked.missing.join(", ")} here; there are ${picked.known.join(", ")}.`,
  ];
}

function describeLeftOut(leftOut: readonly LeftOut[]): string[] {
  if (leftOut.length === 0) return [];
  const parts = leftOut.slice(0, MAX_NAMED).map(({ at, count, of }) =>
    `${count} ${of} of ${at || "the whole"}`
  );
  if (leftOut.length > MAX_NAMED) parts.push("and more");
  return [
    `Left out of the fields: ${
      parts.join(", ")
    }. Ask with verbose: true for all, with fields for some.`,
  ];
}
