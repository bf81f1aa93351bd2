import { z } from "zod";
import { type AttackRequest, ATTACKS, TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import { FULL } from "../_audience.ts";
import { exampleRun, Started, startedAlone, startedOutcome, WaitSeconds } from "../_started.ts";
import { mapTemporalErrors, operation } from "../../calls/mod.ts";
import { idOfCall, recoverRun } from "../../calls/recover/mod.ts";

/** Attacks a sandbox of the platform's own. */
export const simulateAttack = operation({
  name: "attacks.simulate",
  group: "platform",
  summary:
    "Attack a sandbox of the platform's own, and let detectors see it and the loop contain it",
  description:
    "A drill on real processes and sockets: a sandbox is opened on loopback, in a folder of its own, and attacked as the " +
    "scenario says; a detector has to see it, the incident loop contains, verifies and seals it, and everything is " +
    "removed. It can touch nothing else, and ends by itself. `result` says what was found, what the attack did " +
    "(`counts`) and the receipt.",
  effect: "run",
  startsWorkflow: WORKFLOW.attackSimulation,
  hints: { destructive: false },
  access: "key",
  input: z.object({
    scenario: z.enum(ATTACKS).describe(
      "ssh_brute_force: guesses passwords, seen in the log; port_scan: asks for ports, seen in the firewall's log; " +
        "ransomware: renames and garbles bait files; exfiltration: carries bait files to a sink of the sandbox; " +
        "crash_loop: a bad release that keeps crashing",
    ),
    target: z.literal("sandbox").default("sandbox").describe(
      "What is attacked: nothing but a sandbox can be",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: Started,
  perMinute: "simulate",
  longRunning: { outcome: startedOutcome },
  tool: { simulate_infrastructure_attack: FULL },
  errors: ["Unavailable"],
  example: {
    input: { scenario: "ransomware" },
    output: {
      ...exampleRun,
      workflow_id: "attack-4f1c2b9e",
      result_url: "http://127.0.0.1:8080/v1/workflows/attack-4f1c2b9e/result",
    },
  },
  recover: (call, platform) => recoverRun(platform, `attack-${idOfCall(call.decisionId, 8)}`, call),
  run: async ({ scenario, wait_seconds }, context) => {
    const client = await context.temporal();
    const id = idOfCall(context.decisionId, 8);
    const request: AttackRequest = { id, scenario, requested_by: `key:${context.caller.keyId}` };
    const handle = await mapTemporalErrors(client.workflow.start(WORKFLOW.attackSimulation, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `attack-${id}`,
      args: [request],
      staticSummary: `Practice attack: ${scenario}`,
    }));
    return await startedAlone(context, client, handle, wait_seconds);
  },
});
