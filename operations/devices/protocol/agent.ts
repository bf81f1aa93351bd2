/** The receipt of the agent's release, and the script that installs it. */
import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { ROOT } from "../../../config.ts";
import type { AgentFile } from "../../../judgement/shield/mod.ts";
import { pathBelow } from "../../../integrations/files/mod.ts";
import type { SealRequest } from "../../../ledger/mod.ts";

const read = (name: string) => readFile(pathBelow(ROOT, "agent", name));

/** Returns the request for the receipt of an agent's release, the same for every process and whenever it is asked for. */
export function agentRelease({ bytes, sha256 }: AgentFile): SealRequest {
  return {
    id: hash("sha256", `agent_release ${sha256}`).slice(0, 16),
    category: "agent_release",
    actor: "platform",
    subject: `agent:${sha256.slice(0, 16)}`,
    action: "agent.release",
    outcome: "success",
    details: { sha256, bytes: bytes.length },
  };
}

/** Values of an install script. */
export interface Installation {
  /** Tenant that the machine becomes a device of. */
  readonly organization: string;
  /** Address of the gateway, without a slash at the end. */
  readonly server: string;
  readonly agentSha256: string;
  /** Keys and approvers that the device pins. */
  readonly pins: unknown;
  /** For one enrolment. */
  readonly code: string;
}

/** Returns the install script for one machine. @throws {Error} the address can't be written in a script */
export async function renderInstallScript(installation: Installation): Promise<string> {
  const { organization, server, agentSha256, pins, code } = installation;
  if (/['\s]/.test(server)) throw new Error(`Cannot write ${server} in an install script`);
  const [script, unit] = await Promise.all([read("install.sh"), read("sealoop-agent.service")]);
  const values: Readonly<Record<string, string>> = {
    ORGANIZATION: organization.replace(/[^\p{L}\p{N} ._-]/gu, "_"),
    SERVER: server,
    AGENT_SHA256: agentSha256,
    PINS: JSON.stringify(pins),
    CODE: code,
    UNIT: unit.toString().trimEnd(),
  };
  return script.toString().replace(/\{\{([A-Z0-9_]+)\}\}/g, (_, name) => values[name]!);
}
