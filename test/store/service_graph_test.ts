import assert from "node:assert/strict";
import { openStore, type Store } from "../../store/mod.ts";
import {
  findPath,
  getImpact,
  getService,
  putServices,
  replaceServices,
  type ServiceEdge,
} from "../../store/cmdb/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import {
  asDistances,
  distancesFrom,
  type Neighbours,
  neighboursOf,
  randomGraph,
  randomOf,
  serviceNamed,
} from "./_graph.ts";
import { asSuperuser } from "../_superuser.ts";

describe("the graph of services", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker");
  });
  after(async () => {
    await store.close();
    await database.drop();
  });
  beforeEach(() => replaceServices(store.asPlatform(), "file", []));

  it("says what a service needs and who needs it, each once at its least distance", async () => {
    await putServices(store.asPlatform(), [
      serviceNamed("shop", ["orders", "database"]),
      serviceNamed("orders", [{ service: "database", kind: "stores_in" }]),
      serviceNamed("database", [{ service: "disk", kind: "hosted_on" }]),
      serviceNamed("disk", [], { type: "volume" }),
    ]);
    const impact = (await getImpact(store.asPlatform(), "database", 4))!;
    assert.deepEqual(impact.upstream, [
      { name: "disk", type: "volume", status: "unknown", distance: 1 },
    ]);
    assert.deepEqual(asDistances(impact.downstream), new Map([["orders", 1], ["shop", 1]]));
    assert.equal(asDistances((await getImpact(store.asPlatform(), "disk", 1))!.downstream).size, 1);
    assert.equal(await getImpact(store.asPlatform(), "disc", 4), undefined);
  });

  it("gives the shortest way with the kinds of its edges, only in their direction", async () => {
    await putServices(store.asPlatform(), [
      serviceNamed("shop", ["cart"]),
      serviceNamed("cart", [{ service: "orders", kind: "connects_to" }]),
      serviceNamed("orders", [{ service: "database", kind: "stores_in" }]),
      serviceNamed("database"),
    ]);
    assert.deepEqual(await findPath(store.asPlatform(), "shop", "database", 3), [
      { source: "shop", target: "cart", kind: "depends_on" },
      { source: "cart", target: "orders", kind: "connects_to" },
      { source: "orders", target: "database", kind: "stores_in" },
    ]);
    assert.equal(await findPath(store.asPlatform(), "shop", "database", 2), undefined);
    assert.equal(await findPath(store.asPlatform(), "database", "shop", 8), undefined);
    assert.equal(await findPath(store.asPlatform(), "shop", "nobody", 8), undefined);
    assert.deepEqual(await findPath(store.asPlatform(), "shop", "shop", 1), []);
  });

  it("keeps a service's status and its dependents when it is written again", async () => {
    const services = [serviceNamed("a", ["b"]), serviceNamed("b")];
    await replaceServices(store.asPlatform(), "file", services);
    await asSuperuser(store).execute(
      "UPDATE services SET status = 'down', failures = 3 WHERE name = 'b'",
    );
    await replaceServices(store.asPlatform(), "file", [
      services[0]!,
      serviceNamed("b", [], { type: "db" }),
    ]);
    const { downstream } = (await getImpact(store.asPlatform(), "b", 1))!;
    assert.deepEqual(downstream.map(({ name }) => name), ["a"]);
    const row = await store.asPlatform().first(
      "SELECT status, failures, type FROM services WHERE name = 'b'",
    );
    assert.deepEqual(row, { status: "down", failures: 3, type: "db" });
    assert.deepEqual((await getService(store.asPlatform(), "a"))!.dependsOn, [
      { service: "b", kind: "depends_on" },
    ]);
  });

  for (const hubs of [false, true]) {
    it(`agrees with a walk in memory over random graphs with cycles${hubs ? " and hubs" : ""}`, async () => {
      const seed = Number(process.env.SEED ?? Date.now() % 1e9);
      const random = randomOf(seed);
      for (let round = 0; round < 8; round++) {
        const size = 5 + Math.floor(random() * 60);
        const graph = randomGraph(random, { services: size, edges: size * 2, hubs });
        await replaceServices(store.asPlatform(), "file", graph);
        const { needs, neededBy } = neighboursOf(graph);
        for (let asked = 0; asked < 12; asked++) {
          const [a, b] = [0, 0].map(() => graph[Math.floor(random() * size)]!.name) as [
            string,
            string,
          ];
          const depth = 1 + Math.floor(random() * 8);
          const says = `SEED=${seed}, round ${round}, ${a} to ${b} within ${depth}`;
          const impact = (await getImpact(store.asPlatform(), a, depth))!;
          assert.deepEqual(
            sorted(asDistances(impact.upstream)),
            sorted(distancesFrom(a, needs, depth)),
            says,
          );
          assert.deepEqual(
            sorted(asDistances(impact.downstream)),
            sorted(distancesFrom(a, neededBy, depth)),
            says,
          );
          const path = await findPath(store.asPlatform(), a, b, depth);
          const length = a === b ? 0 : distancesFrom(a, needs, depth).get(b);
          assert.equal(path?.length, length, says);
          if (path) assert.ok(leads(path, a, b, needs), says);
        }
      }
    });
  }
});

/** Returns whether each edge is one of the graph, and begins where the one before it ended. */
function leads(path: readonly ServiceEdge[], from: string, to: string, needs: Neighbours): boolean {
  const end = path.reduce(
    (at, { source, target }) => source === at && needs.get(at)!.includes(target) ? target : "",
    from,
  );
  return end === to;
}

const sorted = (distances: ReadonlyMap<string, number>) => [...distances].sort();
