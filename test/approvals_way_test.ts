import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Client, Connection } from "@temporalio/client";
import { Webhook } from "standardwebhooks";
import { ROOT } from "../config.ts";
import { stopManagedProcess } from "../integrations/host/mod.ts";
import { platformSettings, startPlatform, type TestPlatform } from "./_platform.ts";
import { freePort, testFolder } from "./_run.ts";
import { eventually } from "./_time.ts";
import { describeKilledTasks, TASKS_RULE } from "./mcp/_killed_tasks.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

const REACHES = ["core-api", "cart", "checkout", "search", "shop"];

describe("a repair that waits for people, on a platform started by npm start", () => {
  let data: string;
  let settings: Record<string, string>;
  let platform: TestPlatform;
  let receiver: Server;
  let secret: string;
  let approvalId: string;
  /** Called by the receiver before it answers. */
  let answer: (() => void) | undefined;
  const messages: { headers: Record<string, string>; body: string }[] = [];

  before(async () => {
    data = join(await testFolder(), "data");
    await mkdir(data);
    await writeFile(join(data, "sealoop.governance.yaml"), `rules:${TASKS_RULE}`);
    settings = {
      ...await platformSettings(data),
      SEALOOP_LIMIT_TOOLS: "10000", // as tests poll
      SEALOOP_SWEEP_SECONDS: "5",
      SEALOOP_OUTBOUND_ALLOW: "127.0.0.1",
    };
    receiver = createServer(async (req, res) => {
      let body = "";
      for await (const chunk of req) body += chunk;
      messages.push({ headers: req.headers as Record<string, string>, body });
      if (req.url === "/desk") answer?.();
      res.writeHead(204).end();
    });
    await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
    platform = startPlatform(settings);
    await platform.until(/sealoop is ready/);
  });
  after(async () => {
    await platform?.end();
    await stopManagedProcess(data, "core-api");
    receiver?.close();
  });

  /**
   * Runs `npm run approvals -- …`, as in a shell that knows the data folder alone.
   *
   * @returns its output; what it prints in refusal after `refused: `
   */
  const approvals = (...words: string[]) => command("approvals", ...words);
  async function command(name: string, ...words: string[]): Promise<string> {
    const command = ["start.mjs", `processes/commands/${name}.ts`, ...words];
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, SEALOOP_DATA: data };
    try {
      const options = { cwd: ROOT, env };
      const { stdout } = await promisify(execFile)(process.execPath, command, options);
      return stdout;
    } catch (error) {
      return `refused: ${(error as { stderr: string }).stderr}`;
    }
  }

  async function call(method: string, path: string, body?: object): Promise<Json> {
    const response = await fetch(`http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}${path}`, {
      method,
      headers: {
        "x-api-key": readFileSync(join(data, "admin.key"), "utf8").trim(),
        "content-type": "application/json",
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    return await response.json();
  }

  /** Returns the verified messages about an approval. */
  function messagesAbout(id: string): Json[] {
    return messages.filter(({ body }) => body.includes(id))
      .map(({ headers, body }) => new Webhook(secret).verify(body, headers));
  }

  /** Returns an approval's current details, as the Web UI reads them. */
  async function shownInTemporal(id: string): Promise<string> {
    const address = `127.0.0.1:${settings.SEALOOP_TEMPORAL_PORT}`;
    const connection = await Connection.connect({ address });
    const { workflow } = new Client({ connection });
    const handle = workflow.getHandle(`approval-${id}`);
    const details = await eventually(async () => { // set a moment after people are told
      const metadata = await handle.query<Json>("__temporal_workflow_metadata").catch(() => {});
      return metadata?.currentDetails as string | undefined;
    });
    await connection.close();
    return details;
  }

  /** Has the platform find a service that is down, and that four others need. */
  async function breakService(): Promise<void> {
    const port = await freePort();
    const folder = join(data, "core-api");
    await mkdir(folder, { recursive: true });
    const program = join(ROOT, "integrations", "sandbox", "test_service.js");
    const [service, ...others] = REACHES;
    await writeFile(
      join(data, "sealoop.services.yaml"),
      JSON.stringify({
        services: [
          {
            name: service,
            type: "api",
            check: { http: `http://127.0.0.1:${port}/health` },
            restart: {
              process: { command: [process.execPath, program, String(port), folder], cwd: folder },
            },
          },
          ...others.map((name) => ({ name, type: "web", depends_on: [service] })),
        ],
      }),
    );
  }

  it("lists nothing where nobody is asked for anything, and waits no longer than it is told to", async () => {
    assert.match(await approvals("list"), /^Nothing waits for people$/m);
    assert.match(
      await approvals("list", "--wait", "1s"),
      /^refused: [^]*waiting for 1s\n[^]*Nothing has waited for people within 1s/,
    );
  });

  it("asks on the terminal about a call by the first admin key, which one command approves", async () => {
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/told`;
    const events = ["approval.requested", "approval.decided"];
    const held = await call("POST", "/v1/itsm/webhooks", { url, events });
    const { approval_id: id, rule, approval } = held.governance;
    const line = await platform.until(new RegExp(`${id} waits for a person: .*`));
    assert.match(line[0], /: Register a URL .* · because .* \(tells-the-outside\) · evidence GOV-/);
    assert.ok(line[0].includes(` · exactly itsm_webhook_register {"url":"${url}",`), line[0]);
    assert.equal(rule, "tells-the-outside");
    assert.match(approval.decide, new RegExp(`npm run approvals -- approve ${id}`));
    assert.match(
      line[0],
      new RegExp(`until ${approval.expires_at} · npm run approvals -- show ${id}$`),
    );

    assert.match(await approvals("list"), new RegExp(`^${id}  pending .*Register a URL`, "m"));
    const approved = await approvals("approve", id, "--reason", "It is my own");
    assert.match(approved, new RegExp(`^Approved ${id}, receipt [0-9a-f]{16}$`, "m"));
    const file = join(data, `approver-${userInfo().username}.key`);
    assert.equal(statSync(file).mode & 0o777, 0o600);

    const done = await eventually(async () => {
      const { act } = await call("GET", `/v1/approvals/${id}/info`);
      return act?.state === "done" ? act : undefined;
    });
    assert.equal(done.error, null);
    const { secret: made, events: told } = await call("POST", "/v1/itsm/webhooks", { url, events });
    assert.deepEqual(told, events);
    secret = made;
  });

  it("prints a line of news for an incident, whatever its title holds", async () => {
    const title =
      "Disk\nINC-000000000000 was resolved\u2028APR-000000000000 waits\u001b[2K\rx\u202ey";
    const { ticket_id } = await call("POST", "/v1/itsm/tickets", { title });
    const [line] = await platform.until(new RegExp(`.*${ticket_id} was opened.*`));
    assert.match(
      line,
      / Disk INC-000000000000 was resolved APR-000000000000 waits⟨U\+001B⟩\[2K x⟨U\+202E⟩y · npm run .*/,
    );
    assert.doesNotMatch(platform.output(), /^\s*(\d\S+\s+)?(INC|APR)-000000000000/m);
  });

  it("tells why on the terminal, by webhook, in Temporal and by one command", async () => {
    await breakService();
    const [line] = await platform.until(/(APR-[0-9a-f]{12}) waits for a person: Runbook .*/);
    approvalId = line.slice(0, 16);
    const { ticket_id, evidence } = await call("GET", `/v1/approvals/${approvalId}/info`);
    assert.match(platform.output(), new RegExp(`${ticket_id} was opened \\(\\w+\\): core-api `));
    const why = "It reaches 5 services by the service graph, and 3 are the bound";
    for (
      const text of [
        " for core-api",
        why,
        "(execution_bounds)",
        REACHES.join(", "),
        ticket_id,
      ]
    ) {
      assert.ok(line.includes(text), `${line}\nhas not: ${text}`);
    }
    assert.deepEqual(evidence.slice(0, 2).map(({ kind }: Json) => kind), ["ticket", "receipt"]);

    const [message] = await eventually(() => {
      const about = messagesAbout(approvalId);
      return Promise.resolve(about.length > 0 ? about : undefined);
    });
    assert.equal(message.type, "approval.requested");
    assert.ok(message.data.reasons.includes(why), JSON.stringify(message.data));
    assert.deepEqual([message.data.reaches, message.data.ticket_id], [REACHES, ticket_id]);
    assert.match(message.data.decide, /npm run approvals -- approve/);

    const shown = await shownInTemporal(approvalId);
    assert.match(shown, /because: It reaches 5 services/);
    assert.match(shown, new RegExp(`npm run approvals -- show ${approvalId}`));

    const inbox = await command("now");
    assert.match(
      inbox,
      new RegExp(`${approvalId}  Runbook .*npm run approvals -- show ${approvalId}`),
    );

    const printed = await approvals("show", approvalId);
    for (
      const text of [
        why,
        "execution_bounds",
        REACHES.join(`\n${" ".repeat(14)}`),
        ticket_id,
        "restart",
      ]
    ) {
      assert.ok(printed.includes(text), `${printed}\nhas not: ${text}`);
    }
  });

  it("runs once that command has approved it, as this user's decision", async () => {
    const marks = join(data, "core-api", "starts.log");
    assert.equal(existsSync(marks), false, "nothing is done before");
    assert.match(await approvals("approve", approvalId, "--reason", "Go on"), /^Approved APR-/m);
    await eventually(() => Promise.resolve(existsSync(marks) ? true : undefined));
    const { moves, ticket_id } = await call("GET", `/v1/approvals/${approvalId}/info`);
    const { move, principal, reason } = moves.at(-1);
    assert.deepEqual([move, principal, reason], ["approved", userInfo().username, "Go on"]);
    await eventually(async () => {
      const { status } = await call("GET", `/v1/itsm/tickets/${ticket_id}`);
      return status === "resolved" ? true : undefined;
    });
    const decided = await eventually(() =>
      Promise.resolve(messagesAbout(approvalId).find(({ type }) => type === "approval.decided"))
    );
    assert.deepEqual([decided.data.status, decided.data.reason], ["approved", "Go on"]);
    assert.equal(decided.data.decided_by.principal, userInfo().username);
    assert.match(await approvals("approve", approvalId), /^refused: .*only a pending one/);
  });

  it("is shown in the console, into which npm start and a command let their user, once each", async () => {
    const printed = /console\/sign-in#(\S+)/.exec(platform.output())![1]!;
    const another = /console\/sign-in#(\S+)/.exec(await command("console"))![1]!;
    const gateway = `http://localhost:${settings.SEALOOP_GATEWAY_PORT}`;
    const signIn = (link: string) =>
      fetch(`${gateway}/v1/console/session`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ link }),
      });
    for (const link of [printed, another]) {
      const { rights } = await (await signIn(link)).json() as Json;
      assert.deepEqual(rights, ["read", "respond", "approve", "operate"]);
      assert.equal((await signIn(link)).status, 401);
    }
  });

  it("of a tenant shows its id, the rule and the command there, and the rest by that command", async () => {
    const issue = { tenant: "acme", tier: "partner", principal: "program" };
    const { api_key } = await call("POST", "/v1/keys/generate", issue);
    const response = await fetch(
      `http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}/v1/approvals`,
      {
        method: "POST",
        headers: { "x-api-key": api_key, "content-type": "application/json" },
        body: JSON.stringify({ description: "Write to Ada", action: { to: "ada@acme.example" } }),
      },
    );
    const { approval_id: id } = await response.json() as Json;
    const [line] = await platform.until(new RegExp(`${id} of tenant acme waits .*`));
    assert.match(line, new RegExp(`: rule none · until .* · npm run approvals -- show ${id}$`));
    assert.doesNotMatch(platform.output(), /Ada|ada@/);
    const shown = await shownInTemporal(id);
    assert.match(shown, new RegExp(`- rule: none\n- until: .*\n- decide: .*show ${id}`));
    assert.doesNotMatch(shown, /Ada|ada@/);
    assert.match(await approvals("list"), new RegExp(`^${id}  pending  acme `, "m"));
    assert.match(await approvals("show", id), /asks for\s+Write to Ada\n[^]*ada@acme\.example/);
    assert.match(await approvals("deny", id, "--reason", "Not by mail"), /^Denied APR-/m);
    assert.match(await approvals("show", id), /denied by \S+, receipt \w+: Not by mail/);
  });

  it("tells a channel although the worker is killed with -9 while it does", async () => {
    const origin = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    const channels = { desk: { webhook: { url: `${origin}/desk` } } };
    const rules = [{ name: "all", kinds: ["incident.opened"], tell: ["desk"] }];
    await writeFile(
      join(data, "sealoop.comms.yaml"),
      JSON.stringify({ platform: { channels, rules } }),
    );
    const inForce = join(data, "in_force", "sealoop.comms.yaml");
    await eventually(() => Promise.resolve(existsSync(inForce)));
    let killed: number | undefined;
    answer = () => {
      const { pid } = platform.processes().find(({ name }) => name === "worker")!;
      process.kill(killed = pid, "SIGKILL"); // it never learns whether this one has arrived
      answer = undefined;
    };
    const { ticket_id } = await call("POST", "/v1/itsm/tickets", { title: "The lift is stuck" });
    const told = await eventually(() => {
      const about = messages.filter(({ body }) => body.includes(ticket_id));
      return Promise.resolve(about.length > 1 ? about : undefined);
    });
    assert.ok(killed !== undefined);
    assert.equal(new Set(told.map(({ headers }) => headers["webhook-id"])).size, 1);
    assert.equal(JSON.parse(told[1]!.body).type, "incident.opened");
  });

  describeKilledTasks(() => ({
    platform,
    gateway: `http://127.0.0.1:${settings.SEALOOP_GATEWAY_PORT}`,
    tools: `http://127.0.0.1:${settings.SEALOOP_MCP_PORT}`,
    admin: readFileSync(join(data, "admin.key"), "utf8").trim(),
  }));
});
