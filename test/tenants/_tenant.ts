/** Everything that a tenant may own, with words that nobody else may read. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { groundsOf } from "../../contract/records/mod.ts";
import { TASK_QUEUE, tenantAttribute, WORKFLOW } from "../../contract/domain/mod.ts";
import { putDeviceCommand } from "../../store/devices/mod.ts";
import { addTicketEvent, recordFindings } from "../../store/incidents/mod.ts";
import { addLearningItems } from "../../store/learning/mod.ts";
import { addReportedSpan } from "../../store/platform/mod.ts";
import { addArticle } from "../../store/articles/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { insertRows } from "../_rows.ts";
import { a2aClient, type Json, message } from "../mcp/_a2a.ts";
import { storeDevice } from "../judgement/shield/_stored_device.ts";
import type { TestLoop } from "../workflows/_loop.ts";
import { asSuperuser, giveKey } from "../_superuser.ts";
import { putReply } from "../../store/mail/mod.ts";
import { addAudioClip, addTranscript, addVideoProject } from "../../store/media/mod.ts";

/** A tenant of the tests. */
export interface Tenant {
  readonly name: string;
  /** Key of an agent. */
  readonly key: string;
  readonly keyId: string;
  /** Key of a person who may approve, for REST alone. */
  readonly personKey: string;
  readonly personKeyId: string;
  /** In every text and name of the tenant, and nowhere else. */
  readonly word: string;
  /** Values of input fields that its operations are about, some by `operation.field`. */
  readonly things: Readonly<Record<string, string>>;
  /** Texts that ask about it, by the names of input fields. */
  readonly texts: Readonly<Record<string, string>>;
  /** A task over A2A. */
  readonly taskId: string;
}

/** Addresses of the interfaces. */
export interface Doors {
  readonly loop: TestLoop;
  readonly gateway: string;
  readonly tools: string;
}

/** Makes a tenant with everything that it may own. */
export async function createTenant(name: string, doors: Doors): Promise<Tenant> {
  const { loop, gateway, tools } = doors;
  const word = `zq${randomBytes(5).toString("hex")}`;
  const db = loop.store.asTenant(name);
  const issue = (principal: string, mayApprove: boolean) =>
    giveKey(loop.store, { tenant: name, tier: "enterprise", principal, mayApprove });
  const { key, record } = await issue(`Agent ${word}`, false);
  const { key: personKey, record: person } = await issue(`Ada ${word}`, true);
  const post = async (path: string, body: object): Promise<Json> => {
    const headers = { "x-api-key": key, "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body) };
    const response = await fetch(gateway + path, init);
    const answer = await response.json() as Json;
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const service = `shop-${word}`;
  for (const [one, needs] of [[`db-${word}`, []], [service, [`db-${word}`]]] as const) {
    await putService(db, {
      name: one,
      type: "web",
      host: `host-${word}`,
      owner: `team ${word}`,
      origin: "file",
      check: { tcp: "127.0.0.1:1" },
      restart: null,
      watched: true,
      dependsOn: needs.map((service) => ({ service, kind: "depends_on" as const })),
    });
  }
  const { ticket_id } = await post("/v1/itsm/tickets", {
    title: `Broken ${word}`,
    description: `Because of ${word}`,
  });
  const { receipt_id } = await post(`/v1/itsm/tickets`, { title: `Closed ${word}` })
    .then((closed) => post(`/v1/itsm/tickets/${closed.ticket_id}/close`, { resolution: "Fixed" }) // which is public
    );
  const { approval_id, group } = await post("/v1/approvals", {
    description: `Drop ${word}`,
    action: { command: `drop ${word}` },
  });
  const { webhook_id } = await post("/v1/itsm/webhooks", {
    url: `https://hooks.example.com/${word}`,
    events: ["OPENED", "UPDATED", "RESOLVED"],
  });
  const email = `eve@${word}.example`;
  const in_reply_to = `RPL-${randomBytes(6).toString("hex")}`;
  await putReply(asSuperuser(loop.store.forTenant(name)), {
    id: in_reply_to,
    threadId: in_reply_to,
    emailId: null,
    contactId: null,
    sender: `ann-${word}@example.org`,
    senderKey: `ann-${word}@example.org`,
    subject: `About ${word}`,
    body: `What of ${word}?`,
    messageId: "",
    references: [],
    ignored: null,
    ticketId: null,
    receiptId: randomBytes(8).toString("hex"),
  });
  const { contact_id } = await post("/api/contacts", {
    name: `Eve ${word}`,
    email,
    company: `Company ${word}`,
  });
  const { deal_id } = await post("/api/deals", {
    title: `Deal ${word}`,
    contact_id,
    currency: "EUR",
  });
  const { task_id } = await post("/v1/tasks", { title: `Do ${word}`, ticket_id });
  const { event_id } = await post("/v1/calendar/events", {
    title: `Meets ${word}`,
    start: "2026-07-06T08:00Z",
    duration_minutes: 5,
    location: word,
    attendees: [`${word}@example.com`],
  });
  await post("/v1/agents/metrics/notes", { text: `${service} is of ${word}` });
  const { conversation_id } = await post("/v1/agents/metrics/message", {
    text: `Is ${service} up?`,
  });
  const hasAnswer = async () => {
    const headers = { "x-api-key": key };
    const response = await fetch(`${gateway}/v1/agents/metrics/conversation`, { headers });
    return (await response.json() as Json).total === 2;
  };
  while (!await hasAnswer()) await sleep(50);
  await addTicketEvent(db, ticket_id, { key: "noted", kind: "noted", data: { note: word } });
  const fingerprint = randomBytes(8).toString("hex");
  await recordFindings(db, [{
    fingerprint,
    detector: "security_scan",
    service,
    host: `host-${word}`,
    kind: "host",
    code: "open_port",
    severity: "high",
    root: fingerprint,
    summary: `Found on ${word}`,
    detail: { word },
    target: { scanner: "open_ports", remedy: word },
  }]);
  const item_id = `LRN-${randomBytes(6).toString("hex")}`;
  await addLearningItems(asSuperuser({ url: loop.store.url, tenant: name }), [{
    id: item_id,
    ticket_id,
    title: `Learnt ${word}`,
    category: "storage",
    score: 50,
    factors: [],
    passage: {
      id: ticket_id,
      kind: "incident",
      category: "storage",
      title: word,
      content: word,
      sha256: "0".repeat(64),
      fault: null,
      terms: { [word]: 1 },
      indexed: "x",
    },
    state: "queued",
    receipt_id: null,
  }]);
  const command_id = `CMD-${randomBytes(6).toString("hex")}`;
  const superuser = asSuperuser(loop.store.forTenant(name));
  const os = { id: word, version: word, name: `Linux ${word}` };
  const device_id = await storeDevice(superuser, { inventory: { os } });
  await putDeviceCommand(superuser, {
    id: command_id,
    deviceId: device_id,
    argv: ["echo", word],
    user: "agent",
    timeout_seconds: 60,
    output_bytes: 100,
    read_only: true,
    script: null,
    expires_at: new Date(Date.now() + 3_600_000).toISOString(),
    description: `Says ${word}`,
    requestedBy: `Ada ${word}`,
    requestedByKey: null,
    approvalId: null,
    needed: 0,
    grounds: groundsOf({ reasons: [word] }),
    request: null,
  });
  const hex = randomBytes(6).toString("hex");
  const [grant_id, expires_at] = [`GRN-${hex}`, new Date(Date.now() + 3_600_000).toISOString()];
  const terms = {
    grant_id,
    tenant_id: name,
    acts: [{ approval_id, what: `runbook ${word}`, action_sha256: "0".repeat(64) }],
    max_uses: 1,
    expires_at,
    made_by: `Ada ${word}`,
    needed: 1,
  };
  await insertRows(superuser, "grants", [{
    id: grant_id,
    terms,
    signed: {},
    made_by_key: person.id,
    receipt_id: randomBytes(8).toString("hex"),
    expires_at,
  }]);
  const [project_id, audio_id] = [`VID-${hex}`, `AUD-${hex}`];
  const [title, text, requestedBy] = [`Film of ${word}`, `Says ${word}`, `key:${record.id}`];
  await addVideoProject(db, {
    id: project_id,
    kind: "film",
    title,
    format: "landscape",
    captions: true,
    requestedBy,
    scenes: [{ heading: title, text }],
  });
  await addAudioClip(db, {
    id: audio_id,
    kind: "speech",
    title,
    text,
    voice: "heart",
    requestedBy,
  });
  const [article_id, session_id, trace_id] = [
    `ART-${hex}`,
    `seo-${hex}`,
    randomBytes(16).toString("hex"),
  ];
  await addArticle(db, {
    id: article_id,
    source: { kind: "ticket", id: ticket_id },
    keyword: word,
    slug: `about-${word}`,
    pageReceiptId: randomBytes(8).toString("hex"),
    requestedBy,
    requestedByKey: null,
  });
  await addReportedSpan(db, {
    traceId: trace_id,
    spanId: randomBytes(8).toString("hex"),
    parentId: null,
    name: "chat",
    door: "rest",
    startedAt: new Date(),
    endedAt: new Date(),
    provider: null,
    model: word,
    inputTokens: 1,
    outputTokens: 1,
    receiptId: randomBytes(8).toString("hex"),
  });
  await addTranscript(db, { id: `TRN-${hex}`, source: `${word}.wav`, requestedBy });
  await insertRows(db, "effects", [{
    id: `effect-${word}`,
    ticket_id,
    service,
    action: { runbook: word },
    state: "done",
    action_sha256: "0".repeat(64),
    detail: { code: word },
  }]);
  const [{ id: decision_id }] = await db.query("SELECT id FROM governance_decisions LIMIT 1") as [
    { id: string },
  ];
  // Nobody works on it, so that it stays open for whoever tries to end it.
  const workflow_id = `loop-${randomBytes(8).toString("hex")}`;
  await loop.client.workflow.start(WORKFLOW.itsmLoop, {
    taskQueue: `nobody-${TASK_QUEUE.itsm}`,
    workflowId: workflow_id,
    args: [{ word }],
    typedSearchAttributes: [tenantAttribute(name)],
    staticSummary: `Loop of ${word}`,
  });
  const client = a2aClient(tools, key);
  const { result } = await client.ask("message/send", { message: message(`What of ${word}?`) });
  const stateOf = async (id: string): Promise<string> =>
    (await client.ask("tasks/get", { id })).result.status.state;
  while (["submitted", "working"].includes(await stateOf(result.id))) await sleep(50);
  return {
    name,
    key,
    keyId: record.id,
    personKey,
    personKeyId: person.id,
    word,
    taskId: result.id,
    things: {
      ticket_id,
      incident_id: ticket_id,
      approval_id,
      approval_ids: approval_id,
      viewing: approval_id,
      group,
      grant_id,
      older_than: ticket_id,
      newer_than: ticket_id,
      "governance.search.older_than": decision_id,
      "governance.search.newer_than": decision_id,
      webhook_id,
      workflow_id,
      item_id,
      contact_id,
      deal_id,
      email,
      event_id,
      task_id,
      fingerprint,
      project_id,
      audio_id,
      article_id,
      session_id,
      trace_id,
      service,
      source: service,
      target: `db-${word}`,
      receipt_id,
      in_reply_to,
      key_id: record.id,
      request_id: receipt_id,
      taskId: result.id,
      tenant: name,
      conversation_id,
      device_id,
      command_id,
      replaces: device_id,
      via_device: device_id,
      tenant_id: name,
      org_id: name,
    },
    texts: Object.fromEntries(
      ["q", "query", "incident", "prompt", "question", "description", "title", "text"]
        .map((field) => [field, `What of ${word}?`]),
    ),
  };
}

/** Returns values like a tenant's that belong to nobody. */
export function createNothings({ things, texts, word }: Tenant): Record<string, string> {
  const other = `zq${randomBytes(5).toString("hex")}`;
  const entries = Object.entries({ ...things, ...texts }).map(([name, value]) => {
    const isText = value.includes(word);
    const digits = (text: string) => randomBytes(text.length).toString("hex").slice(0, text.length);
    return [name, isText ? value.replaceAll(word, other) : value.replace(/[0-9a-f]{8,}$/, digits)];
  });
  return Object.fromEntries(entries);
}
