import type { LoginSign } from "./_log_signs.ts";

/** Attempts from one source. Times are milliseconds. */
export interface AttackSource {
  /** Failed attempts, oldest first. */
  failures: number[];
  /** Users that do not exist, with the last attempt. */
  readonly invalid: Map<string, number>;
  /** Ports that a firewall blocked, with the last attempt. */
  readonly ports: Map<string, number>;
  /** Warnings that its name and its address don't match. */
  breakIns: number[];
  /** Last successful login; 0: none. */
  accepted: number;
}

/** A process that checks logins, with the failures that it wrote itself, and those that PAM wrote in its name. */
export interface LoginProcess {
  /** As PAM named it last. */
  pamSource: string;
  pamFailures: number;
  failures: number;
  /** Failures of which it told in lines of another kind. */
  secondary: number;
  /** Time of its last failure. */
  at: number;
}

/** Attempts of all sources. */
export interface LoginAttempts {
  /** Sources by their address. */
  readonly sources: Map<string, AttackSource>;
  /** Processes by {@linkcode LoginSign.process}, the last one at the end. */
  readonly processes: Map<string, LoginProcess>;
}

/** An attack by one source. */
export interface Attack {
  readonly source: string;
  readonly code:
    | "brute_force"
    | "invalid_users"
    | "break_in_attempt"
    | "login_after_failures"
    | "port_scan";
  readonly failures: number;
  /** Number of ports that were scanned. */
  readonly ports: number;
  readonly users: readonly string[];
  /** Milliseconds. */
  readonly at: number;
  /** User who logged in, where one did. */
  readonly user?: string;
}

/** Limits from which on attempts are an attack. */
export interface AttackLimits {
  /** Failed attempts of one source within the window; within a day, where it never logged in. */
  readonly failures: number;
  /** Users that do not exist, tried by one source within the window. */
  readonly invalidUsers: number;
  /** Sources that try users that do not exist, within a day. */
  readonly sources: number;
  /** Ports of one source that a firewall blocked within the window. */
  readonly ports: number;
  readonly windowMs: number;
}

/** Attempts are remembered for a day, as some attacks are slow. */
const DAY_MS = 86_400_000;
const MAX_SOURCES = 1_000;
const MAX_PROCESSES = 1_000;
/** Maximum of attempts of each kind that are remembered of a source. */
const MAX_ATTEMPTS = 100;
const MAX_USERS = 20;

/**
 * Records a sign, and forgets old attempts.
 *
 * @returns the attack; undefined: the source does not attack, or not yet
 */
export function recordSign(
  attempts: LoginAttempts,
  sign: LoginSign,
  { at, limits }: { readonly at: number; readonly limits: AttackLimits },
): Attack | undefined {
  const { source, kind, user, port } = sign;
  const { sources } = attempts;
  if (source === null || kind === "hint") return undefined;
  let known = sources.get(source);
  if (!known) {
    removeOldest(sources);
    sources.set(source, known = createSource());
  }
  forget(known, at - DAY_MS);
  const since = at - limits.windowMs;
  if (kind === "accepted") {
    const failures = countSince(known.failures, since);
    known.accepted = at;
    if (failures < limits.failures) return undefined;
    return { source, code: "login_after_failures", failures, ports: 0, users: [], at, user };
  }
  if (kind === "failure" || kind === "pam_failure") {
    const count = countNewFailures(attempts, { ...sign, source }, at, limits);
    for (let i = 0; i < Math.min(count, MAX_ATTEMPTS); i++) known.failures.push(at);
    if (known.failures.length > MAX_ATTEMPTS) {
      known.failures.splice(0, known.failures.length - MAX_ATTEMPTS);
    }
  }
  if (user !== undefined) known.invalid.set(user, at);
  if (port !== undefined && (known.ports.has(port) || known.ports.size < MAX_ATTEMPTS)) {
    known.ports.set(port, at);
  }
  if (kind === "break_in") {
    known.breakIns.push(at);
    if (known.breakIns.length > MAX_ATTEMPTS) known.breakIns.shift();
  }
  const code = attackCode(known, since, limits);
  return code && createAttack(source, known, code, at);
}

/** Finds an attack of many sources that each try a little. */
export function findDistributedAttack(
  { sources }: LoginAttempts,
  at: number,
  limits: AttackLimits,
): Attack[] {
  for (const known of sources.values()) forget(known, at - DAY_MS);
  const suspects = [...sources].filter(([, { invalid, accepted }]) =>
    invalid.size > 0 && !accepted
  );
  if (suspects.length < limits.sources) return [];
  return suspects.map(([source, known]) => createAttack(source, known, "invalid_users", at));
}

/**
 * Counts the failures that are new. A process and PAM may both write about the same ones, in any order; then those of the
 * process count, as PAM may name the source otherwise.
 */
function countNewFailures(
  { sources, processes }: LoginAttempts,
  { process: id, kind, source, times, isSecondary }: LoginSign & { readonly source: string },
  at: number,
  { windowMs }: AttackLimits,
): number {
  const before = processes.get(id);
  const process = before && at - before.at <= windowMs
    ? before
    : { pamSource: source, pamFailures: 0, failures: 0, secondary: 0, at };
  process.at = at;
  processes.delete(id);
  if (processes.size >= MAX_PROCESSES) processes.delete(processes.keys().next().value!);
  processes.set(id, process);
  const own = () => Math.max(process.failures, process.secondary);
  const ahead = Math.max(0, process.pamFailures - own());
  if (kind === "pam_failure") {
    process.pamSource = source;
    process.pamFailures += times;
    return Math.max(0, process.pamFailures - own()) - ahead;
  }
  const known = own();
  process[isSecondary ? "secondary" : "failures"] += times;
  const added = own() - known;
  const replaced = Math.min(added, ahead);
  if (replaced > 0) sources.get(process.pamSource)?.failures.splice(-replaced);
  return added;
}

function attackCode(
  { failures, invalid, ports, breakIns, accepted }: AttackSource,
  since: number,
  limits: AttackLimits,
): Attack["code"] | undefined {
  const recent = countSince(failures, since);
  if (recent >= limits.failures) return "brute_force";
  if (accepted === 0 && failures.length >= limits.failures) return "brute_force";
  const users = countSince(invalid.values(), since);
  if (users >= limits.invalidUsers) return "invalid_users";
  // A name that doesn't match is often mere neglect. Together with an attempt it is suspicious.
  if (recent + users > 0 && countSince(breakIns, since) > 0) return "break_in_attempt";
  return countSince(ports.values(), since) >= limits.ports ? "port_scan" : undefined;
}

function createSource(): AttackSource {
  return { failures: [], invalid: new Map(), ports: new Map(), breakIns: [], accepted: 0 };
}

function createAttack(
  source: string,
  { failures, invalid, ports }: AttackSource,
  code: Attack["code"],
  at: number,
): Attack {
  const users = [...invalid.keys()].slice(0, MAX_USERS);
  return { source, code, failures: failures.length, ports: ports.size, users, at };
}

function countSince(times: Iterable<number>, since: number): number {
  let count = 0;
  for (const at of times) if (at > since) count++;
  return count;
}

function forget(known: AttackSource, since: number): void {
  const isOld = (at: number) => at <= since;
  if (known.failures.some(isOld)) known.failures = known.failures.filter((at) => !isOld(at));
  if (known.breakIns.some(isOld)) known.breakIns = known.breakIns.filter((at) => !isOld(at));
  for (const attempts of [known.invalid, known.ports]) {
    for (const [name, at] of attempts) if (at <= since) attempts.delete(name);
  }
  if (known.accepted <= since) known.accepted = 0;
}

/** Makes room for another source: where there are too many, removes those that were silent longest. */
function removeOldest(sources: LoginAttempts["sources"]): void {
  if (sources.size < MAX_SOURCES) return;
  const all = [...sources].sort(([, a], [, b]) => lastAttempt(a) - lastAttempt(b));
  for (const [source] of all.slice(0, MAX_SOURCES / 10)) sources.delete(source);
}

function lastAttempt({ failures, breakIns, invalid, ports, accepted }: AttackSource): number {
  return Math.max(
    accepted,
    failures.at(-1) ?? 0,
    breakIns.at(-1) ?? 0,
    ...invalid.values(),
    ...ports.values(),
  );
}
