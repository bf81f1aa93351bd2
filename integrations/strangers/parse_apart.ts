import type { z } from "zod";
import { Problem } from "../../contract/mod.ts";
import { type ParserChild, startChild } from "./_child.ts";
import type { ParsedKind } from "./kinds.ts";
import type { Refusal } from "./refusal.ts";

/** Children of a process. */
const MAX_CHILDREN = 3;
/** Children that one kind may have at once, so that a flood of one does not hold up the others. */
const MAX_OF_KIND = 2;
const MAX_WAITING = 200;
/** Longest time for an input. */
const MAX_MS = 10_000;
/** Inputs after which a child is replaced: what it has kept of them goes with it. */
const MAX_INPUTS = 500;

/** An input by a stranger. */
export interface StrangersInput {
  readonly bytes: Uint8Array;
  /** Parameters of ours for the parser, which JSON can carry. */
  readonly parameters?: unknown;
  /** Default and maximum: 10 s. */
  readonly timeoutMs?: number;
}

const idle: ParserChild[] = [];
const inputs = new WeakMap<ParserChild, number>();
const running = new Map<ParsedKind, number>();
let waiting: { readonly kind: ParsedKind; readonly begin: () => void }[] = [];

/** Starts the first child, so that the first input does not wait for it. */
export function warmParsers(): void {
  if (idle.length === 0 && running.size === 0) idle.push(startChild());
}

/**
 * Parses what a stranger has sent, in a process that has nothing to lose and that is killed and replaced if it takes more
 * than 10 s or 256 MiB.
 *
 * @param answer the parser's answer, which is checked, since the stranger may have taken the parser over
 * @returns the value, or why it is refused; then it must not be tried again
 * @throws {Problem} `Unavailable`: no process can be started, or too many inputs wait; it can be tried again
 */
export async function parseApart<T>(
  kind: ParsedKind,
  { bytes, parameters = null, timeoutMs = MAX_MS }: StrangersInput,
  answer: z.ZodType<T>,
): Promise<{ readonly value: T } | { readonly refusal: Refusal }> {
  await takeTurn(kind);
  const child = idle.pop() ?? startChild();
  try {
    const parsed = await child.parse({
      kind,
      bytes,
      parameters,
      timeoutMs: Math.min(timeoutMs, MAX_MS),
    });
    keepWarm(child);
    if ("refusal" in parsed) return parsed;
    const checked = answer.safeParse(parsed.value);
    if (checked.success) return { value: checked.data };
    const about = "Its parser has answered with something else than was asked for";
    return { refusal: { code: "unexpected_answer", about } };
  } finally {
    endTurn(kind);
  }
}

/** Keeps a child for the next input, or another one in its place. */
function keepWarm(child: ParserChild): void {
  const count = (inputs.get(child) ?? 0) + 1;
  inputs.set(child, count);
  if (child.isUsable() && count < MAX_INPUTS) return void idle.push(child);
  child.end();
  idle.push(startChild());
}

async function takeTurn(kind: ParsedKind): Promise<void> {
  if (mayRun(kind)) return begin(kind);
  if (waiting.length >= MAX_WAITING) {
    throw new Problem("Unavailable", "Too much waits to be parsed; send it again later");
  }
  await new Promise<void>((resolve) => {
    waiting.push({ kind, begin: resolve });
  });
}

function endTurn(kind: ParsedKind): void {
  running.set(kind, running.get(kind)! - 1);
  const next = waiting.find((one) => mayRun(one.kind));
  if (!next) return;
  waiting = waiting.filter((one) => one !== next);
  begin(next.kind);
  next.begin();
}

function mayRun(kind: ParsedKind): boolean {
  const all = [...running.values()].reduce((sum, count) => sum + count, 0);
  return all < MAX_CHILDREN && (running.get(kind) ?? 0) < MAX_OF_KIND;
}

function begin(kind: ParsedKind): void {
  running.set(kind, (running.get(kind) ?? 0) + 1);
}
