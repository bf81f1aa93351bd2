import { randomBytes } from "node:crypto";
import { addTicketEvent, openTicket } from "../../../store/incidents/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { listMessages } from "../../../store/notices/mod.ts";
import { testSentences } from "../../_sentences.ts";
import { testDatabase } from "../../_servers.ts";
import { MESSAGES, type ToldTicket } from "./sentences/messages.ts";

describe("the sentences of messages about tickets", () => {
  let store: Store;
  let drop: () => Promise<void>;
  before(async () => {
    const database = await testDatabase();
    store = openStore(database.urls.worker, "worker", 4);
    drop = async () => {
      await store.close();
      await database.drop();
    };
  });
  after(() => drop());

  /** Returns the newest message about a ticket. */
  async function tell({ kind, reason, passedOver, recurs, printed }: ToldTicket): Promise<string> {
    const db = store.asPlatform();
    const id = `INC-${randomBytes(6).toString("hex")}`;
    await openTicket(db, {
      id,
      title: "It fails",
      description: "",
      severity: "high",
      phase: "ticketed",
      service: null,
      fingerprint: id,
      workflowId: `loop-${id}`,
      runId: "run",
      requestedBy: "test",
    });
    const add = (kind: string, data: object = {}) =>
      addTicketEvent(db, id, { key: kind, kind, data: data as never });
    const passed_over = passedOver ? [{ runbook: "clean", code: "x", why: "not its kind" }] : [];
    await add("diagnosed", { symptom: "timeout", cause: null, passed_over });
    if (recurs) await add("recurs", { message: "The fifth within the hour.", problem_id: "INC-2" });
    if (printed) await add("remediated", { printed: "no such unit" });
    await add(kind, reason ? { reason } : {});
    const { messages: [newest] } = await listMessages(db, { ticketId: id }, 1);
    return `${newest!.subject}\n${newest!.text}`;
  }

  testSentences({
    sources: ["store/incidents/_ticket_messages.ts"],
    pairs: MESSAGES,
    labels: ["… was … (…): …", "POST /v1/itsm/loop with the service"],
    always: {},
    tell,
  });
});
