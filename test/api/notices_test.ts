import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { historyToJSON } from "@temporalio/common/lib/proto-utils.js";
import { Webhook } from "standardwebhooks";
import {
  mailboxFolder,
  type MailReceiver,
  parseAddress,
  startReceiver,
} from "../../integrations/mail/mod.ts";
import {
  addMessage,
  addPlannedDeliveries,
  listDeliveriesOf,
  listMessages,
  type NewMessage,
} from "../../store/notices/mod.ts";
import { setFlag } from "../_flags.ts";
import { freePort } from "../_run.ts";
import { ensureRelay } from "../../runtime/temporal/mod.ts";
import { openPeople, type People } from "./_people.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

interface Request {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Json;
  readonly text: string;
}

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU";

describe("notices over channels", () => {
  let people: People;
  let server: Server;
  let origin: string;
  let data: string;
  let receiver: MailReceiver;
  const requests: Request[] = [];
  /** Statuses to answer with, by path; 0: hang up; 200 where there are none left. */
  const answers = new Map<string, number[]>();

  before(async () => {
    server = createServer(async (req, res) => {
      let text = "";
      for await (const chunk of req) text += chunk;
      const { url, method, headers } = req as Required<typeof req>;
      requests.push({ path: url, method, headers, text, body: JSON.parse(text) });
      const status = answers.get(url)?.shift() ?? 200;
      if (status === 0) res.destroy();
      else res.writeHead(status).end("ok");
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    people = await openPeople({ SEALOOP_MAIL_PORT: String(await freePort()) });
    receiver = await startReceiver(people.loop.config);
    data = people.loop.config.dataDir;
    mkdirSync(join(data, "credentials"));
    credential("chat", `${origin}/slack`);
    credential("teams", `${origin}/teams`);
    credential("bot", "syt_token");
    credential("hook", SECRET);
    configure();
    await ensureRelay(people.loop.client);
  });
  after(async () => {
    server?.closeAllConnections();
    server?.close();
    await people?.stop();
    await receiver?.close();
  });

  function credential(name: string, text: string): void {
    writeFileSync(join(data, "credentials", name), `${text}\n`, { mode: 0o600 });
  }
  function configure(rules: readonly object[] = [], more: object = {}): void {
    const channels = {
      chat: { slack: { credential: "chat" } },
      "ms-chat": { teams: { credential: "teams" } },
      room: { matrix: { server: origin, room: "!abc:example.com", credential: "bot" } },
      phone: { ntfy: { url: `${origin}/base/our-topic` } },
      hook: { webhook: { url: `${origin}/hook`, credential: "hook" } },
      backup: { webhook: { url: `${origin}/backup` } },
      mail: { email: { to: "ops@sealoop.local" } },
      keyless: { slack: { credential: "missing" } },
      ...more,
    };
    const file = JSON.stringify({ platform: { channels, rules } }); // JSON is YAML
    writeFileSync(join(data, "sealoop.comms.yaml"), file);
  }
  const tell = (more: Partial<NewMessage> = {}, tenant = "platform") =>
    addMessage(people.store.asTenant(tenant), {
      kind: "incident.opened",
      from: "itsm-loop",
      subject: "INC-1 was opened (high): the shop is down",
      text: "<!channel> [see](https://evil.example)",
      refs: {},
      severity: "high",
      service: "shop",
      ...more,
    }) as Promise<string>;
  const to = (path: string, id: string) =>
    requests.filter((one) => one.path.startsWith(path) && one.text.includes(id));
  /** Waits until the run of a notice has ended. */
  async function ended(id: string) {
    await people.eventually(async () => {
      const deliveries = await listDeliveriesOf(people.store.asPlatform(), id);
      const isEnded = deliveries.length > 0 && deliveries.every(({ state }) => state !== "queued");
      return isEnded || undefined;
    });
    return (await listDeliveriesOf(people.store.asPlatform(), id))
      .map(({ channel, state, attempts, code }) => ({ channel, state, attempts, code }));
  }
  const send = (body: object, who = "ann") => people.call("POST", "/v1/comms/send", who, body);

  it("go by e-mail to people of the operator's own, who need not agree to it, and cause no further notices", async () => {
    configure([{ name: "all", tell: ["mail"] }]);
    const id = await tell({ text: "billing on 10.1.2.3 is down" });
    assert.deepEqual(await ended(id), [
      { channel: "mail", state: "delivered", attempts: 1, code: "delivered" },
    ]);
    const folder = join(mailboxFolder(data, parseAddress("ops@sealoop.local")!), "new");
    const mails = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));
    assert.equal(mails.length, 1);
    assert.match(mails[0]!, /Auto-Submitted: auto-generated/);
    assert.match(mails[0]!, /10\.1\.2\.3/);
    const { messages } = await listMessages(people.store.db, { kind: "mail.sent" }, 10);
    assert.deepEqual(messages, []);
    configure();
  });

  it("don't carry people's own words by e-mail where the review flags them", async () => {
    const mail = async (text: string) => {
      const { body } = await send({ channel: "email", to: "mail", text });
      const [delivery] = await ended(body.message_id); // the answer may come before
      return [delivery!.state, delivery!.code];
    };
    assert.deepEqual(await mail("Charge 4111 1111 1111 1111"), [
      "not_delivered",
      "review_card_number",
    ]);
    assert.deepEqual(await mail("billing on 10.1.2.3 is down"), ["delivered", "delivered"]);
  });

  it("are sent in the form of each channel, with texts that are shown as they are", async () => {
    const text = "<!channel> look [here](https://evil.example)";
    const shown = "look [here](https://evil.example)";
    for (
      const [channel, name] of [
        ["slack", "chat"],
        ["teams", "ms-chat"],
        ["matrix", "room"],
        ["ntfy", "phone"],
        ["webhook", "hook"],
      ] as const
    ) {
      const { status, body } = await send({ channel, to: name, subject: "Look", text });
      assert.equal(status, 200, JSON.stringify(body));
      const [delivery] = await ended(body.message_id); // the answer may come before
      assert.deepEqual([delivery!.channel, delivery!.state, delivery!.code], [
        name,
        "delivered",
        "status_200",
      ]);
    }
    const [slack, teams, matrix, ntfy, hook] = requests.slice(-5) as [
      Request,
      Request,
      Request,
      Request,
      Request,
    ];
    assert.equal(slack.body.blocks[0].text.type, "plain_text");
    assert.ok(slack.body.text.startsWith("Look\n&lt;!channel&gt;"));
    const card = teams.body.attachments[0].content;
    assert.ok(card.body.every((block: Json) => block.type === "RichTextBlock"));
    assert.match(
      matrix.path,
      /\/rooms\/!abc%3Aexample.com\/send\/m.room.message\/MSG-[0-9a-f]{12}$/,
    );
    assert.deepEqual([matrix.method, matrix.headers.authorization], ["PUT", "Bearer syt_token"]);
    assert.ok(matrix.body.body.includes(shown));
    assert.deepEqual([ntfy.path, ntfy.body.topic, ntfy.body.title], [
      "/base/",
      "our-topic",
      "Look",
    ]);
    const verified = new Webhook(SECRET).verify(hook.text, hook.headers as Record<string, string>);
    assert.deepEqual((verified as Json).type, "said");
    assert.equal(hook.headers["webhook-id"], hook.body.data.id);
    const runs = await Promise.all(
      requests.slice(-5).map(({ text }) => /MSG-[0-9a-f]{12}/.exec(text)![0]).map((id) =>
        people.loop.client.workflow.getHandle(`notice-${id}`).fetchHistory()
      ),
    );
    const histories = runs.map((run) =>
      historyToJSON(run).replace(
        /"data": "([^"]*)"/g,
        (_, data) => Buffer.from(data, "base64").toString(),
      )
    ).join();
    assert.match(histories, /MSG-[0-9a-f]{12}/);
    for (const secret of [SECRET, "syt_token", `${origin}/slack`, `${origin}/hook`, "Look"]) {
      assert.ok(!histories.includes(secret), secret);
    }
    const feed = await people.call("GET", "/v1/comms?kind=said&channel=slack", "ann");
    assert.equal(feed.body.messages[0].from, "ann");
  });

  it("go to the channels of the rules that match, and to nobody else", async () => {
    configure([
      { name: "loud", severities: ["critical", "high"], services: ["sho*"], tell: ["hook"] },
      { name: "approvals", kinds: ["approval.*"], tell: ["backup"] },
    ]);
    const [loud, low, other] = [
      await tell({ text: "turned \u202e around" }),
      await tell({ severity: "low" }),
      await tell({ service: "billing" }),
    ];
    const approval = await tell({ kind: "approval.requested", severity: undefined });
    const foreign = await tell({}, "elsewhere");
    assert.equal((await ended(loud))[0]!.state, "delivered");
    assert.equal((await ended(approval))[0]!.channel, "backup");
    for (const id of [low, other, foreign]) assert.deepEqual(to("/", id), []);
    const [told] = to("/hook", loud);
    assert.equal(told!.body.data.text, "turned ⟨U+202E⟩ around");
  });

  it("are repeated under the same id where they may have arrived, then go to the next channel", async () => {
    configure([{ name: "all", kinds: ["incident.*"], tell: ["hook", "backup"] }]);
    answers.set("/hook", [0, 503, 0]);
    const id = await tell();
    assert.deepEqual(await ended(id), [
      { channel: "hook", state: "unknown", attempts: 3, code: "unreachable" },
      { channel: "backup", state: "delivered", attempts: 1, code: "status_200" },
    ]);
    const ids = new Set(to("/hook", id).map(({ headers }) => headers["webhook-id"]));
    assert.deepEqual([...ids], [id]);
    answers.set("/hook", [500]);
    const again = await tell();
    assert.deepEqual(await ended(again), [
      { channel: "hook", state: "delivered", attempts: 2, code: "status_200" },
      { channel: "backup", state: "skipped", attempts: 0, code: null },
    ]);
  });

  it("pass webhooks by while the flag pause_webhooks is set", async () => {
    configure([{ name: "all", kinds: ["incident.*"], tell: ["hook"] }]);
    await setFlag(people.store, "pause_webhooks", true);
    const id = await tell();
    const ends = await ended(id).finally(() => setFlag(people.store, "pause_webhooks", false));
    assert.deepEqual(ends, [
      { channel: "hook", state: "not_delivered", attempts: 1, code: "paused" },
    ]);
    assert.deepEqual(to("/hook", id), []);
  });

  it("try the next channel at once where one provably does not take them", async () => {
    configure([{ name: "all", kinds: ["incident.*"], tell: ["keyless", "hook", "backup"] }]);
    answers.set("/hook", [404]);
    assert.deepEqual((await ended(await tell())).map(({ state, code }) => [state, code]), [
      ["not_delivered", "no_credential"],
      ["not_delivered", "status_404"],
      ["delivered", "status_200"],
    ]);
    const file = join(data, "credentials", "hook");
    chmodSync(file, 0o644);
    assert.equal((await ended(await tell()))[1]!.code, "no_credential", "others can read it");
    chmodSync(file, 0o600);
  });

  it("wait for the end of quiet hours, and are left out where somebody has acted meanwhile", async () => {
    const time_zone = new Date().getUTCHours() < 12 ? "Europe/Vienna" : "Pacific/Honolulu";
    const quiet = { from: "00:00", to: "23:59", time_zone }; // which is not its last minute now
    configure([{ name: "calm", kinds: ["incident.*"], tell: ["hook"], quiet }]);
    const [critical, high] = [await tell({ severity: "critical" }), await tell()];
    assert.equal((await ended(critical))[0]!.state, "delivered");
    const [waiting] = await people.eventually(async () => {
      const deliveries = await listDeliveriesOf(people.store.asPlatform(), high);
      return deliveries.length > 0 ? deliveries : undefined;
    });
    assert.equal(waiting!.state, "queued");
    assert.ok(waiting!.waitSeconds > 0 && waiting!.waitSeconds < 86_400);
    assert.deepEqual(to("/hook", high), []);
    await people.loop.client.workflow.getHandle(`notice-${high}`).terminate();
  });

  it("escalate where nobody acts, and not where somebody has", async () => {
    configure();
    const plan = (order: number, channel: string, minutes: number | null, wait = 0) => ({
      rule: "test",
      order,
      channel,
      kind: "webhook" as const,
      notBefore: wait > 0 ? new Date(Date.now() + wait) : null,
      escalatesAfterMinutes: minutes,
    });
    const store = people.store.asPlatform();
    const planned = async (ticketId: string, wait = 0) =>
      await store.transaction(async (trx) => {
        const id = (await addMessage(trx, {
          kind: "incident.opened",
          from: "test",
          subject: "",
          text: "",
          refs: { ticket_id: ticketId },
        }))!;
        const deliveries = [plan(1, "hook", null, wait), plan(2, "backup", 1 / 30, wait)];
        await addPlannedDeliveries(trx, id, deliveries);
        return id;
      });
    const ticket = async (title: string) =>
      (await people.call("POST", "/v1/itsm/tickets", "ann", { title })).body.ticket_id as string;
    const [open, closed, meanwhile] = [
      await ticket("left alone"),
      await ticket("attended to"),
      await ticket("attended to in the night"),
    ];
    for (const id of [closed, meanwhile]) { // before anybody could be told
      await people.call("POST", `/v1/itsm/tickets/${id}/close`, "ann", { resolution: "done" });
    }
    const [alarm, quiet, night] = [
      await planned(open),
      await planned(closed),
      await planned(meanwhile, 2_000),
    ];
    const states = async (id: string) => (await ended(id)).map(({ state }) => state);
    assert.deepEqual(await states(alarm), ["delivered", "delivered"]);
    assert.deepEqual(await states(quiet), ["delivered", "skipped"]);
    assert.deepEqual(await states(night), ["skipped", "skipped"]);
  });

  it("keep what was in force while the file is wrong", async () => {
    configure([{ name: "all", kinds: ["incident.*"], tell: ["hook"] }]);
    await ended(await tell());
    writeFileSync(join(data, "sealoop.comms.yaml"), "platform: { channels: [");
    assert.equal((await ended(await tell()))[0]!.state, "delivered");
    const refused = await send({ channel: "slack", text: "hello" });
    assert.deepEqual([refused.status, refused.body.detail], [
      503,
      "Cannot send: sealoop.comms.yaml has mistakes",
    ]);
    configure();
  });

  it("are refused over channels that the file does not name", async () => {
    const status = async (body: object, who?: string) => (await send(body, who)).status;
    assert.equal(await status({ channel: "email", text: "x" }, "rival"), 503);
    assert.equal(await status({ channel: "slack", text: "x" }, "rival"), 503);
    assert.equal(await status({ channel: "slack", to: "https://evil.example", text: "x" }), 422);
    assert.equal(await status({ channel: "webhook", text: "x" }), 422, "there are two");
    assert.equal(await status({ channel: "feed", text: "x" }, "free"), 403);
    assert.equal(await status({ channel: "slack", to: "chat", text: "x" }, "program"), 202);
    const { body } = await send({ channel: "feed", text: "hello" }, "program");
    assert.deepEqual(body.deliveries, []);
  });
});
