import { toDeviceScript } from "../../contract/domain/mod.ts";
import { type FileSource, type FollowedFile, IN_FORCE } from "../../integrations/files/mod.ts";
import { type Follower, followSettingsFile } from "../../integrations/settings_files/mod.ts";
import { randomHex, requestSeal } from "../../ledger/mod.ts";
import { makeSalt, type Store } from "../../store/mod.ts";
import { type InForce, replaceScripts } from "../../store/catalogue/mod.ts";
import { loadScripts, type Script } from "./load.ts";

/** Actor in receipts: whoever may change the files. */
const ACTOR = "operator";

/** Follows the user's folder: releases its scripts now and whenever a file of it has changed. One that is wrong changes nothing. */
export async function followScripts(
  follower: Follower,
): Promise<FollowedFile> {
  const folder = {
    name: "scripts",
    check: (path: string) => loadScripts(path),
    async apply(path: string, exists: boolean) {
      await releaseScripts(follower.store, loadScripts(path), { name: IN_FORCE, exists });
    },
  } as const;
  return await followSettingsFile(folder, follower);
}

/**
 * Releases the scripts of the files, and seals each change; nothing else can be asked for by its name. Public are the
 * names and hashes of those that ship; of the user's own there are commitments alone. Safe to repeat.
 *
 * @param source folder of the user's own; undefined: there is none
 * @returns released scripts that the folders of other workers have brought, or this one's before it went missing
 */
export async function releaseScripts(
  store: Store,
  scripts: readonly Script[],
  source?: FileSource,
): Promise<readonly InForce[]> {
  const receiptId = randomHex(16);
  const releases = scripts.map(({ origin, sha256, ...document }) => ({
    name: document.script,
    version: document.version,
    origin,
    sha256,
    source: origin === "user" ? source?.name ?? "" : "",
    document,
    receiptId,
    salt: makeSalt(),
  }));
  return await store.asPlatform().transaction(async (trx) => {
    const { changes, kept } = await replaceScripts(
      trx,
      releases,
      source?.exists ? source.name : undefined,
    );
    if (changes.length === 0) return kept;
    const changed = new Set(changes.map(({ name }) => name));
    // Each with a commitment of its own, so that a device is shown one script and no others.
    const commitments = releases.filter(({ name }) => changed.has(name))
      .map((release, n) => [`script_${n + 1}`, release] as const);
    await requestSeal(trx, {
      id: receiptId,
      category: "script_release",
      actor: ACTOR,
      subject: "scripts",
      action: "scripts.release",
      outcome: "in_force",
      details: {
        in_force: releases.length + kept.length,
        own_changes: changes.filter(({ origin }) => origin === "user").length,
        changes: changes.filter(({ origin }) => origin === "shipped")
          .map(({ name, before, after }) => ({
            script: name,
            before_sha256: before,
            after_sha256: after,
          })),
      },
      evidence: {
        changes,
        in_force: releases.map(({ name, version, origin, sha256 }) => ({
          name,
          version,
          origin,
          sha256,
        })),
        ...Object.fromEntries(commitments.map(([name, one]) => [name, toDeviceScript(one)])),
      },
      salts: Object.fromEntries(commitments.map(([name, { salt }]) => [name, salt])),
    });
    return kept;
  });
}
