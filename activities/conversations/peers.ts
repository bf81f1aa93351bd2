import { receiptIdOf } from "../../calls/mod.ts";
import { Problem, redactSecrets, stripInvisible } from "../../contract/mod.ts";
import type { PeerOutcome, PeerRequest, RunId } from "../../domain/mod.ts";
import { listPeers, openPeer, type PeerClient } from "../../integrations/peers/mod.ts";
import { ReceiptConflict, requestSeal } from "../../ledger/mod.ts";
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
    try {
      await requestSeal(db, {
        ...receiptOf(request, run, "INTENT"),
        outcome: "intended",
        evidence: { agent: request.agent, text: textOf(request) },
      });
      return true;
    } catch (error) {
      if (error instanceof ReceiptConflict) return false;
      throw error;
    }
  }

  /** Sends a message. Not safe to repeat: it may have arrived, so that it has one attempt. */
  async function sendPeerMessage(request: PeerRequest): Promise<PeerOutcome> {
    let peer: PeerClient;
    try {
      peer = open(request.agent);
    } catch {
      return { state: "not_done", code: "not_configured", text: "" };
    }
    return withPlainText(
      await peer.send({
        messageId: request.question_id,
        contextId: request.conversation_id,
        text: textOf(request),
      }),
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
    await requestSeal(db, { ...receipt, outcome: state, details });
  }

  function open(agent: string): PeerClient {
    const peer = listPeers(config, store.tenant).find(({ id }) => id === agent);
    if (!peer) throw new Problem("NotConfigured", `There is no agent ${agent} any more`);
    return openPeer(config, peer);
  }

  return { intendPeerMessage, sendPeerMessage, readPeerTask, sealPeerOutcome };
}

/** Returns the text that leaves the platform. */
function textOf({ prompt }: PeerRequest): string {
  return redactSecrets(prompt);
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
