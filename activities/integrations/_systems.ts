/** The operator's systems in which acts are done: how each is asked, and what each shows afterwards. */
import { type OutsideAct, targetOf } from "../../operations/integrations/acts/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  type ActOrder,
  type ActProof,
  describeFailure,
  PUBLISHING_NAMES,
  type RunId,
} from "../../contract/domain/mod.ts";
import type { OutsideSystems } from "../../integrations/outside/mod.ts";
import { RemoteFailed } from "../../integrations/remote/mod.ts";

/** Names of the operations and tools that order acts. */
const NAMES = {
  n8n: ["soar.trigger", "soar_trigger"],
  fleet: ["devices.run_script", "rmm_run_script"],
  mastodon: PUBLISHING_NAMES,
} as const;
/** Actions in receipts. */
const ACTIONS = {
  n8n: "n8n.start",
  fleet: "fleet.run_script",
  mastodon: "mastodon.post",
} as const;
/** A script's end by Fleet, where the machine runs none. */
const SCRIPTS_DISABLED = -2;

/** Result of an act before its system is looked at. */
export interface KnownAct {
  /** As the system has told it; null: its answer was lost, or it tells none. */
  readonly execution_id: string | null;
  /** Time of its intent, or before. */
  readonly since_ms: number;
}

/** Returns the names whose stop applies to an act. */
export function stoppableNames({ system }: OutsideAct): readonly string[] {
  return NAMES[system];
}

/** Asks the system for an act, with one attempt. @returns its id of what it does, where it tells one */
export async function send(
  systems: OutsideSystems,
  { act_id }: ActOrder,
  act: OutsideAct,
): Promise<string | null> {
  if (act.system === "n8n") return await sendToN8n(systems, act_id, act);
  if (act.system === "mastodon") {
    const mastodon = mastodonOf(systems, act);
    if (mastodon) return await mastodon.post(act.text, act_id);
    throw new Problem("NotConfigured", `SEALOOP_MASTODON_URL is not ${act.server} any more`);
  }
  if (systems.rmm) return await systems.rmm.runScript(act.host, act.script);
  throw new Problem("NotConfigured", "SEALOOP_FLEET_URL is not set any more");
}

/** Returns the client of the server that a post was approved for; undefined: another one, or none, is set now. */
function mastodonOf(
  { mastodon }: OutsideSystems,
  { server }: OutsideAct & { readonly system: "mastodon" },
): OutsideSystems["mastodon"] {
  return mastodon?.server === server ? mastodon : undefined;
}

async function sendToN8n(
  { soar }: OutsideSystems,
  actId: string,
  { workflow, body }: OutsideAct & { readonly system: "n8n" },
): Promise<null> {
  if (!soar) throw new Problem("NotConfigured", "SEALOOP_N8N_URL is not set any more");
  const path = await soar.findWebhook(workflow).catch(asNotDone);
  if (path === undefined) throw new Problem("Conflict", "It can't be started by a webhook now");
  await soar.trigger(path, actId, body);
  return null;
}

/** Reading before the act does nothing, however it fails. */
function asNotDone(error: unknown): never {
  if (!(error instanceof RemoteFailed)) throw error;
  throw new RemoteFailed(error.system, error.code, "can't be asked before the act", "not_done");
}

/** Reads what the system shows of an act. @returns null: nothing */
export async function readShown(
  systems: OutsideSystems,
  { act_id }: ActOrder,
  act: OutsideAct,
  known: KnownAct,
): Promise<ActProof | null> {
  if (act.system === "n8n") {
    const since = new Date(known.since_ms);
    const execution = await systems.soar?.findExecution(act.workflow, act_id, since);
    if (!execution) return null;
    const { id, status, hasEnded } = execution;
    return { execution_id: id, state: "done", code: `execution_${status}`, has_ended: hasEnded };
  }
  return act.system === "mastodon"
    ? await readPost(systems, act, known)
    : await readRun(systems, known);
}

async function readPost(
  systems: OutsideSystems,
  act: OutsideAct & { readonly system: "mastodon" },
  { execution_id, since_ms }: KnownAct,
): Promise<ActProof | null> {
  const { text } = act;
  const mastodon = mastodonOf(systems, act);
  const post = execution_id === null
    ? await mastodon?.findPost(text, new Date(since_ms))
    : await mastodon?.readPost(execution_id, text);
  return post ? { execution_id: post.id, state: "done", code: "published", has_ended: true } : null;
}

async function readRun(
  { rmm }: OutsideSystems,
  { execution_id }: KnownAct,
): Promise<ActProof | null> {
  // Without its id a run can't be told from those that others have asked for.
  if (execution_id === null) {
    return { execution_id, state: "unknown", code: "no_id", has_ended: true };
  }
  const run = await rmm?.readRun(execution_id);
  if (!run || run.exitCode === null) return null;
  return run.exitCode === SCRIPTS_DISABLED
    ? { execution_id, state: "not_done", code: "scripts_disabled", has_ended: true }
    : { execution_id, state: "done", code: `exit_${run.exitCode}`, has_ended: true };
}

/** Tells people how they find out what became of an act. */
export function wayToFindOut(
  actId: string,
  act: OutsideAct,
  code: string,
  executionId: string | null,
): string {
  return `${targetOf(act)} was asked for once, and nothing shows what became of it (${
    describeFailure(code)
  }). It is not repeated. Look in ` +
    `${placeOf(actId, act, executionId)}.`;
}

function placeOf(actId: string, act: OutsideAct, executionId: string | null): string {
  if (act.system === "n8n") {
    return `n8n, under Executions of the workflow ${act.workflow}, for one whose webhook got the header ` +
      `x-sealoop-act: ${actId}. If all executions are kept and there is none, it was not started`;
  }
  if (act.system === "mastodon") {
    return `Mastodon (${act.server}), among the posts of the account, for the text of ${act.item}`;
  }
  return `Fleet, under Activity of the host ${act.host}, for the script ${act.script}` +
    (executionId ? `, execution ${executionId}` : "");
}

/** Returns what the receipts of an act have in common. */
export function receiptOf({ act_id, decision_id }: ActOrder, act: OutsideAct, run: RunId) {
  const { system } = act;
  const isApproval = decision_id.startsWith("APR-");
  return {
    category: "outside_act",
    actor: "outside",
    subject: subjectOf(act),
    action: ACTIONS[system],
    details: {
      act_id,
      ...isApproval ? { approval_id: decision_id } : { decision_id },
      system,
      ...(act.system === "fleet" ? { script_id: act.script } : {}),
      ...run,
    },
  };
}

function subjectOf(act: OutsideAct): string {
  if (act.system === "mastodon") return act.item;
  return act.system === "n8n" ? `n8n:${act.workflow}` : `fleet:${act.host}`;
}
