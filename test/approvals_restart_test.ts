import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { platformSettings, startPlatform } from "./_platform.ts";
import { testFolder } from "./_run.ts";

describe("an approval, on a platform started by npm start", () => {
  it("waits while everything is killed with -9 and started again", async () => {
    const data = join(await testFolder(), "data");
    const settings = await platformSettings(data);
    let platform = startPlatform(settings);
    const call = async (method: string, path: string, key: string, body?: unknown) => {
      const response = await fetch(`http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}${path}`, {
        method,
        headers: { "x-api-key": key, ...(body ? { "content-type": "application/json" } : {}) },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      return await response.json() as Record<string, unknown>;
    };
    try {
      await platform.until(/sealoop is ready/);
      const admin = readFileSync(join(data, "admin.key"), "utf8").trim();
      const issue = async (principal: string, may_approve: boolean) => {
        const key = { tenant: "acme", tier: "partner", principal, may_approve };
        return String((await call("POST", "/v1/keys/generate", admin, key)).api_key);
      };
      const program = await issue("program", false);
      const ann = await issue("ann", true);
      const terms = { needed: 1, expires_in_seconds: 3 * 86_400, escalate_after_seconds: 10 };
      const asked = await call("POST", "/v1/approvals", program, {
        action: { do: "it" },
        ...terms,
      });
      const path = `/v1/approvals/${asked.approval_id}`;
      assert.equal(asked.status, "pending", JSON.stringify(asked));

      for (const { pid } of platform.processes()) process.kill(pid, "SIGKILL");
      await platform.end("SIGKILL");
      platform = startPlatform(settings);
      await platform.until(/sealoop is ready/);

      assert.equal((await call("GET", `${path}/info`, program)).status, "pending");
      const approved = await call("POST", `${path}/approve`, ann);
      assert.equal(approved.status, "approved", JSON.stringify(approved));
      const result = `/v1/workflows/${asked.workflow_id}/result?timeout_seconds=60`;
      const { result: end } = await call("GET", result, program);
      assert.equal((end as Record<string, unknown>).action_sha256, asked.action_sha256);
    } finally {
      await platform.end();
    }
  });
});
