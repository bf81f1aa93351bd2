import assert from "node:assert/strict";
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation, type Operation } from "../../contract/mod.ts";
import { openSealer } from "../../ledger/mod.ts";
import { openStore } from "../../store/mod.ts";
import { openConnection } from "../runtime/web/_socket.ts";
import { describedGateway } from "./_described_gateway.ts";
import { startGateway } from "./_gateway.ts";

/** Fails with an unexpected error. */
const failing = defineOperation<Platform>()({
  name: "test.fail",
  group: "test",
  summary: "Fail",
  effect: "read",
  access: "public",
  input: z.object({ word: z.string().optional().describe("Any word") }),
  output: z.object({}),
  rest: { test_fail: "GET /v1/test/fail" },
  example: { input: {}, output: {} },
  run: () => Promise.reject(new Error("password in SELECT at /home/somebody")),
});

describe("the gateway", () => {
  const described = describedGateway([failing]);
  const call: typeof described.call = (path, request = {}) =>
    described.call(path, { key: described.partner, ...request });

  describe("on receipts", () => {
    before(async () => {
      const store = openStore(described.gateway.urls.gateway, "gateway");
      const sealer = await openSealer(store);
      for (const id of ["twinned-1", "twinned-2"]) {
        await sealer.request({
          id,
          category: "test",
          actor: "a",
          subject: "s",
          action: "x",
          outcome: "ok",
        });
        await sealer.sealed(id);
      }
      await sealer.close();
      await store.close();
    });

    it("answers 404 with the id that was not found", async () => {
      const { status, body } = await call("/v1/receipt/0123456789abcdef");
      assert.deepEqual([status, body.receipt_id], [404, "0123456789abcdef"]);
      assert.equal(typeof body.error, "string");
    });

    it("answers 409 with the matches of an ambiguous prefix", async () => {
      const { status, body } = await call("/v1/receipt/TWINNED-");
      assert.equal(status, 409);
      assert.deepEqual([body.receipt_id, body.matches], ["TWINNED-", ["twinned-1", "twinned-2"]]);
    });

    it("finds a receipt by its whole id in any case, and answers HEAD without it", async () => {
      const path = "/v1/receipt/Twinned-1";
      const { status, text } = await call(path);
      assert.equal(status, 200);
      const head = await fetch(described.gateway.url + path, {
        method: "HEAD",
        headers: { "x-api-key": described.partner },
      });
      assert.equal(head.headers.get("content-length"), String(Buffer.byteLength(text)));
      assert.equal(await head.text(), "");
    });
  });

  it("reveals nothing of an unexpected error", async () => {
    const { status, body } = await call("/v1/test/fail?word=hunter1");
    assert.equal(status, 500);
    assert.deepEqual(body, {
      detail: "The service failed to do this; the request id is in x-request-id",
    });
  });

  it("logs no key, no query and no body, also of failed calls", async () => {
    const body = { title: "hunter2", severity: "grave" };
    await call("/v1/itsm/tickets?secret=hunter3", { body });
    await call("/v1/itsm/tickets", { key: `${described.partner}hunter4`, body });
    const log = described.gateway.log();
    assert.match(log, /"route":"\/v1\/itsm\/tickets"/);
    assert.doesNotMatch(log, /hunter/);
    assert.ok(!log.includes(described.partner));
  });

  it("answers running calls when it stops, and then accepts no connection", async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => finish = resolve);
    let begin = () => {};
    const begun = new Promise<void>((resolve) => begin = resolve);
    const slow: Operation<Platform> = {
      ...failing,
      name: "test.wait",
      summary: "Wait",
      rest: { test_wait: "GET /v1/test/wait" },
      async run() {
        begin();
        await finished;
        return {};
      },
    };
    const stopping = await startGateway({ extra: [slow] });
    const connection = await openConnection(stopping.port);
    connection.write("GET /v1/test/wait HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await begun;
    const drained = stopping.drain();
    finish();
    const answer = await connection.answer();
    assert.equal(answer.status, 200);
    await Promise.all([drained, connection.ended]);
    await assert.rejects(openConnection(stopping.port), /ECONNREFUSED/);
    await stopping.stop();
  });
});
