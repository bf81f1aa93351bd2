import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  defineQuery,
  defineUpdate,
  patched,
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

/** Somebody says yes to exactly the action that was asked for. Refused: not said by the gateway, no right to, one's own request, said before, not pending. */
export const approveUpdate = defineUpdate<ApprovalState, [Voice]>("approve");
/** Somebody says no; one is enough. Refused as {@linkcode approveUpdate}. */
export const denyUpdate = defineUpdate<ApprovalState, [Voice]>("deny");
/** Asks again what was denied or has expired; who had said yes is asked again too. */
export const reopenUpdate = defineUpdate<ApprovalState, [Voice]>("reopen");
/** Asks how it stands. */
export const approvalQuery = defineQuery<ApprovalState>("approval");

/** A run that was started to be reopened, and is not, ends as it was. */
const REOPENED_WITHIN = "1m";
/** Since when the database keeps what people say. */
const VOICES = "voices";

/**
 * Waits for people, for days where it must. Its id is `approval-<approval id>`; an approval that was denied or has
 * expired goes on in a new run, which begins as `reopens` says and waits for {@linkcode reopenUpdate}.
 *
 * What counts is what the database has: an update brings the id of somebody's word, which the gateway has kept there, and
 * the activity that makes the move decides by it. Each move is sealed: who by the id of the key, which action by its
 * hash. Once approved, a loop that has ended meanwhile
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
  let voices: OldVoice[] = [];
  let sealed = 0;
  let terms: ApprovalTerms | undefined = reopens && request as ApprovalTerms;
  const { workflowId, runId } = workflowInfo();
  const run = { workflow_id: workflowId, run_id: runId };

  /** Makes a move if the database says that it may be made, and takes over how it stands then. */
  async function move(kind: MoveKind, by?: Voice | OldVoice): Promise<ApprovalState> {
    if (!patched(VOICES)) return await moveAsBefore(kind, by as OldVoice);
    const said = by && "voice_id" in by ? { voice_id: by.voice_id } : {};
    const { receipt_id, ...moved } = await perform(SEALING, `Seals that it was ${kind}`)
      .moveApproval({ approval_id, run, move: kind, cycle: state.cycle, ...said })
      .catch(refused);
    if (moved.moves >= state.moves) { // an earlier move may be told later
      Object.assign(state, moved, { receipt_id });
      if (kind === "reopened") state.cycle++;
      show();
    }
    return { ...state, receipt_id };
  }

  /** Takes the next number at once, so that moves at the same time are told in the order in which they were made. */
  async function moveAsBefore(kind: MoveKind, by?: OldVoice): Promise<ApprovalState> {
    const number = ++state.moves;
    show();
    const receipt_id = await perform(SEALING, `Seals that it was ${kind}`)
      .recordApprovalMove({ approval_id, run, number, move: kind, by });
    if (number > sealed) [sealed, state.receipt_id] = [number, receipt_id]; // an earlier move may be told later
    return { ...state, receipt_id };
  }

  function show(): void {
    const { status, escalated } = state;
    setCurrentDetails(
      `**${status}**${escalated ? " · escalated" : ""} · ${state.approvers.length} of ${
        terms?.needed ?? "?"
      } · ${request.subject}`,
    );
    upsertSearchAttributes([
      { key: ATTRIBUTE.outcome, value: status },
      ...(request.ticket_id ? [{ key: ATTRIBUTE.ticket, value: request.ticket_id } as const] : []),
    ]);
  }

  const validator = (_: Voice) => refuseDecision(approval_id, state.status);
  const decide = async (kind: "approved" | "denied", by: Voice) => {
    if (!terms) { // how many are needed is not known yet, and others may decide while this one waits for it
      await condition(() => terms !== undefined);
      validator(by);
    }
    if (!patched(VOICES)) {
      if (kind === "denied") state.status = "denied";
      else {
        voices = [...voices, by as unknown as OldVoice];
        state.approvers = voices.map(({ key_id }) => `key:${key_id}`);
        if (voices.length >= terms!.needed) state.status = "approved";
      }
    }
    return await move(kind, by);
  };
  setHandler(approvalQuery, () => state);
  setHandler(approveUpdate, (by) => lasting(() => decide("approved", by)), { validator });
  setHandler(denyUpdate, (by) => lasting(() => decide("denied", by)), { validator });
  const reopen = async (by: Voice) => {
    if (!patched(VOICES)) {
      Object.assign(state, { status: "pending", escalated: false, cycle: state.cycle + 1 });
      state.approvers = voices = [];
    }
    return await move("reopened", by);
  };
  setHandler(reopenUpdate, (by) => lasting(() => reopen(by)), {
    validator: (_: Voice) => refuseReopening(approval_id, state.status),
  });

  return {
    state,
    terms: () => terms!,
    async open() {
      state.moves = 1;
      const opened = await perform(SEALING, "Shows and seals what is asked for")
        .openApproval({ ...request, run });
      state.receipt_id ??= opened.receipt_id;
      terms = opened.terms;
      show();
    },
    async escalate() {
      if (!patched(VOICES)) state.escalated = true;
      await move("escalated");
    },
    async expire() {
      if (!patched(VOICES)) state.status = "expired";
      await move("expired");
    },
  };
}

/** A voice as it came before the database kept them. */
interface OldVoice {
  readonly key_id: string;
}

/** Tells whoever has said it why it is no move. */
function refused(error: unknown): never {
  throw error instanceof ActivityFailure && error.cause ? error.cause : error;
}

type MoveKind = "approved" | "denied" | "reopened" | "expired" | "escalated";
