import assert from "node:assert/strict";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { buildOpenApi, hasDryRun, isGoverned, type JsonSchema, type Operation } from "../../contract/mod.ts";
import { ledgerOperations } from "../../ledger/mod.ts";
import { operations } from "../../operations/mod.ts";

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly description: string;
  readonly schema: JsonSchema;
  readonly example?: unknown;
}
interface Content {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Answer {
  readonly description: string;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, Content>>;
}
interface Route {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
  readonly responses: Readonly<Record<string, Answer>>;
}

const info = { title: "test", description: "A description of a test." };
const SERVERS: Readonly<Record<string, readonly [readonly Operation<never>[], JsonSchema]>> = {
  "the gateway": [operations, buildOpenApi(operations, info)],
  "the public ledger": [ledgerOperations, buildOpenApi(ledgerOperations, { ...info, keys: false })],
};

for (const [server, [described, description]] of Object.entries(SERVERS)) {
  describe(`the description of ${server}`, () => {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    ajv.addSchema(description, "description");
    const paths = description.paths as Record<string, Record<string, Route>>;
    const routes = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, route]) => ({ method, path, route }))
    );

    /** Checks a value against the schema at a place in the description. */
    function assertFits(value: unknown, steps: readonly string[]): void {
      const pointer = steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1"));
      const at = encodeURI(pointer.join("/"));
      const matches = ajv.compile({ $ref: `description#/${at}` });
      assert.ok(matches(value), `${at}: ${ajv.errorsText(matches.errors)}\n${JSON.stringify(value)}`);
    }

    it("is valid OpenAPI 3.1", async () => {
      const { valid, errors } = await new Validator().validate(structuredClone(description));
      assert.ok(valid, JSON.stringify(errors, null, 2));
    });

    it("has every route once", () => {
      const ids = routes.map(({ route }) => route.operationId);
      const bound = described.flatMap(({ rest }) => Object.keys(rest ?? {}));
      assert.deepEqual(ids.toSorted(), bound.toSorted());
      assert.equal(new Set(ids).size, ids.length);
    });

    for (const { method, path, route } of routes) {
      const { operationId, parameters, requestBody, responses } = route;
      const steps = ["paths", path, method];
      const operation = described.find(({ rest }) => operationId in (rest ?? {}))!;

      it(`${operationId} has every field of its input, and every parameter of its path`, () => {
        const inPath = parameters.filter((parameter) => parameter.in === "path");
        const inHeader = parameters.filter((parameter) => parameter.in === "header");
        const fields = parameters.filter((parameter) => parameter.in !== "header");
        const inBody = requestBody?.content["application/json"]?.schema.properties ?? {};
        assert.deepEqual(
          inPath.map(({ name }) => name).toSorted(),
          [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).toSorted(),
        );
        assert.deepEqual(
          [...fields.map(({ name }) => name), ...Object.keys(inBody)].toSorted(),
          Object.keys(operation.input.shape).toSorted(),
        );
        assert.deepEqual(inHeader.map(({ name }) => name), [
          ...Object.values(operation.presentation?.headers ?? {}),
          ...(isGoverned(operation) ? ["Idempotency-Key"] : []),
          ...(hasDryRun(operation) ? ["x-dry-run"] : []),
        ]);
        for (const { name, description } of parameters) {
          assert.ok(description.length > 0 && description !== name, `${name} is not described`);
        }
      });

      it(`${operationId} describes every response, with examples that match their schemas`, () => {
        const statuses = Object.keys(responses).map(Number);
        assert.ok(statuses.some((status) => status < 300) && statuses.includes(422));
        if (requestBody) assert.ok(statuses.includes(413) && statuses.includes(415));
        for (const [status, { description, headers, content }] of Object.entries(responses)) {
          assert.ok(description.length > 0 && "x-request-id" in headers, status);
          if (status === "429") assert.match(description, /the header retry-after/);
          for (const [type, { examples = {}, ...only }] of Object.entries(content)) {
            if (type !== "application/json") continue;
            const all = "example" in only
              ? [only.example]
              : Object.values(examples).map((example) => example.value);
            assert.ok(all.length > 0, `${status} has no example`);
            for (const value of all) {
              assertFits(value, [...steps, "responses", status, "content", type, "schema"]);
            }
          }
        }
      });

      it(`${operationId} has examples of requests that match their schemas`, () => {
        parameters.forEach(({ name, in: place, example }, i) => {
          if (place === "path") assert.notEqual(example, undefined, `${name} has no example`);
          if (example === undefined) return;
          assertFits(example, [...steps, "parameters", String(i), "schema"]);
        });
        for (const [type, { example }] of Object.entries(requestBody?.content ?? {})) {
          assert.notEqual(example, undefined);
          assertFits(example, [...steps, "requestBody", "content", type, "schema"]);
        }
      });
    }
  });
}

describe("the description of inputs", () => {
  const [, description] = SERVERS["the gateway"]!;
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(description, "description");
  const paths = description.paths as Record<string, Record<string, Route>>;
  const bodySchema = (path: string) =>
    paths[path]!.post!.requestBody!.content["application/json"]!.schema;
  const matches = (path: string, body: unknown) => {
    const pointer = ["paths", path, "post", "requestBody", "content", "application/json", "schema"]
      .map((step) => encodeURIComponent(step.replaceAll("~", "~0").replaceAll("/", "~1")));
    return ajv.validate({ $ref: `description#/${pointer.join("/")}` }, body);
  };

  it("excludes U+0000 from texts and from names of fields", () => {
    const ticket = { title: "Printer jams", description: "Since noon", severity: "low" };
    assert.ok(matches("/v1/itsm/tickets", ticket));
    assert.ok(!matches("/v1/itsm/tickets", { ...ticket, title: "Printer\0" }));
    assert.ok(!matches("/v1/itsm/tickets", { ...ticket, description: "\0" }));
  });

  it("excludes texts that are no URL where one is required", () => {
    assert.ok(matches("/v1/itsm/webhooks", { url: "https://hooks.example.com/tickets" }));
    assert.ok(matches("/v1/itsm/webhooks", { url: "WH-4f1d22a90b7c", events: [] }));
    for (const url of ["hooks.example.com", "ftp://example.com/", "https://a:b@example.com/"]) {
      assert.ok(!matches("/v1/itsm/webhooks", { url }), url);
    }
  });

  it("says that short prefixes of receipts are refused", () => {
    const { parameters } = paths["/v1/receipt/{receipt_id}"]!.get!;
    assert.match(parameters[0]!.description, /shorter than 8 characters is refused/);
  });

  it("keeps one schema per name for inputs and outputs that are alike", () => {
    const { schemas } = description.components as { schemas: Record<string, unknown> };
    assert.ok(bodySchema("/v1/itsm/tickets"));
    assert.deepEqual(Object.keys(schemas).filter((name) => /Input$/.test(name)), []);
  });
});
