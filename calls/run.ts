import type {
  Caller,
  CallRequest,
  GovernanceDecision,
  Operation,
  Problem,
} from "../contract/mod.ts";
import type { Db } from "../store/mod.ts";
import { type Context, forTenant, type Platform } from "./platform.ts";

/** A call whose input has been checked. */
export interface CheckedCall {
  readonly operation: Operation<Platform>;
  readonly request: CallRequest;
  readonly caller: Caller;
  readonly input: Record<string, unknown>;
}

/** The end of a call: an output or an error. */
export interface CallOutcome {
  readonly output?: unknown;
  readonly error?: Problem | undefined;
  readonly decision?: GovernanceDecision | undefined;
  /** Set where it was stored with the change: nothing is left to do. */
  readonly committed?: {
    /** Undefined: the call is not sealed. */
    readonly receiptId: string | undefined;
  };
  /** Set where it is the outcome of an earlier call. */
  readonly repeats?: {
    /** Null: nothing was decided, as the caller has no key. */
    readonly decisionId: string | null;
    readonly endedAt: Date;
  };
}

/** Stores the end of a call in the transaction of its change. @throws {Problem} nothing may be changed after all */
export type StoreEnd = (trx: Db, output: unknown) => Promise<void>;

/**
 * Runs an operation with the platform's parts.
 *
 * @param parts in the name of the caller's tenant
 * @param decision that allowed it
 * @param storeEnd is called at most once, by operations that commit
 */
export async function runOperation(
  parts: Platform,
  call: CheckedCall,
  decision: Pick<GovernanceDecision, "id" | "required" | "callerApproves"> | undefined,
  storeEnd: StoreEnd,
): Promise<unknown> {
  let committed: { readonly output: unknown } | undefined;
  const { operation, input } = call;
  const context = await contextOf(parts, call, decision, async (work) => {
    const output = await parts.store.db.transaction(async (trx) => {
      const output = await work(trx);
      await storeEnd(trx, output);
      return output;
    });
    committed = { output };
    return output;
  });
  try {
    const output = await operation.run(input, context);
    if (operation.durability?.commits && !committed) throw new Error("It did not commit");
    return output;
  } catch (error) {
    if (!committed) throw error;
    parts.log.error({ operation: operation.name, err: error }, "failed after its change");
    return (committed as { readonly output: unknown }).output;
  }
}

/** Refuses a call that can't be run at the moment, before people are asked about it. @throws {Problem} why */
export async function checkRunnable(parts: Platform, call: CheckedCall): Promise<void> {
  await call.operation.governance?.check?.(
    call.input,
    await contextOf(parts, call, undefined, refuseCommit),
  );
}

function refuseCommit(): never {
  throw new Error("A check changes nothing");
}

async function contextOf(
  parts: Platform,
  call: CheckedCall,
  decision: Pick<GovernanceDecision, "id" | "required" | "callerApproves"> | undefined,
  commit: Context["commit"],
): Promise<Context> {
  const { operation: { governance = {} }, request, caller, input } = call;
  const { door, requestId, signal, progress = () => {}, detached = false, signed, signIn } =
    request;
  const crosses = caller.tier === "admin";
  const owner = crosses ? await governance.ownerOf?.(input, parts) : undefined;
  return {
    ...(owner === undefined ? parts : forTenant(parts, owner)),
    commit,
    caller,
    door,
    requestId,
    signal,
    progress,
    detached,
    spansTenants: crosses && governance.spansTenants === true,
    signed,
    signIn,
    decisionId: decision?.id,
    requiredApproval: decision?.required,
    callerApproves: decision?.callerApproves,
  };
}
