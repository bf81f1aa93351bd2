import assert from "node:assert/strict";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { listTargets, parseNeighbours, scanAddresses } from "../../integrations/discovery/mod.ts";

const list = (targets: readonly string[], allow: readonly string[] = [], ports = [80]) =>
  listTargets({ targets, ports }, allow);
const named = (name: string) => (error: Error) => error.name === name;

describe("listTargets()", () => {
  it("lists the hosts of networks, each once, without network and broadcast addresses", () => {
    const { addresses } = list(["10.0.0.6/30", "10.0.0.5", "10.0.0.8/31", "10.0.0.11/32"], [
      "10.0.0.0/8",
    ]);
    assert.deepEqual(addresses, ["10.0.0.5", "10.0.0.6", "10.0.0.8", "10.0.0.9", "10.0.0.11"]);
    const six = list(["fd00::fffe/126", "FD00:0::FFFE"], ["fd00::/8"]).addresses;
    assert.deepEqual(six, ["fd00::fffc", "fd00::fffd", "fd00::fffe", "fd00::ffff"]);
    assert.deepEqual(list(["::1"]).addresses, ["::1"]);
  });

  it("allows loopback alone where no network is named", () => {
    assert.deepEqual(list(["127.0.0.1", "10.0.0.1", "8.8.8.8", "0.0.0.0"]), {
      addresses: ["127.0.0.1"],
      refused: 3,
    });
    for (const target of ["10.0.0.1", "0.0.0.0", "169.254.169.254", "8.8.8.8", "fe80::1", "::"]) {
      assert.throws(() => list([target]), named("Forbidden"), target);
    }
  });

  it("takes an address of version 4 that is written as version 6 for what it is", () => {
    assert.throws(() => list(["::ffff:10.0.0.1"]), named("Forbidden"));
    assert.deepEqual(list(["::ffff:127.0.0.1"]).addresses, ["127.0.0.1"]);
    assert.deepEqual(list(["::ffff:10.0.0.1"], ["10.0.0.0/8"]).addresses, ["10.0.0.1"]);
  });

  it("refuses names, and what is no network", () => {
    for (
      const target of ["localhost", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "1/2/3", "127.1", ""]
    ) {
      assert.throws(() => list([target]), named("InvalidInput"), target);
    }
  });

  it("refuses too many addresses, and too many ports for them", () => {
    assert.throws(() => list(["127.0.0.0/8"]), named("InvalidInput"));
    assert.throws(() => list(["::/0"]), named("InvalidInput"));
    assert.throws(() => list(["127.0.0.0/22", "127.1.0.0/22"]), named("InvalidInput"));
    assert.equal(list(["127.0.0.0/22"]).addresses.length, 1_022);
    const ports = Array.from({ length: 9 }, (_, n) => n + 1);
    assert.throws(() => list(["127.0.0.0/22"], [], ports), named("InvalidInput"));
  });
});

describe("scanAddresses()", () => {
  let server: Server;
  let port: number;
  before(async () => {
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  after(() => server.close());

  it("finds the ports that accept connections, and neighbours without any", async () => {
    const signal = new AbortController().signal;
    const addresses = ["127.0.0.1", "127.0.0.2", "127.0.0.3"];
    const hosts = await scanAddresses(addresses, [port, 1], signal, new Set(["127.0.0.3"]));
    assert.deepEqual(hosts, [
      { address: "127.0.0.1", ports: [port] },
      { address: "127.0.0.3", ports: [] },
    ]);
  });

  it("ends when it is told to", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await assert.rejects(scanAddresses(["127.0.0.1"], [1], signal), /enough/);
  });
});

describe("parseNeighbours()", () => {
  it("takes those whose hardware address is known", () => {
    const table = `IP address       HW type     Flags       HW address            Mask     Device
10.0.0.1         0x1         0x2         02:42:ac:11:00:01     *        eth0
10.0.0.2         0x1         0x0         00:00:00:00:00:00     *        eth0
`;
    assert.deepEqual([...parseNeighbours(table)], ["10.0.0.1"]);
  });
});
