import { type Allowance, isGoverned, type StableInput, type Operation, Problem } from "../../contract/mod.ts";
import { type Count, type InForce, inForce, lettingIn, type Meter, openHolder, type Store, type Use } from "../../store/mod.ts";
import type { Decided, GovernedCall } from "../invoke.ts";
import type { Engine } from "../../engine/mod.ts";
import { randomHex, type Sealer } from "../../ledger/mod.ts";
import { type AskPeople, createDesk } from "../approvals/desk.ts";
import { openPolicies } from "./policies.ts";
import { recordDecision } from "./record.ts";
import { type Recorded, rulingOf } from "./ruling.ts";
import { type Asked, verdictOn } from "./verdict.ts";
import { decideWithoutKey } from "./without_key.ts";

/** What decisions are made of. */
export interface GovernanceParts {
  /** As role `app`. */
  readonly store: Store;
  readonly sealer: Sealer;
  readonly meter: Meter;
  readonly engine: Engine;
  /** What this platform is, as policies name it: production, staging, … */
  readonly environment: string;
  /** Begins to ask people; nothing is asked where it throws. */
  readonly ask: AskPeople;
  /** What a call means whenever it is run; undefined: just what it says. @throws {Problem} it means nothing */
  lasting(
    operation: Operation<never>,
    input: Readonly<Record<string, unknown>>,
  ): Promise<StableInput | undefined>;
}

/** How a call is counted, once: by itself, or by what writes its decision down. */
export interface Turn {
  /** What is to be counted, where that is one use and has not begun; undefined: it is left to {@linkcode count}. */
  readonly use: Use | undefined;
  /** Counts the call; the second time the same is told again. @throws {Problem} `RateLimited` */
  count(): Promise<Allowance | undefined>;
  /** Is told how the use was counted elsewhere. @throws {Problem} `RateLimited` */
  counted(count: Count): Promise<Allowance | undefined>;
}

/** Decides on calls. */
export interface Governor {
  /** Whether there is anything to decide about calls of an operation: not where it only reads. */
  decides(operation: Pick<Operation, "effect">): boolean;
  /**
   * Decides on a call and puts that on record: a row, and a receipt. The call is counted by the same statement, which
   * writes nothing where another policy or other switches are in force than those that it was decided by; only what has
   * to ask anybody else for its decision is counted before that. Asks people where a rule says so. Without a key there is
   * nothing to decide.
   *
   * @throws {Problem} `RateLimited`, or it can't decide, or not put that on record
   */
  decide<C>(call: GovernedCall<C>, turn: Turn): Promise<Decided>;
}

/** How often a call is decided anew as rules and switches change meanwhile. */
const MOST_TRIES = 5;

/** Opens a governor. What is set holds from the next call on, in every process. */
export function openGovernor(parts: GovernanceParts): Governor {
  const { store, sealer } = parts;
  const policies = openPolicies(store);
  const desk = createDesk(parts);
  const holder = openHolder(store);
  let known: InForce | undefined;

  async function decide<C>(call: GovernedCall<C>, turn: Turn): Promise<Decided> {
    if (call.caller.keyId === null) {
      decideWithoutKey(call);
      return { limit: await turn.count() };
    }
    if (!turn.use) await turn.count();
    const asked = { turn, over: new Map() };
    let held = known;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const remembered = held !== undefined;
      known = held ??= await inForce(store);
      const { policy, ruling } = await rule(call, held, asked);
      if (!ruling.dryRun && ruling.decision === "needs_approval") {
        if (remembered) {
          held = undefined; // people are asked by what is in force now
          continue;
        }
        const limit = await turn.count();
        const found = await desk.hold(call, ruling, policy.max_waiting_per_key);
        return { ruling: rulingOf(call, { ...ruling, ...found.verdict }, found), limit };
      }
      const { inForce: other, limit } = await record(call, ruling, held, turn);
      if (!other) return { ruling: rulingOf(call, ruling), limit };
      held = other;
    }
    throw new Problem("Unavailable", "Rules and switches change faster than a call can be decided");
  }

  async function rule<C>(call: GovernedCall<C>, held: InForce, asked: Asked) {
    const { policy, name: policyVersion } = await policies.at(held.version);
    const verdict = await verdictOn(parts, call, { stops: held.stops, rules: policy.rules }, asked);
    const dryRun = call.request.dryRun === true;
    const ruling: Recorded = {
      id: `GOV-${randomHex(12)}`,
      receiptId: randomHex(16),
      callReceiptId: dryRun || sealsCall(call) || verdict.decision !== "allow"
        ? randomHex(16)
        : undefined,
      ...{ ...verdict, policyVersion, dryRun },
    };
    return { policy, ruling };
  }

  /** Puts a decision on record and counts the call; neither where something else is in force, which it gives. */
  async function record<C>(
    call: GovernedCall<C>,
    ruling: Recorded,
    held: InForce,
    turn: Turn,
  ): Promise<{ inForce?: InForce | undefined; limit?: Allowance | undefined }> {
    const runs = ruling.decision === "allow" && !ruling.dryRun;
    const number = runs ? await holder.number() : undefined;
    const { condition, read } = lettingIn(held, turn.use);
    try {
      const found = await recordDecision(sealer, { call, ruling, runs, holder: number }, condition);
      const { inForce, count } = read(found);
      if (inForce) return { inForce };
      return { limit: count ? await turn.counted(count) : await turn.count() };
    } catch (error) {
      await turn.count(); // a call that can't be written down was made all the same
      throw error;
    }
  }

  return { decides: isGoverned, decide };
}

/** Whether the door seals how a call ends; over REST some operations do so themselves, with the change. */
function sealsCall<C>({ operation, request }: GovernedCall<C>): boolean {
  return request.door !== "rest" || operation.sealsItself !== true;
}
