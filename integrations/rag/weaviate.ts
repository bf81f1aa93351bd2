import { createHash } from "node:crypto";
import { z } from "zod";
import type { Config } from "../../config.ts";
import { findCredential } from "../channels/mod.ts";
import { openRemoteClient, type RemoteClient } from "../remote/mod.ts";
import { RemoteFailed } from "../remote/mod.ts";

/** A collection of documents. */
interface RagCollection {
  readonly name: string;
  readonly documents: number;
}

/** A document that fits a question. */
interface RagPassage {
  readonly id: string;
  readonly text: string;
  readonly score: number;
  readonly sha256: string;
}

/** A Weaviate of the operator's. It is only read. */
export interface RagClient {
  /** Returns the number of its documents, by collection. @throws {RemoteFailed} */
  listCollections(): Promise<RagCollection[]>;
  /** Finds the documents of its collection that fit a question best, by BM25. @throws {RemoteFailed} */
  search(question: string): Promise<RagPassage[]>;
  /** As a client's. */
  pause(): string | undefined;
}

const SYSTEM = "Weaviate";
const MAX_PASSAGES = 8;
const MAX_COLLECTIONS = 50;

const Name = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,200}$/); // these stand in queries as they are
const Class = z.object({
  class: Name,
  properties: z.array(z.object({ name: Name, dataType: z.array(z.string()) })).nullish(),
});
const Schema = z.object({ classes: z.array(Class).nullable() });
const Document = z.looseObject({
  _additional: z.object({ id: z.string().max(100), score: z.coerce.number().catch(0) }),
});
const Result = z.object({
  data: z.record(z.string(), z.record(z.string(), z.unknown()).nullish()).nullish(),
  errors: z.array(z.unknown()).nullish(),
});
const Counts = z.tuple([z.object({ meta: z.object({ count: z.number().int().min(0) }) })]);

/** Opens the client of a Weaviate, if its URL is set. @see https://docs.weaviate.io/weaviate/api */
export function openWeaviate(config: Config): RagClient | undefined {
  const { SEALOOP_WEAVIATE_URL: url, SEALOOP_WEAVIATE_COLLECTION: collection } = config.settings;
  if (url === undefined) return undefined;
  const client = openRemoteClient({
    system: SYSTEM,
    url,
    credential(): Record<string, string> {
      const token = findCredential(config, "weaviate");
      return token === undefined ? {} : { authorization: `Bearer ${token}` };
    },
  });
  return {
    listCollections: () => listCollections(client),
    search: (question) => search(client, collection, question),
    pause: client.pause,
  };
}

async function readSchema(client: RemoteClient): Promise<z.output<typeof Class>[]> {
  const { classes } = await client.read({ method: "GET", path: "/v1/schema", answer: Schema });
  return classes ?? [];
}

async function listCollections(client: RemoteClient): Promise<RagCollection[]> {
  await client.read({ method: "GET", path: "/v1/.well-known/ready" });
  const classes = (await readSchema(client)).slice(0, MAX_COLLECTIONS);
  if (classes.length === 0) return [];
  const wanted = classes.map((one) => `${one.class} { meta { count } }`).join(" ");
  const counts = await ask(client, "Aggregate", `{ Aggregate { ${wanted} } }`);
  return classes.map((one) => {
    const [{ meta }] = parse(Counts, counts[one.class]);
    return { name: one.class, documents: meta.count };
  });
}

async function search(
  client: RemoteClient,
  collection: string | undefined,
  question: string,
): Promise<RagPassage[]> {
  const classes = await readSchema(client);
  const wanted = collection === undefined
    ? classes.slice(0, 1)
    : classes.filter((one) => one.class === collection);
  const [found] = wanted;
  if (!found) {
    throw new RemoteFailed(
      SYSTEM,
      "shape",
      "has no such collection; SEALOOP_WEAVIATE_COLLECTION names it",
      "not_done",
    );
  }
  const texts = (found.properties ?? [])
    .filter(({ dataType: [type] }) => type === "text" || type === "string")
    .map(({ name }) => name);
  if (texts.length === 0) return [];
  // A string of JSON is one of GraphQL.
  const query = JSON.stringify(question.toWellFormed());
  const answer = await ask(
    client,
    "Get",
    `{ Get { ${found.class}(bm25: { query: ${query} }, limit: ${MAX_PASSAGES}) ` +
      `{ ${texts.join(" ")} _additional { id score } } } }`,
  );
  return parse(z.array(Document).nullish(), answer[found.class])?.map((document) => {
    const text = texts.map((name) => document[name]).filter((one) => typeof one === "string")
      .join("\n");
    const { id, score } = document._additional;
    return { id, text, score, sha256: createHash("sha256").update(text).digest("hex") };
  }) ?? [];
}

/** Asks by GraphQL, which answers 200 to a query that failed. */
async function ask(
  client: RemoteClient,
  kind: string,
  query: string,
): Promise<Readonly<Record<string, unknown>>> {
  const { data, errors } = await client.read({
    method: "POST",
    path: "/v1/graphql",
    body: { query },
    answer: Result,
  });
  if (errors?.length) {
    throw new RemoteFailed(SYSTEM, "failed", "could not answer a query", "not_done");
  }
  return data?.[kind] ?? {};
}

function parse<Value>(shape: z.ZodType<Value>, value: unknown): Value {
  const { success, data } = shape.safeParse(value);
  if (success) return data;
  throw new RemoteFailed(SYSTEM, "shape", "gave an answer of another shape", "not_done");
}
