/** A site in a folder: each deployment is a folder of its own, and a link is moved to it in one act. */
import { randomBytes } from "node:crypto";
import {
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PLATFORM_TENANT } from "../../../contract/domain/mod.ts";
import { pathBelow } from "../../../integrations/files/mod.ts";

const CURRENT = "current";
const RELEASES = "releases";
const UNUSED_LINK = /^\.\d{4}-\d\d-\d\dT/;
/** Deployments that stay besides the one that is shown. */
const KEPT = 3;

/** Returns the path of a tenant's site below the site of the platform, with a slash before it; empty: the platform's. */
export function sitePath(tenant: string): string {
  return tenant === PLATFORM_TENANT ? "" : `/~${tenant}`;
}

/**
 * Writes the files of a tenant's site beside those that are shown, and shows them in one act. If it fails, what was shown
 * is shown on.
 *
 * @param confirm throws where it is not to be done any more; asked right before they are shown
 * @param signal ends it, as long as nothing is shown yet
 */
export async function deployFolder(
  folder: string,
  tenant: string,
  files: ReadonlyMap<string, string>,
  confirm: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const site = pathBelow(folder, tenant);
  const name = `${new Date().toISOString().replaceAll(/[:.]/g, "-")}-${
    randomBytes(4).toString("hex")
  }`;
  const release = pathBelow(site, RELEASES, name);
  for (const [path, text] of files) {
    signal.throwIfAborted();
    const target = pathBelow(release, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text, { flush: true });
  }
  const link = pathBelow(site, `.${name}`);
  await symlink(`${RELEASES}/${name}`, link);
  await confirm();
  await rename(link, join(site, CURRENT));
  await removeOld(site, name);
}

/** Removes all deployments of a tenant's site but the one that is shown. */
export async function removeOldReleases(folder: string, tenant: string): Promise<void> {
  const site = pathBelow(folder, tenant);
  await removeOld(site, basename(await readlink(join(site, CURRENT))), 0);
}

/** Removes old deployments, and links of those that were never shown. Nobody else deploys this site meanwhile. */
async function removeOld(site: string, current: string, kept = KEPT): Promise<void> {
  const links = (await readdir(site)).filter((name) => UNUSED_LINK.test(name));
  for (const name of links) await rm(pathBelow(site, name), { force: true });
  const names = (await readdir(join(site, RELEASES))).sort();
  const old = names.filter((name) => name !== current);
  for (const name of old.slice(0, Math.max(0, old.length - kept))) {
    await rm(pathBelow(site, RELEASES, name), { recursive: true, force: true });
  }
}

/** Returns a file of a tenant's site, or undefined. */
export async function readSiteFile(
  folder: string,
  tenant: string,
  path: string,
): Promise<Buffer | undefined> {
  if (path.split("/").some((part) => !/^[a-z0-9][a-z0-9._-]*$/.test(part))) return undefined;
  if (!/^[a-z0-9][a-z0-9_-]*$/i.test(tenant)) return undefined;
  try {
    const site = pathBelow(folder, tenant);
    const release = pathBelow(site, await readlink(join(site, CURRENT)));
    return await readFile(pathBelow(release, path));
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EISDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) {
      return undefined;
    }
    throw error;
  }
}
