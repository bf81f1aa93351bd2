import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../config.ts";

/** The agent as this platform serves it. */
export interface AgentFile {
  readonly bytes: Buffer;
  /** SHA-256, hex. */
  readonly sha256: string;
}

/** Reads the agent. */
export async function readAgent(): Promise<AgentFile> {
  const bytes = await readFile(join(ROOT, "dist", "agent", "sealoop_agent.py"));
  return { bytes, sha256: hash("sha256", bytes) };
}
