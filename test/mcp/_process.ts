/** A tool server in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { ROOT } from "../../config.ts";
import type { NewKey } from "../../store/keys/mod.ts";
import { program } from "../_programs.ts";
import { freePort } from "../_run.ts";
import type { TestDatabase } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";

/** A running tool server. */
export interface ToolProcess {
  readonly child: ChildProcess;
  /** Without a slash at the end. */
  readonly url: string;
  /** The lines logged so far. */
  readonly lines: readonly string[];
  /** Its exit code and signal, once it has ended. */
  readonly exited: Promise<readonly unknown[]>;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
}

/** Starts one. @param env added to the settings of its database */
export async function startToolProcess(
  database: TestDatabase,
  env: Readonly<Record<string, string>> = {},
): Promise<ToolProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, [await program("processes/mcp.ts")], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: database.urls.owner,
      SEALOOP_DATABASE_TOOLS_URL: database.urls.tools,
      SEALOOP_MCP_PORT: String(port),
      ...env,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const lines: string[] = [];
  const output = createInterface(child.stdout!);
  await new Promise<void>((resolve, reject) => {
    output.on("line", (line) => {
      lines.push(line);
      if (JSON.parse(line).msg === "ready") resolve();
    });
    exited.then(() => reject(new Error(`It ended early:\n${lines.join("\n")}`)));
  });
  return {
    child,
    lines,
    exited,
    url: `http://127.0.0.1:${port}`,
    async kill() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Issues a key in a database, of tier partner and scope full unless it says otherwise. */
export async function keyIn(
  database: TestDatabase,
  fields: Partial<NewKey> = {},
): Promise<{ key: string; id: string }> {
  const { key, record } = await giveKey({ url: database.superuserUrl }, fields);
  return { key, id: record.id };
}
