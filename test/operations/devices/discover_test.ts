import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { People } from "../../api/_people.ts";
import { addMachine, type Machine, openCommandPlatform } from "./_commands.ts";

describe("a discovery by a device", () => {
  let people: People;
  let machine: Machine;
  let server: Server;
  let port: number;
  before(async () => {
    people = await openCommandPlatform();
    machine = await addMachine(people);
    machine.start();
    server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    ({ port } = server.address() as AddressInfo);
  });
  after(async () => {
    server?.close();
    await machine?.stop();
    await people?.stop();
  });

  it("runs once people have approved it, and finds what the device finds", async () => {
    const request = { via_device: machine.id, targets: ["127.0.0.1"], ports: [port] };
    const discover = (who: string) => people.call("POST", "/v1/devices/discover", who, request);
    const held = await discover("program");
    assert.equal(held.status, 202, JSON.stringify(held.body));
    const { status, body } = await discover("ann"); // a person's own decision
    assert.equal(status, 200, JSON.stringify(body));
    const { result } = await people.eventually(async () => {
      const path = `/v1/workflows/${body.workflow_id}/result`;
      const answer = await people.call("GET", path, "ann");
      return answer.body.status === "RUNNING" ? undefined : answer.body;
    });
    const { hosts, scanned, refused, receipt_id } = result;
    assert.deepEqual([scanned, refused], [1, 0]);
    assert.deepEqual(hosts, [{ address: "127.0.0.1", ports: [port], device_id: machine.id }]);
    await people.sealed(receipt_id);
  });

  it("is refused for a device that is not there, and for another tenant's", async () => {
    const request = { via_device: machine.id, targets: ["127.0.0.1"], ports: [port] };
    const rival = await people.call("POST", "/v1/devices/discover", "rival", request);
    assert.equal(rival.status, 404, JSON.stringify(rival.body));
    const other = { ...request, via_device: "DEV-000000000000" };
    assert.equal((await people.call("POST", "/v1/devices/discover", "ann", other)).status, 404);
    const outside = { ...request, targets: ["10.0.0.1"] };
    assert.equal((await people.call("POST", "/v1/devices/discover", "ann", outside)).status, 403);
  });
});
