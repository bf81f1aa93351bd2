/** Scenarios of the workflows for other agents, to be recorded: reasoning, the crew, A2A tasks. */
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { WorkflowHandle } from "@temporalio/client";
import {
  askUpdate,
  cancelUpdate,
  sayUpdate,
  TASK_QUEUE,
  type TaskMessage,
  type TaskRecord,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { addConversation, addQuestion } from "../../store/agents/mod.ts";
import type { VoteMove } from "../../store/approvals/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { eventually } from "../_time.ts";
import { serveEngine } from "../judgement/engine/_engine.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { type ModelRequest, serveModel } from "./_model.ts";
import { putTask } from "../../store/a2a/mod.ts";

/** Functions of the recorder. */
export interface Recorder {
  start(type: string, workflowId: string, args: unknown[]): Promise<WorkflowHandle>;
  /** Waits for the end of a run, whatever it is. */
  ended(run: WorkflowHandle): Promise<WorkflowHandle>;
  /** Casts a person's vote. */
  speak(run: WorkflowHandle, move: VoteMove, who: string): Promise<void>;
  /** Holds a call until people decide. @returns id of the approval */
  held(name: string): Promise<string>;
}

type Scenarios = Readonly<Record<string, () => Promise<WorkflowHandle>>>;

/** Returns the scenarios. @param writers gets the platforms with a model, to be stopped at the end */
export function taskScenarios(
  loop: TestLoop,
  writers: TestLoop[],
  { start, ended, speak, held }: Recorder,
): Scenarios {
  /** Starts a run on a platform with a model, whose first text does not hold, and whose second does. */
  async function startWriting(
    type: string,
    workflowId: string,
    text = "search is down",
  ): Promise<WorkflowHandle> {
    const name = "search";
    let answers = 0;
    const says = ({ task }: ModelRequest) => {
      if (task === "plan") return { looks: [{ tool: "service", of: name }] };
      const claim = { text: `It is about ${name}.`, evidence: [++answers === 1 ? 99 : 1] };
      const diagnosis = { cause: name, confidence: 1, diagnosis: claim, steps: [claim] };
      return type === WORKFLOW.crew ? diagnosis : { claims: [claim] };
    };
    const model = await serveModel(says);
    const writing = await openLoop({ serve: (databaseUrl) => serveEngine(databaseUrl, model) });
    writers.push(writing);
    await putService(writing.store.asPlatform(), {
      name,
      type: "web",
      host: "localhost",
      owner: null,
      origin: "file",
      check: null,
      restart: null,
      watched: false,
      dependsOn: [],
    });
    const args = [
      type === WORKFLOW.crew ? { incident: text, requested_by: "key:recorder" } : asking(text),
    ];
    return await writing.client.workflow.start(type, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId,
      args,
    });
  }

  /** Has a conversation of two questions, whose run ends a second after the answers. */
  async function converse(name: string, max_answers: number): Promise<WorkflowHandle> {
    const db = loop.store.asPlatform();
    const id = `CONV-${name.repeat(12)}`;
    await db.transaction(async (trx) => {
      await addConversation(trx, { id, keyId: "recorder", agentId: "metrics" });
      for (const n of [1, 2]) {
        await addQuestion(trx, id, { id: `MSG-${name.repeat(11)}${n}`, text: "Which are down?" });
      }
    });
    const terms = { idle_seconds: 1, max_answers };
    const request = { conversation_id: id, agent: "metrics", key_id: "recorder", ...terms };
    const run = await start(WORKFLOW.conversation, `conversation-${id}`, [request]);
    await run.executeUpdate(askUpdate, { args: [{ question_id: `MSG-${name.repeat(11)}2` }] });
    return run;
  }

  /** Returns the runs of a workflow, oldest first. */
  async function listRuns({ workflowId }: WorkflowHandle): Promise<WorkflowHandle[]> {
    return await eventually(async () => {
      const runs = [];
      const query = `WorkflowId = '${workflowId}'`;
      for await (const run of loop.client.workflow.list({ query })) runs.push(run);
      runs.sort((a, b) => Number(a.startTime) - Number(b.startTime));
      const handles = runs.map(({ runId }) => loop.client.workflow.getHandle(workflowId, runId));
      return handles.length > 1 ? handles : undefined;
    });
  }

  return {
    "reasoning.answered": async () =>
      await ended(await start(WORKFLOW.reasoning, "reasoning-1", [asking("the search is down")])),
    "reasoning.input_required": async () =>
      await ended(await start(WORKFLOW.reasoning, "reasoning-2", [asking("Hello")])),
    "crew.written": async () => await ended(await startWriting(WORKFLOW.crew, "crew-2")),
    "reasoning.written": async () =>
      await ended(await startWriting(WORKFLOW.reasoning, "reasoning-4")),
    "reasoning.chosen": async () =>
      await ended(await startWriting(WORKFLOW.reasoning, "reasoning-5", "Qui est en panne ?")),
    "reasoning.agent": async () =>
      await ended(
        await start(WORKFLOW.reasoning, "reasoning-6", [{
          ...asking("Which services are down?"),
          agent: "verifier",
        }]),
      ),
    "conversation.answered": async () => await ended(await converse("a", 100)),
    "conversation.continued": async () => {
      const run = await converse("b", 1);
      await ended(run);
      const [first] = await listRuns(run);
      return first!;
    },
    "peerMessage.replied": async () => {
      const peer = createServer((req, res) => {
        const url = `http://${req.headers.host}/`;
        const parts = [{ kind: "text", text: "Line 7 is cut." }];
        const status = { state: "completed" };
        const working = { kind: "task", id: "t-1", contextId: "c", status: { state: "working" } };
        const done = { ...working, status, artifacts: [{ artifactId: "a", parts }] };
        const card = { protocolVersion: "0.3.0", name: "NOC", url, capabilities: {}, skills: [] };
        let body = "";
        req.on("data", (chunk) => body += chunk).on("end", () => {
          const { id, method } = body ? JSON.parse(body) : { id: 0, method: "" };
          const result = method === "tasks/get" ? done : working;
          const answer = body ? { jsonrpc: "2.0", id, result } : card;
          res.setHeader("content-type", "application/json").end(JSON.stringify(answer));
        });
      }).listen(0, "127.0.0.1");
      await once(peer, "listening");
      const url = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
      const file = join(loop.config.dataDir, "sealoop.peers.yaml");
      await writeFile(file, `platform: [{ id: noc, name: NOC, url: "${url}" }]\n`);
      const ids = { conversation_id: "CONV-cccccccccccc", question_id: "MSG-cccccccccccc" };
      await loop.store.asPlatform().transaction(async (trx) => {
        const conversation = { id: ids.conversation_id, keyId: "recorder", agentId: "noc" };
        await addConversation(trx, conversation);
        await addQuestion(trx, conversation.id, { id: ids.question_id, text: "Line 7?" });
      });
      const request = { ...ids, agent: "noc", requested_by: "key:recorder" };
      const run = await ended(await start(WORKFLOW.peerMessage, "peer-1", [request]));
      peer.close();
      return run;
    },
    "a2aTask.completed": async () => {
      const run = await start(WORKFLOW.a2aTask, "a2a-1", [taskOf("1", "Hello")]);
      await run.executeUpdate(sayUpdate, { args: [saying("m2", "the search is down")] });
      return await ended(run);
    },
    "a2aTask.canceled": async () => {
      const run = await start(WORKFLOW.a2aTask, "a2a-2", [taskOf("2", "Hello")]);
      await run.executeUpdate(cancelUpdate);
      return await ended(run);
    },
    "a2aTask.denied": async () => {
      const approval_id = await held("b1");
      const task = { ...taskOf("3", "Hello"), state: "input-required" as const, approval_id };
      await putTask(loop.store.asPlatform(), task);
      const run = await start(WORKFLOW.a2aTask, "a2a-3", [task]);
      await speak(loop.client.workflow.getHandle(`approval-${approval_id}`), "denied", "ann");
      return await ended(run);
    },
    "a2aSkill.completed": async () => {
      const asked = await start(WORKFLOW.reasoning, "reasoning-3", [asking("the search is down")]);
      const { runId } = await asked.describe();
      const given = { workflow_id: asked.workflowId, run_id: runId };
      return await ended(await start(WORKFLOW.a2aSkill, "a2a-4", [skillTask("4"), given]));
    },
    "a2aSkill.canceled": async () => {
      const approval_id = await held("b2");
      const task = { ...skillTask("5"), state: "input-required", approval_id };
      const run = await start(WORKFLOW.a2aSkill, "a2a-5", [task]);
      await run.executeUpdate(cancelUpdate);
      return await ended(run);
    },
  };
}

function asking(prompt: string) {
  return { prompt, requested_by: "key:recorder" };
}

function saying(message_id: string, text: string): TaskMessage {
  return { message_id, role: "user", parts: [{ text }] };
}

function taskOf(id: string, text: string): TaskRecord {
  return {
    id,
    context_id: "c",
    key_id: "recorder",
    state: "submitted",
    version: 0,
    since: "2026-07-01T12:00:00.000Z",
    said: null,
    artifacts: [],
    history: [saying("m1", text)],
  };
}

function skillTask(id: string): TaskRecord {
  return { ...taskOf(id, "-"), skill: "invoke_reasoning_pipeline" };
}
