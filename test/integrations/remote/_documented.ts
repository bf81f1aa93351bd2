/** Answers of systems of others in the shapes that their documentation gives. */
import type { IncomingHttpHeaders } from "node:http";
import { type HostileServer, JSON_TYPE } from "./_hostile.ts";

const host = (id: number, status: string) => ({
  id,
  hostname: `web-${id}`,
  display_name: `web-${id}`,
  platform: "debian",
  os_version: "Debian GNU/Linux 12.0.0",
  status,
  osquery_version: "5.8.2",
  seen_time: "2026-07-01T12:00:00Z",
  team_id: null,
});
const webhook = (parameters: object) => ({
  name: "Webhook",
  type: "n8n-nodes-base.webhook",
  typeVersion: 2,
  webhookId: "1a",
  parameters,
});
const workflow = {
  id: "tqX81",
  name: "Restart the printer",
  active: true,
  nodes: [webhook({ path: "printers/restart", httpMethod: "POST", options: {} })],
  connections: {},
};
const execution = (id: number, act: string, quoted = "") => ({
  id,
  workflowId: "tqX81",
  finished: true,
  mode: "webhook",
  status: "success",
  startedAt: "2026-07-01T12:00:01.000Z",
  stoppedAt: "2026-07-01T12:00:02.000Z",
  workflowData: workflow,
  data: {
    resultData: {
      runData: {
        Webhook: [{
          data: { main: [[{ json: { headers: { "x-sealoop-act": act }, body: { quoted } } }]] },
        }],
      },
    },
  },
});

/** Answers by method and path. */
export const DOCUMENTED: Readonly<Record<string, unknown>> = {
  "GET /api/frameworks/": {
    count: 2,
    next: null,
    previous: null,
    results: [{ id: "0b1e", name: "ISO 27001:2022" }, { id: "0b1f", name: "NIST CSF 2.0" }],
  },
  "GET /api/compliance-assessments/": {
    count: 1,
    results: [{
      name: "ISMS 2026",
      framework: { id: "0b1e", str: "ISO 27001:2022" },
      status: "in_progress",
      progress: 40,
    }],
  },
  "GET /api/applied-controls/": {
    count: 3,
    results: [{ status: "active" }, { status: "active" }, { status: "to_do" }],
  },
  "GET /api/risk-scenarios/": {
    count: 1,
    results: [{ name: "Ransomware", treatment: "mitigate" }],
  },
  "GET /api/v1/fleet/host_summary": {
    totals_hosts_count: 2,
    online_count: 1,
    offline_count: 1,
    mia_count: 0,
    new_count: 0,
    platforms: [{ platform: "debian", hosts_count: 2 }],
  },
  "GET /api/v1/fleet/hosts": { hosts: [host(1, "online"), host(2, "offline")] },
  "GET /api/v1/fleet/hosts/1": { host: host(1, "online") },
  "GET /api/v1/fleet/scripts/2": { id: 2, team_id: null, name: "restart.sh" },
  "POST /api/v1/fleet/scripts/run": {
    host_id: 1,
    execution_id: "e797d6c6-3aae-11ee-be56-0242ac120002",
  },
  "GET /api/v1/fleet/scripts/results/e797d6c6-3aae-11ee-be56-0242ac120002": {
    host_id: 1,
    exit_code: 0,
    output: "hello",
    message: "",
    host_timeout: false,
  },
  "GET /healthz": { status: "ok" },
  "GET /api/v1/workflows": {
    data: [workflow, {
      id: "by-hand",
      name: "Nightly report",
      active: true,
      nodes: [{ type: "n8n-nodes-base.cron" }, webhook({ path: "a/:id", httpMethod: "POST" })],
    }],
    nextCursor: null,
  },
  "GET /api/v1/workflows/tqX81": workflow,
  "POST /webhook/printers/restart": { message: "Workflow was started" },
  "GET /api/v1/executions": {
    data: [1001, 1002].map((id) => ({ ...execution(id, ""), data: undefined })),
    nextCursor: null,
  },
  "GET /api/v1/executions/1001": execution(1001, "ACT-ffffffffffff", "ACT-5b1e09c77a42"),
  "GET /api/v1/executions/1002": execution(1002, "ACT-5b1e09c77a42"),
  "GET /v1/.well-known/ready": {},
  "GET /v1/schema": {
    classes: [{
      class: "Handbook",
      properties: [
        { name: "title", dataType: ["text"] },
        { name: "body", dataType: ["text"] },
        { name: "pages", dataType: ["int"] },
      ],
    }],
  },
  "POST /v1/graphql": {
    data: {
      Aggregate: { Handbook: [{ meta: { count: 12 } }] },
      Get: {
        Handbook: [{
          title: "Certificates",
          body: "The chain is incomplete",
          _additional: { id: "36ddd591-2dee-4e7e-a3cc-eb86d30a4303", score: "1.5" },
        }],
      },
    },
  },
};

/** A request that a server got. */
export interface SentRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Has a server give answers, and 404 to all else. @returns the requests, as they come */
export function answerAs(
  server: HostileServer,
  answers: Readonly<Record<string, unknown>>,
): SentRequest[] {
  const sent: SentRequest[] = [];
  server.answer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = request.url!.replace(/\?.*$/, "");
    sent.push({ path, headers: request.headers, body });
    const answer = answers[`${request.method} ${path}`];
    response.writeHead(answer === undefined ? 404 : 200, JSON_TYPE).end(JSON.stringify(answer));
  });
  return sent;
}
