/** Statements of databases: those that `sql.yaml` knows are allowed, what destroys is denied. */
import type { Objection } from "../types.ts";
import { ask, deny } from "./_rule.ts";
import {
  changesWithin,
  isClientCommand,
  isKnownStatement,
  isPassingTable,
  leavesDatabase,
  namesSecretTable,
  unknownClientWord,
  unknownFunction,
} from "./_sql_known.ts";
import { sqlTokens } from "./_sql_tokens.ts";
import { readExpressions } from "../_expressions.ts";

const expressions = readExpressions("sql", [
  "always",
]);

/** Removes rows by their age. */
const BY_AGE =
  /\w+\s*<=?\s*\(?\s*(now\(\)|current_(date|timestamp)|date_sub\(|sysdate|getdate\(\)|dateadd\()[^;]*(-|interval|,)/i;
const ALWAYS = expressions.always;

/** Returns objections to SQL statements. @param text at most some thousand characters are read */
export function checkSql(text: string): Objection[] {
  const plain = text.slice(0, 8_000)
    .replace(/\/\*!\d*\s?([^*]{0,2000})\*\//g, " $1 ").replace(/\/\*[^*]{0,2000}\*\//g, " ")
    .replace(/--[^\n]{0,2000}/g, " ");
  const all = splitStatements(plain).map((one) => one.trim()).filter((one) => one !== "");
  return all.flatMap((one, n) => {
    const isStopped = /^stop (slave|replica)/i.test(one) &&
      !all.slice(n).some((later) => /^start (slave|replica)/i.test(later));
    if (isStopped) return [ask("outage", "It stops a replica and does not start it again")];
    const found = checkStatement(one);
    return found.length > 0 ? found : unknownStatement(one);
  });
}

/** Objects to a statement, or to a function in it, that is not known. */
function unknownStatement(text: string): Objection[] {
  if (isClientCommand(text)) return [];
  const tokens = sqlTokens(text);
  if (namesSecretTable(tokens)) return [ask("secret", "It reads the passwords of a database")];
  const first = tokens[0]?.value ?? "";
  const changed = changedTable(tokens.map(({ value }) => value));
  const isKnown = changed === undefined
    ? isKnownStatement(tokens) && !changesWithin(tokens) &&
      !(first === "vacuum" && tokens.some(({ value }) => value === "full"))
    : isPassingTable(changed) || first === "delete" && BY_AGE.test(text);
  const strange = unknownClientWord(tokens) ?? unknownFunction(tokens);
  if (isKnown && (strange === undefined || CALLS_NOTHING.test(first))) return [];
  const named = isKnown
    ? `the function ${strange}`
    : `\`${text.replace(/\s+/g, " ").split(" ").slice(0, 3).join(" ")}\``;
  return [ask("unknown", `What ${named.slice(0, 80)} does to the database is not known`)];
}

/** Statements in which a name before a bracket is no function. */
const CALLS_NOTHING = /^(use|pragma|exec|execute|dbcc)$/;

/** Returns the table whose rows a statement changes or removes; undefined: it does neither. */
function changedTable(words: readonly string[]): string | undefined {
  const at = words[0] === "delete" && words[1] === "from"
    ? 2
    : words[0] === "update" && words[1] !== "statistics"
    ? 1
    : undefined;
  return at === undefined ? undefined : words[words[at] === "only" ? at + 1 : at];
}

function splitStatements(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  let quote = "";
  for (let n = 0; n < text.length; n++) {
    const at = text[n]!;
    if (quote) quote = at === quote ? "" : quote;
    else if (at === "'" || at === '"') quote = at;
    else if (at === ";") {
      found.push(text.slice(start, n));
      start = n + 1;
    }
  }
  return [...found, text.slice(start)];
}

function checkStatement(raw: string): Objection[] {
  const text = raw.replace(/\s+/g, " ").trim();
  const found: Objection[] = [];
  if (leavesDatabase(text)) {
    found.push(
      deny(
        "data",
        "A statement leaves the database: it runs programs or touches files of the server",
      ),
    );
  }
  if (
    /\b(update|delete from|insert into)\s+(mysql\.|pg_catalog\.|pg_authid|sys\.|sqlite_master)/i
      .test(text)
  ) {
    found.push(deny("access", "It writes to the database's own tables, which hold its accounts"));
  }
  const inner =
    /^(?:explain(?: analyze)?|with\b.{0,2000}?\)|begin|start transaction|do|set\b[^=]{0,80}=[^,]{0,80}) ?(.*)/is
      .exec(text)?.[1];
  for (const one of inner === undefined ? [text] : [text, inner]) found.push(...checkChange(one));
  if (/\b(execute|prepare|exec|immediate)\b/i.test(text)) {
    for (const [, quoted] of text.matchAll(/'([^']{4,2000})'|\$\$(.{4,2000})\$\$/gs)) {
      if (quoted) found.push(...checkChange(quoted));
    }
  }
  return found;
}

function checkChange(text: string): Objection[] {
  const [, dropped, name] =
    /\bdrop (database|schema|table|user|role|tablespace|owned|view|materialized view|index|function|procedure|column|partition|login|keyspace|collection)\s+(?:concurrently\s+)?(?:if exists\s+)?([^\s,;(]+)/i
      .exec(text) ?? [];
  if (
    dropped && /^\W{0,3}(drop|alter|do|begin|if|exec|select)?/i.test(text) &&
    !/^\W*(select|comment|insert)\b/i.test(text)
  ) {
    if (/^(index|view|materialized view|function|procedure|partition)$/i.test(dropped)) {
      return [ask("data", `It drops a ${dropped.toLowerCase()}`)];
    }
    return [
      (dropped.toLowerCase() === "table" && isPassingTable(name ?? "") ? ask : deny)(
        "data",
        `It drops a ${dropped.toLowerCase()}`,
      ),
    ];
  }
  const truncated = /^\W*truncate (?:table )?(?:only )?(\S+)/i.exec(text)?.[1];
  if (truncated) {
    return [
      (isPassingTable(truncated.replace(/,$/, "")) && !text.includes(",") ? ask : deny)(
        "data",
        "It empties a table",
      ),
    ];
  }
  if (/^\W*delete\b/i.test(text) && (/\bfrom\b/i.test(text) || /^\W*delete \w+$/i.test(text))) {
    const target = /\bfrom\s+(?:only\s+)?(\S+)/i.exec(text)?.[1] ?? "";
    if (!/\bwhere\b/i.test(text)) {
      return [
        (isPassingTable(target) && /\blimit \d+/i.test(text) ? ask : deny)(
          "data",
          "It deletes every row of a table: there is no WHERE",
        ),
      ];
    }
    if (ALWAYS.test(text) || selectsEveryRow(text, target)) {
      return [deny("data", "It deletes every row of a table: its WHERE is always true")];
    }
    return [];
  }
  if (/^\W*update\b/i.test(text) && /\bset\b/i.test(text)) {
    if (!/\bwhere\b/i.test(text)) {
      return [deny("data", "It changes every row of a table: there is no WHERE")];
    }
    return ALWAYS.test(text)
      ? [deny("data", "It changes every row of a table: its WHERE is always true")]
      : [];
  }
  if (/^\W*(grant|alter (user|role|login)|create (user|role|login)|set password)\b/i.test(text)) {
    return [
      (/\b(all|superuser|sysadmin|identified|password|createrole|with grant option|bypassrls)\b/i
          .test(text)
        ? deny
        : ask)("access", "It changes accounts or rights of the database"),
    ];
  }
  if (
    /^\W*(shutdown|reset master|reset slave all|purge binary logs|alter system (?!reset|set (work_mem|max_|log_|maintenance)))/i
      .test(text)
  ) return [deny("data", "It ends the database server or its history")];
  const [, language] = /\blanguage\s+['"]?(\w+)/i.exec(text) ?? [];
  if (/^(plpython\d?u|plperlu|pltclu|plsh|c)$/i.test(language ?? "")) {
    return [deny("data", "It makes a function that leaves the database")];
  }
  if (/^\W*create extension\b/i.test(text)) {
    return [
      (/\b(plpython\w*|plperlu|pltclu|plsh|dblink|file_fdw|adminpack)\b/i.test(text) ? deny : ask)(
        "access",
        "It adds an extension to the database",
      ),
    ];
  }
  if (
    /^\W*create (or replace )?(function|procedure|trigger|rule|event|language|server)\b/i.test(text)
  ) {
    return [ask("unseen", "It has the database run something later")];
  }
  if (
    /pg_(terminate|cancel)_backend\(\s*\w*\.?pid\s*\)/i.test(text) &&
    !/\bwhere\b.*\b(state\w*|xact_start|query_start|wait_event|pid\s*=\s*\d)/i.test(text)
  ) {
    return [ask("outage", "It ends every connection of the database")];
  }
  return [];
}

/** Tells whether the condition holds for every row: `WHERE id IN (SELECT id FROM the same)`. */
function selectsEveryRow(text: string, target: string): boolean {
  const inner = /\bin\s*\(\s*select\s+\S+\s+from\s+(\S+?)\s*\)\s*$/i.exec(text)?.[1];
  return inner !== undefined && inner.toLowerCase() === target.toLowerCase();
}

/** Returns objections to commands of document stores: `db.dropDatabase()`, `db.users.deleteMany({})`. */
export function checkDocumentCommands(text: string): Objection[] {
  const plain = text.replace(/\s+/g, "").slice(0, 8_000);
  if (/\.(dropDatabase|drop|dropCollection|dropUser|dropAllUsers|shutdownServer)\(/i.test(plain)) {
    return [deny("data", "It drops a database, a collection or users")];
  }
  if (
    /\.(createUser|updateUser|grantRolesToUser|createRole|changeUserPassword|auth)\(/i.test(plain)
  ) {
    return [deny("access", "It changes accounts or rights of the database")];
  }
  if (/\.(deleteMany|remove|updateMany|update)\((\{\}|\))/.test(plain)) {
    return [deny("data", "It changes every document: the filter is empty")];
  }
  return /eval\(|\$where|runCommand\(\{(dropDatabase|shutdown)/.test(plain)
    ? [deny("data", "It runs code within the database")]
    : [];
}
