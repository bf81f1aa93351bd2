/**
 * How long the graph takes to say what a fault reaches: both sides of an impact at depth 4, and paths of up to 8 edges,
 * among 10,000 services with 50,000 edges, against one recursive query that says the same.
 *
 * In one graph edges are spread evenly; in the other a few services are needed by very many, and those are asked for.
 */
import pg from "pg";
import { findPath, getImpact, openStore, replaceServices, type Store } from "../store/mod.ts";
import { randomGraph, randomOf } from "../test/store/_graph.ts";
import { testDatabase } from "../test/_servers.ts";
import { type Figure, inTurns, type Pair } from "./_figures.ts";

const ROUNDS = 15;
const SIZE = { services: 10_000, edges: 50_000 };
const DEPTH = 4;
const PATH = 8;
/** Asked for one after the other in a round; its figure is their mean. */
const ASKED = 5;
const SEED = 7;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  for (const hubs of [false, true]) {
    const database = await testDatabase();
    const store = openStore(database.urls.app, "app");
    try {
      yield* measure(store, database.superuserUrl, hubs);
    } finally {
      await store.close();
      await database.drop();
    }
  }
}

async function* measure(store: Store, superuserUrl: string, hubs: boolean): AsyncGenerator<Figure> {
  const random = randomOf(SEED);
  const names = randomGraph(random, { ...SIZE, hubs });
  const started = performance.now();
  await store.asPlatform().transaction((trx) => replaceServices(trx, "file", names));
  const filled = (performance.now() - started) / 1000;
  await analyze(superuserUrl);
  const asked = hubs
    ? names.slice(0, ASKED)
    : Array.from({ length: ASKED }, () => names[Math.floor(random() * names.length)]!);
  const mean = async (ask: (name: string, n: number) => Promise<unknown>) => {
    const started = performance.now();
    for (const [n, { name }] of asked.entries()) await ask(name, n);
    return (performance.now() - started) / ASKED;
  };
  const impacts: Pair<() => Promise<number>> = {
    bare: () => mean((name) => recursive(store, name)),
    house: () => mean((name) => getImpact(store.asPlatform(), name, DEPTH)),
  };
  const which = hubs ? "of the most needed" : "of any";
  const baseline = "one recursive query";
  yield {
    what: `impact at depth ${DEPTH} ${which}, ms`,
    ...await inTurns(ROUNDS, impacts),
    ...{ baseline, goal: "< 50 ms" },
  };
  const paths: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    paths.push(
      await mean((name, n) => findPath(store.asPlatform(), names.at(-1 - n)!.name, name, PATH)),
    );
  }
  yield { what: `path of up to ${PATH} edges to ${which.slice(3)}, ms`, house: paths };
  if (!hubs) yield { what: "the whole graph written, s", house: [filled] };
}

/** What autovacuum does within a minute. */
async function analyze(superuserUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: superuserUrl });
  await client.connect();
  await client.query("VACUUM ANALYZE services, service_edges");
  await client.end();
}

/** Both sides at once, each service at its least distance. A cycle ends where the depth does. */
async function recursive(store: Store, name: string): Promise<void> {
  const side = (from: string, to: string) =>
    `SELECT s.name, s.type, s.status, min(r.distance) FROM (
       WITH RECURSIVE r (id, distance) AS (
         SELECT id, 0 FROM services WHERE name = $1
         UNION
         SELECT e.${to}, r.distance + 1 FROM r JOIN service_edges e ON e.${from} = r.id
         WHERE r.distance < $2
       ) SELECT * FROM r
     ) AS r JOIN services s USING (id) GROUP BY s.name`;
  await store.asPlatform().query(
    `${side("source", "target")} UNION ALL ${side("target", "source")}`,
    [name, DEPTH],
  );
}
