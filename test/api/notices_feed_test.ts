import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { EventSource } from "eventsource";
import { revokeSealedKey } from "../../calls/mod.ts";
import { addMessage, type NewMessage } from "../../store/notices/mod.ts";
import { storeAs } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";
import { eventually } from "../_time.ts";
import { startGateway, type TestGateway } from "./_gateway.ts";

// deno-lint-ignore no-explicit-any -- the tests look into it
type Json = any;

const LIMIT = 3;

describe("the feed over REST", () => {
  let gateway: TestGateway;
  let key: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_STREAMS: String(LIMIT) } });
    key = await gateway.key({ tenant: "acme" });
  });
  after(() => gateway?.stop());

  const add = (text: string, more: Partial<NewMessage> = {}, tenant = "acme") =>
    addMessage(gateway.platform.store.asTenant(tenant), {
      kind: "said",
      from: "ana",
      subject: "",
      text,
      ...more,
    });
  const list = async (query: string, by = key) => {
    const headers = { "x-api-key": by };
    const response = await fetch(`${gateway.url}/v1/comms?${query}`, { headers });
    return { status: response.status, body: await response.json() as Json };
  };
  /** Opens a stream with a client that people use. */
  function open(from?: number, by = key) {
    const query = from === undefined ? "" : `?last_event_id=${from}`;
    const source = new EventSource(`${gateway.url}/v1/comms/stream${query}`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, "x-api-key": by } } as RequestInit),
    });
    const texts: string[] = [];
    const ids: string[] = [];
    source.addEventListener("message", ({ data, lastEventId }) => {
      texts.push(JSON.parse(data).text);
      ids.push(lastEventId);
    });
    const opened = new Promise<number>((resolve, reject) => {
      source.addEventListener("position", ({ data }) => resolve(JSON.parse(data).position));
      source.addEventListener("error", ({ code }) => reject(new Error(`status ${code}`)));
    });
    opened.catch(() => {});
    return { source, texts, ids, opened, close: () => source.close() };
  }

  it("lists messages newest first, with a cursor, to their tenant alone", async () => {
    for (const text of ["one", "two", "three"]) await add(text, {}, "pages");
    const reader = await gateway.key({ tenant: "pages" });
    const first = (await list("limit=2", reader)).body;
    assert.deepEqual(first.messages.map(({ text }: Json) => text), ["three", "two"]);
    assert.equal(first.total, 3);
    const rest = (await list(`limit=2&cursor=${first.cursor}`, reader)).body;
    assert.deepEqual(rest.messages.map(({ text }: Json) => text), ["one"]);
    assert.equal(rest.cursor, null);
    assert.deepEqual(Object.keys(rest.messages[0]).slice(0, 8), [
      "id",
      "at",
      "channel",
      "kind",
      "from",
      "subject",
      "text",
      "refs",
    ]);
    assert.equal((await list("", await gateway.key({ tenant: "others" }))).body.total, 0);
    assert.equal((await list("kind=gossip", reader)).status, 422);
    assert.equal((await fetch(`${gateway.url}/v1/comms`)).status, 401);
    assert.equal((await fetch(`${gateway.url}/v1/comms/stream`)).status, 401);
  });

  it("lists and streams what came since a message or a time", async () => {
    const reader = await gateway.key({ tenant: "since" });
    for (const text of ["one", "two"]) await add(text, {}, "since");
    const two = (await list("", reader)).body.messages[0];
    await sleep(5); // the next one is written in another millisecond
    await add("three", {}, "since");
    const [three] = (await list("", reader)).body.messages;
    const textsSince = async (since: string) => {
      const { status, body } = await list(`since=${encodeURIComponent(since)}`, reader);
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.total, body.messages.length);
      return body.messages.map(({ text }: Json) => text);
    };
    assert.deepEqual(await textsSince(two.id), ["three"]);
    assert.deepEqual(await textsSince(three.id), []);
    assert.deepEqual(await textsSince(three.at), ["three"]);
    assert.deepEqual(await textsSince("2020-01-01T00:00:00+01:00"), ["three", "two", "one"]);
    assert.deepEqual(await textsSince("2190-01-01T00:00:00Z"), []);
    for (const since of [two.id, three.at]) {
      const source = await fetch(`${gateway.url}/v1/comms/stream?since=${since}`, {
        headers: { "x-api-key": reader },
      });
      const reading = source.body!.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      while (!text.includes('"three"')) text += (await reading.read()).value ?? "";
      assert.ok(!text.includes('"two"'), text);
      await reading.cancel();
    }
    const foreign = (await list("", await gateway.key({ tenant: "pages" }))).body.messages[0].id;
    for (const since of [foreign, "MSG-000000000000", "yesterday", "2026-07-01", "0", ""]) {
      const { status, body } = await list(`since=${since}`, reader);
      assert.equal(status, 422, since);
      assert.match(JSON.stringify(body), /since/);
    }
  });

  it("gives up to 100 messages unless asked for more, and up to 1,000", async () => {
    const reader = await gateway.key({ tenant: "many" });
    const db = gateway.platform.store.asTenant("many");
    await db.transaction(async (trx) => {
      for (let n = 0; n < 101; n++) await addMessage(trx, { ...said(n) });
    });
    assert.equal((await list("", reader)).body.messages.length, 100);
    assert.equal((await list("limit=1000", reader)).body.messages.length, 101);
    for (const limit of ["0", "1001", "-1", "1.5"]) {
      assert.equal((await list(`limit=${limit}`, reader)).status, 422, limit);
    }
  });

  it("streams what comes, to its tenant alone", async () => {
    const [stream, other] = [open(), open(undefined, await gateway.key({ tenant: "other" }))];
    await Promise.all([stream.opened, other.opened]);
    await add("hello");
    await eventually(() => Promise.resolve(stream.texts.includes("hello") || undefined));
    await sleep(50);
    assert.deepEqual(other.texts, []);
    stream.close();
    other.close();
  });

  it("begins where the client says, and resumes after the last event", async () => {
    const db = gateway.platform.store.asTenant("resumes");
    const by = await gateway.key({ tenant: "resumes" });
    for (let n = 1; n <= 120; n++) await addMessage(db, { ...said(n) });
    const stream = open(0, by);
    await eventually(() => Promise.resolve(stream.ids.length === 120 || undefined));
    assert.deepEqual(stream.ids, Array.from({ length: 120 }, (_, n) => String(n + 1)));
    stream.close();
    const headers = { "x-api-key": by, "last-event-id": "118" };
    const abort = new AbortController();
    const { body } = await fetch(`${gateway.url}/v1/comms/stream?last_event_id=0`, {
      headers,
      signal: abort.signal,
    });
    let text = "";
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      if ((text += chunk).includes("id: 120")) break;
    }
    assert.deepEqual([...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => id), [
      "118",
      "119",
      "120",
    ]);
    const ahead = open(1_000_000, by); // of a database that was restored since
    assert.equal(await ahead.opened, 120);
    ahead.close();
  });
  const said = (n: number): NewMessage => ({
    kind: "said",
    from: "ana",
    subject: "",
    text: String(n),
  });

  it("bounds the streams of a key, and frees their places", async () => {
    const by = await gateway.key({ tenant: "acme" }); // of which no earlier stream may be open still
    const streams = Array.from({ length: LIMIT }, () => open(undefined, by));
    await Promise.all(streams.map(({ opened }) => opened));
    await assert.rejects(open(undefined, by).opened, /status 429/);
    const other = open(undefined, await gateway.key({ tenant: "acme" }));
    await other.opened;
    for (const stream of [...streams, other]) stream.close();
    await eventually(async () => {
      const again = open(undefined, by);
      return await again.opened.then(() => true, () => undefined).finally(again.close);
    });
  });

  it("ends when the key is revoked", async () => {
    const { key: own, record } = await giveKey(gateway.platform.store, { tenant: "acme" });
    const stream = open(undefined, own);
    await stream.opened;
    const store = await storeAs(gateway.platform.store, "operator");
    await revokeSealedKey({ store: store.forTenant("acme") }, "test", record.id);
    await eventually(() => Promise.resolve(stream.source.readyState === 2 || undefined));
    assert.deepEqual(stream.texts, []);
  });

  it("neither loses messages of a slow reader nor keeps them in memory", async () => {
    const db = gateway.platform.store.asTenant("slow");
    const by = await gateway.key({ tenant: "slow" });
    const [count, text] = [2_000, "x".repeat(20_000)]; // 40 MB
    await db.transaction(async (trx) => {
      for (let n = 0; n < count; n++) await addMessage(trx, { ...said(n), text });
    });
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const socket: Socket = connect(gateway.port, "127.0.0.1");
    socket.write(
      `GET /v1/comms/stream?last_event_id=0 HTTP/1.1\r\nhost: localhost\r\nx-api-key: ${by}\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once("readable", resolve)); // and read nothing
    await sleep(1_000);
    const grown = process.memoryUsage().rss - before;
    assert.ok(grown < 30_000_000, `${grown} bytes`);
    await addMessage(db, said(count));
    let [seen, tail] = [0, ""];
    for await (const chunk of socket) {
      const text = tail + chunk;
      const ids = [...text.matchAll(/^id: (\d+)\n/gm)];
      for (const [, id] of ids) {
        if (Number(id) === 0) continue;
        assert.equal(Number(id), seen + 1);
        seen++;
      }
      tail = text.slice(text.lastIndexOf("\n") + 1);
      if (seen === count + 1) break;
    }
    socket.destroy();
  });
});
