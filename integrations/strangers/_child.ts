import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Socket } from "node:net";
import { programPath, ROOT } from "../../config.ts";
import { Problem } from "../../contract/mod.ts";
import { confinement } from "./confine.ts";
import { readFrames, writeFrame } from "./frames.ts";
import type { ParsedKind } from "./kinds.ts";
import type { Refusal } from "./refusal.ts";

/** Most memory of a child, data and code that it has written. */
const MAX_MEMORY_MIB = 256;
/** Share of it that objects of JavaScript may take; the rest is for bytes and for the engine itself. */
const MAX_HEAP_MIB = 160;
const MAX_START_MS = 10_000;
/** How much longer than its time a child may wait for the processor, as its input is not to blame for a busy machine. */
const MAX_WAIT_FACTOR = 6;
const LOOK_MS = 50;
/** Unit of processor times in `/proc`, see proc(5): USER_HZ is 100 on all of Linux. */
const TICK_MS = 10;
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;
const MAX_STDERR_CHARACTERS = 4_000;
const PROGRAM = "processes/_parser_program.ts";
/** The program, its packages, and the folders of the parsers with their files of words and marks. */
const READABLE = ["package.json", "node_modules", "dist", "integrations", "judgement/detection"];
/** No core dumps, no files, and the memory as the kernel counts it. Units are those of POSIX shells. */
const LIMITED = `ulimit -c 0; ulimit -f 0; ulimit -d ${MAX_MEMORY_MIB * 1024}; exec "$@"`;
/** The name that this version of Node has for it. */
const PERMISSION = ["--permission", "--experimental-permission"].find((flag) =>
  process.allowedNodeEnvironmentFlags.has(flag)
);

/** An input to parse. */
interface ParseRequest {
  readonly kind: ParsedKind;
  readonly bytes: Uint8Array;
  readonly parameters: unknown;
  readonly timeoutMs: number;
}

/** Answer of a child. */
type ParseAnswer = { readonly value: unknown } | { readonly refusal: Refusal };

/** A process that parses, one input at a time. */
export interface ParserChild {
  /** Parses an input. A breach of its limits ends the child. @throws {Problem} `Unavailable`: it can't be started */
  parse(request: ParseRequest): Promise<ParseAnswer>;
  /** Returns whether it can parse another input. */
  isUsable(): boolean;
  end(): void;
}

/**
 * Starts a child: without environment, network, files but its own program and packages, or other processes, as far as the
 * system and this version of Node can take them away.
 */
export function startChild(): ParserChild {
  const command = [...confinement(), process.execPath, ...nodeOptions(), programPath(PROGRAM)];
  const child = spawn("/bin/sh", ["-c", LIMITED, "sh", ...command], {
    cwd: "/",
    env: {},
    stdio: ["pipe", "pipe", "pipe"],
  });
  let isUsable = true;
  let stderr = "";
  const end = () => {
    isUsable = false;
    child.kill("SIGKILL");
  };
  for (const one of [child, child.stdin, child.stdout, child.stderr]) {
    (one as Socket).unref(); // a child that waits keeps nobody alive
    one.on("error", end);
  }
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-MAX_STDERR_CHARACTERS);
  });
  const answers = readFrames(child.stdout, MAX_ANSWER_BYTES);
  const ready = receive(MAX_START_MS);

  /** @returns undefined: its time is over; null: the child has ended, or sends what is no answer */
  async function receive(timeoutMs: number): Promise<Buffer | null | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const isLate = clockOf(child.pid, timeoutMs);
    const late = new Promise<undefined>((resolve) => {
      timer = setInterval(() => isLate() && resolve(undefined), LOOK_MS);
    });
    const next = answers.next().then(({ value }) => value ?? null, () => null);
    const frame = await Promise.race([next, late]);
    clearInterval(timer);
    if (!frame) end();
    return frame;
  }

  return {
    async parse({ kind, bytes, parameters, timeoutMs }) {
      if (!await ready) {
        const cause = new Error(stderr || "It has ended without a word");
        throw new Problem("Unavailable", "Cannot start the process that parses", { cause });
      }
      writeFrame(child.stdin, Buffer.from(JSON.stringify({ kind, parameters })));
      writeFrame(child.stdin, bytes);
      const frame = await receive(timeoutMs);
      if (frame) return JSON.parse(frame.toString()) as ParseAnswer;
      const code = frame === undefined ? "too_slow" : "too_much_memory";
      const about = frame === undefined
        ? `Reading it takes more than ${timeoutMs / 1_000} s of the processor`
        : `Reading it takes more than ${MAX_MEMORY_MIB} MiB of memory`;
      return { refusal: { code, about } };
    },
    isUsable: () => isUsable,
    end,
  };
}

/** Returns a function that tells whether a process has had its time: on the processor where the system tells it. */
function clockOf(pid: number | undefined, timeoutMs: number): () => boolean {
  const begin = performance.now();
  const before = processorMs(pid);
  return () => {
    const passed = performance.now() - begin;
    if (passed < timeoutMs) return false;
    const used = before === undefined ? passed : (processorMs(pid) ?? Infinity) - before;
    return used >= timeoutMs || passed >= timeoutMs * MAX_WAIT_FACTOR;
  };
}

function processorMs(pid: number | undefined): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14);
    return (Number(user) + Number(system)) * TICK_MS;
  } catch {
    return undefined; // no Linux, or it has ended
  }
}

function nodeOptions(): string[] {
  return [
    "--no-warnings",
    `--max-old-space-size=${MAX_HEAP_MIB}`,
    ...(PERMISSION
      ? [PERMISSION, ...READABLE.map((path) => `--allow-fs-read=${join(ROOT, path)}`)]
      : []),
  ];
}
