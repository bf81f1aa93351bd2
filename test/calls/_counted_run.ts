import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { asSuperuser } from "../_superuser.ts";

/** An operation that counts its runs in the database, and leaves nothing by which a lost call could be recovered. */
export const countedRun = defineOperation<Platform>()({
  name: "test.count",
  summary: "Count a run",
  group: "test",
  effect: "write",
  access: "key",
  input: z.object({ n: z.number() }),
  output: z.object({}),
  tool: { count_run: ["full"] },
  governance: { rule: "key-decides" },
  example: { input: { n: 1 }, output: {} },
  run: async ({ n }, { store }) => {
    await store.asPlatform().query(
      "SELECT take_usage('{counted run}', ARRAY[$1], '{epoch}', '{1}', '{1}', '{1000}')",
      [String(n)],
    );
    return {};
  },
});

/** Returns how many times the operation has run with this input. */
export async function countRuns(store: Store, n: number): Promise<number> {
  const row = await asSuperuser(store).first(
    "SELECT used::int FROM usage WHERE subject = 'counted run' AND kind = $1",
    [String(n)],
  );
  return row?.used ?? 0;
}
