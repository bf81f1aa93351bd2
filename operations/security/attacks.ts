import { z } from "zod";
import { operation, runAlone } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { type AttackRequest, ATTACKS, WORKFLOW } from "../../contract/domain/mod.ts";
import {
  completedRun,
  exampleStartedRun,
  StartedRun,
  tellRun,
  WaitSeconds,
} from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Attacks a sandbox of the platform's own. */
export const simulateAttack = operation({
  name: "attacks.simulate",
  group: "platform",
  summary: "Attack a sandbox, and let the detectors find the attack and the loop contain it",
  description:
    "A drill with real processes and sockets. A sandbox is opened on loopback, in its own folder, and attacked as the " +
    "scenario says; a detector has to find the attack; the incident loop contains it, verifies that and seals it; then " +
    "everything is removed. Nothing outside the sandbox is affected, and the drill ends by itself. `result` has the " +
    "findings, what the attack did (`counts`) and the receipt.",
  effect: "run",
  access: "key",
  input: z.object({
    scenario: z.enum(ATTACKS).describe(
      "ssh_brute_force: guesses passwords, found in the log; port_scan: probes ports, found in the firewall's log; " +
        "ransomware: renames and garbles bait files; exfiltration: sends bait files to a sink of the sandbox; " +
        "crash_loop: a bad release that keeps crashing",
    ),
    target: z.literal("sandbox").default("sandbox").describe(
      "Target of the attack; only a sandbox is possible",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: StartedRun,
  tool: { simulate_infrastructure_attack: FULL },
  presentation: {
    tell: tellRun,
    toolText: {
      simulate_infrastructure_attack:
        "A drill in a sandbox on loopback: found by a detector, contained by the loop, sealed and removed. Nothing else is affected.",
    },
    hints: { destructive: false },
    untrusted: true,
    errors: ["Unavailable"],
  },
  governance: { rule: "sandbox-and-judgement", limits: { perMinute: "simulate" } },
  durability: {
    startsWorkflow: WORKFLOW.attackSimulation,
    longRunning: { outcome: completedRun },
    startsRun: "status",
  },
  example: {
    input: { scenario: "ransomware" },
    output: {
      ...exampleStartedRun,
      workflow_id: "attack-4f1c2b9e",
      result_url: "http://127.0.0.1:8080/v1/workflows/attack-4f1c2b9e/result",
    },
  },
  run: async ({ scenario, wait_seconds }, context) => {
    const id = idOfCall(context.decisionId, 8);
    const request: AttackRequest = { id, scenario, requested_by: `key:${context.caller.keyId}` };
    return await runAlone(context, {
      type: WORKFLOW.attackSimulation,
      workflowId: `attack-${id}`,
      request,
      summary: `Practice attack: ${scenario}`,
    }, wait_seconds);
  },
});
