import { z } from "zod";
import { type Context, mapTemporalErrors, operation } from "../../calls/mod.ts";
import { recoverNoted } from "../../calls/recover/mod.ts";
import { InvalidInput, nameProblem, Problem } from "../../contract/mod.ts";
import {
  TASK_QUEUE,
  tenantAttribute,
  type TenantSync,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { TENANT_TOKEN_DAYS } from "../devices/protocol/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import { type Db, inTenant } from "../../store/mod.ts";
import { noteCallEffects } from "../../store/calls/mod.ts";
import {
  addTenant,
  getTenantRecord,
  listTenantRecords,
  replaceTenantToken,
} from "../../store/keys/mod.ts";
import { EXAMPLE_RUN_ID, oneLine, ReceiptId, Timestamp } from "../schemas/mod.ts";
import { Domain, exampleTenant, Tenant, toTenant } from "./_schemas.ts";

const DAY_MS = 24 * 60 * 60_000;

const Input = z.object({
  name: oneLine(1, 200).describe("For people"),
  alias: z.string().regex(
    /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/,
    "Expected 1 to 63 lower-case letters, digits and inner hyphens",
  ).optional().describe("Becomes the id; default: made from the name"),
  domains: z.array(Domain).max(20).default([]).describe("Domains of its mail addresses"),
});

/** Makes an organization. */
export const createTenant = operation({
  name: "tenants.create",
  group: "devices",
  summary: "Make an organization, and the token by which its machines become devices",
  description:
    "The id is the alias, or the name in lower case with hyphens; one that is taken is a conflict, so that a repeated call " +
    "never makes a second organization. The token can be read only in this answer, as the platform stores its hash alone.",
  effect: "run",
  access: "admin",
  input: Input,
  output: Tenant.extend({
    tenant_token: z.string().nullable().describe(
      "Lets machines enrol; null in an answer that repeats the first by its idempotency key",
    ),
    install_url: z.string().nullable().describe("GET it for an install script; it holds the token"),
    expires_at: Timestamp.describe("When the token expires"),
    workflow_id: z.string(),
    run_id: z.string(),
    receipt_id: ReceiptId,
  }),
  rest: { tenants_create: "POST /v1/tenants" },
  presentation: {
    hints: { destructive: false },
    shownOnce: ["tenant_token", "install_url"],
    errors: ["Conflict", "Unavailable"],
  },
  governance: {
    rule: "key-decides",
    check: async (input, { store }) => {
      await checkFree(store.db, input);
    },
  },
  durability: {
    sealsItself: true,
    async recover(call, platform) {
      const recovery = await recoverNoted(platform, call, () => null);
      if (recovery.state !== "done") return recovery;
      const { ids } = recovery;
      const message =
        `The organization ${ids.org_id} was made, but its token was lost with the process: ` +
        `npm run tenants -- token ${ids.org_id} makes another one`;
      return { state: "failed", ids, error: { name: "Unavailable", message } };
    },
  },
  example: {
    input: { name: "Acme Ltd", alias: "acme", domains: ["acme.example"] },
    output: {
      ...exampleTenant,
      status: "pending",
      idp: { mode: "built_in", id: null, synced_at: null },
      devices: 0,
      tenant_token: "slp_tenant_…",
      install_url: "http://127.0.0.1:8080/v1/devices/agent/install/slp_tenant_…",
      expires_at: "2026-09-29T12:00:00.000Z",
      workflow_id: "tenant-acme",
      run_id: EXAMPLE_RUN_ID,
      receipt_id: "3f1b0c9d2e4a5867",
    },
  },
  run: async (input, context) => {
    const { store, caller, decisionId, urls, config } = context;
    const id = idOf(input);
    await context.temporal(); // before anything is made: it may be away
    const expiresAt = new Date(Date.now() + TENANT_TOKEN_DAYS * DAY_MS);
    const receipt_id = randomHex(16);
    const token = await store.db.transaction(async (trx) => {
      await checkFree(trx, input);
      const token = await inTenant(trx, id, async (own) => {
        const { name, alias = null, domains } = input;
        const idpMode = config.settings.SEALOOP_KEYCLOAK_URL ? "keycloak" : "built_in";
        if (!await addTenant(own, { name, alias, domains, idpMode })) throw taken(id);
        const { token, record } = await replaceTenantToken(own, expiresAt);
        await requestSeal(own, {
          id: receipt_id,
          category: "tenant_created",
          actor: `key:${caller.keyId}`,
          subject: "tenant",
          action: "tenants.create",
          outcome: "success",
          details: { token_id: record.id },
          evidence: { tenant: id, name, domains },
        });
        return token;
      });
      await noteCallEffects(trx, decisionId, { org_id: id });
      return token;
    });
    const run_id = await register(context, id);
    return {
      ...toTenant((await getTenantRecord(store.db, id))!),
      tenant_token: token,
      install_url: `${urls.gateway}/v1/devices/agent/install/${token}`,
      expires_at: expiresAt.toISOString(),
      workflow_id: `tenant-${id}`,
      run_id,
      receipt_id,
    };
  },
});

/** Starts the run that registers an organization at the identity provider. @returns the run's id */
async function register({ temporal, store }: Context, id: string): Promise<string> {
  const { workflow } = await temporal();
  const request: TenantSync = { org_id: id };
  const handle = await mapTemporalErrors(workflow.start(WORKFLOW.tenantSync, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `tenant-${id}`,
    args: [request],
    typedSearchAttributes: [tenantAttribute(store.tenant)],
    staticSummary: `Registers ${id}`,
  }));
  return handle.firstExecutionRunId;
}

/** Returns the id of an organization. @throws {InvalidInput} its name gives none */
function idOf({ name, alias }: Pick<z.output<typeof Input>, "name" | "alias">): string {
  if (alias) return alias;
  const id = name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-").slice(0, 63).replace(/^-+|-+$/g, "");
  if (id) return id;
  throw new InvalidInput([{
    path: ["alias"],
    msg: "The name has no letter from a to z; send an alias",
    type: "missing",
  }]);
}

/** @throws {InvalidInput} the name can be mistaken for another one @throws {Problem} `Conflict`: id or domain is taken */
async function checkFree(db: Db, input: z.output<typeof Input>): Promise<void> {
  const trouble = nameProblem(input.name);
  if (trouble) {
    throw new InvalidInput([{ path: ["name"], msg: `The name ${trouble}`, type: "value_error" }]);
  }
  const id = idOf(input);
  const all = await listTenantRecords(db);
  if (id === "everyone" || all.some((one) => one.id === id || one.alias === id)) throw taken(id);
  for (const { id: owner, domains } of all) {
    const shared = input.domains.find((domain) => domains.includes(domain));
    if (shared) throw new Problem("Conflict", `The domain ${shared} is that of ${owner}`);
  }
}

function taken(id: string): Problem {
  return new Problem(
    "Conflict",
    `There is an organization ${id} already; choose another alias, or npm run tenants -- token ${id} for its token`,
  );
}
