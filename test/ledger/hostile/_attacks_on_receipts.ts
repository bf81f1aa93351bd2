/** Servers that show fewer receipts than there are, or altered ones. */
import { content, hashOf, sealEra2 } from "./_chain.ts";
import {
  type AddServer,
  attacker,
  checkpoint,
  IMPORTED,
  imported,
  ledger,
  named,
  NO_LOG,
  own,
} from "./_genuine.ts";

/** Adds servers that lack receipts, or have them in another order. */
export function addMissing(add: AddServer): void {
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
  add(1, "an empty ledger, and no log", "hands over", {
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

/** Adds servers whose answers say more than one thing, so that programs differ in what they read. */
export function addAmbiguous(add: AddServer): void {
  const other = "read|something else|twice|export|middle";
  add(2, "half a line behind the receipts", other, { behind: '{"id":"x","ha' });
  add(2, "a word behind the receipts", other, { behind: "null" });
  add(2, "another page behind the receipts", other, { behind: `{"receipts":[${own[0]!}]}` });
  const forged = own.map((record) => record.replace('"ok"', '"no"'));
  add(2, "pages that name their receipts twice", other, { before: forged });
  const { keys, ...others } = named;
  const text = JSON.stringify(others).slice(0, -1);
  const [right, wrong] = [keys, [{ public_key: attacker.hex, from_position: 0 }]]
    .map((one) => JSON.stringify(one));
  add(2, "its keys twice", "twice", { namedText: `${text},"keys":${right},"keys":${wrong}}` });
  add(2, "a field of a key twice", "twice", {
    namedText: JSON.stringify(named).replace(
      '"from_position":0',
      '"from_position":9,"from_position":0',
    ),
  });
}

/** Adds servers with altered receipts of era 3. */
export function addAltered(add: AddServer): void {
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

/** Adds servers with altered receipts of eras that prove less. */
export function addEarlierEras(add: AddServer): void {
  const later = imported.slice(2, 5);
  const [a, b, c] = later as [string, string, string];
  const relink = (record: string, previous: string) =>
    JSON.stringify({ ...JSON.parse(record), prev_hash: previous });
  const swapped = [relink(b, hashOf(imported[1])), relink(a, hashOf(b)), relink(c, hashOf(a))];
  const tree = "what the checkpoint of";
  add(1, "receipts of era 2 in another order, as their links are not signed", tree, {
    ...IMPORTED,
    texts: [...imported.slice(0, 2), ...swapped, ...imported.slice(5)],
  });
  add(1, "a receipt of era 1 rewritten, as nothing signs it", tree, {
    ...IMPORTED,
    texts: imported.with(1, imported[1]!.replace('"ok"', '"no"')),
  });
  add(1, "an attestation of era 2 rewritten, as nothing signs it", tree, {
    ...IMPORTED,
    texts: imported.with(3, imported[3]!.replace('"ok":true', '"ok":false')),
  });
  add(1, "a receipt of era 2 after those of era 3", "era", {
    texts: [...own, sealEra2(content(12), hashOf(own[11]), ledger)],
  });
}
