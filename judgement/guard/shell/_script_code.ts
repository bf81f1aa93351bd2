/** JavaScript, and statements of document stores: what they name, call and reach by computed names. */
import type { CodeToken } from "./_code_tokens.ts";
import { tokenize } from "./_code_tokens.ts";

/** Names that a language may use. */
export interface KnownNames {
  readonly modules: ReadonlySet<string>;
  readonly names: ReadonlySet<string>;
  /** Names that reach everything else, as a property or alone. */
  readonly reaching: ReadonlySet<string>;
  /** Names of fields and options with which a harmless function does harm. */
  readonly never: ReadonlySet<string>;
  /** Commands that a document store may be given as the first key. */
  readonly commands: ReadonlySet<string>;
}

const DECLARES = /^(const|let|var|function|catch)$/;
const VALUES =
  /^(true|false|null|undefined|NaN|Infinity|async|await|typeof|instanceof|void|delete)$/;

/** Returns the first part of a program whose effect is not known; undefined: there is none. */
export function unknownScriptPart(
  code: string,
  known: KnownNames,
  isDocuments: boolean,
): string | undefined {
  const shown = isDocuments ? code.replace(/^\s*(use|show)\s+[\w.-]+\s*(;|$)/gm, "") : code;
  const tokens = tokenize(shown);
  const declared = declaredNames(tokens);
  for (const [n, token] of tokens.entries()) {
    const before = tokens[n - 1];
    const after = tokens[n + 1];
    const found = token.kind === "name"
      ? unknownName(tokens, n, known, declared, isDocuments)
      : token.kind === "template" && isOperand(before)
      ? "`"
      : token.kind === "text" && isDocuments && !isKnownText(token.value, after, known)
      ? token.value
      : token.value === "[" && isComputed(tokens, n, known)
      ? `${before?.value ?? ""}[…]`
      : token.value === "(" && (before?.value === ")" || before?.value === "]")
      ? "(…)(…)"
      : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function unknownName(
  tokens: readonly CodeToken[],
  n: number,
  { modules, names, reaching, never, commands }: KnownNames,
  declared: ReadonlySet<string>,
  isDocuments: boolean,
): string | undefined {
  const name = tokens[n]!.value;
  const isProperty = tokens[n - 1]?.value === ".";
  const after = tokens[n + 1]?.value;
  const isCall = after === "(";
  if (name === "require" || name === "import") {
    const module = tokens[n + 2];
    const isPlain = isCall && module?.kind === "text" && tokens[n + 3]?.value === ")" &&
      (modules.has(module.value.replace(/^node:/, "")) ||
        /^\.{1,2}\/package\.json$/.test(module.value));
    return isPlain && name === "require" ? undefined : name;
  }
  if (isDocuments && /^(runCommand|adminCommand)$/.test(name)) {
    const command = tokens[n + 2]?.value === "{" ? tokens[n + 3]?.value : tokens[n + 2]?.value;
    return commands.has(command ?? "") ? undefined : `${name} ${command}`;
  }
  if (never.has(name)) return name;
  const isKey = after === ":" && /^[{,]$/.test(tokens[n - 1]?.value ?? "");
  if (isKey) return isDocuments && !isKnownKey(name, tokens[n + 1], { names }) ? name : undefined;
  if (name === "killOp" && (tokens[n + 2]?.kind !== "number" || tokens[n + 3]?.value !== ")")) {
    return name;
  }
  if (reaching.has(name) || /^__\w+__$/.test(name)) return name;
  if (name === "process" && after !== ".") return name;
  if (isProperty) return isCall && !names.has(name) || name === "process" ? name : undefined;
  return names.has(name) || modules.has(name) || VALUES.test(name) || declared.has(name) && !isCall
    ? undefined
    : name;
}

/** Tells whether a key of a document is a field, or an operator that is known. */
function isKnownKey(
  key: string,
  after: CodeToken | undefined,
  { names }: Pick<KnownNames, "names">,
): boolean {
  if (after?.value !== ":") return true;
  return names.has(key) || !key.startsWith("$");
}

/** Tells whether a text is a value, or a key that is known. */
function isKnownText(text: string, after: CodeToken | undefined, known: KnownNames): boolean {
  return !known.never.has(text) && !text.startsWith("system.") && isKnownKey(text, after, known);
}

/** Tells whether a bracket computes the name of a property, or of a key. */
function isComputed(tokens: readonly CodeToken[], n: number, { names }: KnownNames): boolean {
  const inside = tokens[n + 1];
  if (isOperand(tokens[n - 1])) {
    const isPlain = tokens[n + 2]?.value === "]" &&
      (inside?.kind === "number" || inside?.kind === "text" && names.has(inside.value));
    return !isPlain;
  }
  let depth = 0;
  for (let at = n; at < tokens.length; at++) {
    if (tokens[at]!.value === "[") depth++;
    if (tokens[at]!.value === "]" && --depth === 0) {
      return tokens[at + 1]?.value === ":" && /^[{,]$/.test(tokens[n - 1]?.value ?? "");
    }
  }
  return true;
}

/** Tells whether a value ends here, so that a bracket after it is a part of it. */
function isOperand(token: CodeToken | undefined): boolean {
  if (token === undefined) return false;
  return token.kind === "name"
    ? !/^(return|of|in|const|let|var|case|typeof)$/.test(token.value)
    : token.kind === "sign"
    ? /^[)\]]$/.test(token.value)
    : token.kind !== "number";
}

/** Returns names that the text itself declares: variables and parameters. */
function declaredNames(tokens: readonly CodeToken[]): ReadonlySet<string> {
  const found = new Set<string>();
  tokens.forEach(({ value }, n) => {
    if (DECLARES.test(value)) {
      for (
        let at = n + 1;
        at < tokens.length && !/^[=;]$|^(of|in)$/.test(tokens[at]!.value);
        at++
      ) {
        if (tokens[at]!.kind === "name") found.add(tokens[at]!.value);
        if (value !== "function" && tokens[at]!.kind === "name" && tokens[at + 1]?.value !== ",") {
          if (tokens[n + 1]!.kind === "name") break;
        }
        if (tokens[at]!.value === ")") break;
      }
    }
    if (value !== "=" || tokens[n + 1]?.value !== ">") return;
    if (tokens[n - 1]?.kind === "name") found.add(tokens[n - 1]!.value);
    for (
      let at = n - 2;
      tokens[n - 1]?.value === ")" && at >= 0 && tokens[at]!.value !== "(";
      at--
    ) {
      if (tokens[at]!.kind === "name") found.add(tokens[at]!.value);
    }
  });
  return found;
}
