import { type Act, InvalidInput, KEY_PREFIX, outputValue } from "../contract/mod.ts";
import type { Sealer } from "../ledger/mod.ts";

/**
 * The gate that seals calls: on the tool server every one, over REST those that change something, unless the
 * operation seals its own act. The receipt says who, what, how it ended and how long it took; arguments and
 * result are kept as private evidence, and only commitments to them go public.
 */
export function recorder<C>(sealer: Sealer): (act: Act<C>) => Promise<string | undefined> {
  return async (act) => {
    const { operation, request, caller, input, output, error, durationMs } = act;
    if (!isSealed(act)) return undefined;
    const receipt = {
      category: request.door === "rest" ? "api_call" : "tool_call",
      actor: `key:${caller.keyId}`,
      subject: request.as,
      action: operation.name,
      outcome: error ? (error.rule.status < 500 ? "refused" : "failed") : "success",
      details: {
        door: request.door,
        effect: operation.effect,
        duration_ms: Math.round(durationMs),
        ...(error ? { error: error.name } : {}),
      },
    };
    const evidence = withoutSecrets({
      arguments: input ?? request.input ?? {},
      ...(error ? { error: error.message } : { result: outputValue(output) ?? null }),
    });
    try {
      return (await sealer.request({ ...receipt, evidence })).id;
    } catch (reason) {
      if (!(reason instanceof InvalidInput)) throw reason;
      return (await sealer.request({ ...receipt, evidence: asTexts(evidence) })).id;
    }
  };
}

/** What opens something: evidence is kept as it is, and so must not have it. */
const SECRET = new RegExp(`whsec_[A-Za-z0-9+/=_-]+|${KEY_PREFIX}_[a-z]+_[A-Za-z0-9_-]{16,}`, "g");

function withoutSecrets<T>(value: T): T {
  if (typeof value === "string") return value.replace(SECRET, "[secret]") as T;
  if (Array.isArray(value)) return value.map(withoutSecrets) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, withoutSecrets(inner)]),
  ) as T;
}

/** As JSON texts, which escape what has no canonical form: a call that was made is sealed, whatever was said in it. */
function asTexts(evidence: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(evidence).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}

function isSealed<C>({ operation, request, caller, error }: Act<C>): boolean {
  if (caller.keyId === null) return false;
  if (request.door !== "rest") return true;
  return operation.effect !== "read" && !(operation.sealsItself && !error);
}
