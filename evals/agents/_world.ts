/** A platform on which things have happened: a repair, one that a person approved, one that waits, and a fault left open. */
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { putService } from "../../store/cmdb/mod.ts";
import { mochaGlobalTeardown, testFolder } from "../../test/_run.ts";
import { openPeople, type People } from "../../test/api/_people.ts";
import { type BrokenService, startBrokenService } from "../../test/workflows/_broken_service.ts";
import { runbookStep, writeRunbooks } from "../../test/workflows/_runbooks.ts";
import type { itsmLoop } from "../../workflows/mod.ts";

/** The platform, with an agent's connection to it. */
export interface World {
  readonly agent: Client;
  readonly services: readonly string[];
  close(): Promise<void>;
}

/** Services by what becomes of their fault. */
const SERVICES = ["orders", "billing", "asks", "reports"] as const;
const NEEDED = "postgres";

/** Opens one: `orders` was healed, `billing` is broken, a repair of `asks` was approved, and one of `reports` waits. */
export async function openWorld(): Promise<World> {
  const runbooks = await testFolder();
  await writeRunbooks(runbooks, {
    "ask-first": {
      match: { services: ["asks", "reports"] },
      needs: ["restart"],
      steps: [
        runbookStep("restart", { restart: "service", bounds: { within: "2m", ask: "its owner" } }),
      ],
    },
  });
  const people = await openPeople({ SEALOOP_RUNBOOKS: runbooks, SEALOOP_LIMIT_TOOLS: "1000" });
  const broken = await breakServices(people);
  await healed(people, "orders");
  await healed(people, "billing");
  await people.vote(await approvalOf(people, "asks"), "approve", "ann");
  await healed(people, "asks");
  await approvalOf(people, "reports");
  return {
    agent: await people.agent(),
    services: [...SERVICES, NEEDED],
    async close() {
      for (const one of broken) await one.remove();
      await people.stop();
      await mochaGlobalTeardown();
    },
  };
}

async function breakServices(
  { loop: { store, config: { dataDir } } }: People,
): Promise<BrokenService[]> {
  const broken: BrokenService[] = [];
  for (const name of SERVICES) {
    broken.push(
      await startBrokenService({ store, dataDir }, {
        name,
        watched: true,
        ...(name === "billing" ? { runbook: () => null } : {}),
      }),
    );
  }
  const { service } = broken[0]!;
  await putService(store.db, { ...service, name: NEEDED, type: "database", watched: false });
  await putService(store.db, { ...service, dependsOn: [{ service: NEEDED, kind: "depends_on" }] });
  return broken;
}

/** Starts the loop of a service. @returns its workflow id */
async function startLoop(people: People, service: string): Promise<string> {
  const { body } = await people.call("POST", "/v1/itsm/loop", "program", { service });
  return body.workflow_id;
}

/** Runs the loop of a service to its end, and waits until that is sealed. */
async function healed(people: People, service: string): Promise<void> {
  const handle = people.loop.client.workflow.getHandle<typeof itsmLoop>(
    await startLoop(people, service),
  );
  const { receipt_id } = await handle.result();
  if (receipt_id) await people.sealed(receipt_id);
}

/** Starts the loop of a service, and returns the approval that it waits for. */
async function approvalOf(people: People, service: string): Promise<string> {
  await startLoop(people, service);
  return await people.eventually(async () => {
    const { body } = await people.call("GET", `/v1/itsm/incidents?service=${service}`, "program");
    return body.tickets[0]?.approval_id ?? undefined;
  });
}
