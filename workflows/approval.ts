import {
  ActivityFailure,
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  condition,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
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
  recheckSignal,
  reopenUpdate,
  type VoteRef,
} from "../contract/domain/mod.ts";
import { assertPending, assertReopenable } from "./_approval_rules.ts";
import { perform, QUICK, SEAL } from "./_options.ts";
import { at, findPlace, unlessAway } from "./_place.ts";
import { currentRun } from "./_run.ts";

/** Longest wait of a run that was started to be reopened; then it ends as the earlier run did. */
const REOPEN_TIMEOUT = "1m";

/** An approval while a run waits for people. */
interface OpenApproval {
  readonly state: Mutable<ApprovalState>;
  terms(): ApprovalTerms;
  /** Stores, shows and seals the request. */
  open(): Promise<void>;
  move(kind: MoveKind): Promise<ApprovalState>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type MoveKind = "approved" | "denied" | "reopened" | "expired" | "outdated" | "escalated";

/**
 * Waits for people, for days if needed. Its id is `approval-<approval id>`. An approval that was denied or has expired
 * continues in a new run: that begins with the status in `reopens`, and waits for {@linkcode reopenUpdate}.
 *
 * The database decides: an update carries the id of a vote that is stored there, and the activity that makes the move
 * checks it. Each move is sealed, with the id of the voter's key and the hash of the action. After an approval, a loop
 * that has ended meanwhile is started again; so it is where what people were asked about has changed since.
 */
export function approval(request: ApprovalRequest): Promise<ApprovalResult> {
  return uncancellable(() => waitForPeople(request));
}

/** Only a vote or time ends an approval: neither the end of the loop that asks nor a cancellation does. */
function uncancellable<T>(work: () => Promise<T>): Promise<T> {
  return CancellationScope.nonCancellable(work);
}

async function waitForPeople(request: ApprovalRequest): Promise<ApprovalResult> {
  const { action_sha256, reopens } = request;
  const approval = openApproval(request);
  const { state } = approval;
  if (reopens) await condition(() => state.status === "pending", REOPEN_TIMEOUT);
  else await approval.open();
  do {
    await waitForDecision(approval);
    await condition(allHandlersFinished); // one of them may have reopened it
  } while (state.status === "pending");
  if (state.status === "approved") await continueApproved(request, state);
  if (state.status === "outdated" || state.offered) await askAnew(request, state);
  return { ...state, action_sha256 };
}

/** Lets the loop ask for what is right now, or offered instead. It may have ended; one that waits goes on by itself. */
async function askAnew(
  { approval_id, action_sha256, asking_run }: ApprovalRequest,
  { receipt_id }: ApprovalState,
): Promise<void> {
  if (!asking_run) return;
  await perform(QUICK, "Starts the loop again, if it has ended")
    .resumeAfterApproval({ approval_id, action_sha256, asking_run, receipt_id: receipt_id! });
}

/** Starts what the approval allows. */
async function continueApproved(
  { approval_id, action_sha256, asking_run, acts }: ApprovalRequest,
  { receipt_id }: ApprovalState,
): Promise<void> {
  if (asking_run) {
    await perform(QUICK, "Starts the loop again, if it has ended")
      .resumeAfterApproval({ approval_id, action_sha256, asking_run, receipt_id: receipt_id! });
  }
  if (acts) {
    await perform(QUICK, "Starts the call that was approved").startHeldCall({ approval_id });
  }
  if (!asking_run && !acts) {
    await perform(SEAL, "Goes on with what was approved").resumeSubject({ approval_id });
  }
}

/** Waits for a decision. Without one, the approval is escalated once, and expires in the end. */
async function waitForDecision({ state, terms, move }: OpenApproval): Promise<void> {
  const { cycle } = state;
  const isDecided = () => state.status !== "pending" || state.cycle !== cycle;
  const expiry = Date.now() + terms().expires_in_seconds * 1_000;
  const escalationMs = terms().escalate_after_seconds * 1_000;
  if (escalationMs > 0 && Date.now() + escalationMs < expiry) {
    if (!await condition(isDecided, escalationMs)) await move("escalated");
  }
  const remainingMs = expiry - Date.now();
  if (remainingMs > 0 && await condition(isDecided, remainingMs)) return;
  if (!isDecided()) await move("expired");
}

/** Opens the state of a run, and handles its updates and queries. */
function openApproval(request: ApprovalRequest): OpenApproval {
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
  const run = currentRun();
  /** Text for people, as the database has it. */
  let notice: string | undefined;
  /** True: the database may have let it expire already, and this run has not heard of it yet. */
  let expiring = false;

  /** Makes a move if the database allows it, and takes over the new state. */
  async function move(kind: MoveKind, vote?: VoteRef): Promise<ApprovalState> {
    if (kind === "expired") expiring = true;
    const change = await findChange(request, kind);
    const { receipt_id, notice: changed, refused, ...moved } = await perform(
      SEAL,
      `Seals that it was ${kind}`,
    )
      .moveApproval({ approval_id, run, move: kind, cycle: state.cycle, ...change, ...vote })
      .catch(rethrowCause);
    if (kind === "expired") expiring = false;
    if (moved.moves >= state.moves) { // the result of an earlier move may arrive later
      Object.assign(state, moved, { receipt_id });
      notice = changed;
      if (kind === "reopened") state.cycle++;
      show();
    }
    if (refused) {
      throw ApplicationFailure.create({
        type: refused.name,
        message: refused.message,
        nonRetryable: true,
      });
    }
    return { ...state, receipt_id };
  }

  function show(): void {
    const { status, escalated, approvers } = state;
    const details = [
      `**${status}**`,
      ...(escalated ? ["escalated"] : []),
      `${approvers.length} of ${terms?.needed ?? "?"}`,
      request.subject,
    ];
    const head = details.join(" · ");
    setCurrentDetails(status === "pending" && notice ? `${head}\n\n${notice}` : head);
    upsertSearchAttributes([
      { key: ATTRIBUTE.outcome, value: status },
      ...(request.ticket_id ? [{ key: ATTRIBUTE.ticket, value: request.ticket_id } as const] : []),
    ]);
  }

  const validator = (_: VoteRef) => assertPending(approval_id, state.status);
  async function decide(kind: "approved" | "denied", vote: VoteRef): Promise<ApprovalState> {
    if (!terms) { // how many are needed is not known yet, and others may decide meanwhile
      await condition(() => terms !== undefined);
      validator(vote);
    }
    return await move(kind, vote);
  }

  async function reopen(vote: VoteRef): Promise<ApprovalState> {
    await condition(() => !expiring);
    assertReopenable(approval_id, state.status);
    return await move("reopened", vote);
  }

  /** Ends it where what people were asked about has changed since. */
  async function recheck(): Promise<void> {
    await condition(() => terms !== undefined);
    if (state.status === "pending") await move("outdated");
  }

  setHandler(approvalQuery, () => state);
  setHandler(approveUpdate, (vote) => uncancellable(() => decide("approved", vote)), { validator });
  setHandler(recheckSignal, () => uncancellable(recheck));
  setHandler(denyUpdate, (vote) => uncancellable(() => decide("denied", vote)), { validator });
  setHandler(reopenUpdate, (vote) => uncancellable(() => reopen(vote)), {
    validator: (_: VoteRef) => {
      if (!expiring) assertReopenable(approval_id, state.status);
    },
  });

  return {
    state,
    terms: () => terms!,
    async open() {
      state.moves = 1;
      const opened = await perform(SEAL, "Stores and seals the request")
        .openApproval({ ...request, run });
      state.receipt_id ??= opened.receipt_id;
      terms = opened.terms;
      notice ??= opened.notice;
      show();
    },
    move,
  };
}

/**
 * Has the place of a repair look whether it is still what people were asked about. Where the place has no worker, that is not
 * known; the loop looks again before it acts.
 */
async function findChange(
  { approval_id, asking_run }: ApprovalRequest,
  kind: MoveKind,
): Promise<{ readonly change?: string } | undefined> {
  if (!asking_run || kind !== "approved" && kind !== "outdated") return undefined;
  const { finding } = asking_run;
  const place = finding.place ?? await findPlace(finding);
  const summary = "Looks whether it is still what people were asked about";
  return await at(place, QUICK, summary, (here) => here.findChange({ approval_id }))
    .catch(unlessAway);
}

/** Throws the activity's own error, so that the voter learns why the vote does not count. */
function rethrowCause(error: unknown): never {
  throw error instanceof ActivityFailure && error.cause ? error.cause : error;
}
