import {
  type Caller,
  type CallRequest,
  type Operation,
  Problem,
  scopesOf,
  TIERS,
} from "../contract/mod.ts";

/**
 * Refuses a caller who may not use an operation through an interface.
 *
 * @throws {Problem} `Unauthenticated` or `Forbidden`
 */
export function authorize(
  operation: Operation<never>,
  { door, as: name }: Pick<CallRequest, "door" | "as">,
  caller: Caller,
): void {
  if (door === "rest") return authorizeRest(operation, caller);
  const scopes = scopesOf(operation, name);
  if (!scopes) throw new Problem("NotFound", `There is no tool named ${name}`);
  if (caller.keyId === null) throw new Problem("Unauthenticated", "A tool needs an API key");
  refuseApprover(caller);
  if (scopes.includes(caller.scope)) return;
  const needed = scopes.join(" or ");
  throw new Problem(
    "Forbidden",
    `A key of scope ${caller.scope} may not call ${name}, which needs ${needed}`,
  );
}

/**
 * Refuses a key that may approve: where a person's decision is asked for, an agent must not be able to give it, so no
 * agent may hold such a key.
 *
 * @throws {Problem} `Forbidden`
 */
export function refuseApprover({ mayApprove }: Caller): void {
  if (!mayApprove) return;
  throw new Problem(
    "Forbidden",
    "This key may approve, so it is for people, over REST alone; agents need a key without may_approve",
  );
}

function authorizeRest({ access, effect }: Operation<never>, caller: Caller): void {
  if (caller.scope === "audit" && effect !== "read" && access !== "session") {
    throw new Problem("Forbidden", "A key of scope audit only reads");
  }
  // authenticate() has checked the token or the device's signature, or run() checks the code
  if (access === "public" || access === "token" || access === "device") return;
  if (caller.keyId === null) {
    const message = access === "session"
      ? "Sign in first: the console's first page says how"
      : "This needs an API key in the header x-api-key";
    throw new Problem("Unauthenticated", message);
  }
  if (access === "session") {
    if (caller.session) return;
    throw new Problem("Forbidden", "This is for people who have signed in to the console");
  }
  if (access === "key") return;
  if (TIERS.indexOf(caller.tier) >= TIERS.indexOf(access)) return;
  throw new Problem("Forbidden", `This needs a key of tier ${access}, and yours is ${caller.tier}`);
}
