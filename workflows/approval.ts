import {
  ActivityFailure,
  allHandlersFinished,
  CancellationScope,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from "@temporalio/workflow";
import {
  approvalQuery,
  type ApprovalRequest,
  type ApprovalResult,
  type ApprovalState,
  type ApprovalTerms,
  approveUpdate,
  ATTRIBUTE,
  denyUpdate,
  reopenUpdate,
  type VoteRef,
} from "../domain/mod.ts";
import { refuseDecision, refuseReopening } from "./_approval_rules.ts";
import { perform, QUICK, SEALING } from "./_options.ts";

/** A run that was started to be reopened, and is not, ends as it was. */
const REOPENED_WITHIN = "1m";

/**
 * Waits for people, for days if needed. Its id is `approval-<approval id>`; an approval that was denied or has expired
 * continues in a new run, which begins as `reopens` says and waits for {@linkcode reopenUpdate}.
 *
 * The database decides: an update carries the id of a vote that the gateway has stored there, and the activity that
 * makes the move checks it. Each move is sealed: who by the id of the key, which action by its hash. Once approved, a
 * loop that has ended meanwhile is started anew.
 */
export function approval(request: ApprovalRequest): Promise<ApprovalResult> {
  return uncancellable(() => wait(request));
}

/** Only a vote or time ends an approval, not the loop that asks and not a cancelled run. */
const uncancellable = <T>(work: () => Promise<T>): Promise<T> =>
  CancellationScope.nonCancellable(work);

async function wait(request: ApprovalRequest): Promise<ApprovalResult> {
  const { approval_id, action_sha256, reopens, asking_run, acts } = request;
  const asked = open(request);
  if (reopens) {
    await condition(() => asked.state.status === "pending", REOPENED_WITHIN);
  } else {
    await asked.open();
  }
  do {
    await untilDecided(asked);
    await condition(allHandlersFinished); // one of them may have reopened it
  } while (asked.state.status === "pending");

  const { state } = asked;
  if (state.status === "approved" && asking_run) {
    await perform(QUICK, "Starts the loop anew, where the one that asked has ended")
      .resumeAfterApproval({
        approval_id,
        action_sha256,
        asking_run,
        receipt_id: state.receipt_id!,
      });
  }
  if (state.status === "approved" && acts) {
    await perform(QUICK, "Starts the call that was approved").startHeldCall({ approval_id });
  }
  return { ...state, action_sha256 };
}

/** Waits for a decision: asks a second time when nobody has answered, and expires in the end. */
async function untilDecided(asked: OpenApproval): Promise<void> {
  const { state, terms } = asked;
  const decided = () => state.status !== "pending";
  const cycle = state.cycle;
  const over = () => decided() || state.cycle !== cycle;
  const until = Date.now() + terms().expires_in_seconds * 1000;
  const patience = terms().escalate_after_seconds * 1000;
  if (patience > 0 && Date.now() + patience < until) {
    if (!await condition(over, patience)) await asked.move("escalated");
  }
  const left = until - Date.now();
  if (left > 0 && await condition(over, left)) return;
  if (!over()) await asked.move("expired");
}

/** The state of one run. */
interface OpenApproval {
  readonly state: Mutable<ApprovalState>;
  terms(): ApprovalTerms;
  /** Stores, shows and seals what is asked for. */
  open(): Promise<void>;
  move(kind: MoveKind): Promise<ApprovalState>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type MoveKind = "approved" | "denied" | "reopened" | "expired" | "escalated";

/** Begins to keep state, and to listen. */
function open(request: ApprovalRequest): OpenApproval {
  const { approval_id, reopens } = request;
  const state: Mutable<ApprovalState> = {
    status: reopens?.status ?? "pending",
    approvers: [],
    escalated: false,
    moves: reopens?.moves ?? 0,
    cycle: 0,
    receipt_id: null,
  };
  let terms: ApprovalTerms | undefined = reopens && request as ApprovalTerms;
  const { workflowId, runId } = workflowInfo();
  const run = { workflow_id: workflowId, run_id: runId };

  /** Makes a move if the database allows it, and takes over the state that it led to. */
  async function move(kind: MoveKind, vote?: VoteRef): Promise<ApprovalState> {
    const { receipt_id, ...moved } = await perform(SEALING, `Seals that it was ${kind}`)
      .moveApproval({ approval_id, run, move: kind, cycle: state.cycle, ...vote })
      .catch(rethrowCause);
    if (moved.moves >= state.moves) { // the answer to an earlier move may come later
      Object.assign(state, moved, { receipt_id });
      if (kind === "reopened") state.cycle++;
      show();
    }
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

  const validator = (_: VoteRef) => refuseDecision(approval_id, state.status);
  const decide = async (kind: "approved" | "denied", vote: VoteRef) => {
    if (!terms) { // how many are needed is not known yet, and others may decide while this one waits for it
      await condition(() => terms !== undefined);
      validator(vote);
    }
    return await move(kind, vote);
  };
  setHandler(approvalQuery, () => state);
  setHandler(approveUpdate, (vote) => uncancellable(() => decide("approved", vote)), { validator });
  setHandler(denyUpdate, (vote) => uncancellable(() => decide("denied", vote)), { validator });
  setHandler(reopenUpdate, (vote) => uncancellable(() => move("reopened", vote)), {
    validator: (_: VoteRef) => refuseReopening(approval_id, state.status),
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
    move,
  };
}

/** Throws the activity's own error, so that the voter is told why the vote does not count. */
function rethrowCause(error: unknown): never {
  throw error instanceof ActivityFailure && error.cause ? error.cause : error;
}
