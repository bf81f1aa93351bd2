/** What a line of an authentication log tells about who came from where. */
export interface Sign {
  /** Address or name of where it came from; null: the line doesn't say. */
  readonly source: string | null;
  /** `scan`: a firewall has kept it from a port; `hint`: it goes with an attack, but is no attempt of its own. */
  readonly kind: "failure" | "invalid_user" | "break_in" | "accepted" | "scan" | "hint";
  readonly user?: string;
  /** That was asked for, where the line is a firewall's. */
  readonly port?: string;
  /** How many attempts, ≥ 1. */
  readonly times: number;
  /** Process that wrote the line; lines of one connection have the same. */
  readonly pid?: string;
}

/** What is known of where attempts came from. */
export interface Source {
  /** Times of failed attempts, milliseconds, oldest first. */
  failures: number[];
  /** Users that are not there, with the time of the last attempt. */
  readonly invalid: Map<string, number>;
  /** Ports that a firewall has kept it from, with the time of the last attempt. */
  readonly ports: Map<string, number>;
  /** Times of warnings that a name and an address don't fit. */
  breakIns: number[];
  /** When somebody last came in from there; 0: never. */
  accepted: number;
}

/** Sources by address. */
export type Sources = Map<string, Source>;

/** What a source is found to do. */
export interface Attack {
  readonly source: string;
  readonly code:
    | "brute_force"
    | "invalid_users"
    | "break_in_attempt"
    | "login_after_failures"
    | "port_scan";
  readonly failures: number;
  /** How many ports were asked for. */
  readonly ports: number;
  readonly users: readonly string[];
  /** Milliseconds. */
  readonly at: number;
  /** Who came in, where somebody did. */
  readonly user?: string;
}

/** When attempts are an attack. */
export interface AttackBounds {
  /** Failed attempts of one source within the window; within a day, where nobody comes in from there. */
  readonly failures: number;
  /** Different users that are not there, of one source within the window. */
  readonly invalidUsers: number;
  /** Sources from which users are tried within a day that are not there. */
  readonly sources: number;
  /** Ports that a firewall has kept one source from within the window. */
  readonly ports: number;
  readonly windowMs: number;
}

/** Some attack slowly, so that nobody sees them. */
const DAY_MS = 86_400_000;
const MOST_SOURCES = 1_000;
const MOST_KEPT = 100;

/**
 * By how messages begin, in the order in which they are tried. Names come from whoever knocks, and may look like the rest
 * of a message: so it is the last `from` that counts.
 *
 * @see OpenSSH auth.c, auth2.c, canohost.c; pam_unix(8); Linux net/netfilter/nf_log_syslog.c
 */
const SIGNS: readonly [RegExp, Sign["kind"]][] = [
  [/^Failed \S+ for (?:invalid user (?<user>.*)|\S.*) from (?<source>\S+) port \d+/, "failure"],
  [/^Invalid user (?<user>.*) from (?<source>\S+?)(?: port \d+)?\s*$/, "invalid_user"],
  [/^reverse mapping checking getaddrinfo for .* \[(?<source>[^\]]+)\] failed/, "break_in"],
  [/^Address (?<source>\S+) maps to .*, but this does not map back/, "break_in"],
  [/^Accepted \S+ for (?<user>.*) from (?<source>\S+) port \d+/, "accepted"],
  [/\[(?<source>[0-9a-fA-F.:]+)\]: SASL \S+ authentication failed/, "failure"],
  [/^\S*login: .*auth(?:entication)? failed.*\brip=(?<source>[^,\s]+)/, "failure"],
  [/^FAILED LOGIN .*\bFROM (?<source>\S+)/i, "failure"],
  [/^(?:\[ *\d+\.\d+\] )?.{0,40}\bIN=.* SRC=(?<source>\S+) .*\bDPT=(?<port>\d+)\b/, "scan"],
  [/authentication failures?; .*rhost=(?<source>\S*)/, "hint"],
  [/Too many authentication failures|maximum authentication attempts exceeded/, "hint"],
  [/^input_userauth_request: invalid user|check pass; user unknown|ignoring max retries/, "hint"],
];
/** What stands before the message: time, host, program with its process. */
const HEADER = /^.{0,200}?[\w)/-](?:\[(?<pid>\d+)\])?: /;
const REPEATED = /^message repeated (\d+) times: \[ ?/;
/** An address, or the name of a host; whatever else stands there was put there by somebody. */
const NAME = /^[\w.:%-]{1,255}$/;
/** Of a line, no more than this is looked at. */
const MOST_OF_A_LINE = 2_000;

/** What a line tells of an attempt to come in; undefined: nothing. */
export function signOf(line: string): Sign | undefined {
  const text = line.slice(0, MOST_OF_A_LINE);
  const header = HEADER.exec(text);
  const rest = text.slice(header?.[0].length ?? 0);
  const repeated = REPEATED.exec(rest);
  const message = rest.slice(repeated?.[0].length ?? 0);
  for (const [pattern, kind] of SIGNS) {
    const match = pattern.exec(message);
    if (!match) continue;
    const { source, user, port } = match.groups ?? {};
    const times = Number(repeated?.[1] ?? 1);
    const isName = source !== undefined && NAME.test(source);
    return { source: isName ? source : null, kind, user, port, times, pid: header?.groups?.pid };
  }
  return undefined;
}

/**
 * Takes a sign in and says whether its source attacks. Old attempts are forgotten.
 *
 * @returns undefined where it does not, or not yet
 */
export function watch(
  sources: Sources,
  { source, kind, user, port, times }: Sign,
  { at, bounds }: { readonly at: number; readonly bounds: AttackBounds },
): Attack | undefined {
  if (source === null || kind === "hint") return undefined;
  const known: Source = sources.get(source) ??
    { failures: [], invalid: new Map(), ports: new Map(), breakIns: [], accepted: 0 };
  sources.set(source, known);
  forget(known, at - DAY_MS);
  trim(sources);
  const since = at - bounds.windowMs;
  if (kind === "accepted") {
    const failures = known.failures.filter((time) => time > since).length;
    known.accepted = at;
    if (failures < bounds.failures) return undefined;
    return { source, code: "login_after_failures", failures, ports: 0, users: [], at, user };
  }
  if (kind === "failure") known.failures.push(...Array(Math.min(times, MOST_KEPT)).fill(at));
  if (user !== undefined) known.invalid.set(user, at);
  if (port !== undefined && (known.ports.has(port) || known.ports.size < MOST_KEPT)) {
    known.ports.set(port, at);
  }
  if (kind === "break_in") known.breakIns.push(at);
  known.failures = known.failures.slice(-MOST_KEPT);
  const code = codeOf(known, since, bounds);
  return code && attackOf(source, known, { code, at });
}

function codeOf(
  { failures, invalid, ports, breakIns, accepted }: Source,
  since: number,
  bounds: AttackBounds,
): Attack["code"] | undefined {
  const lately = failures.filter((at) => at > since).length;
  if (lately >= bounds.failures) return "brute_force";
  if (accepted === 0 && failures.length >= bounds.failures) return "brute_force";
  const users = [...invalid.values()].filter((at) => at > since).length;
  if (users >= bounds.invalidUsers) return "invalid_users";
  // A name that doesn't fit is often mere neglect; together with an attempt it is more than that.
  const tried = lately + users > 0;
  if (tried && breakIns.some((at) => at > since)) return "break_in_attempt";
  const asked = [...ports.values()].filter((at) => at > since).length;
  return asked >= bounds.ports ? "port_scan" : undefined;
}

/** Says of all sources together whether they attack: from many, each tries a little. */
export function watchAll(sources: Sources, at: number, bounds: AttackBounds): Attack[] {
  for (const known of sources.values()) forget(known, at - DAY_MS);
  const all = [...sources].filter(([, { invalid, accepted }]) => invalid.size > 0 && !accepted);
  if (all.length < bounds.sources) return [];
  return all.map(([source, known]) => attackOf(source, known, { code: "invalid_users", at }));
}

function attackOf(
  source: string,
  { failures, invalid, ports }: Source,
  { code, at }: Pick<Attack, "code" | "at">,
): Attack {
  const users = [...invalid.keys()].slice(0, 20);
  return { source, code, failures: failures.length, ports: ports.size, users, at };
}

function forget(known: Source, since: number): void {
  known.failures = known.failures.filter((at) => at > since);
  known.breakIns = known.breakIns.filter((at) => at > since).slice(-MOST_KEPT);
  for (const last of [known.invalid, known.ports]) {
    for (const [name, at] of last) if (at <= since) last.delete(name);
  }
  if (known.accepted <= since) known.accepted = 0;
}

/** Keeps those that came last. */
function trim(sources: Sources): void {
  if (sources.size <= MOST_SOURCES) return;
  const last = ({ failures, breakIns, invalid, ports, accepted }: Source) =>
    Math.max(
      ...[accepted, failures.at(-1) ?? 0, breakIns.at(-1) ?? 0],
      ...[...invalid.values(), ...ports.values()],
    );
  const all = [...sources].sort(([, a], [, b]) => last(a) - last(b));
  for (const [source] of all.slice(0, MOST_SOURCES / 10)) sources.delete(source);
}
