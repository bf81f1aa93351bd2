import { requestSeal } from "../ledger/mod.ts";
import type { Store } from "../store/mod.ts";
import { replaceScripts } from "../store/catalogue/mod.ts";
import type { Script } from "./load.ts";

/** Actor in receipts: whoever may change the files and restart the worker. */
const ACTOR = "operator";

/**
 * Releases the scripts of the files, and seals each change; nothing else can be asked for by its name. Public are the
 * names and hashes of those that ship; of the user's own there are commitments alone. Safe to repeat.
 */
export async function releaseScripts(store: Store, scripts: readonly Script[]): Promise<void> {
  const releases = scripts.map(({ origin, sha256, ...document }) => ({
    name: document.script,
    version: document.version,
    origin,
    sha256,
    document,
  }));
  await store.asPlatform().transaction(async (trx) => {
    const changes = await replaceScripts(trx, releases);
    if (changes.length === 0) return;
    await requestSeal(trx, {
      category: "script_release",
      actor: ACTOR,
      subject: "scripts",
      action: "scripts.release",
      outcome: "in_force",
      details: {
        in_force: releases.length,
        own_changes: changes.filter(({ origin }) => origin === "user").length,
        changes: changes.filter(({ origin }) => origin === "shipped")
          .map(({ name, before, after }) => ({
            script: name,
            before_sha256: before,
            after_sha256: after,
          })),
      },
      evidence: { changes, in_force: releases.map(({ document: _, ...named }) => named) },
    });
  });
}
