import { similarNames } from "./similar_names.ts";

/** Keys of the marks in a request's metadata, over MCP and A2A. */
const METADATA = { dryRun: "sealoop/dry_run", idempotencyKey: "sealoop/idempotency_key" } as const;

/** Header, in the form of the HTTP library, by which a request over REST names its call. */
const IDEMPOTENCY_HEADER = "idempotency-key";
/** Idempotency keys: visible ASCII characters and blanks between them. */
export const IDEMPOTENCY_KEY_PATTERN = "^[!-~](?:[ -~]{0,253}[!-~])?$";
const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_PATTERN);

/** The marks of a request: what the caller says about the call besides its input. */
export interface RequestMarks {
  /** True: only the governance decision is asked for. */
  readonly dryRun: boolean;
  /** The caller's name for this call: repeating it changes nothing more. */
  readonly idempotencyKey?: string;
  /** The mark that can't be read, and why, a sentence. The request must then be refused. */
  readonly markError?: { readonly mark: string; readonly message: string };
}

/**
 * Parses the marks in a request's metadata. A misspelled mark is an error: if it were ignored, the call would be run, or
 * run again.
 */
export function parseMetadata(
  metadata: Readonly<Record<string, unknown>> = {},
): RequestMarks {
  const known: readonly string[] = Object.values(METADATA);
  for (const name of Object.keys(metadata)) {
    const bare = name.replace(/^.*\//, "");
    if (known.includes(name) || !/^sealoop\b/i.test(name) && !isDryRun(bare) && !isKey(bare)) {
      continue;
    }
    const [similar] = isKey(bare)
      ? ["idempotency_key"]
      : similarNames(bare, ["dry_run", "idempotency_key"]);
    const advice = similar ? `; did you mean sealoop/${similar}?` : "";
    return markError(name, `A request's metadata has no ${name}${advice}`);
  }
  const { [METADATA.dryRun]: dryRun = false, [METADATA.idempotencyKey]: key } = metadata;
  if (typeof dryRun !== "boolean") {
    return markError(METADATA.dryRun, `${METADATA.dryRun} has to be true or false, without quotes`);
  }
  return { dryRun, ...parseKey(METADATA.idempotencyKey, key) };
}

/** Parses the headers `x-dry-run` (`true` or `false`, in any case) and `idempotency-key`. */
export function parseMarkHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): RequestMarks {
  for (const name of Object.keys(headers)) {
    const own = isDryRun(name) ? "x-dry-run" : isKey(name) ? IDEMPOTENCY_HEADER : name;
    if (name !== own) return markError(own, `There is no header ${name}; did you mean ${own}?`);
  }
  const dryRun = headers["x-dry-run"]?.toString() ?? "false";
  if (!/^(true|false)$/i.test(dryRun)) {
    return markError("x-dry-run", "x-dry-run has to be true or false");
  }
  const key = headers[IDEMPOTENCY_HEADER];
  return { dryRun: /^true$/i.test(dryRun), ...parseKey(IDEMPOTENCY_HEADER, key) };
}

function parseKey(mark: string, key: unknown): Omit<RequestMarks, "dryRun"> {
  if (key === undefined) return {};
  if (typeof key === "string" && IDEMPOTENCY_KEY.test(key)) return { idempotencyKey: key };
  return markError(mark, `${mark} has to have 1 to 255 visible ASCII characters`);
}

const bareName = (name: string) => name.replace(/\W|_/g, "");
const isDryRun = (name: string) => /^x?dryrun$/i.test(bareName(name));
const isKey = (name: string) => /^x?idempotencykey$/i.test(bareName(name));

const markError = (mark: string, why: string): RequestMarks => ({
  dryRun: true,
  markError: { mark, message: `${why}. Nothing was done` },
});
