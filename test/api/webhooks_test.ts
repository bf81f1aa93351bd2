import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";
import { ensureRelay } from "../../runtime/temporal/mod.ts";
import { setFlag } from "../_flags.ts";
import type { Watch } from "../workflows/_loop.ts";
import { openPeople, type People } from "./_people.ts";
import { asSuperuser, giveKey } from "../_superuser.ts";

/** A message as it came. */
interface Governed {
  readonly approval_id: string;
}
interface Came {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

describe("webhooks", () => {
  let people: People;
  let server: Server;
  let origin: string;
  const came: Came[] = [];
  /** Statuses to answer with, by path; 204 where there are none left. */
  const answers = new Map<string, number[]>();
  /** Events that answers wait for, by path. */
  const holding = new Map<string, Promise<void>>();
  /** Attempts that a worker has begun. */
  const begun: { readonly delivery_id: string; readonly attempt: number }[] = [];
  const watch: Watch = (moment, activity, [delivery]) => {
    if (moment === "before" && activity === "deliverWebhook") {
      begun.push(delivery as typeof begun[0]);
    }
  };
  before(async () => {
    server = createServer(async (req, res) => {
      let body = "";
      for await (const chunk of req) body += chunk;
      came.push({ path: req.url!, headers: req.headers, body });
      await holding.get(req.url!);
      const status = answers.get(req.url!)?.shift() ?? 204;
      res.writeHead(status, status === 302 ? { location: "/elsewhere" } : {}).end();
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const settings = {
      SEALOOP_OUTBOUND_ALLOW: "127.0.0.0/8",
      SEALOOP_WEBHOOK_PAUSES: "0,1",
    };
    people = await openPeople(settings, [], undefined, watch);
    await ensureRelay(people.loop.client);
  });
  after(async () => {
    server?.closeAllConnections();
    server?.close();
    await people?.stop();
  });

  const register = async (path: string, fields: Record<string, unknown> = {}) => {
    const body = { url: origin + path, ...fields };
    const answer = await people.call("POST", "/v1/itsm/webhooks", "ann", body);
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as { webhook_id: string; secret: string | null; events: string[] };
  };
  const open = async (title: string) =>
    (await people.call("POST", "/v1/itsm/tickets", "program", { title, severity: "high" })).body
      .ticket_id as string;
  const close = (id: string) =>
    people.call("POST", `/v1/itsm/tickets/${id}/close`, "program", { resolution: "Done" });
  const at = (path: string, ticket: string) =>
    came.filter((message) => message.path === path && message.body.includes(ticket));
  const arrive = (path: string, ticket: string, count: number) =>
    people.eventually(() => {
      const messages = at(path, ticket);
      return Promise.resolve(messages.length >= count ? messages : undefined);
    });
  const deliveries = async (webhookId: string) =>
    (await people.call("GET", `/v1/itsm/webhooks/deliveries?webhook_id=${webhookId}`, "program"))
      .body.deliveries as { state: string; attempts: number; last_error: string; origin: string }[];
  const ended = (webhookId: string, state: string) =>
    people.eventually(async () => {
      const [delivery] = await deliveries(webhookId);
      return delivery?.state === state ? delivery : undefined;
    });

  it("tell of tickets with signatures that somebody else's library accepts", async () => {
    const { secret, events } = await register("/signed");
    assert.deepEqual(events, ["ticket.opened", "ticket.updated", "ticket.resolved"]);
    const ticket = await open("Printer jams");
    await close(ticket);
    const messages = await arrive("/signed", ticket, 2);
    const bodies = messages.map(({ headers, body }) =>
      new Webhook(secret!).verify(body, headers as Record<string, string>) as {
        type: string;
        timestamp: string;
        data: Record<string, unknown>;
      }
    );
    assert.deepEqual(bodies.map(({ type }) => type).sort(), ["ticket.opened", "ticket.resolved"]);
    const opened = bodies.find(({ type }) => type === "ticket.opened")!;
    assert.deepEqual(Object.keys(opened), ["type", "timestamp", "data"]);
    assert.ok(Math.abs(Date.parse(opened.timestamp) - Date.now()) < 180_000);
    const { ticket_id, status, phase, severity } = opened.data;
    assert.deepEqual([ticket_id, status, phase, severity], [ticket, "open", "ticketed", "high"]);
    const { data } = bodies.find(({ type }) => type === "ticket.resolved")!;
    assert.deepEqual([data.status, data.phase], ["resolved", "sealed"]);
    const other = new Webhook("whsec_" + Buffer.alloc(32).toString("base64"));
    const [{ headers, body }] = messages as [Came];
    assert.throws(() => other.verify(body, headers as Record<string, string>));
  });

  it("are told again until they answer, by the same message id", async () => {
    answers.set("/flaky", [500, 302]);
    const { webhook_id } = await register("/flaky", { events: ["OPENED"] });
    const ticket = await open("Link flaps");
    const messages = await arrive("/flaky", ticket, 3);
    assert.equal(new Set(messages.map(({ headers }) => headers["webhook-id"])).size, 1);
    const { attempts } = await ended(webhook_id, "delivered");
    assert.equal(attempts, 3);
    assert.equal(at("/elsewhere", ticket).length, 0, "a redirect was followed");
  });

  it("are given up in the end, and listed as such without their paths", async () => {
    answers.set("/broken?token=hidden", [500, 500, 500, 500]);
    const { webhook_id } = await register("/broken?token=hidden", { events: ["ticket.opened"] });
    await open("Nobody hears of it");
    const dead = await ended(webhook_id, "dead");
    assert.deepEqual([dead.attempts, dead.last_error, dead.origin], [3, "status_500", origin]);
    assert.ok(!JSON.stringify(await deliveries(webhook_id)).includes("hidden"));
  });

  it("are told nothing more once they have said that they are gone", async () => {
    answers.set("/gone", [410]);
    const { webhook_id } = await register("/gone", { events: ["ticket.opened"] });
    const ticket = await open("First");
    assert.equal((await ended(webhook_id, "dead")).attempts, 1);
    const after = await open("Second");
    await arrive("/signed", after, 1);
    assert.equal(at("/gone", ticket).length, 1);
    assert.equal(at("/gone", after).length, 0);
  });

  it("are queued with the move and with nothing else: what is rolled back is told to nobody", async () => {
    const { webhook_id } = await register("/rolled-back");
    const none = await people.call("POST", "/v1/itsm/tickets/INC-000000000000/close", "program", {
      resolution: "x",
    });
    assert.equal(none.status, 404);
    const ticket = await open("Once");
    await close(ticket);
    assert.equal((await close(ticket)).status, 409);
    await arrive("/rolled-back", ticket, 2);
    assert.equal((await deliveries(webhook_id)).length, 2);
  });

  it("keep their secrets: shown once, encrypted, in no receipt's evidence", async () => {
    const own = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    assert.equal((await register("/own", { secret: own })).secret, null);
    const { secret } = await register("/made");
    const agent = await people.agent();
    /** An agent's call tells the outside, so a person is asked; the same call then collects what came of it. */
    const byAgent = async (args: Record<string, unknown>) => {
      const call = () => agent.callTool({ name: "itsm_register_webhook", arguments: args });
      const { governance } = (await call()).structuredContent as { governance: Governed };
      const path = `/v1/approvals/${governance.approval_id}`;
      assert.equal((await people.vote(governance.approval_id, "approve", "ann")).status, 200);
      await people.eventually(async () =>
        (await people.call("GET", `${path}/info`, "ann")).body.act.ended_at ?? undefined
      );
      const given = await call();
      assert.ok(!given.isError, JSON.stringify(given));
      return given.structuredContent as { webhook_id: string; secret: string | null };
    };
    assert.equal((await byAgent({ url: `${origin}/by-agent`, secret: own })).secret, null);
    const { secret: agents } = await byAgent({ url: `${origin}/by-agent-too` });
    assert.match(agents!, /^whsec_/);
    const rows = await asSuperuser(people.store).query(
      "SELECT secret::text AS t FROM webhooks UNION ALL SELECT content FROM evidence UNION ALL SELECT payload FROM seal_outbox " +
        "UNION ALL SELECT concat(input, output) FROM held_calls",
    );
    const kept = rows.map(({ t }) => t).join("\n");
    assert.match(kept, /\[secret\]/);
    for (const one of [own, secret!, agents!]) {
      assert.ok(!kept.includes(one));
      assert.ok(!kept.includes(Buffer.from(one).toString("hex")));
    }
    const ticket = await open("Signed by one's own");
    const [message] = await arrive("/own", ticket, 1);
    new Webhook(own).verify(message!.body, message!.headers as Record<string, string>);
  });

  it("are refused where they lead inside", async () => {
    for (
      const url of [
        "http://10.0.0.1/",
        "https://169.254.169.254/latest",
        "http://[::ffff:10.0.0.1]/",
        "http://167772161/",
        "https://192.168.0.1/",
        "http://hooks.example.com@10.0.0.1/",
        "ftp://example.com/",
        "nothing",
      ]
    ) {
      const { status, body } = await people.call("POST", "/v1/itsm/webhooks", "ann", { url });
      assert.equal(status, 422, url);
      assert.deepEqual(body.detail[0].loc, ["body", "url"]);
    }
    const free = await people.call("POST", "/v1/itsm/webhooks", "free", { url: `${origin}/x` });
    assert.equal(free.status, 403);
    const short = { url: `${origin}/x`, secret: "whsec_short" };
    assert.equal((await people.call("POST", "/v1/itsm/webhooks", "program", short)).status, 422);
  });

  it("are no business of another organisation, nor is what they were told", async () => {
    const { webhook_id } = await register("/ours");
    await arrive("/ours", await open("Nobody else's business"), 1);
    assert.ok((await deliveries(webhook_id)).length > 0);
    const { key } = await giveKey(people.store, {
      tenant: "elsewhere",
      tier: "partner",
      scope: "full",
      principal: "elsewhere",
      mayApprove: false,
      expiresAt: null,
    });
    const response = await fetch(`${people.url}/v1/itsm/webhooks/deliveries`, {
      headers: { "x-api-key": key },
    });
    assert.deepEqual(await response.json(), { deliveries: [], webhooks: [] });
  });

  it("are listed beside the deliveries, and removed by their URL or their id", async () => {
    const listed = async (who: string) =>
      ((await people.call("GET", "/v1/itsm/webhooks/deliveries", who)).body.webhooks as {
        webhook_id: string;
        origin: string;
      }[]).map(({ webhook_id, origin }) => [webhook_id, origin]);
    const { webhook_id: byUrl } = await register("/listed");
    const { webhook_id: byId } = await register("/listed-too");
    const before = await listed("program");
    assert.deepEqual(before.slice(-2), [[byUrl, origin], [byId, origin]]);

    assert.deepEqual((await register("/listed", { events: [] })).events, []);
    const gone = { url: byId, events: [] };
    assert.equal((await people.call("POST", "/v1/itsm/webhooks", "program", gone)).status, 200);
    assert.deepEqual(await listed("program"), before.slice(0, -2));
    assert.equal((await people.call("POST", "/v1/itsm/webhooks", "program", gone)).status, 404);
    assert.deepEqual(at("/listed", await open("Nobody hears of it")), []);
  });

  it("wait while the flag pause_webhooks is set, and come afterwards", async () => {
    const { webhook_id } = await register("/paused");
    answers.set("/paused", [500]);
    let answer = () => {};
    holding.set("/paused", new Promise((resolve) => answer = resolve));
    const ticket = await open("Printer is out of paper");
    await arrive("/paused", ticket, 1);
    await setFlag(people.store, "pause_webhooks", true);
    const others = [await open("Printer is out of ink"), await open("Printer is out")];
    begun.length = 0;
    answer(); // it fails, and is under way again
    const held = () => begun.filter(({ attempt }) => attempt === 2).length;
    await people.eventually(() => Promise.resolve(held() > 2 || undefined));
    assert.equal(at("/paused", ticket).length, 1);
    for (const other of others) assert.equal(at("/paused", other).length, 0);
    await setFlag(people.store, "pause_webhooks", false);
    for (const other of others) await arrive("/paused", other, 1);
    await arrive("/paused", ticket, 2);
    await people.eventually(async () => {
      const all = await deliveries(webhook_id);
      return all.every(({ state }) => state === "delivered") ? all : undefined;
    });
    const attempts = (await deliveries(webhook_id)).map((one) => one.attempts);
    assert.deepEqual(attempts.sort(), [1, 1, 2], "a pause is no attempt");
  });
});
