import { type Operation, Problem } from "../../contract/mod.ts";
import type { Decision } from "../../contract/domain/mod.ts";
import type { Engine } from "../../judgement/engine/mod.ts";

/** The guardrails' verdict on a call's text. */
export interface TextVerdict {
  readonly decision: Decision;
  /** Reasons of the rails that it did not pass. */
  readonly reasons: readonly string[];
}

/** A name, a code or a choice. A longer text may be spelt like one, and so is read. */
const NAME = /^[\w.:@/+-]{0,32}$/;
/** A random id holds no text. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const TARGET_FIELDS = ["service", "target", "host", "device_id", "agent_id", "via_device"] as const;

/** Returns the target that a call names; undefined: it names none. */
export function targetOf(input: Readonly<Record<string, unknown>>): string | undefined {
  const name = targetFieldOf(input);
  return name === undefined ? undefined : input[name] as string;
}

/** Returns the field by which a call names its target; undefined: it names none. */
export function targetFieldOf(input: Readonly<Record<string, unknown>>): string | undefined {
  return TARGET_FIELDS.find((name) => typeof input[name] === "string" && input[name] !== "");
}

/**
 * Has the guardrails judge a call's free text.
 *
 * @param judged action that the input names; default: the input itself
 * @param changes false: the call changes nothing, so that no change freeze holds it
 * @throws {Problem} `Unavailable`: the engine gives no verdict, so nothing may be run
 */
export async function judgeText(
  engine: Engine,
  { summary, governance }: Pick<Operation, "summary" | "governance">,
  tool: string,
  input: Readonly<Record<string, unknown>>,
  tenant: string,
  judged: Readonly<Record<string, unknown>> | undefined,
  changes: boolean,
): Promise<TextVerdict> {
  const addressee = governance?.addressee;
  const target = targetOf(addressee ? { ...input, [addressee]: undefined } : input);
  try {
    const { decision, rails } = await engine.validate({
      incident: `The tool ${tool} is called${target ? ` for ${target}` : ""}: ${summary}`,
      action: { ...judged ?? input, target },
      context: { changes: !changes ? "nothing" : judged ? "command" : "more" },
    }, tenant);
    const reasons = rails.filter(({ passed }) => !passed)
      .flatMap(({ rail, reasons }) => reasons.map((reason) => `${rail}: ${reason}`));
    return { decision, reasons };
  } catch (cause) {
    throw new Problem(
      "Unavailable",
      "The guardrails can't be reached at the moment, so a call that changes something is not made",
      { cause, headers: { "retry-after": "5" } },
    );
  }
}

/** Returns whether a value holds more than names, codes and choices. */
export function hasFreeText(value: unknown): boolean {
  if (typeof value === "string") return !NAME.test(value) && !UUID.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, inner]) => hasFreeText(name) || hasFreeText(inner));
}
