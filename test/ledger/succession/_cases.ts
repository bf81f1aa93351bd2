/** Chains with a succession of keys: valid ones, and one for each way to introduce a key that must be found. */
import type { TrustedKey } from "../../../ledger/rules/mod.ts";
import { mixedChain, vectorKeys } from "../_chains.ts";
import { makeKey, publish, TestChain } from "./_test_chain.ts";

/** A chain with the keys that are published with it. */
export interface SuccessionCase {
  readonly name: string;
  readonly records: readonly string[];
  readonly keys: readonly TrustedKey[];
  /** Position of the first break; undefined: it holds. */
  readonly breaksAt?: number;
  /** Position from which the keys are not proven. */
  readonly unproven?: number;
}

const [key, next, third, thief, recovery, other] = [
  makeKey(),
  makeKey(),
  makeKey(),
  makeKey(),
  makeKey(),
  makeKey(),
];
const own = publish(key, 0, recovery);
const begin = () => new TestChain().genesis(key, recovery);
const pin = (one: TrustedKey): TrustedKey => ({ ...one, isPinned: true });

const rotated = begin().seal(key, 3).rotate(key, next, recovery).seal(next, 3);
const rotatedKeys = [own, publish(next, 5, recovery)];
const adopted = new TestChain(mixedChain.records).adopt(key, recovery, vectorKeys).seal(key, 2);
const adoptedKeys = [...vectorKeys, publish(key, 51, recovery)];
const readopted = begin().seal(key, 2).adopt(thief, other, [own]).seal(thief, 2);

/** Chains that hold. */
export const VALID_CASES: readonly SuccessionCase[] = [
  { name: "a genesis", records: begin().seal(key, 5).records, keys: [own] },
  { name: "a rotation", records: rotated.records, keys: rotatedKeys },
  {
    name: "a rotation as the newest receipt",
    records: begin().rotate(key, next, recovery).records,
    keys: [own, publish(next, 2, recovery)],
  },
  {
    name: "a recovery",
    records: begin().seal(key).rotate(key, next, recovery, { signedBy: recovery }).seal(next)
      .records,
    keys: [own, publish(recovery, 2, recovery), publish(next, 3, recovery)],
  },
  {
    name: "a rotation, and a recovery at once after it",
    records: begin().rotate(key, thief, recovery)
      .rotate(thief, next, recovery, { signedBy: recovery }).seal(next).records,
    keys: [
      own,
      publish(thief, 2, recovery),
      publish(recovery, 2, recovery),
      publish(next, 3, recovery),
    ],
  },
  {
    name: "a recovery with a new recovery key, and a rotation after it",
    records: begin().rotate(key, next, other, { signedBy: recovery }).seal(next)
      .rotate(next, third, other).seal(third).records,
    keys: [
      own,
      publish(recovery, 1, recovery),
      publish(next, 2, other),
      publish(third, 4, other),
    ],
  },
  {
    name: "imported eras and their adoption",
    records: adopted.records,
    keys: adoptedKeys,
    unproven: 51,
  },
  {
    name: "imported eras, where the key before is pinned alone",
    records: adopted.records,
    keys: [pin(adoptedKeys[0]!), adoptedKeys[1]!],
    unproven: 51,
  },
  {
    name: "imported eras, where the key that adopts them is pinned",
    records: adopted.records,
    keys: [adoptedKeys[0]!, pin(adoptedKeys[1]!)],
  },
  {
    name: "a ledger adopted by another, whose key is pinned",
    records: readopted.records,
    keys: [own, pin(publish(thief, 3, other))],
  },
];

const fault = (name: string, breaksAt: number, chain: TestChain, keys: readonly TrustedKey[]) => ({
  name,
  breaksAt,
  keys,
  records: chain.records,
});

/** Chains with a key that has no succession. */
export const FAULTY_CASES: readonly SuccessionCase[] = [
  fault("a published key with receipts, and no rotation", 3, begin().seal(key, 2).seal(thief, 3), [
    own,
    publish(thief, 3, recovery),
  ]),
  fault("a published key that has signed nothing yet", 3, begin().seal(key, 2), [
    own,
    publish(thief, 3, recovery),
  ]),
  fault(
    "a key without recovery key after one with",
    2,
    begin().seal(key).seal(thief, 2),
    [own, publish(thief, 2)],
  ),
  fault(
    "a rotation that the new key has signed",
    2,
    begin().seal(key).rotate(key, thief, recovery, { signedBy: thief }).seal(thief),
    [own, publish(thief, 3, recovery)],
  ),
  fault(
    "a rotation that the new key is published for already",
    2,
    begin().seal(key).rotate(key, thief, recovery, { signedBy: thief }).seal(thief),
    [own, publish(thief, 2, recovery), publish(thief, 3, recovery)],
  ),
  fault(
    "a rotation without the new key's own signature",
    2,
    begin().seal(key).rotate(key, next, recovery, { provenBy: key }).seal(next),
    [own, publish(next, 3, recovery)],
  ),
  fault(
    "a rotation whose proof is of another position",
    2,
    begin().seal(key).rotate(key, next, recovery, { provenAt: 7 }).seal(next),
    [own, publish(next, 3, recovery)],
  ),
  fault(
    "a rotation whose proof is no signature",
    2,
    begin().seal(key)
      .rotate(key, next, recovery, { details: { new_key_signature: 7 } }).seal(next),
    [own, publish(next, 3, recovery)],
  ),
  fault(
    "a rotation by the ledger key that changes the recovery key",
    2,
    begin().seal(key).rotate(key, next, recovery, { recovery: thief }).seal(next),
    [own, publish(next, 3, thief)],
  ),
  fault(
    "a rotation to the recovery key",
    2,
    begin().seal(key).rotate(key, recovery, recovery).seal(recovery),
    [own, publish(recovery, 3, recovery)],
  ),
  fault(
    "a rotation to the key that it had",
    2,
    begin().seal(key).rotate(key, key, recovery).seal(key),
    [own, publish(key, 3, recovery)],
  ),
  fault("a rotation after which the old key goes on", 4, rotated, [own]),
  fault(
    "a rotation whose new key is published later than it says",
    4,
    begin().seal(key, 3).rotate(key, next, recovery).seal(key).seal(next, 2),
    [own, publish(next, 6, recovery)],
  ),
  fault(
    "a recovery by a key that is not the recovery key",
    2,
    begin().seal(key).rotate(key, next, recovery, { signedBy: thief }).seal(next),
    [own, publish(thief, 2, recovery), publish(next, 3, recovery)],
  ),
  fault(
    "a recovery with another recovery key than the genesis has",
    0,
    begin().seal(key).rotate(key, next, thief, { signedBy: thief }).seal(next),
    [publish(key, 0, thief), publish(thief, 2, thief), publish(next, 3, thief)],
  ),
  fault(
    "a receipt of the recovery key that is no rotation",
    2,
    begin().seal(key).seal(recovery),
    [own, publish(recovery, 2, recovery)],
  ),
  fault("a second genesis", 2, begin().seal(key).genesis(thief, other).seal(thief), [
    own,
    publish(thief, 2, other),
  ]),
  fault("a genesis by the key of the ledger, later", 2, begin().seal(key).genesis(key, recovery), [
    own,
  ]),
  fault("no genesis", 0, new TestChain().seal(key, 3), [own]),
  fault("a genesis of another key than is published", 0, begin().seal(key), [
    publish(thief, 0, recovery),
  ]),
  fault("a genesis whose keys are published without recovery key", 0, begin().seal(key), [
    publish(key, 0),
  ]),
  fault("a genesis whose recovery key is its ledger key", 0, new TestChain().genesis(key, key), [
    publish(key, 0, key),
  ]),
  fault("a ledger adopted by a key that nobody knows", 3, readopted, [
    own,
    publish(thief, 3, other),
  ]),
  fault(
    "an adoption of other receipts",
    51,
    new TestChain(mixedChain.records).adopt(key, recovery, vectorKeys, { size: 50 }),
    adoptedKeys,
  ),
  fault(
    "an adoption of another head",
    51,
    new TestChain(mixedChain.records).adopt(key, recovery, vectorKeys, { head: "00" }),
    adoptedKeys,
  ),
  fault(
    "an adoption of other keys",
    51,
    new TestChain(mixedChain.records).adopt(key, recovery, []),
    adoptedKeys,
  ),
  fault(
    "a second adoption",
    54,
    new TestChain(adopted.records).adopt(thief, other, adoptedKeys),
    [...adoptedKeys, publish(thief, 54, other)],
  ),
  fault(
    "an own receipt after imported ones, without adoption",
    51,
    new TestChain(mixedChain.records).seal(key, 2),
    adoptedKeys,
  ),
  fault(
    "a second key of a ledger from before successions",
    51,
    new TestChain(mixedChain.records).seal(thief, 2),
    [...vectorKeys, publish(thief, 51)],
  ),
];
