import type { ModelProvider } from "../../contract/domain/mod.ts";
import { governanceInForce } from "../../store/calls/mod.ts";
import { type Context, forTenant } from "../platform.ts";
import { evaluate } from "./evaluate.ts";
import { openPolicyCache } from "./policy_cache.ts";

/**
 * Returns whether the caller may ask a model in the course of another call: stops, rules, guardrails and the second opinion
 * decide as about `POST /v1/ai/{provider}`. What people would have to approve is not allowed.
 */
export async function isModelAllowed(
  context: Context,
  provider: ModelProvider,
  content: string,
): Promise<boolean> {
  const operation = context.operations.get(`ai.${provider}`)!;
  const { store, caller, door, requestId, signal } = context;
  const { version, stops } = await governanceInForce(store.asPlatform());
  const { policy } = await openPolicyCache(store.asPlatform())(version);
  const input = { messages: [{ role: "user", content }] };
  const as = operation.name;
  const address = "";
  const request = { door, requestId, as, input, signal, address, credential: undefined };
  const call = { operation, request, caller, input };
  const { decision } = await evaluate(
    forTenant(context, caller.tenant),
    call,
    stops,
    policy.rules,
  );
  return decision === "allow";
}
