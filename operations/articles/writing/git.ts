/** A site in a branch of a git repository. Each deployment is one commit. */
import { execFile } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { pathBelow } from "../../../integrations/files/mod.ts";

const run = promisify(execFile);
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;

/** A branch of a repository, and where it is cloned. */
export interface GitTarget {
  /** Path of a repository on this machine, or an address that git knows how to reach. */
  readonly repository: string;
  readonly branch: string;
  /** Runs work with an empty folder of its own, which is removed afterwards, if need be by others. */
  readonly inFolder: <T>(work: (folder: string) => Promise<T>) => Promise<T>;
}

/**
 * Commits the files of a site, and pushes that. A branch that moved meanwhile is not overwritten: the push is refused.
 *
 * @param confirm throws where it is not to be done any more; asked right before the push
 * @param signal ends it
 */
export async function deployGit(
  target: GitTarget,
  files: ReadonlyMap<string, string>,
  message: string,
  confirm: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  await withClone(target, async (folder, git) => {
    for (const name of await readdir(folder)) {
      if (name !== ".git") await rm(pathBelow(folder, name), { recursive: true });
    }
    for (const [path, text] of files) {
      const target = pathBelow(folder, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, text);
    }
    await git("add", "--all");
    const changed = await git("status", "--porcelain");
    if (changed !== "") await git("commit", "--quiet", "--message", message);
    await confirm();
    await git("push", "--quiet", "origin", `HEAD:refs/heads/${target.branch}`);
  }, signal);
}

/** Returns a file of the branch, as a new clone has it, or undefined. */
export async function readGitFile(target: GitTarget, path: string): Promise<Buffer | undefined> {
  return await withClone(target, async (_, git) => {
    try {
      return Buffer.from(await git("show", `HEAD:${path}`));
    } catch {
      return undefined;
    }
  });
}

async function withClone<T>(
  { repository, branch, inFolder }: GitTarget,
  work: (folder: string, git: (...args: string[]) => Promise<string>) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  return await inFolder(async (folder) => {
    const git = async (...args: string[]) => {
      const { stdout } = await run("git", ["-C", folder, ...args], {
        timeout: TIMEOUT_MS,
        maxBuffer: MAX_OUTPUT_BYTES,
        env: ENVIRONMENT,
        ...signal ? { signal } : {},
      });
      return stdout;
    };
    await git("init", "--quiet", "--initial-branch", branch);
    await git("remote", "add", "origin", repository);
    const heads = await git("ls-remote", "--heads", "origin", branch);
    if (heads !== "") {
      await git("fetch", "--quiet", "--depth", "1", "origin", branch);
      await git("reset", "--quiet", "--hard", "FETCH_HEAD");
    }
    return await work(folder, git);
  });
}

/** Nothing of the platform's own environment but what git needs to find itself and the operator's credentials. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_AUTHOR_NAME: "sealoop",
  GIT_AUTHOR_EMAIL: "sealoop@localhost",
  GIT_COMMITTER_NAME: "sealoop",
  GIT_COMMITTER_EMAIL: "sealoop@localhost",
};
