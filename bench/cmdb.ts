/**
 * The graph of services: an impact at depth 4 to both sides, and paths of up to 8 edges, among 10,000 services with
 * 50,000 edges, against one recursive query with the same result.
 *
 * In one graph the edges are spread evenly; in the other a few services are needed by very many, and those are queried.
 */
import pg from "pg";
import { openStore, type Store } from "../store/mod.ts";
import { findPath, getImpact, replaceServices, type ServiceRecord } from "../store/cmdb/mod.ts";
import { testDatabase } from "../test/_servers.ts";
import { type Random, randomGraph, randomOf } from "../test/store/_graph.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { rounds, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(15);
const SIZE = { services: scaled(10_000), edges: scaled(50_000) };
const IMPACT_DEPTH = 4;
const MAX_PATH_EDGES = 8;
/** Services that are queried one after the other in a round. Its value is their mean. */
const QUERIED = 5;
const SEED = 7;

/** Measures both graphs. */
export async function* run(): AsyncGenerator<Figure> {
  for (const hubs of [false, true]) {
    const database = await testDatabase();
    const store = openStore(database.urls.worker, "worker");
    try {
      yield* measureGraph(store, database.superuserUrl, hubs);
    } finally {
      await store.close();
      await database.drop();
    }
  }
}

async function* measureGraph(
  store: Store,
  superuserUrl: string,
  hubs: boolean,
): AsyncGenerator<Figure> {
  const db = store.asPlatform();
  const random = randomOf(SEED);
  const services = randomGraph(random, { ...SIZE, hubs });
  const writeMs = await timeMs(() =>
    db.transaction((trx) => replaceServices(trx, "file", services))
  );
  await analyze(superuserUrl);
  const queried = selectQueried(services, random, hubs);
  const mean = async (query: (name: string, n: number) => Promise<unknown>) => {
    const ms = await timeMs(async () => {
      for (const [n, name] of queried.entries()) await query(name, n);
    });
    return ms / queried.length;
  };
  const which = hubs ? "most needed services" : "any service";
  const impacts = await measureInTurns(ROUNDS, {
    baseline: () => mean((name) => queryImpact(store, name)),
    platform: () => mean((name) => getImpact(db, name, IMPACT_DEPTH)),
  });
  yield {
    label: `impact at depth ${IMPACT_DEPTH}, ${which}, ms`,
    ...impacts,
    baselineLabel: "one recursive query",
    goal: "< 50 ms",
  };
  const paths: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    paths.push(
      await mean((name, n) => findPath(db, services.at(-1 - n)!.name, name, MAX_PATH_EDGES)),
    );
  }
  yield { label: `path of up to ${MAX_PATH_EDGES} edges, ${which}, ms`, platform: paths };
  if (!hubs) yield { label: "the whole graph written, s", platform: [writeMs / 1000] };
}

/** Returns names of services to query: where there are hubs, those that most others need. */
function selectQueried(
  services: readonly ServiceRecord[],
  random: Random,
  hubs: boolean,
): string[] {
  if (hubs) return services.slice(0, QUERIED).map(({ name }) => name);
  const pick = () => services[Math.floor(random() * services.length)]!.name;
  return Array.from({ length: QUERIED }, pick);
}

/** Does what autovacuum does within a minute. */
async function analyze(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query("VACUUM ANALYZE services, service_edges");
  await client.end();
}

/** Queries both sides at once, each service at its least distance. The depth ends a cycle. */
async function queryImpact(store: Store, name: string): Promise<void> {
  const side = (from: string, to: string) =>
    `SELECT s.name, s.type, s.status, min(r.distance) FROM (
       WITH RECURSIVE r (id, distance) AS (
         SELECT id, 0 FROM services WHERE name = $1
         UNION
         SELECT e.${to}, r.distance + 1 FROM r JOIN service_edges e ON e.${from} = r.id
         WHERE r.distance < $2
       ) SELECT * FROM r
     ) AS r JOIN services s USING (id) GROUP BY s.name, s.type, s.status`;
  await store.asPlatform().query(
    `${side("source", "target")} UNION ALL ${side("target", "source")}`,
    [name, IMPACT_DEPTH],
  );
}
