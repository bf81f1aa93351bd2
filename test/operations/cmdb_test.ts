import assert from "node:assert/strict";
import { putServices } from "../../store/cmdb/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { startGateway, type TestGateway } from "../api/_gateway.ts";
import { serviceNamed } from "../store/_graph.ts";

const CMDB = "/v1/knowledge-graph/cmdb";

describe("the graph of services over REST", () => {
  let gateway: TestGateway;
  let key: string;
  before(async () => {
    gateway = await startGateway({ settings: { SEALOOP_LIMIT_FREE: "10000" } });
    key = await gateway.key();
    await putServices(asSuperuser(gateway.platform.store), [
      serviceNamed("shop", ["orders"], {
        type: "web",
        owner: "ada",
        host: "app1.internal",
        runbook: "restart-shop",
        check: { http: "http://user:secret@app1.internal:9000/health?token=x" },
      }),
      serviceNamed("orders", [{ service: "orders-db", kind: "stores_in" }]),
      serviceNamed("orders-db", ["orders"], {
        type: "database",
        check: { command: ["/bin/pg", "-pw"] },
      }),
      serviceNamed("mail_100%"),
    ]);
  });
  after(() => gateway.stop());

  // deno-lint-ignore no-explicit-any -- bodies of many shapes
  async function get(path: string, withKey = true): Promise<{ status: number; body: any }> {
    const headers = withKey ? { "x-api-key": key } : undefined;
    const response = await fetch(gateway.url + path, { headers });
    return { status: response.status, body: await response.json() };
  }

  it("has the schema of its file for editors", async () => {
    const { status, body } = await get("/schemas/services.json");
    assert.equal(status, 200);
    assert.ok(body.properties.services.items.properties.depends_on);
  });

  it("counts what it knows", async () => {
    const { status, body } = await get(`${CMDB}/status`);
    assert.equal(status, 200);
    assert.deepEqual([body.services, body.edges, body.unconnected], [4, 3, 1]);
    assert.deepEqual(body.by_kind, { depends_on: 2, stores_in: 1 });
    assert.deepEqual(body.by_type, { web: 1, database: 1, service: 2 });
  });

  it("finds services by name in any case, type and status, best first, and says how many there are", async () => {
    const names = async (query: string) =>
      (await get(`${CMDB}/query?${query}`)).body.services.map(
        ({ name }: { name: string }) => name,
      );
    assert.deepEqual(await names("q=ORDERS"), ["orders", "orders-db"]);
    assert.deepEqual(await names("service_type=Database"), ["orders-db"]);
    assert.deepEqual(await names("status=down"), []);
    assert.deepEqual(await names("q=%25"), ["mail_100%"], "% is no wildcard");
    const { body } = await get(`${CMDB}/query?limit=1`);
    assert.deepEqual([body.total, body.services.length], [4, 1]);
  });

  it("shows callers without a key numbers, and no name but those that they give", async () => {
    const open = (path: string) => get(`${CMDB}${path}`, false).then(({ body }) => body);
    assert.equal((await open("/status")).services, 4);
    assert.deepEqual(await open("/query?q=shop"), { total: 1, services: [], devices: [] });
    assert.equal((await open("/query?q=app1")).total, 0, "hosts are not searched");
    const { downstream } = await open("/impact/orders-db?depth=4");
    assert.deepEqual(downstream, { total: 2, by_distance: [] });
    const way = await open("/path?source=shop&target=orders-db");
    assert.deepEqual([way.found, way.length, way.path, way.edges], [true, 2, [], []]);
    assert.doesNotMatch((await open("/impact/order-db")).detail, /orders-db/);
  });

  it("shows where a service is, whose it is and how it is looked after", async () => {
    const { body: known } = await get(`${CMDB}/query?q=app1`, true);
    assert.equal(known.services[0].host, "app1.internal");
    assert.equal(known.services[0].owner, "ada");
    assert.equal(known.services[0].runbook, "restart-shop");
    assert.equal(known.services[0].health_check.target, "http://app1.internal:9000/health");
    const { body: database } = await get(`${CMDB}/query?q=orders-db`, true);
    assert.equal(database.services[0].health_check.target, "pg");
  });

  it("shows both sides of an impact by distance", async () => {
    const { body } = await get(`${CMDB}/impact/orders-db?depth=4`);
    const levels = (side: { by_distance: { distance: number; services: { name: string }[] }[] }) =>
      side.by_distance.map(({ distance, services }) => [distance, services.map((s) => s.name)]);
    assert.deepEqual(levels(body.upstream), [[1, ["orders"]]]);
    assert.deepEqual(levels(body.downstream), [[1, ["orders"]], [2, ["shop"]]]);
    assert.equal((await get(`${CMDB}/impact/orders-db`)).body.depth, 2);
  });

  it("gives the shortest path, and says where there is none or only the other way round", async () => {
    const { body } = await get(`${CMDB}/path?source=shop&target=orders-db`);
    assert.deepEqual([body.found, body.length, body.path], [true, 2, [
      "shop",
      "orders",
      "orders-db",
    ]]);
    assert.equal(body.edges[1].kind, "stores_in");
    const back = await get(`${CMDB}/path?source=orders-db&target=shop`);
    assert.deepEqual([back.status, back.body.found, back.body.path], [200, false, []]);
    assert.match(back.body.detail, /does not need shop over at most 4 edges; shop needs orders-db/);
    const none = await get(`${CMDB}/path?source=shop&target=mail_100%25&max_depth=8`);
    assert.match(none.body.detail, /over at most 8 edges$/);
  });

  it("answers 404 with near names to a service that is not there", async () => {
    const { status, body } = await get(`${CMDB}/impact/order-db`);
    assert.equal(status, 404);
    assert.match(body.detail, /no service order-db; did you mean orders-db/);
    assert.match(
      (await get(`${CMDB}/path?source=shop&target=zzz`)).body.detail,
      /cmdb\/query lists/,
    );
  });

  for (
    const path of [
      "/query?limit=0",
      "/query?limit=501",
      "/impact/shop?depth=0",
      "/impact/shop?depth=5",
      "/path?source=shop",
      "/path?source=shop&target=orders&max_depth=9",
    ]
  ) {
    it(`refuses ${path} as 422`, async () => {
      assert.equal((await get(CMDB + path)).status, 422);
    });
  }
});
