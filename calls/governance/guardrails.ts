/** The guardrails' four rails, over the free text of a call. */
import { type Operation, Problem } from "../../contract/mod.ts";
import type { Engine, GuardVerdict } from "../../engine/mod.ts";

/** What a call's text led to. */
export interface TextVerdict {
  readonly decision: GuardVerdict["decision"];
  /** What the rails that it did not pass say. */
  readonly reasons: readonly string[];
}

/** A name, a code or a choice. What is longer may be text that is spelt as if it were one, and so is read. */
const NAME = /^[\w.:@/+-]{0,32}$/;
/** An id that is made by chance says nothing. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const NAMES_OF_TARGETS = ["service", "target", "host", "device_id", "agent_id"] as const;

/** What a call is about, by the argument that usually says so; undefined: none does. */
export function targetOf(input: Readonly<Record<string, unknown>>): string | undefined {
  const found = NAMES_OF_TARGETS.map((name) => input[name]).find((value) =>
    typeof value === "string" && value !== ""
  );
  return found as string | undefined;
}

/**
 * Has the rails read a call's free text.
 *
 * @throws {Problem} `Unavailable`: the engine gives no verdict, and so nothing may be run
 */
export async function readByRails(
  engine: Engine,
  { summary }: Pick<Operation, "summary">,
  tool: string,
  input: Readonly<Record<string, unknown>>,
): Promise<TextVerdict> {
  const target = targetOf(input);
  try {
    const verdict = await engine.validate({
      incident: `The tool ${tool} is called${target ? ` for ${target}` : ""}: ${summary}`,
      action: { ...input, target },
    });
    return {
      decision: verdict.decision,
      reasons: verdict.rails.filter(({ passed }) => !passed)
        .flatMap(({ rail, reasons }) => reasons.map((reason) => `${rail}: ${reason}`)),
    };
  } catch (cause) {
    throw new Problem(
      "Unavailable",
      "The guardrails can't be reached at the moment, so a call that changes something is not made",
      { cause, headers: { "retry-after": "5" } },
    );
  }
}

/** Whether there is more in a call than names, codes and choices. */
export function hasFreeText(value: unknown): boolean {
  if (typeof value === "string") return !NAME.test(value) && !UUID.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => hasFreeText(name) || hasFreeText(inner));
}
