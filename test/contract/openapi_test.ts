import assert from "node:assert/strict";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import { type JsonSchema, buildOpenApi, type Operation } from "../../contract/mod.ts";
import { ledgerOperations } from "../../ledger/mod.ts";
import { operations } from "../../operations/mod.ts";

interface Parameter {
  readonly name: string;
  readonly in: "path" | "query";
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
interface Door {
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
    const paths = description.paths as Record<string, Record<string, Door>>;
    const doors = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, door]) => ({ method, path, door }))
    );

    /** Says where in the description a value stands, and fails where its schema there refuses it. */
    function assertFits(value: unknown, steps: readonly string[]): void {
      const pointer = steps.map((step) => step.replaceAll("~", "~0").replaceAll("/", "~1"));
      const at = encodeURI(pointer.join("/"));
      const fits = ajv.compile({ $ref: `description#/${at}` });
      assert.ok(fits(value), `${at}: ${ajv.errorsText(fits.errors)}\n${JSON.stringify(value)}`);
    }

    it("is OpenAPI 3.1, says a validator", async () => {
      const { valid, errors } = await new Validator().validate(structuredClone(description));
      assert.ok(valid, JSON.stringify(errors, null, 2));
    });

    it("has every door, each once", () => {
      const ids = doors.map(({ door }) => door.operationId);
      const bound = described.flatMap(({ rest }) => Object.keys(rest ?? {}));
      assert.deepEqual(ids.toSorted(), bound.toSorted());
      assert.equal(new Set(ids).size, ids.length);
    });

    for (const { method, path, door } of doors) {
      const { operationId, parameters, requestBody, responses } = door;
      const steps = ["paths", path, method];
      const operation = described.find(({ rest }) => operationId in (rest ?? {}))!;

      it(`${operationId} binds every field of its input, and every parameter of its path`, () => {
        const inPath = parameters.filter((parameter) => parameter.in === "path");
        const inBody = requestBody?.content["application/json"]?.schema.properties ?? {};
        assert.deepEqual(
          inPath.map(({ name }) => name).toSorted(),
          [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).toSorted(),
        );
        assert.deepEqual(
          [...parameters.map(({ name }) => name), ...Object.keys(inBody)].toSorted(),
          Object.keys(operation.input.shape).toSorted(),
        );
        for (const { name, description } of parameters) {
          assert.ok(description.length > 0 && description !== name, `${name} is not described`);
        }
      });

      it(`${operationId} describes every answer, and its examples fit their schemas`, () => {
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

      it(`${operationId} has examples of what is sent that fit their schemas`, () => {
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
