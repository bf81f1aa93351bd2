import assert from "node:assert/strict";
import type { LookupAddress } from "node:dns";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  BadNetwork,
  type HttpClient,
  openHttpClient,
  type OutboundFailed,
  type OutboundRefused,
  parseNetworks,
} from "../../../integrations/http/mod.ts";

/** Long enough for a busy machine. */
const TIMEOUT_MS = 60_000;
const GET = { method: "GET", timeoutMs: TIMEOUT_MS } as const;
const LOOPBACK = ["127.0.0.0/8", "::1/128"];

/** Spellings of addresses that must not be reached. */
const HOSTILE = [
  "127.0.0.1",
  "127.1",
  "0",
  "0.0.0.0",
  "2130706433",
  "0x7f000001",
  "0177.0.0.1",
  "127.0.0.1.",
  "localhost",
  "sub.localhost",
  "LOCALHOST.",
  "10.0.0.1",
  "172.16.5.4",
  "192.168.1.1",
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "100.100.100.200",
  "255.255.255.255",
  "224.0.0.1",
  "[::1]",
  "[::]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::ffff:a9fe:a9fe]",
  "[::127.0.0.1]",
  "[64:ff9b::7f00:1]",
  "[2002:7f00:1::]",
  "[2001:0:7f00:1::]",
  "[fe80::1]",
  "[fc00::1]",
  "[fd00:ec2::254]",
  "[ff02::1]",
  "①②⑦.0.0.1",
  "127。0。0。1",
];

describe("openHttpClient()", () => {
  let server: Server;
  let port: number;
  let requests = 0;
  let respond: (req: IncomingMessage, res: ServerResponse) => void = (_, res) => res.end("hello");
  before(async () => {
    server = createServer((req, res) => {
      requests++;
      respond(req, res);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    requests = 0;
    respond = (_, res) => res.end("hello");
  });

  const refusal = async (client: HttpClient, url: string): Promise<string> => {
    const error = await client.request(url, { method: "POST", body: "x", timeoutMs: TIMEOUT_MS })
      .then(
        () => assert.fail(`${url} was reached`),
        (error: OutboundRefused) => error,
      );
    assert.equal(error.name, "OutboundRefused", `${url}: ${error.name} ${error.message}`);
    return error.code;
  };
  const failure = async (
    client: HttpClient,
    request: { timeoutMs?: number; maxBytes?: number } = {},
  ) =>
    await client.request(`http://127.0.0.1:${port}/`, { ...GET, ...request }).then(
      () => assert.fail("It did not fail"),
      (error: OutboundFailed) => [error.name, error.code],
    );
  const named = (...addresses: string[]) => () =>
    Promise.resolve(
      addresses.map((address): LookupAddress => ({
        address,
        family: address.includes(":") ? 6 : 4,
      })),
    );

  for (const host of HOSTILE) {
    it(`does not connect to ${host}`, async () => {
      const client = openHttpClient();
      for (const scheme of ["http", "https"]) {
        assert.equal(await refusal(client, `${scheme}://${host}:${port}/`), "address");
      }
      assert.equal(requests, 0);
    });
  }

  it("does not connect to a name that resolves to an address inside, even beside one outside", async () => {
    for (
      const inside of [
        "127.0.0.1",
        "10.1.2.3",
        "::ffff:10.1.2.3",
        "fe80::1%eth0",
        "169.254.169.254",
      ]
    ) {
      for (const addresses of [[inside], ["93.184.216.34", inside]]) {
        const client = openHttpClient({ resolver: named(...addresses) });
        assert.equal(await refusal(client, `https://rebind.example:${port}/`), "address");
      }
    }
    assert.equal(requests, 0);
  });

  it("resolves a name once, and connects to the address that was checked", async () => {
    let times = 0;
    const resolver = () => {
      times++;
      return Promise.resolve([{ address: times === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }]);
    };
    const client = openHttpClient({ allow: ["127.0.0.1"], resolver });
    const { status, body } = await client.request(`http://some.example:${port}/`, GET);
    assert.deepEqual([status, body.toString(), times, requests], [200, "hello", 1, 1]);
  });

  it("reaches allowed networks by plain HTTP too, and others by https alone", async () => {
    const client = openHttpClient({ allow: LOOPBACK });
    assert.equal(
      (await client.request(`http://127.0.0.1:${port}/`, GET)).status,
      200,
    );
    assert.equal(
      (await client.request(`http://2130706433:${port}/`, GET)).status,
      200,
    );
    const outside = openHttpClient({ resolver: named("93.184.216.34") });
    assert.equal(await refusal(outside, "http://public.example/"), "plain_http");
    assert.equal(await refusal(client, "http://10.0.0.1/"), "address");
  });

  it("reaches allowed hosts, whatever their address, and no others in their network", async () => {
    const client = openHttpClient({ allowHosts: ["Shop.example"], resolver: named("127.0.0.1") });
    const url = `http://shop.example:${port}/`;
    assert.equal((await client.request(url, GET)).status, 200);
    assert.equal(await refusal(client, `https://other.example:${port}/`), "address");
    assert.equal(await refusal(client, `http://127.0.0.1:${port}/`), "address");
    const byAddress = openHttpClient({ allowHosts: ["127.0.0.1", "::1"] });
    const { status } = await byAddress.request(`http://127.0.0.1:${port}/`, GET);
    assert.equal(status, 200);
    assert.equal(byAddress.check(`http://[::1]:${port}/`).hostname, "[::1]");
  });

  it("ignores the body where only the status is wanted", async () => {
    respond = (_, res) => res.end(Buffer.alloc(2 ** 20));
    const client = openHttpClient({ allow: LOOPBACK });
    const request = { ...GET, ignoreBody: true } as const;
    const { status, body } = await client.request(`http://127.0.0.1:${port}/`, request);
    assert.deepEqual([status, body.length], [200, 0]);
  });

  it("does not follow redirects", async () => {
    respond = (_, res) => res.writeHead(302, { location: "http://169.254.169.254/" }).end();
    const client = openHttpClient({ allow: LOOPBACK });
    const { status, headers } = await client.request(`http://127.0.0.1:${port}/`, GET);
    assert.deepEqual([status, headers.location, requests], [302, "http://169.254.169.254/", 1]);
  });

  it("refuses URLs of other schemes, and with a password", async () => {
    const client = openHttpClient({ allow: LOOPBACK });
    assert.equal(await refusal(client, "file:///etc/passwd"), "scheme");
    assert.equal(await refusal(client, `gopher://127.0.0.1:${port}/`), "scheme");
    assert.equal(await refusal(client, `http://user:pass@127.0.0.1:${port}/`), "credentials");
    assert.equal(await refusal(client, "nothing"), "url");
  });

  it("limits the time and the size of a response", async () => {
    const client = openHttpClient({ allow: LOOPBACK });
    respond = () => {};
    assert.deepEqual(await failure(client, { timeoutMs: 100 }), ["OutboundFailed", "timeout"]);
    respond = (_, res) => {
      res.write("x");
      const more = setInterval(() => res.write("x"), 20); // a byte now and then does not extend the time
      res.once("close", () => clearInterval(more));
    };
    assert.deepEqual(await failure(client, { timeoutMs: 200 }), ["OutboundFailed", "timeout"]);
    respond = (_, res) => res.end(Buffer.alloc(2_000));
    assert.deepEqual(await failure(client, { maxBytes: 1_000 }), ["OutboundFailed", "too_large"]);
    respond = (req) => req.socket.destroy();
    assert.deepEqual(await failure(client), ["OutboundFailed", "unreachable"]);
    respond = (req) => req.socket.end("nonsense\r\n\r\n");
    assert.deepEqual(await failure(client), ["OutboundFailed", "protocol"]);
  });
});

describe("parseNetworks()", () => {
  it("tells public addresses from others", () => {
    const rules = parseNetworks(["10.1.0.0/16", "fd00::/8"]);
    for (const address of ["8.8.8.8", "93.184.216.34", "2606:2800:220:1::1", "::ffff:8.8.8.8"]) {
      assert.equal(rules.classify(address), "public", address);
    }
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "fd12::1%eth0"]) {
      assert.equal(rules.classify(address), "allowed", address);
    }
    for (const address of ["10.2.0.1", "fe80::1", "", "localhost", "1.2.3", "64:ff9b::808:808"]) {
      assert.equal(rules.classify(address), "refused", address);
    }
  });

  it("refuses a text that is no network", () => {
    for (
      const network of ["10.0.0.0/33", "10.0.0/8", "x", "", "10.0.0.0/8/8", "::/129", "10.0.0.0/"]
    ) {
      assert.throws(() => parseNetworks([network]), BadNetwork, network);
    }
  });
});
