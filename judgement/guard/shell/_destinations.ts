/** Tells internal hosts from outside ones, and secrets from data that may leave the host. */
import { areaOf, normalizePath } from "./_paths.ts";
import { holdsPasswords, holdsTyped, isDisk, mayHoldSecrets } from "./_places.ts";
import type { Input } from "./_types.ts";

const SENDS_SECRETS =
  /^(env|printenv|set|history|pg_dump|pg_dumpall|mysqldump|mongodump|mongoexport|redis-cli|gpg|security|secretsmanager|getent|vault|kubectl|last|who|netstat|lsof)$/;
const INTERNAL =
  /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?::1|\[?f[cd][0-9a-f]{2}:)|\.(local|internal|lan|intra|intranet|corp|home|svc|consul|test|localdomain)(:|$)|\.svc\.cluster\.local|\.cluster\.local/i;

/** Tells by its name whether a host is internal. Names without a dot are. */
export function isInternal(host: string): boolean {
  return INTERNAL.test(host) || !/[.:]/.test(host.replace(/:\d+$/, ""));
}

/** Returns the hosts of addresses among arguments. */
export function hostsOf(args: readonly string[]): string[] {
  return args.flatMap((arg) =>
    /^(?:\w+:\/\/)(?:[^@/\s]{0,100}@)?([^/\s:?#]+)/.exec(arg)?.[1] ?? []
  );
}

/** Certificates and accounts, which may be read although keys lie beside them. */
const READABLE = /^\/etc\/passwd$|\.(crt|cer|pub)$|(?<!key|private)\.pem$/;

/** Tells whether a file holds keys, passwords or accounts, or may hold them: memory, whole disks, what was typed. */
export function isSecret(path: string): boolean {
  const full = normalizePath(path.replace(/^[@<]/, ""), undefined).toLowerCase();
  const isPrivate = /\/(private|pki)\/|key|client-current/.test(full);
  if (READABLE.test(full) && !(full.endsWith(".pem") && isPrivate)) return false;
  return areaOf(full) === "secret" || holdsTyped(full) || holdsPasswords(full) || isDisk(full) ||
    mayHoldSecrets(full) ||
    /shadow|id_rsa/.test(full);
}

/** Tells whether piped input comes from programs that print secrets. */
export function carriesSecrets(input: Input | undefined): boolean {
  return input?.from.some((run) =>
    SENDS_SECRETS.test(run.program) || run.args.some(isSensitive) || carriesSecrets(run.input)
  ) === true;
}

/** Tells whether a file, such as accounts or backups, must not leave the host. */
export function isSensitive(path: string): boolean {
  const area = areaOf(path.replace(/^@/, ""));
  return isSecret(path) || /\/etc\/passwd/.test(path) || area === "secret" ||
    area === "root" && path !== "." && path.startsWith("/") ||
    area === "backup" && path.startsWith("/") || /^~|^\/(root|home)\//.test(path);
}
