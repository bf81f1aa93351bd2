/** Where calls wait for people. */
import { createHash, randomBytes } from "node:crypto";
import { EARLIER_HEADER, JsonText, Problem, redactSecrets } from "../../contract/mod.ts";
import { type ErrorName, ERRORS } from "../../domain/mod.ts";
import { type ActRecord, collectAct, getAct, getApproval, openAct, openActLike, putAct, waitingActs } from "../../store/mod.ts";
import type { GovernedCall } from "../invoke.ts";
import { canonicalize } from "../../ledger/mod.ts";
import type { GovernanceParts } from "../governance/governor.ts";
import type { Recorded } from "../governance/ruling.ts";
import type { Verdict } from "../governance/verdict.ts";
import { plain, recordDecision, recordWithin } from "../governance/record.ts";

/** What people are asked about a call. */
export interface Question {
  /** `APR-` and 12 hex characters. */
  readonly approvalId: string;
  readonly subject: string;
  readonly description: string;
  /** Exactly what is run, without secrets. */
  readonly action: Readonly<Record<string, unknown>>;
  /** Over its canonical JSON, hex. */
  readonly actionSha256: string;
  readonly requestedBy: string;
  readonly requestedByKey: string;
  readonly needed: number;
}

/** Begins to ask people. */
export interface AskPeople {
  /**
   * Keeps the question with what `within` writes in the same then begins to wait for people.
   *
   * @throws {Problem} nobody can be asked: then nothing is kept
   */
  (question: Question, within: (on: Parameters<typeof putAct>[0]) => Promise<void>): Promise<void>;
}

/** What a call that needs people comes upon. */
export interface Found {
  readonly approvalId?: string;
  /** Where the call still waits. */
  readonly status?: "pending" | "approved";
  /** When it ended, where it has since it was asked for; ISO 8601. */
  readonly earlier?: string;
  /** What it gave then. */
  readonly output?: JsonText;
  readonly problem?: Problem;
  /** The arguments that people are asked about, where they say more than those of the call. */
  readonly input?: Record<string, unknown>;
  /** What was decided besides, as it is on record. */
  readonly verdict?: Partial<Verdict>;
}

/** Most bytes of what people have to read. */
const MOST_ACTION = 64 * 1024;

/** Opens the desk. */
export function createDesk(parts: GovernanceParts) {
  const { store, sealer } = parts;

  /** Has people asked about a call; the same call of the same key joins what waits, or gets what came of it. */
  async function hold<C>(
    call: GovernedCall<C>,
    ruling: Recorded,
    mostWaiting: number,
  ): Promise<Found> {
    const keyId = call.caller.keyId!;
    const known = await askedBefore(call);
    if (known) return await join(call, ruling, known);
    const lasting = await parts.lasting(call.operation, call.input);
    const meant = lasting ? { ...call, input: { ...lasting.input } } : call;
    const { action, text } = actionOf(meant);
    if (Buffer.byteLength(text) > MOST_ACTION) {
      return await refuse(call, ruling, "It is too large for a person to read");
    }
    const actionSha256 = sha256(text);
    if (await waitingActs(store.asPlatform(), keyId) >= mostWaiting) {
      return await refuse(call, ruling, `${mostWaiting} calls of this key wait for people already`);
    }
    const approvalId = `APR-${randomBytes(6).toString("hex")}`;
    const { operation, request, caller } = call;
    const question: Question = {
      ...{ approvalId, action, actionSha256, needed: ruling.approvers },
      subject: `tool:${request.as}`,
      description: `${operation.summary}${lasting ? `: ${lasting.about}` : ""}. Asked because: ${
        ruling.reasons.join("; ")
      }`,
      requestedBy: caller.principal,
      requestedByKey: keyId,
    };
    try {
      await parts.ask(question, async (on) => {
        const put = await putAct(on, {
          ...{ approvalId, decisionId: ruling.id, door: request.door, tool: request.as },
          ...{
            operation: operation.name,
            input: JSON.stringify(lasting?.input ?? request.input ?? {}),
            actionSha256,
          },
          ...{ tenant: caller.tenant, keyId, address: caller.address },
        });
        if (!put) throw new AskedAlready();
        await recordWithin(on, { call, ruling, runs: false, approvalId });
      });
    } catch (error) {
      const first = error instanceof AskedAlready && await openAct(store.asPlatform(), keyId, actionSha256);
      if (first) return await join(call, ruling, first);
      throw error;
    }
    return { approvalId, status: "pending", input: meant.input };
  }

  /** What the same call has begun; where its meaning moves, by what it said and not by what that means now. */
  async function askedBefore<C>(call: GovernedCall<C>): Promise<ActRecord | undefined> {
    const { operation, request, input } = call;
    const keyId = call.caller.keyId!;
    const same = await openAct(store.asPlatform(), keyId, sha256(actionOf(call).text));
    if (same || !operation.resolveStableInput) return same;
    return await openActLike(store.asPlatform(), keyId, request.as, JSON.stringify(plain(input)));
  }

  async function refuse<C>(call: GovernedCall<C>, ruling: Recorded, why: string): Promise<Found> {
    const verdict = { decision: "deny", rule: "desk", reasons: [why] } as const;
    await recordDecision(sealer, { call, ruling: { ...ruling, ...verdict }, runs: false });
    return { problem: new Problem("Denied", `Governance refuses this call: ${why}`), verdict };
  }

  async function join<C>(
    call: GovernedCall<C>,
    ruling: Recorded,
    { approvalId, input }: ActRecord,
  ): Promise<Found> {
    const found = await store.asPlatform().transaction(async (trx): Promise<Found> => {
      const [act, approval] = [await getAct(trx, approvalId), await getApproval(trx, approvalId)];
      const end = act && approval && endOf(act, approval.status);
      const taken = end && !end.status && !await collectAct(trx, act);
      const found: Found = end && !taken ? end : { status: "pending" };
      const decided = { ...ruling, ...found.verdict };
      await recordWithin(trx, { call, ruling: decided, runs: false, approvalId }); // or it could be given to nobody
      return found;
    });
    const meant = call.operation.resolveStableInput ? { input: JSON.parse(input) } : {};
    return { ...meant, ...found, approvalId };
  }

  return { hold };
}

/** Two of the same call at once: the other one was first. */
class AskedAlready extends Error {
  override readonly name = "AskedAlready";
}

/** How an act that was asked for stands, as its caller is told. */
function endOf(act: ActRecord, approval: string): Found {
  const { approvalId, state, output, error } = act;
  const earlier = act.endedAt?.toISOString();
  if (state === "done") {
    const reasons = [`${approvalId} was approved, and this is what it gave`];
    return {
      output: new JsonText(output!),
      earlier,
      verdict: { decision: "allow", rule: "approved", reasons },
    };
  }
  if (error) {
    const name = Object.hasOwn(ERRORS, error.name) ? error.name as ErrorName : "Internal";
    const reasons = [`${approvalId} was approved, and ended as ${state}`];
    const verdict = { decision: "allow", rule: "approved", reasons } as const;
    const extra = earlier === undefined ? {} : { headers: { [EARLIER_HEADER]: earlier } };
    return { problem: new Problem(name, error.message, extra), verdict };
  }
  if (approval === "denied" || approval === "expired") {
    const why = approval === "denied" ? "a person has denied it" : "nobody decided in time";
    const verdict = {
      decision: "deny",
      rule: "people",
      reasons: [`${approvalId}: ${why}`],
    } as const;
    return {
      problem: new Problem("Denied", `Governance refuses this call: ${why} (${approvalId})`),
      verdict,
    };
  }
  return { status: approval === "approved" ? "approved" : "pending" };
}

/** What people approve: the tool, who calls it, and with what; secrets by the hash alone. */
export function actionOf<C>(
  { operation, request, caller, input }:
    & Pick<
      GovernedCall<C>,
      "operation" | "input"
    >
    & {
      readonly request: { readonly as: string };
      readonly caller: { readonly keyId: string | null; readonly tenant: string };
    },
): { action: Record<string, unknown>; text: string } {
  const given = plain(input);
  const action = {
    tool: request.as,
    operation: operation.name,
    arguments: redactSecrets(given),
    arguments_sha256: sha256(canonicalize(given)),
    key_id: caller.keyId,
    tenant: caller.tenant,
  };
  return { action, text: canonicalize(action) };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
