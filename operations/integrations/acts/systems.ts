import { Problem } from "../../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../../contract/domain/mod.ts";
import type { OutsideSystems } from "../../../integrations/outside/mod.ts";
import { isOperator } from "../views/mod.ts";
import { type Context } from "../../../calls/mod.ts";

/** Returns a system of the operator's, which only the operator's own keys see; undefined: it is not set, or not theirs. */
export function systemFor<Name extends keyof OutsideSystems>(
  name: Name,
  context: Pick<Context, "outside" | "store" | "caller">,
): OutsideSystems[Name] | undefined {
  return isOperator(context) ? context.outside[name] : undefined;
}

/**
 * Returns a system of the operator's, to act in it.
 *
 * @param setting that has its address
 * @throws {Problem} `NotConfigured`: it is not set; `NotFound`: it is not the caller's
 */
export function requireSystem<Name extends keyof OutsideSystems>(
  name: Name,
  context: Pick<Context, "outside" | "store" | "caller">,
  setting: string,
): NonNullable<OutsideSystems[Name]> {
  const system = systemFor(name, context);
  if (system) return system;
  if (context.store.tenant !== PLATFORM_TENANT) {
    throw new Problem("NotFound", "There is no such thing among yours");
  }
  throw new Problem("NotConfigured", `Set ${setting} to reach it`);
}

/** Returns the answer of a system, or another value while it gives none: its view tells why. */
export async function unlessAway<Answer>(
  answer: Promise<Answer> | undefined,
  otherwise: Answer,
): Promise<Answer> {
  try {
    return await answer ?? otherwise;
  } catch (error) {
    if (error instanceof Problem) return otherwise;
    throw error;
  }
}
