/** An n8n and a Fleet of a test, in one server: what they are asked for is shown by what they list afterwards. */
import { DOCUMENTED } from "../../integrations/remote/_documented.ts";
import { JSON_TYPE, startHostileServer } from "../../integrations/remote/_hostile.ts";

/** Way in which the systems take the next act. `lost`: it is done, and the answer never comes; `complaining`: it is an error. */
export type Taking = "done" | "lost" | "complaining" | "swallowed" | "refused";

/** The systems of a test. */
export interface OutsideTestSystems {
  readonly url: string;
  /** Headers and bodies of the acts that were asked for, as they came. */
  readonly acts: { readonly headers: Record<string, unknown>; readonly body: string }[];
  /** Set before an act. */
  taking: Taking;
  /** Exit code of scripts; null: the host does not say. */
  exitCode: number | null;
  close(): void;
}

/** Starts them. */
export async function startOutsideSystems(): Promise<OutsideTestSystems> {
  const server = await startHostileServer();
  const executions: object[] = [];
  const systems: OutsideTestSystems = {
    url: server.url,
    acts: [],
    taking: "done",
    exitCode: 0,
    close: server.close,
  };
  server.answer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = request.url!.replace(/\?.*$/, "");
    const send = (status: number, answer: unknown) =>
      void response.writeHead(status, JSON_TYPE).end(JSON.stringify(answer));
    if (request.method === "POST") {
      systems.acts.push({ headers: request.headers, body });
      if (systems.taking === "refused") return send(404, {});
      if (systems.taking === "swallowed") return;
      if (path.startsWith("/webhook/")) {
        executions.unshift({
          id: 1000 + executions.length,
          status: "success",
          finished: true,
          startedAt: new Date().toISOString(),
          workflowData: { nodes: [{ name: "Webhook", type: "n8n-nodes-base.webhook" }] },
          data: {
            resultData: {
              runData: {
                Webhook: [{ data: { main: [[{ json: { headers: request.headers } }]] } }],
                Quote: [{
                  data: { main: [[{ json: { headers: { "x-sealoop-act": "ACT-0" } } }]] },
                }],
              },
            },
          },
        });
      }
      if (systems.taking === "lost") return;
      if (systems.taking === "complaining") return send(429, {});
    }
    if (path === "/api/v1/executions") {
      return send(200, { data: executions.map((one) => ({ ...one, data: undefined })) });
    }
    const [, id] = /^\/api\/v1\/executions\/(\d+)$/.exec(path) ?? [];
    if (id) return send(200, executions.find((one) => (one as { id: number }).id === Number(id)));
    if (path.startsWith("/api/v1/fleet/scripts/results/")) {
      return send(200, { exit_code: systems.exitCode, output: "private" });
    }
    const answer = DOCUMENTED[`${request.method} ${path}`];
    send(answer === undefined ? 404 : 200, answer ?? {});
  });
  return systems;
}
