import type { Context } from "koa";
import {
  type Operation,
  parseStrings,
  type Places,
  Problem,
  unknownFieldsProblem,
} from "../contract/mod.ts";
import { MAX_BODY, readJson } from "../runtime/web/mod.ts";

/** Reads the fields of one route's requests. */
export interface FieldReader {
  /**
   * Reads the fields, not validated yet.
   *
   * @param onBytes is called with the bytes of a body
   * @throws {Problem} `InvalidInput`: a field is in the wrong place
   */
  readFields(ctx: Context, onBytes?: (bytes: Buffer) => void): Promise<Record<string, unknown>>;
  readonly places: Places;
}

/** Creates the reader of a route. @param path with its parameters in braces */
export function createFieldReader<C>(
  { input, presentation: { headers = {} } = {} }: Operation<C>,
  method: string,
  path: string,
): FieldReader {
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!));
  const hasQuery = method === "GET" || method === "DELETE";
  const places: Places = {
    names: Object.keys(input.shape),
    placeOf: (name) => inPath.has(String(name)) ? "path" : hasQuery ? "query" : "body",
  };
  const isInQuery = (name: string) => hasQuery && !inPath.has(name);
  const isKnown = (name: string) => isInQuery(name) && places.names.includes(name);

  function readQuery(ctx: Context): Record<string, unknown> {
    const sent = Object.entries(ctx.query);
    // The operation's schema refuses unknown fields, but would not see misplaced ones.
    const misplaced = sent.map(([name]) => name).filter((name) => !isInQuery(name));
    if (misplaced.length > 0) throw unknownFieldsProblem(misplaced, "query", places);
    const repeated = sent.find(([name, value]) => isKnown(name) && Array.isArray(value));
    if (repeated) throw repeatedFieldProblem(repeated[0]);
    return parseStrings(input, Object.fromEntries(sent) as Record<string, string>);
  }

  function readHeaders(ctx: Context): Record<string, unknown> {
    const sent = Object.entries(headers).map(([field, name]) => [field, ctx.get(name)] as const);
    return parseStrings(input, Object.fromEntries(sent.filter(([, value]) => value !== "")));
  }

  return {
    places,
    async readFields(ctx, onBytes) {
      const query = readQuery(ctx);
      const body = hasQuery ? {} : await readBody(ctx, onBytes);
      return { ...query, ...body, ...readHeaders(ctx), ...parseStrings(input, ctx.params) };
    },
  };
}

function repeatedFieldProblem(name: string): Problem {
  const detail = [{ loc: ["query", name], msg: "Given more than once", type: "value_error" }];
  return new Problem("InvalidInput", `${name} is given more than once`, { body: { detail } });
}

async function readBody(
  ctx: Context,
  onBytes?: (bytes: Buffer) => void,
): Promise<Record<string, unknown>> {
  const body = await readJson(ctx, MAX_BODY, onBytes);
  if (body === undefined) return {};
  if (typeof body === "object" && body !== null && !Array.isArray(body)) {
    return body as Record<string, unknown>;
  }
  const detail = [{ loc: ["body"], msg: "Expected a JSON object", type: "object_type" }];
  throw new Problem("InvalidInput", "The body is not a JSON object", { body: { detail } });
}
