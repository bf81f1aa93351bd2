import { z } from "zod";
import type { Config } from "../../config.ts";
import { findCredential, readCredential } from "../channels/mod.ts";
import {
  type CircuitBreaker,
  openRemoteClient,
  type RemoteClient,
  RemoteFailed,
} from "../remote/mod.ts";

/** A workflow of n8n's. */
interface SoarWorkflow {
  readonly id: string;
  readonly name: string;
  /** True: a webhook that takes POST starts it. */
  readonly isStartable: boolean;
}

/** An execution of a workflow. */
interface SoarExecution {
  readonly id: string;
  /** `success`, `error`, `running`, … */
  readonly status: string;
  readonly hasEnded: boolean;
}

/** An n8n of the operator's. */
export interface SoarClient {
  /** Checks that it is healthy and accepts the key. @throws {RemoteFailed} */
  check(): Promise<void>;
  /** Returns the first active workflows. @throws {RemoteFailed} */
  listWorkflows(): Promise<SoarWorkflow[]>;
  /** Returns the path of the webhook that starts a workflow; undefined: none does. @throws {RemoteFailed} */
  findWebhook(workflowId: string): Promise<string | undefined>;
  /** Calls a webhook, with one attempt. @param actId by which the execution is recognized @throws {RemoteFailed} */
  trigger(path: string, actId: string, body: unknown): Promise<void>;
  /** Finds the execution that an act has started; undefined: none is listed. @throws {RemoteFailed} */
  findExecution(workflowId: string, actId: string, since: Date): Promise<SoarExecution | undefined>;
  /** As a client's. */
  pause(): string | undefined;
}

/** Workflows are listed with all their nodes, so that pages are short. */
const PAGE = 20;
const MAX_PAGES = 5;
const EXECUTIONS_PAGE = 50;
const MAX_EXECUTION_PAGES = 10;
const MAX_EXECUTION_BYTES = 32 * 1024 * 1024;
const EXECUTION_TIMEOUT_MS = 10_000;
const NO_BREAKER: CircuitBreaker = { pausedMs: () => 0, enter: () => 0, succeed() {}, fail() {} };
/** Largest difference between its clock and ours. */
const CLOCK_SKEW_MS = 60_000;
const ACT_HEADER = "x-sealoop-act";
const WEBHOOK = "n8n-nodes-base.webhook";
const ENDED = new Set(["success", "error", "crashed", "canceled"]);

const Id = z.union([z.string().regex(/^[\w-]{1,64}$/), z.number().int()]).transform(String);
const Workflow = z.object({
  id: Id,
  name: z.string().max(2_000).transform((name) => name.slice(0, 200)),
  active: z.boolean(),
  nodes: z.array(z.object({
    type: z.string(),
    disabled: z.boolean().optional(),
    parameters: z.object({ path: z.unknown(), httpMethod: z.unknown() }).partial().optional(),
  })),
});
const Execution = z.object({
  id: Id,
  status: z.string().max(40).optional(),
  finished: z.boolean().nullish(),
  startedAt: z.iso.datetime({ offset: true }).nullish(),
});
const Started = Execution.extend({
  workflowData: z.object({ nodes: z.array(z.object({ name: z.string(), type: z.string() })) }),
  data: z.object({ resultData: z.object({ runData: z.record(z.string(), z.unknown()) }) }),
});
/** Runs of a webhook that got a request. */
const WebhookRuns = z.array(z.object({
  data: z.object({
    main: z.array(
      z.array(z.object({
        json: z.object({ headers: z.record(z.string(), z.unknown()) }),
      })).nullable(),
    ),
  }),
}));
const page = <Entry extends z.ZodType>(entry: Entry) =>
  z.object({ data: z.array(entry), nextCursor: z.string().max(2_000).nullish() });

/** Opens the client of an n8n, if its URL is set. @see https://docs.n8n.io/api/api-reference */
export function openN8n(config: Config): SoarClient | undefined {
  const { SEALOOP_N8N_URL: url } = config.settings;
  if (url === undefined) return undefined;
  const shared = { system: "n8n", url };
  const keyed = {
    ...shared,
    credential: () => ({ "x-n8n-api-key": readCredential(config, "n8n") }),
  };
  const api = openRemoteClient(keyed);
  // Executions have all data of all their nodes; one that is too large says nothing of the API.
  const executions = openRemoteClient({
    ...keyed,
    breaker: NO_BREAKER,
    maxBytes: MAX_EXECUTION_BYTES,
    timeoutMs: EXECUTION_TIMEOUT_MS,
  });
  // n8n keeps the headers of webhooks with their executions, so that these never get the key.
  // A workflow answers as it likes, also after it has done its work: no status proves that it did not run, or says anything
  // of the API, which was asked right before.
  const webhooks = openRemoteClient({
    ...shared,
    breaker: NO_BREAKER,
    isStatusFree: true,
    credential(): Record<string, string> {
      const token = findCredential(config, "n8n-webhook");
      return token === undefined ? {} : { authorization: `Bearer ${token}` };
    },
  });
  return {
    async check() {
      await api.read({ method: "GET", path: "/healthz" });
      const answer = page(z.object({ id: Id }));
      await api.read({ method: "GET", path: "/api/v1/workflows?limit=1", answer });
    },
    listWorkflows: () => listWorkflows(api),
    async findWebhook(id) {
      const path = `/api/v1/workflows/${encodeURIComponent(id)}`;
      return webhookOf(await api.read({ method: "GET", path, answer: Workflow }));
    },
    trigger: (path, actId, body) =>
      webhooks.act({
        method: "POST",
        path: `/webhook/${path}`,
        headers: { [ACT_HEADER]: actId },
        body,
      }),
    findExecution: (...args) => findExecution({ api, executions }, ...args),
    pause: api.pause,
  };
}

async function listWorkflows(api: RemoteClient): Promise<SoarWorkflow[]> {
  const workflows: z.output<typeof Workflow>[] = [];
  let cursor: string | null | undefined;
  for (let n = 0; n < MAX_PAGES && cursor !== null; n++) {
    const next = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { data, nextCursor } = await api.read({
      method: "GET",
      path: `/api/v1/workflows?active=true&limit=${PAGE}${next}`,
      answer: page(Workflow),
    });
    workflows.push(...data);
    cursor = nextCursor ?? null;
  }
  return workflows.map((workflow) => ({
    id: workflow.id,
    name: workflow.name,
    isStartable: webhookOf(workflow) !== undefined,
  }));
}

/** Returns the path of a webhook that takes POST. Paths with variables can't be called. */
function webhookOf({ active, nodes }: z.output<typeof Workflow>): string | undefined {
  if (!active) return undefined;
  for (const { type, disabled, parameters: { path, httpMethod } = {} } of nodes) {
    if (type !== WEBHOOK || disabled || httpMethod !== "POST" || typeof path !== "string") continue;
    const plain = path.replace(/^\/|\/$/g, "");
    if (/^[\w~-][\w.~-]*(\/[\w~-][\w.~-]*)*$/.test(plain)) return plain;
  }
  return undefined;
}

/**
 * Finds the execution that an act has started: its webhook's node has the headers of the request, among them the act's id.
 *
 * @throws {RemoteFailed} none was found, but one could not be read
 */
async function findExecution(
  clients: { readonly api: RemoteClient; readonly executions: RemoteClient },
  workflowId: string,
  actId: string,
  since: Date,
): Promise<SoarExecution | undefined> {
  let failure: RemoteFailed | undefined;
  for await (const id of listExecutions(clients.api, workflowId, since)) {
    try {
      const path = `/api/v1/executions/${id}?includeData=true`;
      const execution = await clients.executions.read({ method: "GET", path, answer: Started });
      if (!isStartedBy(execution, actId)) continue;
      const status = execution.status ?? (execution.finished ? "success" : "running");
      return { id, status, hasEnded: ENDED.has(status) };
    } catch (error) {
      if (!(error instanceof RemoteFailed)) throw error;
      failure = error;
    }
  }
  if (failure) throw failure;
  return undefined;
}

/** Lists the ids of a workflow's executions since a time, newest first. */
async function* listExecutions(api: RemoteClient, workflowId: string, since: Date) {
  const from = since.getTime() - CLOCK_SKEW_MS;
  const path = `/api/v1/executions?workflowId=${encodeURIComponent(workflowId)}` +
    `&limit=${EXECUTIONS_PAGE}`;
  let next = "";
  for (let n = 0; n < MAX_EXECUTION_PAGES; n++) {
    const { data, nextCursor } = await api.read({
      method: "GET",
      path: path + next,
      answer: page(Execution),
    });
    let isPast = false;
    for (const { id, startedAt } of data) {
      isPast = startedAt ? Date.parse(startedAt) < from : false;
      if (!isPast) yield id;
    }
    if (isPast || !nextCursor) return;
    next = `&cursor=${encodeURIComponent(nextCursor)}`;
  }
}

/** Only what a webhook got as headers counts; the body of a request may quote any id. */
function isStartedBy({ workflowData, data }: z.output<typeof Started>, actId: string): boolean {
  const { runData } = data.resultData;
  return workflowData.nodes.some(({ name, type }) => {
    if (type !== WEBHOOK || !Object.hasOwn(runData, name)) return false;
    const runs = WebhookRuns.safeParse(runData[name]);
    if (!runs.success) return false;
    const items = runs.data.flatMap((run) => run.data.main.flatMap((output) => output ?? []));
    return items.some(({ json }) => json.headers[ACT_HEADER] === actId);
  });
}
