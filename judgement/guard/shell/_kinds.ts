/** Kinds of operands and of options' values, as `programs/*.yaml` name them. */
import { changesSomething, http } from "./_http.ts";
import { archive, unpack } from "./_archives.ts";
import { copy, edit, fallocate, link, move, sync, tee, truncate } from "./_files.ts";
import { dd, keepsEnough, makeFileSystem, swapObjections, unmountObjections } from "./_disks.ts";
import { checkClient, checkDocuments, listedKeys } from "./_databases.ts";
import { lookUpHost, mail, sendObject, socket, transfer } from "./_network.ts";
import { hasOption } from "./_arguments.ts";
import { mayNameSecret } from "./_places.ts";
import type { Objection } from "../types.ts";
import type { Run } from "./_types.ts";
import { areaOf, normalizePath } from "./_paths.ts";
import { attributes, mode, owner } from "./_permissions.ts";
import { checkInterpreter, checkShell, checkSource } from "./_interpreters.ts";
import { kill, killByName } from "./_processes.ts";
import { displayPath, find, removalObjections, remove } from "./_removal.ts";
import { ask, deny } from "./_rule.ts";
import { checkSql } from "./_sql.ts";
import { WORD_KINDS } from "./_word_kinds.ts";
import { unwrap } from "./_wrappers.ts";
import {
  byRule,
  createFile,
  each,
  type Kind,
  named,
  nameObjections,
  nothing,
  readFile,
  workloadNames,
  writeFile,
} from "./_operands.ts";

const TRACE_FOLDER = /^\/(var\/)?tmp\/[\w.-]+$|^[\w.-]+$/;
const CONFIG = /^(\/etc\/|\/usr\/(local\/)?(etc|share|lib)\/|\/opt\/|\/srv\/|\/var\/lib\/|\/run\/)/;
const PACKAGE = /^@?[A-Za-z0-9][\w.+:@=~/-]*$/;
const FILE_OF_PACKAGE = /\.(deb|rpm|apk|whl|tgz|gz|zip|snap|xz|zst)$|\/\/|^\.|^\//;
const MAX_PACKAGES = 6;

/** Programs that only name files, or change who may use them, which is judged by itself. */
const NAMES_ONLY =
  /^(ls|stat|file|du|echo|basename|dirname|chmod|chown|chgrp|touch|test|wc|md5sum|sha256sum|rm)$/;

/** Objects where `find` hands files with secrets, by the names that it looks for, to a program that reads. */
function readsSecretNames({ args }: Run): Objection[] {
  const at = args.findIndex((arg) => /^-(exec|execdir|ok|okdir)$/.test(arg));
  if (at < 0 || NAMES_ONLY.test((args[at + 1] ?? "").replace(/^.*\//, ""))) return [];
  return args.some((arg, n) => /^-i?(name|path)$/.test(args[n - 1] ?? "") && mayNameSecret(arg))
    ? [ask("secret", "It reads keys, passwords or accounts")]
    : [];
}

/** Kinds by name. */
export const KINDS: Readonly<Record<string, Kind>> = {
  ...WORD_KINDS,
  env: { looks: true, check: each(() => []) },
  none: {
    looks: true,
    check: (words, { program }) =>
      words.slice(0, 1).map((word) =>
        nothing(`What \`${program} ${displayPath(word)}\` does is not known`)
      ),
  },
  nothing: {
    check: (
      _words,
      { program },
    ) => [nothing(`An option of \`${program}\` may load or run something`)],
  },
  read: {
    looks: true,
    check: (words, run) => [
      ...words.flatMap(readFile),
      ...(run.input?.path === undefined ? [] : readFile(run.input.path)),
    ],
  },
  key: { looks: true },
  secret: { looks: true },
  write: { check: each(writeFile) },
  create: { check: each(createFile) },
  trace: {
    check: each((path) =>
      TRACE_FOLDER.test(path) ? [] : [ask("unknown", "It writes a file outside of /tmp")]
    ),
  },
  config: {
    looks: true,
    check: each((path) =>
      CONFIG.test(normalizePath(path, undefined)) ||
        /^[\w][\w-]*\.(ya?ml|json|toml|conf)$/.test(path)
        ? []
        : [ask("unknown", `It reads its settings from \`${displayPath(path)}\``)]
    ),
  },
  pid: {
    check: each((path) =>
      /\.(pid|fifo|sock)$/.test(path) ? [] : [nothing("It tells an unknown process")]
    ),
  },
  api: {
    looks: true,
    check: each((path) =>
      /^\/(readyz|livez|healthz|version|metrics|apis?)\b/.test(path)
        ? []
        : [nothing("It asks for anything")]
    ),
  },
  act: {},
  unit: {
    ...named("service", "unit"),
    names: (words) => words.map((word) => word.replace(/\.service$/, "")),
  },
  container: named("container", "container", /^[\w][\w.-]*$/),
  compose: {
    target: "container",
    check: (words, { args }) =>
      words.length === 0 && (!args.includes("up") || args.includes("--force-recreate"))
        ? [ask("outage", "It acts on every container of a project")]
        : words.length === 0
        ? []
        : nameObjections(words, "container"),
  },
  workload: {
    target: "workload",
    names: workloadNames,
    check: (words) => nameObjections(workloadNames(words), "workload", /^[\w][\w.:-]*$/),
  },
  objects: {
    check: (words, _run, { values }) => {
      const bySelector = values.some(({ name }) => name === "--field-selector");
      if (words.length > 3) return [ask("outage", `It deletes ${words.length} objects at once`)];
      return words.length === 0 && bySelector
        ? []
        : nameObjections(words, "object", /^[\w][\w./-]*$/);
    },
  },
  release: {
    target: "workload",
    names: (words) => words.slice(0, 1),
    check: (words) => nameObjections(words.slice(0, 1), "release", /^[\w][\w.:/-]*$/),
  },
  dbhost: { looks: true, target: "host" },
  database: {
    target: "database",
    names: (words) => words.filter((word) => !/\s|:\/\/|\.(db|sqlite3?)$/.test(word)).slice(0, 1),
    check: checkClient,
  },
  database_text: {
    check: (words, run, read) => [
      ...words.filter((word) => /\s|^\./.test(word)).flatMap(checkSql),
      ...checkClient(words, run, {
        ...read,
        values: words.some((word) => /\s|^\./.test(word))
          ? [{ name: "", kind: "sql", value: "" }]
          : read.values,
      }),
    ],
  },
  sql: { check: each(checkSql) },
  documents: {
    check: each((text) =>
      /^[\w./-]+\.js$/.test(text)
        ? [ask("unseen", "Its statements are in a file that can't be seen")]
        : /^(mongodb(\+srv)?:\/\/\S+|[\w.:/-]+)$/.test(text)
        ? []
        : checkDocuments(text)
    ),
  },
  keys: { check: (words, run) => listedKeys(words, run) },
  forget: {
    check: (_words, { args }) =>
      keepsEnough(args) ? [] : [deny("destroys", "It removes backups, and keeps fewer than three")],
  },
  swap: { check: each(swapObjections) },
  mount: {
    check: (words, { args }) =>
      words.length > 1 && !args.some((arg) => /remount/.test(arg))
        ? [ask("disk", "It mounts something that the host's own list does not name")]
        : args.some((arg) => /remount./.test(arg))
        ? [ask("disk", "It mounts a file system again with other rights")]
        : [],
  },
  umount: { check: each(unmountObjections) },
  mkfs: byRule(makeFileSystem),
  dd: byRule(dd),
  remove: byRule(remove),
  rmdir: { check: each((path, run) => removalObjections(path, run, false)) },
  shred: {
    check: each((path, run) => {
      const found = removalObjections(path, run, true);
      if (found.length > 0 || areaOf(path, run.folder) === "scratch") return found;
      return [ask("destroys", `It shreds \`${displayPath(path)}\``)];
    }),
  },
  find: {
    check: (_words, run) => [...find(run), ...readsSecretNames(run)],
    looks: ({ args }) => !args.some((arg) => /^-(delete|exec|execdir|ok|okdir)$/.test(arg)),
  },
  move: byRule(move),
  copy: byRule(copy),
  link: byRule(link),
  truncate: byRule(truncate),
  fallocate: byRule(fallocate),
  tee: byRule(tee),
  edit: byRule(edit),
  archive: byRule(archive),
  unpack: byRule(unpack),
  pack: {
    check: each((path, run) => [
      ...readFile(path),
      ...(hasOption(run.args, "cktl", "--stdout", "--keep", "--test", "--list")
        ? []
        : writeFile(path, run).filter(({ code }) => code !== "traces")),
    ]),
  },
  packs: {
    check: (words, run) => [
      ...words.slice(0, 1).flatMap((path) => writeFile(path, run)),
      ...words.slice(1).flatMap(readFile),
    ],
  },
  mode: byRule(mode),
  owner: byRule(owner),
  attributes: byRule(attributes),
  http: { ...byRule(http), looks: (run) => !changesSomething(run) },
  socket: byRule(socket),
  transfer: { ...byRule(transfer) },
  sync: byRule((run) => [...sync(run), ...transfer(run)]),
  lookup: { ...byRule(lookUpHost), looks: true },
  mail: byRule(mail),
  s3: { check: sendObject },
  kill: byRule(kill),
  kill_names: byRule(killByName),
  packages: {
    check: (words) =>
      words.length > MAX_PACKAGES
        ? [ask("outage", `It installs ${words.length} packages at once`)]
        : words.filter((word) => !PACKAGE.test(word) || FILE_OF_PACKAGE.test(word)).slice(0, 1)
          .map((word) =>
            ask(
              "remote_code",
              `It installs \`${displayPath(word)}\`, which is no name of a package`,
            )
          ),
  },
  dump: {
    check: (_words, { into }) =>
      into === undefined ||
        /^(gzip|pigz|zstd|xz|bzip2|lz4|head|wc|grep|tee|pv|md5sum|sha256sum|cat|less)$/.test(into)
        ? []
        : [ask("sends", "It hands a database's content to another program")],
  },
  ansible: {
    check: ([hosts = ""], { args }) => {
      const isService = args.some((arg) =>
        /(^|\.)(systemd|service|win_service|systemd_service)$/.test(arg)
      );
      const isSafe = !isService ||
        args.some((arg) => /state=(restarted|reloaded|started)/.test(arg));
      if (!isSafe) return [ask("outage", "It changes a service of other hosts")];
      const onlyOne = args.some((arg) => /^(--limit|-l)/.test(arg));
      return !onlyOne && /^all$|[*,:!&]|^$/.test(hosts)
        ? [ask("outage", "It reaches many hosts at once")]
        : [];
    },
  },
  wrapped: {
    looks: true,
    check: (_words, { program, args }) =>
      unwrap(program, args).length > 0
        ? []
        : [ask("unseen", "It opens a shell, in which anything can be typed")],
  },
  shell: { looks: true, check: checkShell },
  code: { looks: true, check: checkInterpreter },
  awk: {
    looks: true,
    check: (words, run) => [
      ...(words.length === 0 ? [ask("unseen", "Its text is in a file that can't be seen")] : []),
      ...KINDS.read!.check!(words.slice(1), run, {
        operands: [],
        values: [],
        unknown: [],
        rest: [],
      }),
    ],
  },
  source: { looks: true, check: checkSource },
};
