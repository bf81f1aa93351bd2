import { randomUUID } from "node:crypto";
import {
  asProblem,
  type Caller,
  type CallRequest,
  type Invoke,
  isDatabaseAway,
  type Operation,
  parseInput,
  Problem,
} from "../../contract/mod.ts";
import { ledgerOperations } from "./operations.ts";
import type { LedgerParts } from "./parts.ts";

/**
 * Returns the function that runs the ledger's operations: for everybody, without limits, and without a receipt. While the
 * database is away, each answer says that nobody knows whether the chain is intact.
 */
export function createLedgerInvoke(parts: LedgerParts): Invoke<LedgerParts> {
  return async (operation, request) => {
    try {
      return { output: await run(parts, operation, request) };
    } catch (error) {
      const { extra, message } = asProblem(error);
      if (!isDatabaseAway(extra.cause)) throw error;
      const body = { detail: message, chain_intact: null };
      throw new Problem("Unavailable", message, { ...extra, body });
    }
  };
}

async function run(
  parts: LedgerParts,
  operation: Operation<LedgerParts>,
  { door, requestId, address, signal, input }: CallRequest,
): Promise<unknown> {
  const caller: Caller = {
    keyId: null,
    tenant: "public",
    tier: "free",
    scope: "full",
    principal: "public",
    mayApprove: false,
    address,
  };
  const context = { ...parts, caller, door, requestId, signal, progress() {} };
  return await operation.run(parseInput(operation.input, input), context);
}

/** Returns the function by which the ledger's pages call operations: by name, as everybody does. */
export function createPageCalls(invoke: Invoke<LedgerParts>) {
  return async (name: string, input: Readonly<Record<string, unknown>>): Promise<unknown> => {
    const operation = ledgerOperations.find((operation) => operation.name === name);
    if (!operation) throw new Problem("NotFound", `The ledger has no operation ${name}`);
    const { output } = await invoke(operation, {
      door: "rest",
      as: Object.keys(operation.rest ?? {})[0] ?? name,
      requestId: randomUUID(),
      credential: undefined,
      address: "page",
      input,
      signal: new AbortController().signal,
    });
    return output;
  };
}
