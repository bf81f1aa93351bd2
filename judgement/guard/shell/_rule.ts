/** Rules for programs, and the objections they make. */
import type { Objection } from "../types.ts";
import type { Run } from "./_types.ts";

/** Returns objections to one program's run. */
export type ProgramRule = (run: Run) => Objection[];

const REMEDIES: Readonly<Record<string, string>> = {
  destroys:
    "Name exactly the files or records to remove, within a cache, a temporary or a log folder.",
  disk: "Leave disks and volumes as they are; extend them, or let a person replace them.",
  opens: "Give rights on the one folder that needs them.",
  outage: "Restart one service, or ask a person about the interruption.",
  defence: "Leave firewalls, audit and backups on; change one rule at a time.",
  traces: "Rotate logs with their own tool; leave audit logs and histories.",
  data: "Add a WHERE that names the rows, or run a repair that keeps the data.",
  sends: "Keep what the host knows on the host.",
  access: "Have accounts, keys and rights changed by a person.",
  secret: "Use a step that needs no secret, or ask a person.",
  unseen: "Write out what is to run, so that it can be read before.",
  unknown: "Use a program and options that are known, or put the command on the list of a runbook.",
  environment: "Leave the environment as it is; set options on the program itself.",
  remote_code: "Install from a package or a file that is known beforehand.",
  cluster: "Name the one workload, and restart or roll it back.",
  cloud: "Name a step that removes nothing, or have a person do it.",
};

/** Makes an objection that denies. @param kind key of {@linkcode REMEDIES} */
export function deny(kind: string, reason: string): Objection {
  return { weight: "deny", code: kind, reason, remedy: REMEDIES[kind] ?? "Leave it out." };
}

/** Makes an objection that a person may overrule. @param kind key of {@linkcode REMEDIES} */
export function ask(kind: string, reason: string): Objection {
  return {
    weight: "ask",
    code: kind,
    reason,
    remedy: REMEDIES[kind] ?? "Ask a person.",
  };
}
