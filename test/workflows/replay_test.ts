import assert from "node:assert/strict";
import { hostname, tmpdir, userInfo } from "node:os";
import { Worker } from "@temporalio/worker";
import { DeterminismViolationError } from "@temporalio/workflow";
import { readHistories, type RecordedHistory, WORKFLOW_TYPES } from "./_histories.ts";
import { bundleTestWorkflows, installQuietRuntime } from "./_loop.ts";

/** Ends of the loop that must be recorded. */
const LOOP_ENDS = [
  "resolved",
  "clear",
  "no_runbook",
  "not_healed",
  "undone",
  "cancelled",
  "unknown_effect",
  "unknown_undo",
  "place_away",
  "outdated",
  "refused",
  "guardrails_away",
  "approved",
  "approval_denied",
  "approval_expired",
  "approval_ended",
  "approval_outdated",
  "resumed",
  "healed_while_waiting",
  "cancelled_waiting",
];

describe("recorded histories", () => {
  const recorded = readHistories();
  const outcomes = new Map<string, Error | undefined>();

  before(async () => {
    for (const [name, error] of await replay(recorded)) outcomes.set(name, error);
  });

  for (const { name } of recorded) {
    it(`${name} replays with the current workflows`, () => {
      assert.ok(outcomes.has(name), "It was not replayed");
      assert.equal(outcomes.get(name), undefined);
    });
  }

  it("exist for every type of workflow", () => {
    const types = new Set(recorded.map(({ workflowType }) => workflowType));
    assert.deepEqual(WORKFLOW_TYPES.filter((type) => !types.has(type)), []);
  });

  it("exist for each end of the loop", () => {
    const names = new Set(recorded.map(({ name }) => name));
    assert.deepEqual(LOOP_ENDS.filter((end) => !names.has(`itsmLoop.${end}`)), []);
  });

  it("have the type in their names", () => {
    for (const { name, workflowType, history: { events: [first] } } of recorded) {
      const { workflowType: { name: type } } = first!.workflowExecutionStartedEventAttributes as {
        workflowType: { name: string };
      };
      assert.equal(type, workflowType, name);
    }
  });

  it("do not describe the machine that they were recorded on", () => {
    const places = [userInfo().homedir, process.cwd(), tmpdir(), "file://", "    at "];
    const processName = new RegExp(`\\d@${hostname()}`); // as the SDK names one
    for (const { name, history } of recorded) {
      for (const text of textsOf(history)) {
        const word = places.find((place) => text.includes(place)) ?? processName.exec(text)?.[0];
        assert.equal(word, undefined, `${name} has it: ${text}`);
      }
    }
  });

  it("do not replay with other workflows", async () => {
    const [resolved] = recorded.filter(({ name }) => name === "itsmLoop.resolved");
    const text = resolved!.text.replaceAll('"name":"openTicket"', '"name":"openAnotherTicket"');
    assert.notEqual(text, resolved!.text);
    const [[, error]] = await replay([{ ...resolved!, history: JSON.parse(text) }]);
    assert.ok(error instanceof DeterminismViolationError, String(error));
  });
});

async function replay(
  histories: readonly RecordedHistory[],
): Promise<[[string, Error | undefined], ...[string, Error | undefined][]]> {
  installQuietRuntime();
  const results = Worker.runReplayHistories(
    { workflowBundle: await bundleTestWorkflows() },
    histories.map(({ workflowId, history }) => ({ workflowId, history })),
  );
  const names = new Map(histories.map(({ runId, name }) => [runId, name]));
  const outcomes: [string, Error | undefined][] = [];
  for await (const { runId, error } of results) outcomes.push([names.get(runId)!, error]);
  return outcomes as [[string, Error | undefined]];
}

/** Returns every text in a history, with decoded payloads. */
function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === "data" && typeof inner === "string"
      ? [Buffer.from(inner, "base64").toString()]
      : textsOf(inner)
  );
}
