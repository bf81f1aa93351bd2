import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import {
  castVote,
  checkVote,
  existingApproval,
  offerCall,
  offerSubject,
  subjectOf,
} from "../../calls/approvals/mod.ts";
import {
  type ApprovalSubject,
  authorize,
  type Context,
  operation,
  type Platform,
  type SubjectCall,
} from "../../calls/mod.ts";
import { InvalidInput, parseInput, Problem, redactSecrets } from "../../contract/mod.ts";
import { fitsParameter } from "../../judgement/runbooks/mod.ts";
import {
  type ApprovalRecord,
  findOffered,
  getApproval,
  getHeldCall,
} from "../../store/approvals/mod.ts";
import type { Db } from "../../store/mod.ts";
import { isRepair, runbooksFor } from "./_alternatives.ts";
import { Approval, ApprovalId, approvalOwner, exampleApproval, toApproval } from "./_approval.ts";

/** Time in which a loop that waits asks by the new approval. */
const MAX_WAIT_MS = 10_000;
const PAUSE_MS = 200;

const Value = z.union([z.string().max(2_000), z.number(), z.array(z.string().max(2_000)).max(100)]);

/** Denies, and offers another act. */
export const offerInstead = operation({
  name: "approvals.offer",
  group: "console",
  extension: true,
  summary: "Deny what was asked for, and offer something else instead",
  description:
    "Of a loop's repair another runbook that matches the incident, or other values of its parameters; of a call, or of a " +
    "device's command, other arguments. What is offered is asked for by a new approval in your name, which you can't approve yourself: nothing of " +
    "what was asked for is changed. The two name each other (`instead_of`, `offered`). A loop that waits goes on with what " +
    "is offered once somebody has approved it.",
  effect: "run",
  access: "partner",
  input: z.object({
    approval_id: ApprovalId,
    reason: z.string().trim().min(1).max(1000).optional().describe(
      "Why, for people; it is private evidence of the receipt",
    ),
    runbook: z.string().min(1).max(200).optional().describe("For a repair: its name"),
    values: z.record(z.string().min(1).max(200), Value).optional().describe(
      "For a repair: values of its parameters, besides those that the service gives",
    ),
    arguments: z.record(z.string(), z.unknown()).optional().describe(
      "For a call: all its arguments; for a command: all but its device",
    ),
  }),
  output: z.object({
    denied: Approval,
    offered: Approval.nullable().describe(
      "The new approval; null: the loop does not ask for it, or not yet, and the ticket tells why",
    ),
    receipt_id: z.string().nullable().describe("Receipt of the denial"),
  }),
  rest: { approvals_offer: "POST /v1/approvals/{approval_id}/offer" },
  presentation: { errors: ["NotFound", "Conflict", "Forbidden", "Unavailable"] },
  governance: { rule: "key-decides", humanControl: true, unnamed: true, ownerOf: approvalOwner },
  durability: { sealsItself: true },
  example: {
    input: { approval_id: exampleApproval.approval_id, runbook: "service-restart" },
    output: {
      denied: { ...exampleApproval, status: "denied" },
      offered: { ...exampleApproval, approval_id: "APR-90c2f17be405" },
      receipt_id: "9f2c4b7a01d3e856",
    },
  },
  async run(input, context) {
    const { approval_id, reason = null } = input;
    const { db } = context.store;
    const approval = await existingApproval(context, approval_id);
    if (approval.status !== "pending") {
      throw new Problem(
        "Conflict",
        `Approval ${approval_id} is ${approval.status}, and is not denied any more`,
      );
    }
    const asked = await askingCall(context, approval);
    if (!asked && !isRepair(approval)) {
      throw new Problem(
        "Conflict",
        `${approval_id} is about neither a repair, a call nor a command; deny it with a reason, and whoever asks can ask anew`,
      );
    }
    await checkVote(context, approval, "denied", {}); // before anything is offered
    const offer = asked ? undefined : await repairOffered(db, approval, input);
    const call = asked && await callOffered(context, approval, asked, input.arguments);
    const before = call &&
      (asked.subject?.offer
        ? await offerSubject(context, call, approval_id, asked.subject.offer)
        : await offerCall(context, call, approval_id));
    const words = { reason, ...(offer ? { offer } : {}) };
    const { approval: denied, receiptId } = await castVote("denied", approval_id, words, context);
    const offered = before ?? await waitForOffered(db, approval_id);
    const record = offered === undefined ? undefined : await getApproval(db, offered);
    return {
      denied: toApproval(denied),
      offered: record ? toApproval(record) : null,
      receipt_id: receiptId,
    };
  },
});

/** Returns the repair that is offered. @throws {Problem} `InvalidInput`, `NotFound`, `Conflict`: it can't be */
async function repairOffered(
  db: Db,
  approval: ApprovalRecord,
  { runbook: name = String(approval.action.runbook), values = {}, arguments: other }: {
    readonly runbook?: string | undefined;
    readonly values?: Readonly<Record<string, z.output<typeof Value>>> | undefined;
    readonly arguments?: object | undefined;
  },
) {
  if (other) throw invalid(["arguments"], "This is about a repair: give a runbook, values or both");
  const fit = await runbooksFor(db, approval);
  const runbook = fit.find((one) => one.runbook === name);
  if (!runbook) {
    const names = fit.map((one) => one.runbook).join(", ");
    throw new Problem("NotFound", `No runbook ${name} matches this incident; these do: ${names}`);
  }
  for (const [parameter, value] of Object.entries(values)) {
    const known = runbook.parameters[parameter];
    if (!known) {
      const names = Object.keys(runbook.parameters).join(", ") || "none";
      throw invalid(["values", parameter], `${name} has no such parameter; it has: ${names}`);
    }
    if (!fitsParameter(known, value)) {
      throw invalid(["values", parameter], `Expected a value of the kind ${known.kind}`);
    }
  }
  if (name === approval.action.runbook && Object.keys(values).length === 0) {
    throw new Problem(
      "Conflict",
      `${name} is what you deny: offer other values, or another runbook`,
    );
  }
  return { runbook: name, values };
}

/** The call that people are asked about, or that has made what they are asked about. */
interface AskingCall extends SubjectCall {
  readonly tool: string;
  /** Subject that the call has made; absent: the call itself is held. */
  readonly subject?: ApprovalSubject<Platform>;
}

/** Returns the call by which somebody asks; undefined: a loop asks, or a program for itself. */
export async function askingCall(
  { store: { db }, subjects }: Pick<Platform, "store" | "subjects">,
  { id, subject }: ApprovalRecord,
): Promise<AskingCall | undefined> {
  const held = await getHeldCall(db, id);
  if (held) {
    const { operation, tool } = held;
    return { operation, tool, input: JSON.parse(held.input), fixed: {} };
  }
  const about = subjectOf({ subjects }, subject);
  const made = await about?.madeBy?.(db, subject);
  if (!about || !made) return undefined;
  return { ...made, tool: made.operation, subject: about };
}

/** Returns the call that is offered, in the caller's name. @throws {Problem} it can't be */
async function callOffered(
  { caller, operations, requestId, signal }: Context,
  approval: ApprovalRecord,
  asked: AskingCall,
  sent: Readonly<Record<string, unknown>> | undefined,
) {
  if (!sent) throw invalid(["arguments"], "This is about a call: give all its arguments");
  const operation = operations.get(asked.operation);
  const [as] = Object.keys(operation?.rest ?? {});
  if (!operation || as === undefined || caller.tenant !== approval.tenant) {
    throw new Problem(
      "Conflict",
      `You can't make calls of ${asked.tool} in your name here, so that you can't offer one; deny it with a reason`,
    );
  }
  const request = {
    door: "rest",
    as,
    requestId,
    credential: undefined,
    address: caller.address,
    input: { ...sent, ...asked.fixed },
    signal,
  } as const;
  authorize(operation, request, caller);
  const input = parseInput(operation.input, { ...sent, ...asked.fixed });
  const before = JSON.stringify(asked.input);
  const hidden = JSON.stringify(redactSecrets(asked.input)) !== before;
  if (hidden && JSON.stringify(sent).includes("[secret]")) {
    throw invalid(["arguments"], "Its secrets are not shown: give others in place of [secret]");
  }
  const same = JSON.stringify(input) === JSON.stringify(parseInput(operation.input, asked.input));
  if (same) throw new Problem("Conflict", "These are the arguments that you deny: offer others");
  return await Promise.resolve({ operation, request, caller, input });
}

/** Waits until the loop asks for what is offered. @returns undefined: it does not, or not yet */
async function waitForOffered(db: Db, id: string): Promise<string | undefined> {
  for (const end = Date.now() + MAX_WAIT_MS; Date.now() < end; await sleep(PAUSE_MS)) {
    const offered = await findOffered(db, id);
    if (offered) return offered.id;
  }
  return undefined;
}

function invalid(path: readonly string[], msg: string): InvalidInput {
  return new InvalidInput([{ path, msg, type: "value_error" }]);
}
