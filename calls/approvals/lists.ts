/** Decisions about several approvals at once. Each has a vote, a move and a receipt of its own. */
import type {
  ApprovalStatement,
  ListStatement,
  PasskeyAnswer,
  SignedStatement,
} from "../../contract/domain/mod.ts";
import { asProblem, Problem } from "../../contract/mod.ts";
import { canonicalize, NODE_PRIMITIVES } from "../../ledger/mod.ts";
import { challengeOf, listStatementOf, placesIn } from "../../ledger/passkeys/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type ApprovalRecord,
  type ApprovalStatus,
  getApproval,
  getMoveReceipt,
  getVote,
  putVote,
  type VoteMove,
} from "../../store/approvals/mod.ts";
import { newChallengeId, putChallenge, takeChallenge } from "../../store/people/mod.ts";
import { ANSWER_SECONDS } from "../passkeys.ts";
import type { Context, Platform } from "../platform.ts";
import { existingApproval } from "./ask.ts";
import { changedSince, statementAbout, useOwnPasskey } from "./statement.ts";
import { checkVote, deliverVote, type VoteWords } from "./votes.ts";

/** Most approvals that one list takes. */
export const MAX_LISTED = 500;
/** Purpose of a challenge about a list. */
const ABOUT = "list";
/** Votes that are delivered at a time, as each waits for a worker. */
const CONCURRENCY = 8;
/** Milliseconds after which no further vote is delivered here: a worker does so. */
const DELIVERY_MS = 45_000;

/** A statement about a list that a session is given to sign. */
interface ProposedList {
  /** Of the challenge. */
  readonly id: string;
  readonly challenge: string;
  readonly list: ListStatement;
  /** In the order of the list. */
  readonly statements: readonly ApprovalStatement[];
}

/** Result of one approval of a list. */
export interface ListedVote {
  readonly approvalId: string;
  /** Its status now. */
  readonly status: ApprovalStatus;
  /** Receipt of the move; null: the vote is no move yet. */
  readonly receiptId: string | null;
  /** Why the vote does not count, or waits; undefined: it counts. */
  readonly problem?: Problem;
}

/**
 * Gives a session a list to sign, of those of the approvals that wait, as they stand.
 *
 * @throws {Problem} `NotFound`; `Conflict`: none of them waits
 */
export async function proposeList(
  parts: Pick<Platform, "store">,
  ids: readonly string[],
  sessionId: string,
): Promise<ProposedList> {
  const db = parts.store.db;
  const statements: ApprovalStatement[] = [];
  for (const id of ids) {
    const approval = await existingApproval(parts, id);
    if (approval.status !== "pending") continue;
    statements.push(await statementAbout(db, approval, newChallengeId()));
  }
  if (statements.length === 0) throw new Problem("Conflict", "None of them waits any more");
  const id = newChallengeId();
  const list = listStatementOf(NODE_PRIMITIVES, statements, id);
  const challenge = challengeOf(NODE_PRIMITIVES, list);
  const statement = { list, statements };
  await putChallenge(db, { id, sessionId, about: ABOUT, challenge, statement }, ANSWER_SECONDS);
  return { id, challenge, list, statements };
}

/**
 * Casts the caller's vote on each of several approvals. All votes are stored before the first is delivered, so that a killed
 * gateway loses none; one that can't be cast keeps no other from it.
 *
 * @param words the passkey's answer is to the list
 * @throws {Problem} none is cast: there is no such approval, the answer does not count, or Temporal is away
 */
export async function castVotes(
  move: VoteMove,
  ids: readonly string[],
  words: Pick<VoteWords, "reason" | "passkey">,
  context: Context,
): Promise<ListedVote[]> {
  const { store, temporal } = context;
  const problems = new Map<string, Problem>();
  const castable: { readonly approval: ApprovalRecord; readonly keyId: string }[] = [];
  for (const id of [...ids].sort()) { // in one order, as each is locked
    const approval = await existingApproval(context, id);
    try {
      castable.push({ approval, keyId: await checkVote(context, approval, move, words) });
    } catch (error) {
      problems.set(id, asProblem(error));
    }
  }
  await temporal(); // while it is away nothing is stored, as the caller is told so
  const { passkey, reason = null } = words;
  const votes = await store.db.transaction(async (trx) => {
    const approvals = castable.map(({ approval }) => approval);
    const signed = passkey && await takeList(context, trx, approvals, passkey);
    const stored: string[] = [];
    for (const { approval: { id: approvalId }, keyId } of castable) {
      const statement = signed?.get(approvalId) ?? null;
      if (statement instanceof Problem) problems.set(approvalId, statement);
      else stored.push(await putVote(trx, { approvalId, move, keyId, reason, statement }));
    }
    return stored;
  });
  const deadline = Date.now() + DELIVERY_MS;
  await inTurns(votes, async (id) => {
    const vote = (await getVote(store.db, id))!;
    try {
      if (Date.now() > deadline) throw isDeliveredLater();
      await deliverVote(context, vote);
    } catch (error) {
      problems.set(vote.approvalId, asProblem(error));
    }
  });
  return await Promise.all(ids.map((id) => resultOf(store.db, id, problems.get(id))));
}

/**
 * Takes the caller's answer about a list: what was given to their session, signed by a passkey of theirs. Nobody can give it
 * again.
 *
 * @returns per approval what was signed about it, or why that does not count: it was not in the list, or has changed
 * @throws {Problem} `Forbidden`, `Conflict`: why the answer does not count
 */
async function takeList(
  { caller, urls }: Context,
  trx: Db,
  approvals: readonly ApprovalRecord[],
  { challenge_id, assertion }: PasskeyAnswer,
): Promise<ReadonlyMap<string, SignedStatement | Problem>> {
  const given = await takeChallenge(trx, challenge_id, caller.session!.id);
  if (given?.about !== ABOUT || !given.statement) {
    throw new Problem("Conflict", "This was answered already, or too late: look again, and decide");
  }
  const { statements } = given.statement as unknown as Pick<ProposedList, "statements">;
  const places = placesIn(NODE_PRIMITIVES, statements, challenge_id);
  const numbers = new Map(statements.map(({ approval }, n) => [approval, n]));
  const { challenge } = given;
  const signature = await useOwnPasskey({ caller, urls }, trx, assertion, challenge);
  const signed = new Map<string, SignedStatement | Problem>();
  for (const approval of approvals) {
    const n = numbers.get(approval.id);
    const statement = n === undefined ? undefined : statements[n]!;
    const isSame = statement && canonicalize(statement) ===
        canonicalize(await statementAbout(trx, approval, statement.nonce));
    signed.set(
      approval.id,
      isSame ? { statement, list: places[n!]!, ...signature } : changedSince(approval),
    );
  }
  return signed;
}

async function resultOf(db: Db, approvalId: string, problem?: Problem): Promise<ListedVote> {
  const { status, moves } = (await getApproval(db, approvalId))!;
  const receiptId = problem ? null : await getMoveReceipt(db, approvalId, moves);
  return { approvalId, status, receiptId, ...(problem ? { problem } : {}) };
}

function isDeliveredLater(): Problem {
  return new Problem("Unavailable", "Your vote is stored, and is delivered soon");
}

/** Works on some at a time. */
async function inTurns<T>(all: readonly T[], work: (one: T) => Promise<unknown>): Promise<void> {
  const rest = all.values();
  const worker = async () => {
    for (const one of rest) await work(one);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
