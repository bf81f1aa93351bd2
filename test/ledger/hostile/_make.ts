/** Makes the vectors of honest and hostile servers. */
import { formatVerifierKey } from "../../../ledger/log/mod.ts";
import type { NoteKey } from "../../../ledger/notes/mod.ts";
import {
  content,
  cosignLine,
  edit,
  extend,
  hashOf,
  makeEra1,
  makeKey,
  seal,
  sealEra2,
  signLine,
  stateCheckpoint,
  type TestKey,
} from "./_chain.ts";
import type { ServerVector, Vectors } from "./_vectors.ts";

const ORIGIN = "ledger.example";
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);
const contents = (from: number, to: number) => range(from, to).map((n) => content(n));
const noteKey = (name: string, { publicKey }: TestKey, kind: NoteKey["kind"]): NoteKey => ({
  name,
  publicKey,
  kind,
});

// The genuine ledger, its log and its witnesses; and whoever attacks it.
const ledger = makeKey("ledger");
const oldLedger = makeKey("ledger of before");
const attacker = makeKey("attacker");
const log = makeKey("log");
const attackersLog = makeKey("log of the attacker");
const witnesses = ["w1", "w2", "w3"].map((name) => {
  const key = makeKey(`witness ${name}`);
  return { key, note: noteKey(`witness.example/${name}`, key, "witness") };
});
const stranger = makeKey("witness that nobody has pinned");
const strangerNote = noteKey("witness.example/stranger", stranger, "witness");
const logNote = noteKey(ORIGIN, log, "log");
const attackersNote = noteKey(ORIGIN, attackersLog, "log");

const own = extend([], contents(0, 12), ledger);
const imported = makeImported();

function makeImported(): string[] {
  const chain: string[] = [];
  for (const n of [0, 1]) chain.push(makeEra1(content(n), hashOf(chain.at(-1))));
  for (const n of [2, 3, 4]) chain.push(sealEra2(content(n), hashOf(chain.at(-1)), oldLedger));
  return extend(chain, contents(5, 9), ledger);
}

/** Signs a checkpoint as the log, with cosignatures of some witnesses. */
function checkpoint(records: readonly string[], cosigners = [0, 1], origin = ORIGIN): string {
  const text = stateCheckpoint(origin, records);
  return [
    `${text}\n`,
    signLine(text, { ...logNote, name: origin }, log),
    ...cosigners.map((n) => cosignLine(text, witnesses[n]!.note, witnesses[n]!.key)),
  ].join("");
}

const named = {
  keys: [{ public_key: ledger.hex, from_position: 0 }],
  log: { verifier_key: formatVerifierKey(logNote) },
};
const NO_LOG = { checkpoint: null, named: { ...named, log: null } };
const bothKeys = [
  { public_key: oldLedger.hex, from_position: 0 },
  { public_key: ledger.hex, from_position: 5 },
];
const keysAndLog = { ledger_keys: named.keys, log_key: formatVerifierKey(logNote) };
const trust: Vectors["trust"] = {
  all: {
    ...keysAndLog,
    witnesses: witnesses.map(({ note }) => formatVerifierKey(note)),
    witness_quorum: 2,
    min_era: 3,
    checkpoint: checkpoint(own.slice(0, 8)),
  },
  keys: { ledger_keys: named.keys },
  keysUnsigned: { ledger_keys: named.keys, min_era: 1 },
  keysAndLog,
  imported: { ledger_keys: bothKeys, log_key: formatVerifierKey(logNote), min_era: 1 },
  importedSigned: { ledger_keys: bothKeys, log_key: formatVerifierKey(logNote) },
};

type Server = Vectors["servers"][number];
const servers: Server[] = [];

/** Adds a server. What is not said of it is as the genuine ledger has it. */
function add(
  exit: ServerVector["exit"],
  name: string,
  reason: string | undefined,
  changes: Partial<Server> & { readonly texts?: readonly string[] } = {},
): void {
  const { texts, chain = "own", ...more } = changes;
  const genuine = chains[chain]!;
  const shown = texts ?? genuine;
  const records = shown.map((text) => {
    const at = genuine.indexOf(text);
    return at < 0 ? text : at;
  });
  servers.push({
    name,
    chain,
    trust: "all",
    exit,
    ...(reason === undefined ? {} : { reason }),
    named,
    checkpoint: checkpoint(genuine),
    total: shown.length,
    records,
    ...more,
  });
}

const chains: Vectors["chains"] = { own, imported };
const onlyImported = {
  chain: "imported",
  trust: "imported",
  named: { ...named, keys: bothKeys },
} as const;

function addHonest(): void {
  add(0, "the genuine ledger", undefined);
  add(0, "one that has grown since its checkpoint", undefined, {
    checkpoint: checkpoint(own.slice(0, 10)),
  });
  add(0, "one that names neither keys nor log, as both are pinned", undefined, { named: {} });
  add(0, "one that began with eras that prove less", undefined, onlyImported);
}

function addFalseKeys(): void {
  const forged = extend(own.slice(0, 9), contents(20, 23), attacker);
  add(
    1,
    "the attacker's key listed beside the real one, and an end signed with it",
    "another key",
    {
      texts: forged,
      checkpoint: checkpoint(own.slice(0, 8)),
      named: {
        ...named,
        keys: [...named.keys, { public_key: attacker.hex, from_position: 9 }],
      },
    },
  );
  const invented = extend([], contents(0, 12), attacker);
  const text = stateCheckpoint(ORIGIN, invented);
  add(1, "a ledger and a log of the attacker's own", "another key", {
    texts: invented,
    checkpoint: `${text}\n${signLine(text, attackersNote, attackersLog)}`,
    named: {
      keys: [{ public_key: attacker.hex, from_position: 0 }],
      log: { verifier_key: formatVerifierKey(attackersNote) },
    },
  });
  add(1, "a ledger of the attacker's own, and no log", "another key", {
    texts: invented,
    checkpoint: null,
    named: { keys: [{ public_key: attacker.hex, from_position: 0 }] },
  });
  add(1, "a middle replaced and all after it linked and signed again", "another key", {
    texts: extend(
      own.slice(0, 6),
      [content(6, { outcome: "failed" }), ...contents(7, 12)],
      attacker,
    ),
  });
  add(
    1,
    "receipts that say they are signed by the real key, and are by another",
    "does not verify",
    {
      texts: own.with(
        11,
        seal(content(11), 11, hashOf(own[10]), attacker).replace(attacker.hex, ledger.hex),
      ),
    },
  );
}

function addUnsigned(): void {
  const unsigned: string[] = [];
  for (const fields of contents(0, 12)) unsigned.push(makeEra1(fields, hashOf(unsigned.at(-1))));
  const alone = { texts: unsigned, ...NO_LOG, trust: "keys" };
  add(1, "an invented chain of era 1, which nobody has signed", "not signed", alone);
  add(2, "the same, to somebody who allows unsigned receipts", "no receipt is signed", {
    ...alone,
    trust: "keysUnsigned",
  });
  const bare = edit(own[11]!, {
    schema_version: undefined,
    signature: undefined,
    canonical_bytes: undefined,
    chain_position: undefined,
  });
  add(1, "a last receipt that lost its signature and its version", "era", {
    texts: own.with(11, bare),
  });
  const stripped = own.map((record) => edit(record, { schema_version: undefined }));
  add(1, "receipts that all lost their version", "no schema_version", {
    texts: stripped,
    ...NO_LOG,
    trust: "keysUnsigned",
  });
  add(1, "an unsigned receipt after the last one", "era", {
    texts: [...own, makeEra1(content(12), hashOf(own[11]))],
  });
  add(1, "unsigned receipts at the beginning, to somebody who did not allow them", "not signed", {
    ...onlyImported,
    trust: "importedSigned",
  });
}

function addMissing(): void {
  const half = own.slice(0, 6);
  add(2, "the genuine chain cut in half, and no log", "no checkpoint", {
    texts: half,
    ...NO_LOG,
    trust: "keysAndLog",
  });
  add(1, "the same, to somebody who has seen a checkpoint", "missing", { texts: half, ...NO_LOG });
  add(1, "the genuine chain cut in half, with the whole one's checkpoint", "missing", {
    texts: half,
  });
  add(1, "the genuine chain cut in half, with a checkpoint of that time", "old one|missing", {
    texts: half,
    checkpoint: checkpoint(half),
  });
  add(2, "an empty ledger, and no log", "no checkpoint", {
    texts: [],
    ...NO_LOG,
    trust: "keysAndLog",
  });
  add(1, "an export that ends early", "missing|did not return", {
    texts: own.slice(0, 7),
    total: 12,
  });
  add(
    2,
    "an export that breaks off in the middle of a receipt, every time",
    "lost|terminated|read|abort|closed|reach|middle",
    {
      cutAfter: 5_000,
    },
  );
  add(1, "more receipts promised than shown", "missing|did not return", { total: 20 });
  add(1, "fewer receipts promised than shown", "says that it has|missing", { total: 10 });
  add(1, "a receipt missing", "missing|did not return", { texts: own.toSpliced(5, 1) });
  add(1, "the first receipt missing", "missing|did not return", { texts: own.slice(1) });
  add(1, "two receipts in each other's place", "prev_hash|missing|did not return", {
    texts: own.with(5, own[6]!).with(6, own[5]!),
  });
  add(1, "a receipt twice", "prev_hash|twice", { texts: own.toSpliced(6, 0, own[5]!) });
}

function addAltered(): void {
  const altered = (name: string, reason: string, change: (record: string) => string, at = 9) =>
    add(1, name, reason, { texts: own.with(at, change(own[at]!)) });
  altered("an outcome rewritten", "canonical", (r) => r.replace('"ok"', '"no"'));
  altered(
    "a key twice, with a forged first value",
    "twice",
    (r) => r.replace('"outcome":"ok"', '"outcome":"failed","outcome":"ok"'),
  );
  altered(
    "a key twice within the details",
    "twice",
    (r) => r.replace('"load":1.5', '"load":9.5,"load":1.5'),
  );
  altered(
    "a key twice, once in escapes",
    "twice",
    (r) => r.replace('"outcome":"ok"', '"outc\\u006fme":"failed","outcome":"ok"'),
  );
  altered(
    "a key of the signature twice",
    "twice",
    (r) => r.replace('"algorithm":"Ed25519"', '"algorithm":"none","algorithm":"Ed25519"'),
  );
  altered(
    "another signature.algorithm",
    "Ed25519",
    (r) => r.replace('"algorithm":"Ed25519"', '"algorithm":"RSA"'),
  );
  altered(
    "no signature.algorithm",
    "signature|field",
    (r) => r.replace('"algorithm":"Ed25519",', ""),
  );
  altered(
    "another signature.signs",
    "Ed25519",
    (r) => r.replace('"signs":"canonical_bytes"', '"signs":"nothing"'),
  );
  altered(
    "a field in the signature that nothing signs",
    "signature",
    (r) => r.replace('"signs":', '"signed_at":"2030-01-01","signs":'),
  );
  altered("a field that nothing signs", "canonical", (r) => r.replace("{", '{"approved":true,'));
  altered(
    "a signature of other bytes",
    "does not verify",
    (r) => r.replace(/"value":"\w+"/, `"value":"${"5a".repeat(64)}"`),
  );
  altered("a signature of which S is not reduced", "does not verify", addOrder);
  altered(
    "canonical bytes in capitals",
    "canonical|field",
    (r) =>
      r.replace(
        /"canonical_bytes":"(\w+)"/,
        (_, hex) => `"canonical_bytes":"${hex.toUpperCase()}"`,
      ),
  );
  altered(
    "the position written as another number",
    "canonical",
    (r) => r.replace('"chain_position":9,', '"chain_position":9.0,'),
  );
  altered("a number that is none", "JSON", (r) => r.replace('"run":9', '"run":NaN'));
  altered(
    "U+0000 in a text",
    "U\\+0000|canonical",
    (r) => r.replace("service-9", "service-\\u00009"),
  );
  altered(
    "two hundred levels of arrays",
    "deep",
    (r) => r.replace('"run":9', `"run":${"[".repeat(200)}${"]".repeat(200)}`),
  );
  altered(
    "a version that nobody knows",
    "schema_version",
    (r) => r.replace('"schema_version":"3.0"', '"schema_version":"9.0"'),
  );
  altered(
    "null as the version",
    "schema_version",
    (r) => r.replace('"schema_version":"3.0"', '"schema_version":null'),
  );
  altered(
    "another hash of the last receipt",
    "hash",
    (r) => r.replace(/"hash_sha256":"\w+"/, `"hash_sha256":"${"ab".repeat(32)}"`),
    11,
  );
  altered("text that is no JSON", "JSON", (r) => r.replace('"outcome":"ok"', '"outcome":ok'));
  altered(
    "an empty object in a receipt's place",
    "prev_hash|field",
    () => "{}",
  );
}

/** Adds the order of the group to S, which is the other signature of the same bytes that lax verifiers accept. */
function addOrder(record: string): string {
  const order = (1n << 252n) + 27742317777372353535851937790883648493n;
  return record.replace(/"value":"(\w{64})(\w{64})"/, (_, r: string, s: string) => {
    const bytes = Buffer.from(s, "hex").reverse();
    const sum = (BigInt(`0x${bytes.toString("hex")}`) + order).toString(16).padStart(64, "0");
    return `"value":"${r}${Buffer.from(sum, "hex").reverse().toString("hex")}"`;
  });
}

function addEarlierEras(): void {
  const later = imported.slice(2, 5);
  const [a, b, c] = later as [string, string, string];
  const relink = (record: string, previous: string) =>
    JSON.stringify({ ...JSON.parse(record), prev_hash: previous });
  const swapped = [relink(b, hashOf(imported[1])), relink(a, hashOf(b)), relink(c, hashOf(a))];
  const tree = "what the checkpoint of";
  add(1, "receipts of era 2 in another order, as their links are not signed", tree, {
    ...onlyImported,
    texts: [...imported.slice(0, 2), ...swapped, ...imported.slice(5)],
  });
  add(1, "a receipt of era 1 rewritten, as nothing signs it", tree, {
    ...onlyImported,
    texts: imported.with(1, imported[1]!.replace('"ok"', '"no"')),
  });
  add(1, "an attestation of era 2 rewritten, as nothing signs it", tree, {
    ...onlyImported,
    texts: imported.with(3, imported[3]!.replace('"ok":true', '"ok":false')),
  });
  add(1, "a receipt of era 2 after those of era 3", "era", {
    texts: [...own, sealEra2(content(12), hashOf(own[11]), ledger)],
  });
}

function addFalseCheckpoints(): void {
  const whole = checkpoint(own);
  const text = stateCheckpoint(ORIGIN, own);
  const lines = whole.slice(text.length + 1);
  const show = (
    exit: 1 | 2,
    name: string,
    reason: string,
    note: string,
    more: Partial<Server> = {},
  ) => add(exit, name, reason, { checkpoint: note, ...more });
  const unsigned = "not signed by the .*key of";
  show(1, "an old checkpoint again", "old one", checkpoint(own.slice(0, 6)));
  show(
    1,
    "a checkpoint of another origin",
    "of the log other.example",
    checkpoint(own, [0, 1], "other.example"),
  );
  show(
    1,
    "an origin that writes over the terminal",
    "of the log",
    checkpoint(own, [0, 1], "x\u001b[2K\u001b[1Aall.is.well"),
  );
  show(1, "a checkpoint whose size was changed", unsigned, whole.replace("\n12\n", "\n11\n"));
  show(
    1,
    "a checkpoint whose root was changed",
    unsigned,
    stateCheckpoint(ORIGIN, own.toReversed()) + "\n" + lines,
  );
  show(
    1,
    "a checkpoint signed with another key under the log's name",
    unsigned,
    `${text}\n${signLine(text, attackersNote, attackersLog)}`,
  );
  show(
    1,
    "a checkpoint signed with another key under the log's name and key id",
    unsigned,
    `${text}\n${signLine(text, logNote, attackersLog)}`,
  );
  show(
    1,
    "a checkpoint with a good signature and a wrong one",
    unsigned,
    whole + signLine(text, logNote, attackersLog),
  );
  show(1, "a checkpoint without a signature", "read|none|not signed", `${text}\n`);
  show(1, "a page in place of a checkpoint", "read|none", "<html>It works</html>\n");
  const rewritten = extend(own.slice(0, 6), contents(30, 32), ledger);
  add(1, "history rewritten by who has all keys and two witnesses", "contradict|forked", {
    texts: rewritten,
    checkpoint: checkpoint(rewritten),
  });
  const longer = extend(own.slice(0, 6), contents(30, 38), ledger);
  add(
    1,
    "the same, with more receipts than the checkpoint that was seen",
    "what the checkpoint of 8",
    {
      texts: longer,
      checkpoint: checkpoint(longer),
    },
  );
  add(1, "receipts that are not those of the checkpoint", "what the checkpoint of 12", {
    texts: [...own.slice(0, 11), seal(content(40), 11, hashOf(own[10]), ledger)],
  });
}

function addFalseCosignatures(): void {
  const text = stateCheckpoint(ORIGIN, own);
  const signed = `${text}\n${signLine(text, logNote, log)}`;
  const cosign = (n: number, of = text) => cosignLine(of, witnesses[n]!.note, witnesses[n]!.key);
  const few = "cosignatures";
  const show = (exit: 1 | 2, name: string, reason: string, ...lines: string[]) =>
    add(exit, name, reason, { checkpoint: signed + lines.join("") });
  show(2, "no cosignature", few);
  show(2, "one cosignature where two are needed", few, cosign(0));
  show(2, "the same cosignature twice", few, cosign(0), cosign(0));
  show(
    2,
    "cosignatures of a witness that nobody has pinned",
    few,
    cosign(0),
    cosignLine(text, strangerNote, stranger),
  );
  const wrong = "does not verify";
  show(1, "a forged cosignature", wrong, cosign(0), cosignLine(text, witnesses[1]!.note, attacker));
  show(
    1,
    "a forged cosignature beside enough good ones",
    wrong,
    cosign(0),
    cosign(1),
    cosignLine(text, witnesses[2]!.note, attacker),
  );
  const before = stateCheckpoint(ORIGIN, own.slice(0, 10));
  show(1, "cosignatures of another checkpoint", wrong, cosign(0, before), cosign(1, before));
  show(1, "a cosignature of which the time was changed", wrong, cosign(0), changeTime(cosign(1)));
}

function changeTime(line: string): string {
  const [dash, name, value] = line.trimEnd().split(" ");
  const bytes = Buffer.from(value!, "base64");
  bytes[11]! ^= 1; // the last byte of the time, after the 4 bytes of the key's id
  return `${dash} ${name} ${bytes.toString("base64")}\n`;
}

/** Makes all vectors. */
export function makeVectors(): Vectors {
  servers.length = 0;
  addHonest();
  addFalseKeys();
  addUnsigned();
  addMissing();
  addAltered();
  addEarlierEras();
  addFalseCheckpoints();
  addFalseCosignatures();
  return { chains, trust, servers };
}

/** Prints vectors as the file has them. */
export const printVectors = (vectors: Vectors): string =>
  `${JSON.stringify(vectors, undefined, 1)}\n`;
