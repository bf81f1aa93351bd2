/** A sign of an attack, or of a login, in a line of an authentication log. */
export interface LoginSign {
  /** Address or name of the source; null: the line has none. */
  readonly source: string | null;
  /**
   * `pam_failure`: as PAM writes it, often beside the line of the process itself; `scan`: a firewall blocked it; `hint`: it
   * goes with an attack, but is no attempt of its own.
   */
  readonly kind:
    | "failure"
    | "pam_failure"
    | "invalid_user"
    | "break_in"
    | "accepted"
    | "scan"
    | "hint";
  /** The process that wrote it: its id or, where the line has none, its name and the source. */
  readonly process: string;
  readonly user?: string;
  /** True: the process may tell of the same failure in a line of another kind, too. */
  readonly isSecondary?: boolean;
  /** Blocked port, where the line is a firewall's. */
  readonly port?: string;
  /** Number of attempts, ≥ 1. */
  readonly times: number;
}

/** PAM's own message. Users and remote users may have any name: with another `rhost=`, the source is not known. */
const PAM_FAILURE =
  /^(?:[\w-]+: )?(?:pam_\w+\([^)]{0,100}\): |PAM )?(?:(?<more>\d+) more )?authentication failures?; logname=(?:(?!rhost=).)*rhost=(?<source>[^\s\]]*)(?!.*rhost=)/i;
/** Words of PAM, as sshd tells them. The texts are those of Linux-PAM and OpenPAM. */
const TOLD_BY_PAM =
  /^(?:error: )?PAM: (?:authentication (?:failure|error|failed|token\b.{0,60}?)|user not known to the underlying authentication module|user (?:account has expired|unknown)|have exhausted maximum number of retries for service|maximum number of tries exceeded|permission denied|module is unknown|unknown user|account (?:locked|expired)) for (?:(?:illegal|invalid) user (?<user>.*)|.*) from (?<source>\S+?)(?: port \d+)?(?: via \S+)?(?: ssh2?)?\s*$/i;
const NOT_ALLOWED =
  /^User .* from (?<source>\S+) not allowed because (?:not |listed |a group |none |account |shell )/;
const SECONDARY: ReadonlySet<RegExp> = new Set([TOLD_BY_PAM, NOT_ALLOWED]);
/**
 * Patterns of messages, in the order in which they are tried. User names come from the attacker and may imitate the rest
 * of a message, so the last `from` counts.
 *
 * @see OpenSSH auth.c, auth2.c, auth-pam.c, canohost.c; pam_unix(8); Linux net/netfilter/nf_log_syslog.c
 */
const PATTERNS: readonly (readonly [RegExp, LoginSign["kind"]])[] = [
  [/^Failed \S+ for (?:invalid user (?<user>.*)|\S.*) from (?<source>\S+) port \d+/, "failure"],
  [TOLD_BY_PAM, "failure"],
  [/^(?:Invalid|Illegal) user (?<user>.*) from (?<source>\S+?)(?: port \d+)?\s*$/, "invalid_user"],
  [/^ROOT LOGIN REFUSED FROM (?<source>\S+)/, "failure"],
  [NOT_ALLOWED, "failure"],
  [/^reverse mapping checking getaddrinfo for .* \[(?<source>[^\]]+)\] failed/, "break_in"],
  [/^Address (?<source>\S+) maps to .*, but this does not map back/, "break_in"],
  [/^Accepted \S+ for (?<user>.*) from (?<source>\S+) port \d+/, "accepted"],
  [/\[(?<source>[0-9a-fA-F.:]+)\]: SASL \S+ authentication failed/, "failure"],
  [/^\S*login: .*auth(?:entication)? failed.*\brip=(?<source>[^,\s]+)/, "failure"],
  [
    /^(?:\S+: )*(?:pam|passwd-file|sql|ldap|passwd|shadow)\([\w.@+-]*,(?<source>[^,)]+)[^)]*\): (?:pam_authenticate\(\) failed|password mismatch|unknown user|invalid password)/i,
    "failure",
  ],
  [/^FAILED LOGIN .*\bFROM '?(?<source>[^\s',]+)/i, "failure"],
  [/^.*\] FAIL LOGIN: Client "(?<source>[^"]+)"\s*$/, "failure"],
  [/^[\w.-]+ \([^\s()]*\[(?<source>[^\]]+)\]\) - USER .*\(Login failed\)/, "failure"],
  [/^\(\?@(?<source>[^)]+)\) \[WARNING\] Authentication failed for user/, "failure"],
  [/^(?:\[ *\d+\.\d+\] )?.{0,40}\bIN=.* SRC=(?<source>\S+) .*\bDPT=(?<port>\d+)\b/, "scan"],
  [PAM_FAILURE, "pam_failure"],
  [/Too many authentication failures|maximum authentication attempts exceeded/, "hint"],
  [/^input_userauth_request: invalid user|check pass; user unknown|ignoring max retries/, "hint"],
];
/** Time, host and program before the message. */
const HEADER = /^.{0,200}?[\w)/-](?<!\] FAIL LOGIN)(?:\[\d+\])?: /;
const PROCESS_ID = /\[(\d+)\]: $/;
/** A line of the log itself about the line before it. */
const LAST_REPEATED = "last message repeated ";
const TIMES = /^(\d+) times?[\s-]*$/;
const REPEATED = /^message repeated (\d+) times: \[ ?/;
/** An address of IPv4 in one of IPv6. */
const MAPPED = /^::ffff:(?=\d+\.)/i;
/** An address or the name of a host. Other texts in its place were made up by the attacker. */
const SOURCE_NAME = /^[\w.:%-]{1,255}$/;
/** Maximum of characters of a line that are read. */
const MAX_CHARACTERS = 2_000;

/**
 * Parses a line.
 *
 * @param last sign of the line before, which this one may repeat
 * @returns undefined: the line has no sign of an attack or a login
 */
export function parseSign(line: string, last?: LoginSign): LoginSign | undefined {
  const text = line.slice(0, MAX_CHARACTERS);
  const header = HEADER.exec(text)?.[0] ?? "";
  const repeats = header === "" ? text.indexOf(LAST_REPEATED) : -1;
  if (repeats >= 0) {
    const times = TIMES.exec(text.slice(repeats + LAST_REPEATED.length))?.[1];
    return last && times ? { ...last, times: Number(times) } : undefined;
  }
  const rest = text.slice(header.length);
  const repeated = REPEATED.exec(rest);
  const message = repeated ? rest.slice(repeated[0].length).replace(/\]\s*$/, "") : rest;
  for (const [pattern, kind] of PATTERNS) {
    const match = pattern.exec(message);
    if (!match) continue;
    const { source, user, port, more = 1 } = match.groups ?? {};
    const isName = source !== undefined && SOURCE_NAME.test(source);
    const pid = PROCESS_ID.exec(header)?.[1];
    return {
      source: isName ? source.replace(MAPPED, "") : null,
      kind,
      process: pid ?? `${header.trim().split(" ").at(-1)} ${source}`,
      user,
      ...(SECONDARY.has(pattern) ? { isSecondary: true } : {}),
      port,
      times: Number(more) * Number(repeated?.[1] ?? 1),
    };
  }
  return undefined;
}
