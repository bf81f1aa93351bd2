/**
 * Checks every answer of a test's server against the server's own description: its status is described, its type, and its
 * body fits the schema. What does not fit fails the test that has called.
 *
 * ```ts
 * checkAnswers(app, operations);
 * ```
 */
import assert from "node:assert/strict";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type Koa from "koa";
import {
  buildOpenApi,
  type JsonSchema,
  type OpenApiInfo,
  type Operation,
} from "../contract/mod.ts";

/** An answer, with the operation that it is of. */
interface DescribedAnswer {
  readonly operationId: string;
  readonly status: number;
  /** Media type with its parameters. */
  readonly type: string;
  /** Parsed, where it is JSON. */
  readonly body: unknown;
}

/** Returns why an answer does not fit the description; undefined: it does. */
export type CheckAnswer = (answer: DescribedAnswer) => string | undefined;

type Described = { content: Record<string, { schema: JsonSchema }> };
type Paths = Record<
  string,
  Record<string, { operationId: string; responses: Record<string, Described> }>
>;

/** Creates the check of a server's answers. */
export function createAnswerCheck(
  operations: readonly Operation<never>[],
  options: Partial<OpenApiInfo> = {},
): CheckAnswer {
  const info = { title: "test", description: "A description of a test.", ...options };
  const description = buildOpenApi(operations, info);
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(description, "description");
  const found = Object.entries(description.paths as Paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, responses }]) =>
      [operationId, { path, method, responses }] as const
    )
  );
  const routes = new Map(found);
  const compiled = new Map<string, ValidateFunction>();
  const compile = (steps: readonly string[]) => {
    const pointer = steps.map((step) =>
      encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1"))
    ).join("/");
    const fits = compiled.get(pointer) ?? ajv.compile({ $ref: `description#/${pointer}` });
    compiled.set(pointer, fits);
    return fits;
  };

  return ({ operationId, status, type, body }) => {
    const route = routes.get(operationId);
    if (!route || status === 303) return undefined; // a browser that is led to a page
    const { path, method, responses } = route;
    const what = `${status} ${type} of ${method.toUpperCase()} ${path}`;
    const response = responses[status];
    if (!response) return `${what}: the status is not described`;
    const plain = type.split(";")[0]!;
    const described = Object.keys(response.content).find((one) => one.split(";")[0] === plain);
    if (!described) return `${what}: the type is not described`;
    if (plain !== "application/json") return undefined;
    const at = ["paths", path, method, "responses", String(status), "content", described, "schema"];
    const fits = compile(at);
    if (fits(body)) return undefined;
    return `${what}: ${ajv.errorsText(fits.errors)}\n${JSON.stringify(body).slice(0, 2_000)}`;
  };
}

const misfits: string[] = [];
// Programs of tests, which no runner has started, check nothing.
(globalThis as { afterEach?: typeof afterEach }).afterEach?.(() => {
  assert.deepEqual(misfits.splice(0), [], "an answer is not as described");
});

/** Checks by the operations that they are of. Making one takes a while, and most files have the same operations. */
const checks = new WeakMap<readonly Operation<never>[], CheckAnswer>();

/** Checks the answers of an application from now on, with a hook after each test. Call it before the server starts. */
export function checkAnswers<S>(app: Koa<S>, operations: readonly Operation<never>[]): void {
  const check = checks.get(operations) ?? createAnswerCheck(operations);
  checks.set(operations, check);
  app.middleware.unshift(async (ctx, next) => {
    await next();
    const { status, method, response, body, _matchedRouteName: operationId } = ctx;
    const hasLeft = status === 400; // a client that has gone gets no answer
    if (operationId === undefined || hasLeft || method === "HEAD" || method === "OPTIONS") return;
    const isJson = response.is("json") !== false && response.is("json") !== null;
    const misfit = check({
      operationId,
      status,
      type: String(response.get("content-type")),
      body: isJson ? parse(body) : undefined,
    });
    if (misfit) misfits.push(misfit);
  });
}

function parse(body: unknown): unknown {
  if (Buffer.isBuffer(body) || typeof body === "string") return JSON.parse(String(body));
  return JSON.parse(JSON.stringify(body));
}
