/** Servers that show receipts signed with other keys, or with none. */
import { formatVerifierKey } from "../../../ledger/log/mod.ts";
import {
  content,
  edit,
  extend,
  hashOf,
  makeEra1,
  seal,
  signLine,
  stateCheckpoint,
} from "./_chain.ts";
import {
  type AddServer,
  adoption,
  attacker,
  attackersLog,
  attackersNote,
  attackersRecovery,
  checkpoint,
  contents,
  genesis,
  IMPORTED,
  imported,
  importedKeys,
  ledger,
  makeRotated,
  named,
  nameKey,
  NO_LOG,
  ORIGIN,
  own,
} from "./_genuine.ts";

/** Adds servers with keys of the attacker's. */
export function addFalseKeys(add: AddServer): void {
  const forged = extend(own.slice(0, 9), contents(20, 23), attacker);
  const until8 = { checkpoint: checkpoint(own.slice(0, 8)) };
  add(1, "the attacker's key beside the real one, and an end signed with it", "hands over", {
    texts: forged,
    ...until8,
    named: { ...named, keys: [...named.keys, { public_key: attacker.hex, from_position: 9 }] },
  });
  add(1, "the same, with the genuine recovery key beside the attacker's", "hands over", {
    texts: forged,
    ...until8,
    named: { ...named, keys: [...named.keys, nameKey(attacker, 9)] },
  });
  add(1, "the same, with the attacker's key in place of the real one", "another key", {
    texts: forged,
    ...until8,
    named: { ...named, keys: [{ public_key: attacker.hex, from_position: 0 }] },
  });
  const invented = extend([], [genesis(attacker, attackersRecovery), ...contents(1, 12)], attacker);
  const text = stateCheckpoint(ORIGIN, invented);
  const keys = [nameKey(attacker, 0, attackersRecovery)];
  add(1, "a ledger and a log of the attacker's own", "another key|not signed by", {
    texts: invented,
    checkpoint: `${text}\n${signLine(text, attackersNote, attackersLog)}`,
    named: { keys, log: { verifier_key: formatVerifierKey(attackersNote) } },
  });
  add(1, "a ledger of the attacker's own, and no log", "another key", {
    texts: invented,
    checkpoint: null,
    named: { keys },
  });
  const middle = [content(6, { outcome: "failed" }), ...contents(7, 12)];
  add(1, "a middle replaced and all after it linked and signed again", "another key", {
    texts: extend(own.slice(0, 6), middle, attacker),
  });
  const last = seal(content(11), 11, hashOf(own[10]), attacker);
  add(1, "a receipt that says it is signed by the real key, and is by another", "does not verify", {
    texts: own.with(11, last.replace(attacker.hex, ledger.hex)),
  });
}

/** Adds servers that introduce keys by receipts. */
export function addFalseSuccession(add: AddServer): void {
  const nine = own.slice(0, 9);
  add(1, "the genuine chain adopted by the attacker's key", "handed over", {
    texts: extend(
      nine,
      [adoption(nine, attacker, attackersRecovery, named.keys), ...contents(20, 22)],
      attacker,
    ),
    checkpoint: checkpoint(own.slice(0, 8)),
    named: { ...named, keys: [...named.keys, nameKey(attacker, 9, attackersRecovery)] },
  });
  add(1, "a rotation to the attacker's key, which the old key has not signed", "another key", {
    texts: makeRotated(attacker, attacker),
    trust: "keys",
    ...NO_LOG,
    named: { keys: [nameKey(ledger, 0), nameKey(attacker, 7)] },
  });
  const before = imported.slice(0, 5);
  const adopted = {
    ...IMPORTED,
    texts: extend(
      before,
      [adoption(before, attacker, attackersRecovery, importedKeys.slice(0, 1)), ...contents(6, 10)],
      attacker,
    ),
    checkpoint: null,
    named: { keys: [importedKeys[0]!, nameKey(attacker, 5, attackersRecovery)] },
  };
  add(
    1,
    "an imported ledger adopted by the attacker's key, not the real one",
    "another key",
    adopted,
  );
  add(2, "the same, to somebody who knows the key of before alone", "no pinned key vouches", {
    ...adopted,
    trust: "oldKeyOnly",
  });
}

/** Adds servers with receipts that nobody has signed. */
export function addUnsigned(add: AddServer): void {
  const unsigned: string[] = [];
  for (const fields of contents(0, 12)) unsigned.push(makeEra1(fields, hashOf(unsigned.at(-1))));
  const alone = { texts: unsigned, ...NO_LOG, trust: "keys" };
  add(1, "an invented chain of era 1, which nobody has signed", "not signed", alone);
  add(2, "the same, to somebody who allows unsigned receipts", "no receipt is signed", {
    ...alone,
    trust: "keysUnsigned",
    named: {},
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
    ...IMPORTED,
    trust: "importedSigned",
  });
}
