import { receiptIdOf } from "../../calls/mod.ts";
import { Problem, redactSecrets, stripInvisible } from "../../contract/mod.ts";
import type { PeerOutcome, PeerRequest, RunId } from "../../contract/domain/mod.ts";
import { listPeers, openPeer, type PeerClient } from "../../integrations/peers/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { closeAct } from "../../store/acts/mod.ts";
import { getQuestionText } from "../../store/agents/mod.ts";
import { type ActKind, intendOnce } from "../acts/mod.ts";
import type { ActivityParts } from "../parts.ts";

/** Creates the activities that talk to agents of other organizations. */
export function peerActivities({ store, config }: ActivityParts) {
  const db = store.db;

  /**
   * Seals the intent to send a message. Safe to repeat: the question names the receipt.
   *
   * @returns false where another run had the intent before; it may have sent the message
   */
  async function intendPeerMessage(request: PeerRequest, run: RunId): Promise<boolean> {
    const { agent, question_id: id } = request;
    const receipt = {
      ...receiptOf(request, run, "INTENT"),
      outcome: "intended",
      evidence: { agent, text: await textOf(request) ?? "" },
    };
    return await intendOnce(db, receipt, { kind: "peer", id, run, act: request });
  }

  /** Sends a message. Not safe to repeat: it may have arrived, so that it has one attempt. */
  async function sendPeerMessage(request: PeerRequest): Promise<PeerOutcome> {
    const { agent, question_id, conversation_id } = request;
    const text = await textOf(request);
    if (text === undefined) return notSent("no_such_question");
    let peer: PeerClient;
    try {
      peer = open(agent);
    } catch {
      return notSent("not_configured");
    }
    return withPlainText(
      await peer.send({ messageId: question_id, contextId: conversation_id, text }),
    );
  }

  /** Reads the task that an agent works on. Safe to repeat: it only reads. @returns null: it can't be read now */
  async function readPeerTask(
    { agent, id }: { readonly agent: string; readonly id: string },
  ): Promise<PeerOutcome | null> {
    try {
      return withPlainText(await open(agent).readTask(id));
    } catch {
      return null;
    }
  }

  /** Seals what became of a message. Safe to repeat: the run names the receipt. */
  async function sealPeerOutcome(
    request: PeerRequest,
    run: RunId,
    { state, code }: Pick<PeerOutcome, "state" | "code">,
  ): Promise<void> {
    const receipt = receiptOf(request, run, `OUTCOME ${run.run_id}`);
    const details = { ...receipt.details, code };
    await db.transaction(async (trx) => {
      await requestSeal(trx, { ...receipt, outcome: state, details });
      await closeAct(trx, "peer", request.question_id);
    });
  }

  /** Returns the text that leaves the platform. It is read from the database, so that Temporal can't change it. */
  async function textOf(
    { question_id: id, conversation_id: conversationId, agent: agentId }: PeerRequest,
  ): Promise<string | undefined> {
    const text = await getQuestionText(db, { id, conversationId, agentId });
    return text === undefined ? undefined : redactSecrets(text);
  }

  function open(agent: string): PeerClient {
    const peer = listPeers(config, store.tenant).find(({ id }) => id === agent);
    if (!peer) throw new Problem("NotConfigured", `There is no agent ${agent} any more`);
    return openPeer(config, peer);
  }

  return { intendPeerMessage, sendPeerMessage, readPeerTask, sealPeerOutcome };
}

/** Messages to agents of other organizations. Nothing shows whether one whose run was ended has arrived. */
export const peerKind: ActKind = {
  async end(owner, { act }, run) {
    const end = { state: "unknown", code: "ended_from_outside" } as const;
    await peerActivities(owner).sealPeerOutcome(act, run, end);
    return true;
  },
};

function notSent(code: string): PeerOutcome {
  return { state: "not_done", code, text: "" };
}

function withPlainText(outcome: PeerOutcome): PeerOutcome {
  return { ...outcome, text: redactSecrets(stripInvisible(outcome.text)) };
}

function receiptOf({ conversation_id, question_id }: PeerRequest, run: RunId, step: string) {
  return {
    id: receiptIdOf({ workflow_id: `peer-${question_id}`, run_id: "" }, step),
    category: "agent_asked",
    actor: "agent:a2a",
    subject: conversation_id,
    action: "peer.message",
    details: { question_id, ...run },
  };
}
