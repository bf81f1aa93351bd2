/** Operations whose lost calls can be recovered, and calls that show it. */
import assert from "node:assert/strict";
import { registry } from "../../operations/mod.ts";
import { findContactByEmail, getContact, getDeal } from "../../store/crm/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import type { Db } from "../../store/mod.ts";
import { addLearningItems, getLearningItem } from "../../store/learning/mod.ts";
import type { openParts } from "../workflows/_loop.ts";
import type { KilledCall, Moment } from "./_kills.ts";
import type { Json } from "./_platform.ts";
import { anyLesson } from "./_records.ts";
import { asSuperuser } from "../_superuser.ts";
import { listWebhooks } from "../../store/webhooks/mod.ts";

/** Fingerprint of the finding that is approved. */
export const FINGERPRINT = "1d0f6a2b9c3e4857";
/** All moments, the earliest first. */
export const MOMENTS = ["before", "between", "after"] as const;

/** An operation whose calls are recovered. */
export interface RecoverableOperation {
  readonly operation: string;
  readonly as: string;
  /** Default: mcp. */
  readonly door?: KilledCall["door"];
  /** Default: all. */
  readonly moments?: readonly Moment[];
  /** Prepares a call, and returns its input. */
  prepare(): Promise<Json>;
  /** Checks that the effect exists. @param found ids in the receipt of a recovered call with that input; none where it committed */
  check(found: Readonly<Record<string, string>>, input: Json): Promise<void>;
}

/**
 * Returns the operations.
 *
 * @param open returns the platform, once it is open; no worker may run on it
 */
export function recoverableOperations(
  open: () => { readonly parts: Awaited<ReturnType<typeof openParts>>; readonly keyId: string },
): readonly RecoverableOperation[] {
  const db = () => open().parts.store.asPlatform();
  const runDirectly = async (operation: string, input: object, fields: object): Promise<Json> => {
    const { parts, keyId } = open();
    const signal = new AbortController().signal;
    const commit = <T>(work: (trx: Db) => Promise<T>) => parts.store.db.transaction(work);
    const call = { caller: { keyId }, signal, progress() {}, commit, ...fields };
    return await registry.get(operation)!.run(input, { ...parts, ...call } as never);
  };
  const openTicket = async (): Promise<string> => {
    const input = { title: "Printer jams", description: "", severity: "low" };
    return (await runDirectly("tickets.create", input, { door: "mcp" })).ticket_id;
  };
  const addLearningItem = async (id: string): Promise<string> => {
    await addLearningItems(asSuperuser(open().parts.store), [anyLesson(id, await openTicket())]);
    return id;
  };
  const addContact = async (): Promise<string> => {
    const input = { name: "Ada", email: `ada${++count}@example.com`, on_duplicate: "error" };
    return (await runDirectly("contacts.create", input, { door: "mcp" })).contact_id;
  };
  const addDeal = async (): Promise<string> => {
    const input = {
      title: "Loom",
      contact_id: await addContact(),
      amount_minor: 1,
      currency: "EUR",
    };
    return (await runDirectly("deals.create", input, { door: "rest" })).deal_id;
  };
  const checkRun = async (found: Readonly<Record<string, string>>, id: RegExp) => {
    assert.match(found.workflow_id!, id);
    const handle = open().parts.client.workflow.getHandle(found.workflow_id!, found.run_id!);
    assert.equal((await handle.describe()).status.name, "RUNNING");
  };
  let count = 0;
  const newMessage = () => ({
    messageId: `m-${++count}`,
    parts: [{ kind: "text", text: "It is down" }],
  });

  return [
    {
      operation: "crew.dispatch",
      as: "dispatch_crew_incident",
      prepare: () => Promise.resolve({ incident: "billing is down" }),
      check: (found) => checkRun(found, /^crew-\w{12}$/),
    },
    {
      operation: "reasoning.invoke",
      as: "invoke_reasoning_pipeline",
      prepare: () => Promise.resolve({ prompt: "What is down?" }),
      check: (found) => checkRun(found, /^reasoning-\w{12}$/),
    },
    {
      operation: "security.approve",
      as: "approve_sie_finding",
      prepare: () => Promise.resolve({ index: 0, fingerprint: FINGERPRINT }),
      check: (found) => checkRun(found, new RegExp(`^loop-${FINGERPRINT}$`)),
    },
    {
      operation: "security.scan",
      as: "trigger_sie_scan",
      prepare: () => Promise.resolve({}),
      check: (found) => checkRun(found, /^security-scan$/),
    },
    {
      operation: "a2a.dispatch",
      as: "a2a_dispatch",
      door: "rest",
      prepare: () => Promise.resolve(newMessage()),
      check: (found) => checkRun(found, /^crew-\w{16}$/),
    },
    {
      operation: "a2a.receive",
      as: "a2a_receive",
      door: "rest",
      prepare: () => Promise.resolve(newMessage()),
      check: async ({ task_id }) => {
        await open().parts.client.workflow.getHandle(`a2a-${task_id}`).describe();
      },
    },
    {
      operation: "workflows.cancel",
      as: "workflow_cancel",
      door: "rest",
      moments: ["before", "after"],
      prepare: async () => {
        const { workflow_id } = await runDirectly("itsm.test", { scenario: "crash" }, {
          door: "rest",
        });
        return { workflow_id };
      },
      check: async ({ workflow_id }, input) => {
        assert.equal(workflow_id, input.workflow_id);
        const { raw } = await open().parts.client.workflow.getHandle(workflow_id!).describe();
        assert.ok(raw.workflowExtendedInfo?.cancelRequested);
      },
    },
    {
      operation: "tickets.create",
      as: "itsm_create_ticket",
      prepare: () => Promise.resolve({ title: `Printer ${++count} jams` }),
      check: async (_, { title }) => {
        assert.ok(await db().first("SELECT FROM tickets WHERE title = $1", [title]));
      },
    },
    {
      operation: "tickets.close",
      as: "itsm_close_ticket",
      prepare: async () => ({ ticket_id: await openTicket(), resolution: "Turned the roller" }),
      check: async (_, { ticket_id, resolution }) => {
        assert.equal((await getTicket(db(), ticket_id))?.resolution, resolution);
      },
    },
    {
      operation: "webhooks.register",
      as: "itsm_register_webhook",
      prepare: () => Promise.resolve({ url: `https://hooks.example.com/${++count}` }),
      check: async (_, { url }) => {
        assert.ok((await listWebhooks(db())).some((webhook) => webhook.url === url));
      },
    },
    {
      operation: "learning.approve",
      as: "approve_learning_item",
      prepare: async () => ({
        item_id: await addLearningItem(`LRN-${String(++count).padStart(12, "0")}`),
      }),
      check: async (_, { item_id }) => {
        const item = await getLearningItem(db(), item_id);
        assert.equal(item?.state, "applied");
      },
    },
    {
      operation: "contacts.create",
      as: "crm_create_contact",
      prepare: () => Promise.resolve({ name: "Ada", email: `ada${++count}@example.com` }),
      check: async (_, { email }) => {
        assert.ok(await findContactByEmail(db(), email));
      },
    },
    {
      operation: "contacts.update",
      as: "crm_update_contact",
      prepare: async () => ({ contact_id: await addContact(), name: `Ada ${++count}` }),
      check: async (_, { contact_id, name }) => {
        assert.equal((await getContact(db(), contact_id))?.name, name);
      },
    },
    {
      operation: "deals.move",
      as: "crm_move_pipeline",
      prepare: async () => ({ deal_id: await addDeal(), stage: "proposal" }),
      check: async (_, { deal_id, stage }) => {
        assert.equal((await getDeal(db(), deal_id))?.stage, stage);
      },
    },
  ];
}
