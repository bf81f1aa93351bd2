import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  buildOpenApi,
  parseInput,
  SHIPPED_RULES,
  shippedRuleOf,
  splitByContract,
  toJsonSchema,
} from "../../contract/mod.ts";
import { GROUPS } from "../../contract/domain/mod.ts";
import { operations } from "../../operations/mod.ts";

interface ListedOperation {
  readonly group: string;
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly access: string;
  readonly effect: string;
}
interface ListedTool {
  readonly group: string;
  readonly name: string;
  readonly effect: string;
  readonly scopes: readonly string[];
  readonly arguments: string;
}

const { own, extensions } = splitByContract(operations);
const read = (name: string) => JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
const listed: ListedOperation[] = read("operations.json");
const tools: ListedTool[] = read("tools.json");

/** Returns the names of all properties in a schema. */
function namesIn(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  return Object.entries(schema).flatMap(([key, inner]) => [
    ...(key === "properties" ? Object.keys(inner) : []),
    ...namesIn(inner),
  ]);
}

describe("the operations", () => {
  for (const operation of own) {
    for (const [operationId, route] of Object.entries(operation.rest ?? {})) {
      it(`${operationId} is as the contract lists it`, () => {
        const entry = listed.find((known) => known.operationId === operationId);
        assert.ok(entry, "not in the contract");
        const { access, effect } = operation;
        assert.deepEqual({ route, access, effect }, {
          route: `${entry.method} ${entry.path}`,
          access: entry.access,
          effect: entry.effect,
        });
      });
    }
    for (const [name, scopes] of Object.entries(operation.tool ?? {})) {
      it(`the tool ${name} is as the contract lists it`, () => {
        const entry = tools.find((known) => known.name === name);
        assert.ok(entry, "not in the contract");
        assert.deepEqual([...scopes].sort(), [...entry.scopes].sort());
        const fields = Object.keys(operation.input.shape);
        assert.equal(operation.effect, entry.effect);
        assert.equal(operation.presentation?.toolGroup?.[name] ?? operation.group, entry.group);
        const listed = entry.arguments.split(/,\s*/).map((word) => word.trim());
        const wanted = listed.map((word) => word.replace("?", "")).filter((word) =>
          /^[a-z_]+$/.test(word)
        );
        for (const word of wanted) assert.ok(fields.includes(word), `has no argument ${word}`);
        const { required = [] } = toJsonSchema(operation.input, "input") as { required?: string[] };
        for (const word of required) assert.ok(listed.includes(word), `${word} is not asked for`);
      });
    }
  }

  for (const operation of operations) {
    it(`${operation.name} has examples that its schemas accept`, () => {
      parseInput(operation.input, operation.example.input);
      operation.output.parse(operation.example.output);
      toJsonSchema(operation.input, "input");
      toJsonSchema(operation.output, "output");
    });
  }

  it("beyond the contract have routes, ids and tools that it does not have, in groups of their own", () => {
    assert.ok(extensions.length > 0);
    const groups = new Set(own.map(({ group }) => group));
    for (const { rest = {}, tool = {}, group, presentation } of extensions) {
      for (const [id, route] of Object.entries(rest)) {
        const known = listed.find(({ operationId, method, path }) => operationId === id || `${method} ${path}` === route);
        assert.equal(known, undefined, id);
      }
      for (const name of Object.keys(tool)) assert.ok(!tools.some((known) => known.name === name), name);
      assert.ok(!groups.has(group), group);
      assert.deepEqual([presentation?.resource, presentation?.prompt], [undefined, undefined], "clients would see them");
    }
  });

  it("are of groups that say what they are about", () => {
    const unknown = operations.filter(({ group }) => !(group in GROUPS)).map(({ name }) => name);
    assert.deepEqual(unknown, []);
  });

  it("are 139 routes and 66 tools, without those beyond the contract", () => {
    const count = (bindings: (keyof (typeof own)[number] & ("rest" | "tool"))) =>
      own.flatMap((operation) => Object.keys(operation[bindings] ?? {})).length;
    assert.deepEqual([count("rest"), count("tool")], [139, 66]);
  });

  it("are complete in the groups that exist", () => {
    const bound = new Set(operations.flatMap(({ rest }) => Object.keys(rest ?? {})));
    const groups = ["core", "cmdb", "sealing", "workflows", "itsm", "governance", "learning", "crm", "partners"];
    const wanted = listed.filter(({ group, operationId }) =>
      groups.includes(group) || operationId.startsWith("approvals_")
    );
    assert.deepEqual(wanted.filter(({ operationId }) => !bound.has(operationId)), []);
  });

  it("include all tools but those of planned groups", () => {
    const bound = new Set(operations.flatMap(({ tool }) => Object.keys(tool ?? {})));
    const groups = ["integrations", "devices", "crm", "voice"];
    const wanted = tools.filter(({ group }) => !groups.includes(group));
    assert.equal(wanted.length, 44);
    assert.deepEqual(wanted.filter(({ name }) => !bound.has(name)), []);
  });

  it("of human control are these, and no agent reaches them", () => {
    const control = operations.filter(({ governance }) => governance?.humanControl);
    const reached = control.filter(({ tool, presentation }) =>
      tool ?? presentation?.resource ?? presentation?.prompt
    );
    assert.deepEqual(reached, []);
    assert.deepEqual(control.map(({ name }) => name).sort(), [
      "admin.set_flag", "admin.set_flags",
      "approvals.approve", "approvals.deny", "approvals.offer", "approvals.reopen",
      "grants.make", "grants.revoke",
      "keys.revoke",
      "people.approve_list", "people.deny_list", "people.end_sign_in",
      "people.enrol_passkey", "people.revoke_passkey", "people.sign_in", "people.sign_out",
      "workflows.cancel",
    ]);
  });

  it("that people are asked about are these, and all others that change something are allowed", () => {
    const asked = operations.filter((one) =>
      one.effect !== "read" &&
      SHIPPED_RULES[shippedRuleOf(one, one.example.input)].then === "needs_approval"
    );
    assert.deepEqual(asked.map(({ name }) => name).sort(), [
      "articles.deploy",
      "comms.send",
      "devices.command",
      "devices.discover",
      "devices.run_script",
      "learning.approve",
      "security.approve",
      "webhooks.register",
    ]);
    assert.ok(operations.every(({ effect, governance }) => (effect === "read") === !governance?.rule));
    const webhooks = operations.find(({ name }) => name === "webhooks.register")!;
    assert.equal(shippedRuleOf(webhooks, { events: [] }), "tickets-and-loops", "it is removed");
  });

  it("show secrets once: null where an answer is repeated", () => {
    const secret = operations.filter(({ example: { output } }) =>
      /slp_[a-z]+_|whsec_/.test(JSON.stringify(output))
    );
    assert.deepEqual(secret.map(({ name, presentation }) => [name, presentation?.shownOnce]), [
      ["keys.generate", ["api_key"]],
      ["webhooks.register", ["secret"]],
      ["tenants.create", ["tenant_token", "install_url"]],
    ]);
    for (const { presentation, output, example } of secret) {
      const hidden = Object.fromEntries(presentation!.shownOnce!.map((name) => [name, null]));
      output.parse({ ...example.output as object, ...hidden });
    }
  });

  it("that return words of others to agents mark them as data", () => {
    const trusted: Readonly<Record<string, string>> = {
      "tickets.create": "the caller's own words",
      "integrations.all": "the platform's own sentences, with counts",
      "mesh.health": "the platform's own sentences, with counts",
      "observability.health": "the platform's own sentences, with counts",
      "rag.health": "the platform's own sentences, with counts",
      "rmm.health": "the platform's own sentences, with counts",
      "soar.health": "the platform's own sentences, with counts",
      "ledger.self_heal_journal": "ids, codes and counts, which the loop wrote",
      "compliance.audit_summary": "the catalogue that ships",
      "compliance.status": "the catalogue that ships",
      "grc.controls": "the catalogue that ships",
      "grc.health": "the catalogue that ships",
      "grc.risks": "the catalogue that ships",
      "grc.summary": "the catalogue that ships",
      "platform.status": "counts",
      "platform.status_fresh": "counts",
    };
    const quotes =
      /^(title|description|resolution|summary|text|content|details?|receipts?|samples|answer|diagnosis|says)$/;
    const open = operations.filter(({ tool, presentation = {}, output }) => {
      const { resource, prompt, untrusted } = presentation;
      const names = namesIn(toJsonSchema(output, "output"));
      return (tool ?? resource ?? prompt) && !untrusted && names.some((name) => quotes.test(name));
    });
    assert.deepEqual(open.map(({ name }) => name).sort(), Object.keys(trusted).sort());
  });

  it("have unique names", () => {
    const names = operations.map(({ name }) => name);
    assert.deepEqual(names, [...new Set(names)]);
  });
});

describe("the description", () => {
  it("describes parameters, responses and errors of every route", () => {
    const description = buildOpenApi(operations, { title: "t", description: "d" }) as {
      openapi: string;
      info: { version: string };
      paths: Record<
        string,
        Record<
          string,
          {
            operationId: string;
            responses: Record<string, { description: string }>;
            parameters: { description: string }[];
          }
        >
      >;
    };
    assert.equal(description.openapi, "3.1.0");
    assert.equal(description.info.version, "1.0.0");
    const routes = Object.values(description.paths).flatMap((path) => Object.values(path));
    assert.equal(routes.length, operations.flatMap(({ rest }) => Object.keys(rest ?? {})).length);
    const held = operations.filter(({ effect, governance, access }) =>
      effect !== "read" && !governance?.humanControl && !governance?.asksPeople && access !== "token" && access !== "device"
    ).flatMap(({ rest }) => Object.keys(rest ?? {}));
    const described = routes.filter(({ responses }) =>
      /asks people/.test(responses["202"]?.description ?? "")
    );
    assert.deepEqual(described.map(({ operationId }) => operationId).sort(), held.sort());
    for (const { responses, parameters } of routes) {
      for (const status of ["422", "429", "500"]) assert.ok(status in responses);
      for (const { description } of parameters) assert.ok(description.length > 0);
    }
  });
});
