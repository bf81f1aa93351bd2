import {
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  defineUpdate,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import { ATTRIBUTE } from "../temporal/attributes.ts";
import { refuseDecision, refuseReopening } from "./_approval_rules.ts";
import { perform, QUICK, SEALING } from "./_options.ts";
import type {
  ApprovalRequest,
  ApprovalResult,
  ApprovalState,
  ApprovalTerms,
  Voice,
} from "./types.ts";

/** Says yes to exactly the action that was asked for. Refused: no right to, one's own request, said before, not pending. */
export const approveUpdate = defineUpdate<ApprovalState, [Voice]>("approve");
/** Says no; one is enough. Refused as {@linkcode approveUpdate}. */
export const denyUpdate = defineUpdate<ApprovalState, [Voice]>("deny");
/** Asks again what was denied or has expired; who had said yes is asked again too. */
export const reopenUpdate = defineUpdate<ApprovalState, [Voice]>("reopen");
/** Asks how it stands. */
export const approvalQuery = defineQuery<ApprovalState>("approval");

/** A run that was started to be reopened, and is not, ends as it was. */
const REOPENED_WITHIN = "1m";

/**
 * Waits for people, for days where it must. Its id is `approval-<approval id>`; an approval that was denied or has
 * expired goes on in a new run, which begins as `reopens` says and waits for {@linkcode reopenUpdate}.
 *
 * Each move is sealed: who by the id of the key, which action by its hash. Once approved, a loop that has ended meanwhile
 * is started anew.
 */
export function approval(request: ApprovalRequest): Promise<ApprovalResult> {
  return lasting(() => wait(request));
}

/** Does not end with the loop that asks, nor because somebody cancels it: only people's word or time ends it. */
const lasting = <T>(work: () => Promise<T>): Promise<T> => CancellationScope.nonCancellable(work);

async function wait(request: ApprovalRequest): Promise<ApprovalResult> {
  const asked = ask(request);
  if (request.reopens) {
    await condition(() => asked.state.status === "pending", REOPENED_WITHIN);
  } else {
    await asked.open();
  }
  do {
    await untilDecided(asked);
    await condition(allHandlersFinished); // one of them may have reopened it
  } while (asked.state.status === "pending");

  const { state } = asked;
  if (state.status === "approved" && request.asking_run) {
    await perform(QUICK, "Starts the loop anew, where the one that asked has ended")
      .resumeAfterApproval({
        approval_id: request.approval_id,
        action_sha256: request.action_sha256,
        asking_run: request.asking_run,
        receipt_id: state.receipt_id!,
      });
  }
  if (state.status === "approved" && request.acts) {
    await perform(QUICK, "Starts the call that was approved")
      .beginGovernedAct({ approval_id: request.approval_id });
  }
  return { ...state, action_sha256: request.action_sha256 };
}

/** Waits for a decision: asks a second time when nobody has answered, and expires in the end. */
async function untilDecided(asked: Asked): Promise<void> {
  const { state, terms } = asked;
  const decided = () => state.status !== "pending";
  const cycle = state.cycle;
  const over = () => decided() || state.cycle !== cycle;
  const until = Date.now() + terms().expires_in_seconds * 1000;
  const patience = terms().escalate_after_seconds * 1000;
  if (patience > 0 && Date.now() + patience < until) {
    if (!await condition(over, patience)) await asked.escalate();
  }
  const left = until - Date.now();
  if (left > 0 && await condition(over, left)) return;
  if (!over()) await asked.expire();
}

/** What a run keeps of itself. */
interface Asked {
  readonly state: Changing<ApprovalState>;
  terms(): ApprovalTerms;
  open(): Promise<void>;
  escalate(): Promise<void>;
  expire(): Promise<void>;
}

type Changing<T> = { -readonly [K in keyof T]: T[K] };

/** Begins to keep track, and to listen. */
function ask(request: ApprovalRequest): Asked {
  const { approval_id, reopens } = request;
  const state: Changing<ApprovalState> = {
    status: reopens?.status ?? "pending",
    approvers: [],
    escalated: false,
    moves: reopens?.moves ?? 0,
    cycle: 0,
    receipt_id: null,
  };
  let voices: Voice[] = [];
  let sealed = 0;
  let terms: ApprovalTerms | undefined = reopens && request as ApprovalTerms;
  const { workflowId, runId } = workflowInfo();
  const run = { workflow_id: workflowId, run_id: runId };

  /** Takes the next number at once, so that moves at the same time are told in the order in which they were made. */
  async function move(kind: MoveKind, by?: Voice): Promise<ApprovalState> {
    const number = ++state.moves;
    const after = { ...state, approvers: voices };
    show();
    const receipt_id = await perform(SEALING, `Seals that it was ${kind}`).recordApprovalMove({
      ...{ approval_id, run, number, move: kind, by, status: after.status },
      approvers: after.approvers,
      action_sha256: request.action_sha256,
    });
    if (number > sealed) [sealed, state.receipt_id] = [number, receipt_id]; // an earlier move may be told later
    return { ...state, receipt_id };
  }

  function show(): void {
    const { status, escalated } = state;
    setCurrentDetails(
      `**${status}**${escalated ? " · escalated" : ""} · ${voices.length} of ${
        terms?.needed ?? "?"
      } · ${request.subject}`,
    );
    upsertSearchAttributes([
      { key: ATTRIBUTE.outcome, value: status },
      ...(request.ticket_id ? [{ key: ATTRIBUTE.ticket, value: request.ticket_id } as const] : []),
    ]);
  }

  const about = { approval_id, requested_by: request.requested_by };
  const validator = (by: Voice) => refuseDecision(about, state.status, voices, by);
  const decide = async (kind: "approved" | "denied", by: Voice) => {
    if (!terms) { // how many are needed is not known yet, and others may decide while this one waits for it
      await condition(() => terms !== undefined);
      validator(by);
    }
    if (kind === "denied") state.status = "denied";
    else {
      voices = [...voices, by];
      state.approvers = voices.map(({ key_id }) => `key:${key_id}`);
      if (voices.length >= terms!.needed) state.status = "approved";
    }
    return await move(kind, by);
  };
  setHandler(approvalQuery, () => state);
  setHandler(approveUpdate, (by) => lasting(() => decide("approved", by)), { validator });
  setHandler(denyUpdate, (by) => lasting(() => decide("denied", by)), { validator });
  const reopen = async (by: Voice) => {
    state.status = "pending";
    state.escalated = false;
    state.cycle++;
    state.approvers = voices = [];
    return await move("reopened", by);
  };
  setHandler(reopenUpdate, (by) => lasting(() => reopen(by)), {
    validator: (by) => refuseReopening(about, state.status, by),
  });

  return {
    state,
    terms: () => terms!,
    async open() {
      state.moves = 1;
      const opened = await perform(SEALING, "Shows and seals what is asked for")
        .openApproval({ ...request, run });
      state.receipt_id ??= opened.receipt_id;
      about.requested_by = opened.requested_by;
      terms = opened.terms;
      show();
    },
    async escalate() {
      state.escalated = true;
      await move("escalated");
    },
    async expire() {
      state.status = "expired";
      await move("expired");
    },
  };
}

type MoveKind = "approved" | "denied" | "reopened" | "expired" | "escalated";
