import assert from "node:assert/strict";
import { MAX_BODY } from "../../../runtime/web/mod.ts";
import { eventually } from "../../_time.ts";
import { detailOf, testServer } from "./_server.ts";
import { openConnection } from "./_socket.ts";

const SECRET = "slp_admin_secretsecretsecret";

describe("a web server's requests and answers", () => {
  const server = testServer();
  const { get, post, raw } = server;

  describe("reading a body", () => {
    it("accepts JSON of the maximum size, and not one byte more", async () => {
      const largest = JSON.stringify({ a: "x".repeat(MAX_BODY - 8) });
      assert.equal(Buffer.byteLength(largest), MAX_BODY);
      assert.equal((await post(largest)).status, 200);
      const refused = await post(`${largest} `);
      assert.equal(refused.status, 413);
      assert.equal(refused.headers.connection, "close");
      assert.equal(
        detailOf(refused),
        `The body is too large; at most ${MAX_BODY} bytes are accepted`,
      );
    });

    it("refuses a body of too large a declared length before it is sent", async () => {
      const head = `POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n`;
      const answer = await raw(
        `${head}content-length: ${MAX_BODY + 1}\r\nexpect: 100-continue\r\n\r\n`,
      );
      assert.equal(answer.status, 413);
    });

    it("refuses a body without a declared length once it is too large", async () => {
      const connection = await openConnection(server.port);
      connection.write(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n" +
          "transfer-encoding: chunked\r\n\r\n",
      );
      const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
      for (let sent = 0; sent <= MAX_BODY; sent += 0x10000) connection.write(chunk);
      assert.equal((await connection.answer()).status, 413);
      connection.close();
    });

    for (
      const [what, headers] of Object.entries({
        "of another type": "content-type: text/plain\r\n",
        "of no type": "",
        "in another character set": "content-type: application/json; charset=latin1\r\n",
        "that is compressed": "content-type: application/json\r\ncontent-encoding: gzip\r\n",
      })
    ) {
      it(`refuses a body ${what}`, async () => {
        const answer = await post("{}", headers);
        assert.equal(answer.status, 415);
        assert.equal(typeof detailOf(answer), "string");
      });
    }

    for (
      const [what, body, offset] of [
        ["that ends too early", '{"a":', 5],
        ["with a name twice", '{"a":1,"a":2}', 7],
        ["with something after it", "{} {}", 3],
        ["with a comment", "{/**/}", 1],
        ["with __proto__", '{"__proto__":{}}', 1],
        ["that nests too deep", "[".repeat(101), 100],
      ] as const
    ) {
      it(`names the offset of the fault in JSON ${what}`, async () => {
        const answer = await post(body);
        assert.equal(answer.status, 422);
        const [{ loc, type }] = detailOf(answer);
        assert.deepEqual([loc, type], [["body", offset], "json_invalid"]);
      });
    }

    it("ends a request whose client has left before its body is read", async () => {
      const connection = await openConnection(server.port);
      const headers = "host: localhost\r\ncontent-type: application/json\r\ncontent-length: 5\r\n";
      connection.write(`POST /late HTTP/1.1\r\n${headers}\r\n{`);
      await server.slowRequest();
      connection.close();
      await eventually(() => Promise.resolve(server.log().includes('"route":"/late"')));
    });

    it("refuses a body that is not UTF-8", async () => {
      const connection = await openConnection(server.port);
      connection.write(
        "POST /echo HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 3\r\n\r\n",
      );
      connection.write(Uint8Array.of(0x22, 0xff, 0x22));
      const answer = await connection.answer();
      assert.equal(answer.status, 422);
      connection.close();
    });
  });

  describe("answering", () => {
    it("echoes a valid request id, and replaces an invalid one", async () => {
      assert.equal(
        (await get("/address", "x-request-id: a.b-c_1\r\n")).headers["x-request-id"],
        "a.b-c_1",
      );
      for (const bad of ["a b", "x".repeat(129), "<script>", "a,b", ""]) {
        const { headers } = await get("/address", `x-request-id: ${bad}\r\n`);
        assert.match(headers["x-request-id"] ?? "", /^[0-9a-f-]{36}$/, bad);
      }
    });

    it("sends a request id and safe headers with errors, too", async () => {
      for (const path of ["/nothing", "/fails"]) {
        const { headers } = await get(path);
        assert.ok(headers["x-request-id"]);
        assert.equal(headers["x-content-type-options"], "nosniff");
        assert.equal(headers["x-frame-options"], "DENY");
        assert.match(headers["content-type"] ?? "", /^application\/json/);
      }
    });

    it("answers 404 to an unknown path, and 405 with `Allow` to an unknown method", async () => {
      const unknown = await get("/nothing");
      assert.deepEqual([unknown.status, detailOf(unknown)], [
        404,
        "There is nothing at GET /nothing",
      ]);
      const wrong = await get("/echo");
      assert.deepEqual([wrong.status, wrong.headers.allow], [405, "POST"]);
      assert.equal(detailOf(wrong), "Cannot GET /echo: it accepts POST");
      const other = await raw("PROPFIND /address HTTP/1.1\r\nhost: localhost\r\n\r\n");
      assert.ok([405, 501].includes(other.status));
    });

    it("answers HEAD like GET, without the body", async () => {
      const [whole, head] = [
        await get("/address"),
        await raw("HEAD /address HTTP/1.1\r\nhost: localhost\r\n\r\n"),
      ];
      assert.deepEqual([head.status, head.body], [200, ""]);
      assert.equal(head.headers["content-length"], whole.headers["content-length"]);
    });

    it("logs what is not ready yet as a warning, without a stack", async () => {
      assert.equal((await get("/soon")).status, 503);
      const line = server.log().split("\n").find((text) => text.includes("not ready yet"))!;
      const { level, err } = JSON.parse(line);
      assert.deepEqual([level, err], ["warn", undefined]);
    });

    it("reveals nothing of an unexpected error, which the log has in full", async () => {
      const answer = await get("/fails", "x-request-id: failing\r\n");
      assert.equal(answer.status, 500);
      assert.doesNotMatch(JSON.stringify(answer), /SELECT|somebody|\.ts/);
      const line = server.log().split("\n").find((text) => text.includes('"error"'))!;
      assert.equal(JSON.parse(line).request_id, "failing");
      assert.match(line, /SELECT secret/);
    });

    it("logs a request in one line, without key, query or body", async () => {
      const body = JSON.stringify({ password: "hunter2" });
      await post(
        body,
        `content-type: application/json\r\nx-api-key: ${SECRET}\r\n`,
        "/echo?token=hunter3",
      );
      await post(
        `${body}!`,
        `content-type: application/json\r\nauthorization: Bearer ${SECRET}\r\n`,
      );
      const lines = server.log().trim().split("\n").map((line) => JSON.parse(line));
      assert.deepEqual(lines.map(({ route, status }) => [route, status]), [["/echo", 200], [
        "/echo",
        422,
      ]]);
      assert.doesNotMatch(server.log(), /hunter|secretsecret/);
    });
  });

  describe("behind proxies", () => {
    for (
      const [hops, forwarded, address] of [
        [0, "203.0.113.7", "127.0.0.1"],
        [1, "203.0.113.7", "203.0.113.7"],
        [1, "198.51.100.1, 203.0.113.7", "203.0.113.7"],
        [2, "198.51.100.1, 203.0.113.7, 10.0.0.1", "203.0.113.7"],
        [3, "203.0.113.7, 10.0.0.1", "203.0.113.7"],
        [1, "nonsense", "127.0.0.1"],
        [1, "", "127.0.0.1"],
        [1, "[2001:db8:1:2:3:4:5:6]:4711", "2001:db8:1:2::/64"],
        [1, "203.0.113.7:4711", "203.0.113.7"],
      ] as const
    ) {
      it(`reads ${address} from "${forwarded}" with ${hops} trusted`, async () => {
        const { port } = await server.start({ SEALOOP_TRUSTED_HOPS: String(hops) });
        const answer = await get("/address", `x-forwarded-for: ${forwarded}\r\n`, port);
        assert.deepEqual(JSON.parse(answer.body), { address });
      });
    }
  });
});
