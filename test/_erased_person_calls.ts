/** Traces of the contact that the tests erase, as callers leave them: over REST, as agents by MCP and A2A, and in conversations. */
import assert from "node:assert/strict";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { setGovernance } from "./_governance.ts";
import { EMAIL, NAME, OTHER, PHONE } from "./_erased_person.ts";
import type { People } from "./api/_people.ts";
import { a2aClient, BLOCKING, type Json, message, skill } from "./mcp/_a2a.ts";
import { connect } from "./mcp/_tool_server.ts";

type Call = ReturnType<typeof callerOf>;

/** Returns a caller of the REST API, whose calls have to succeed. */
export function callerOf(people: People) {
  return async (
    method: string,
    path: string,
    body?: object,
    headers = {},
    who = "program",
  ): Promise<Json> => {
    const answer = await people.call(method, path, who, body, headers);
    assert.ok(answer.status < 300, `${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
}

/** Adds the contact, and calls about it. @returns its id, and the id of an approval that still waits */
export async function callAboutContact(
  people: People,
): Promise<{ readonly contactId: string; readonly waiting: string }> {
  const call = callerOf(people);
  const { contact_id: contactId } = await call("POST", "/api/contacts", {
    name: NAME,
    email: EMAIL,
    phone: PHONE,
    company: "Mills of Gold",
    consent: { email: "opt_in", basis: `Letter of ${NAME}` },
  }, { "idempotency-key": "first" });
  await call("POST", "/api/contacts", OTHER);
  await useRest(call, contactId);
  const { url, key } = await people.tools();
  const client = await connect(url, key);
  const waiting = await useTools(people, client, contactId).finally(() => client.close());
  await askAgents(url, key);
  await call("POST", "/v1/tasks", { title: `Call ${NAME}`, description: `By ${PHONE}` });
  await talkToAgents(people);
  return { contactId, waiting };
}

async function useRest(call: Call, contactId: string): Promise<void> {
  await call(
    "POST",
    "/v1/itsm/webhooks",
    { url: "https://93.184.215.14/x", events: ["OPENED"] },
    {},
    "ann",
  );
  const key = { "idempotency-key": "second" };
  await call("POST", "/api/deals", {
    title: `Mill for ${NAME}`,
    contact_id: contactId,
    currency: "EUR",
    amount_minor: 777,
  }, key);
  await call("POST", "/v1/itsm/tickets", {
    title: `${NAME} can't log in`,
    description: `Write to ${EMAIL} or call ${PHONE}. The lamp is red.`,
  }, { "idempotency-key": "third" });
  await call("POST", "/v1/calendar/events", {
    title: "Meeting about the mill",
    start: "2027-01-04T09:00Z",
    duration_minutes: 30,
    contact_id: contactId,
    attendees: [EMAIL],
    location: `House of ${NAME}`,
  });
  await call("POST", "/v1/calendar/events", {
    title: "All hands",
    start: "2027-01-05T09:00Z",
    duration_minutes: 30,
    attendees: [OTHER.email, EMAIL],
  });
  await call("POST", "/v1/approvals", {
    description: `May we visit ${NAME}?`,
    action: { visit: EMAIL },
  })
    .then(({ approval_id }) =>
      call("POST", `/v1/approvals/${approval_id}/deny`, { reason: `${NAME} is away` }, {}, "ann")
    );
  await call("POST", "/api/v1/website/partner-applications", {
    name: NAME,
    email: EMAIL,
    company: "Mills of Gold",
    message: `I am ${NAME}`,
    consent: true,
  });
}

/**
 * Makes calls of an agent that are done, refused, held and denied, held and run, and one that waits.
 *
 * @returns the approval that the last one waits for
 */
async function useTools(people: People, client: Client, contactId: string): Promise<string> {
  const call = callerOf(people);
  const use = async (name: string, input: object): Promise<Json> =>
    await client.callTool({ name, arguments: { ...input } });
  await use("crm_update_contact", { contact_id: contactId, name: `${NAME}-Meyer` });
  await use("crm_create_contact", { name: "Someone", email: EMAIL.toUpperCase() });
  await use("crm_create_contact", { name: NAME, email: "no address" });
  await setGovernance(people.store, {
    rules: [{
      name: "ask",
      when: { tools: ["crm_create_contact"] },
      then: "needs_approval",
      reason: "r",
    }],
  });
  const ask = async (fields: object) => {
    const held = await use("crm_create_contact", {
      email: EMAIL,
      on_duplicate: "merge",
      ...fields,
    });
    const id = /APR-[0-9a-f]{12}/.exec(JSON.stringify(held))?.[0];
    assert.ok(id, JSON.stringify(held));
    return id;
  };
  const denied = await ask({ name: `Not ${NAME}` });
  await call("POST", `/v1/approvals/${denied}/deny`, { reason: `No, ${NAME}` }, {}, "ann");
  const approved = await ask({ name: NAME, tags: [`friend of ${NAME}`] });
  await call("POST", `/v1/approvals/${approved}/approve`, { reason: "yes" }, {}, "ann");
  await people.eventually(async () => {
    const { act } = await call("GET", `/v1/approvals/${approved}/info`);
    return act.state === "done" || undefined;
  });
  return await ask({ name: NAME, phone: PHONE });
}

/** Asks the agents by A2A. */
async function askAgents(url: string, key: string): Promise<void> {
  const a2a = a2aClient(url, key);
  const question = { message: message(`What of ${NAME} <${EMAIL}>?`), configuration: BLOCKING };
  const { result } = await a2a.ask("message/send", question);
  assert.ok(!["submitted", "working"].includes(result.status.state), JSON.stringify(result));
  await a2a.ask("message/send", skill("itsm_create_ticket", { title: `Call ${NAME}` }));
}

async function talkToAgents(people: People): Promise<void> {
  const call = callerOf(people);
  await call("POST", "/v1/agents/metrics/notes", { text: `Be kind to ${NAME}` });
  await call("POST", "/v1/agents/metrics/message", { text: `How many tickets has ${EMAIL}?` });
  await people.eventually(async () => {
    const { total } = await call("GET", "/v1/agents/metrics/conversation");
    return total === 2 || undefined;
  });
}
