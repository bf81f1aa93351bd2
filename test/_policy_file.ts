/** A policy file of a test, followed as its process does. */
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FollowedFile } from "../integrations/files/mod.ts";
import type { Follower } from "../integrations/settings_files/mod.ts";
import type { Db } from "../store/mod.ts";
import { createLog } from "../runtime/web/mod.ts";
import { testStore } from "./_servers.ts";

/** A followed file. */
export interface TestPolicyFile {
  readonly db: Db;
  /** Reasons for refusals that were logged. */
  readonly reasons: readonly string[];
  /** Writes the file, and waits until it was looked at. */
  apply(text: string): Promise<void>;
  /** Removes the file, and waits until that was noticed. */
  remove(): Promise<void>;
  /** Returns the receipts of changes as they were requested. @param subject of these receipts */
  sealed(subject: string): Promise<string[]>;
  stop(): Promise<void>;
}

/** Follows a file that is not there yet, on a database of its own. */
export async function followTestFile(
  name: string,
  follow: (follower: Follower) => Promise<FollowedFile>,
): Promise<TestPolicyFile> {
  const opened = await testStore();
  const { config, store } = opened;
  const path = join(config.dataDir, name);
  const reasons: string[] = [];
  const write = (line: string) => {
    const { reason } = JSON.parse(line);
    if (reason) reasons.push(reason);
  };
  const followed = await follow({ config, store, log: createLog("test", "info", { write }) });
  const db = store.asPlatform();
  let writes = 0;
  return {
    db,
    reasons,
    async apply(text) {
      writeFileSync(path, text);
      utimesSync(path, 0, ++writes); // two writes may have one time
      await followed.refresh();
    },
    async remove() {
      rmSync(path);
      await followed.refresh();
    },
    async sealed(subject) {
      const rows = await db.query<{ payload: string }>(
        "SELECT payload FROM seal_outbox WHERE payload::json ->> 'subject' = $1",
        [subject],
      );
      return rows.map(({ payload }) => payload);
    },
    async stop() {
      followed.stop();
      await opened.close();
    },
  };
}
