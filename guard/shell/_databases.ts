/** Clients of databases, caches and queues. */
import type { Objection } from "../types.ts";
import { hasOption, operands } from "./_arguments.ts";
import { ask, deny, type ProgramRule, type ProgramRules, whenArgsMatch } from "./_rule.ts";
import { checkDocumentCommands, checkSql } from "./_sql.ts";
import { type Input, UNKNOWN } from "./_types.ts";

/** Checks all that may be SQL: options, arguments, and piped input. */
const sql: ProgramRule = ({ args, input }) => {
  const texts = [
    ...args.filter((arg) => /\s/.test(arg) || /^-[ecqQ]./.test(arg)).map((arg) =>
      arg.replace(/^(-[ecqQ]|--(command|execute|query)=)/, "")
    ),
    input?.text ?? "",
  ];
  const shell = texts.some((text) => /^\s*\\!|\n\\!|^\s*\.?(system|shell)\s|!!?:?sh/i.test(text));
  return [
    ...(shell ? [deny("data", "It runs a shell out of the database's client")] : []),
    ...texts.flatMap((text) => checkSql(text)),
    ...(hasOption(args, "f", "--file") && !args.some((arg) => /^-\w*[ce]/.test(arg))
      ? [ask("unseen", "The statements are in a file that can't be seen")]
      : []),
    ...(input?.text === undefined && input !== undefined
      ? [ask("unseen", "The statements that it runs can't be seen")]
      : []),
    ...(input?.path !== undefined && input.text === undefined
      ? [ask("unseen", "The statements are in a file that can't be seen")]
      : []),
  ];
};

const documents: ProgramRule = ({ args, input }) =>
  checkDocumentCommands([...args, input?.text ?? ""].join("\n"));

const redis: ProgramRule = ({ args, input }) => {
  const text = ` ${[...args, input?.text ?? ""].join(" ")} `.toLowerCase();
  if (/\s(flushall|flushdb)\s/.test(text)) {
    return [deny("data", "It empties the cache or database of all keys")];
  }
  if (
    /\sshutdown\s|\sdebug (segfault|sleep|reload)|\s(replicaof|slaveof)\s(?!no one)|\smodule load|\sscript kill/
      .test(text)
  ) return [deny("outage", "It ends the server, or hands it to another")];
  if (/\sconfig set\s+(dir|dbfilename|requirepass|appendonly|save|protected-mode)/.test(text)) {
    return [deny("access", "It changes where the server writes, or who may use it")];
  }
  if (/^\s*(-\S+\s+(?!del|unlink)\S+\s+)*(del|unlink)\s/.test(text) && text.includes(UNKNOWN)) {
    return listedKeys(input);
  }
  if (
    /\s(eval|evalsha)\s/.test(text) || /\s(del|unlink)\s+\*\s/.test(text) ||
    /keys\s+"?\*"?\s.*(del|unlink)/.test(text)
  ) return [ask("data", "It removes keys that are not named")];
  return [];
};

/** Checks the removal of keys that another run of the client lists: all keys, or those of a specific pattern. */
function listedKeys(input: Input | undefined): Objection[] {
  const lister = input?.from.find(({ program, args }) =>
    /^(redis|valkey)-cli$/.test(program) &&
    args.some((arg) => /^(--scan|keys|scan)$/i.test(arg))
  );
  if (!lister) return [ask("data", "It removes keys that are not named")];
  const at = lister.args.findIndex((arg) => /^(--pattern|keys|match)$/i.test(arg));
  const letters = at < 0 ? "" : (lister.args[at + 1] ?? "").replace(/[^\p{L}\p{N}]/gu, "");
  if (letters.length >= 3) return [];
  return [deny("data", "It empties the cache or database of all keys")];
}

const etcd: ProgramRule = ({ args }) =>
  operands(args).includes("del")
    ? [
      (hasOption(args, "", "--prefix", "--from-key") ? deny : ask)(
        "data",
        "It removes keys of the cluster's store",
      ),
    ]
    : [];

export const databases: ProgramRules = {
  psql: sql,
  mysql: sql,
  mariadb: sql,
  sqlite3: (run) =>
    sql({
      ...run,
      args: [
        ...run.args,
        ...run.args.filter((arg) => !arg.startsWith("-")).map((arg) => `${arg} `),
      ],
    }),
  sqlcmd: sql,
  osql: sql,
  sqlplus: sql,
  isql: sql,
  usql: sql,
  db2: (run) => checkSql(run.args.join(" ")),
  cockroach: sql,
  cqlsh: sql,
  "clickhouse-client": sql,
  clickhouse: sql,
  duckdb: sql,
  snowsql: sql,
  bq: (
    run,
  ) => [
    ...sql(run),
    ...(run.args.some((arg) => arg === "rm")
      ? [deny("data", "It removes a table or data set")]
      : []),
  ],
  influx: (
    run,
  ) => [
    ...sql(run),
    ...whenArgsMatch(/ (delete|drop) /i, "data", "It removes a bucket or measurements")(run),
  ],
  mongosh: documents,
  mongo: documents,
  dropdb: () => [deny("data", "It drops a database")],
  dropuser: () => [deny("access", "It drops a database user")],
  mysqladmin: whenArgsMatch(
    / (drop|shutdown|flush-privileges|password) /,
    "data",
    "It drops a database or ends the server",
  ),
  pg_ctl: ({ args }) => args.includes("stop") ? [ask("outage", "It stops the database")] : [],
  pg_dropcluster: () => [deny("data", "It removes a database cluster")],
  pg_resetwal: () => [deny("data", "It throws away the database's write-ahead log")],
  initdb: () => [ask("data", "It makes a new database cluster")],
  pg_restore: ({ args }) =>
    hasOption(args, "c", "--clean")
      ? [deny("data", "It drops what is there before it restores")]
      : [ask("data", "It restores over a database")],
  "redis-cli": redis,
  "valkey-cli": redis,
  keydb: redis,
  etcdctl: etcd,
  "kafka-topics": whenArgsMatch(/ --delete /, "data", "It removes topics"),
  "kafka-topics.sh": whenArgsMatch(/ --delete /, "data", "It removes topics"),
  "kafka-delete-records.sh": () => [deny("data", "It removes records of topics")],
  "kafka-consumer-groups.sh": whenArgsMatch(
    / --(delete|reset-offsets) .*--execute| --delete /,
    "data",
    "It moves or removes offsets",
    ask,
  ),
  rabbitmqctl: ({ args }): Objection[] => {
    const text = args.join(" ");
    if (
      /\b(reset|force_reset|delete_vhost|delete_user|change_password|set_permissions|set_user_tags|forget_cluster_node)\b/
        .test(text)
    ) return [deny("data", "It removes queues, nodes or users of the broker")];
    return /\b(purge_queue|delete_queue|stop|stop_app|shutdown)\b/.test(text)
      ? [ask("data", "It empties a queue or stops the broker")]
      : [];
  },
  rabbitmqadmin: whenArgsMatch(/ (delete|purge) /, "data", "It removes or empties a queue", ask),
  consul: whenArgsMatch(/ kv delete .*-recurse/, "data", "It removes keys of the cluster's store"),
  curator: whenArgsMatch(/ (delete|close) /i, "data", "It removes indices", ask),
};
