/** Tests of tasks of agents, on a platform that others have started. */
import assert from "node:assert/strict";
import type { TestPlatform } from "../_platform.ts";
import { eventually } from "../_time.ts";
import { type A2aClient, a2aClient, message, skill } from "./_a2a.ts";

// deno-lint-ignore no-explicit-any -- the test looks into it
type Json = any;

/** A platform, with addresses of its servers. */
interface Servers {
  readonly platform: TestPlatform;
  readonly gateway: string;
  readonly tools: string;
  /** Key of tier admin. */
  readonly admin: string;
}

/** Rule of governance that these tests need on the platform, as YAML. */
export const TASKS_RULE = `
  - name: tickets-of-the-guild
    when: { tools: [itsm_create_ticket], tenants: [guild] }
    then: needs_approval
`;

/** Describes what becomes of tasks whose worker and tool server are killed with -9. */
export function describeKilledTasks(servers: () => Servers): void {
  describe("tasks of agents, whose worker and tool server are killed with -9,", () => {
    let platform: TestPlatform;
    let agent: A2aClient;
    let keys: Record<"agent" | "ann" | "admin", string>;
    const called = async (method: string, path: string, key: string, body?: unknown) => {
      const response = await fetch(servers().gateway + path, {
        method,
        headers: { "x-api-key": key, ...(body ? { "content-type": "application/json" } : {}) },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return await response.json() as Json;
    };
    before(async () => {
      const { admin, tools } = servers();
      platform = servers().platform;
      const issue = async (principal: string, may_approve: boolean) => {
        const key = { tenant: "guild", tier: "partner", principal, may_approve };
        return String((await called("POST", "/v1/keys/generate", admin, key)).api_key);
      };
      keys = { admin, agent: await issue("agent", false), ann: await issue("ann", true) };
      agent = a2aClient(tools, keys.agent);
    });

    /** Kills both, and waits until the supervisor has brought both back. */
    async function kill(): Promise<void> {
      const both = () =>
        platform.processes().filter(({ name }) => ["worker", "mcp"].includes(name));
      const dead = await eventually(() => {
        const found = both();
        return Promise.resolve(found.length === 2 ? found : undefined);
      });
      for (const { pid } of dead) process.kill(pid, "SIGKILL");
      await eventually(async () => {
        const pids = both().map(({ pid }) => pid);
        if (pids.length < 2 || dead.some(({ pid }) => pids.includes(pid))) return undefined;
        return await agent.ask("tasks/get", { id: "none" }).catch(() => undefined);
      });
    }
    /** The task, once it is as expected; while the worker is away, it can't be read. */
    const task = (id: string, fits: (task: Json) => boolean = () => true): Promise<Json> =>
      eventually(async () => {
        const { result } = await agent.ask("tasks/get", { id });
        return result && fits(result) ? result : undefined;
      });
    const ended = (id: string) =>
      task(id, ({ status }) => ["completed", "failed", "rejected"].includes(status.state));
    const runsOf = async (type: string) =>
      (await called("GET", `/v1/workflows?type=${type}&limit=100`, keys.agent)).workflows;

    it("end as if nothing had been: a run that was under way, a question, and a call that waited", async () => {
      const run = (await agent.ask("message/send", skill("itsm_run_test"))).result;
      const asked = (await agent.ask("message/send", { message: message("Hello") })).result;
      const ticket = { title: "The printer on floor 3 jams" };
      await eventually(async () => {
        const asking = skill("itsm_create_ticket", ticket);
        asking.message.metadata = { "sealoop/dry_run": true };
        const answer = await agent.ask("message/send", asking);
        return JSON.stringify(answer).includes("needs_approval") || undefined; // the file is in force
      });
      const held = (await agent.ask("message/send", skill("itsm_create_ticket", ticket))).result;
      assert.equal(held.status.state, "input-required");
      assert.ok(["submitted", "working"].includes(run.status.state));

      await kill();

      const now = await task(held.id);
      assert.deepEqual(now.status, held.status, "what waits for people still does");
      const { governance } = held.status.message.parts[1].data;
      await called("POST", `/v1/approvals/${governance.approval_id}/approve`, keys.ann);
      const done = await ended(run.id);
      assert.equal(done.status.state, "completed");
      const { status, workflow_id, result } = done.artifacts[0].parts[0].data;
      assert.deepEqual([status, result.outcome], ["COMPLETED", "sealed"]);
      const runs = await eventually(async () => { // Temporal's lists lag behind
        const found = await runsOf("itsmTest");
        return found.length > 0 ? found : undefined;
      });
      assert.deepEqual(runs.map((one: Json) => one.workflow_id), [workflow_id]);
      assert.equal((await ended(held.id)).status.state, "completed");
      const { tickets } = await called("GET", "/v1/itsm/incidents?limit=100", keys.agent);
      const opened = tickets.filter(({ title }: Json) => title === ticket.title);
      assert.equal(opened.length, 1, "what was approved was run once");
      const answer = await agent.ask("message/send", {
        message: message("Is INC-000000000000 there?", { taskId: asked.id }),
      });
      assert.ok(!answer.error, JSON.stringify(answer.error));
      assert.equal((await ended(asked.id)).status.state, "completed");
    });
  });
}
