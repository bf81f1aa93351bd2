import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { ApprovalStatement, ListPlace } from "../../../contract/domain/mod.ts";
import {
  challengeOf,
  listStatementOf,
  placesIn,
  signedChallenge,
} from "../../../ledger/passkeys/mod.ts";
import { createGrowingTree, hashLeaf } from "../../../ledger/rules/mod.ts";
import { NODE_PRIMITIVES } from "../../../ledger/crypto/mod.ts";
import { canonicalize } from "../../../ledger/mod.ts";
import { NOBLE } from "../../../ledger/page/checks/mod.ts";

const NONCE = "00112233445566778899aabbccddeeff";

/** Statements about as many approvals. */
const statements = (count: number): ApprovalStatement[] =>
  Array.from({ length: count }, (_, n) => ({
    version: 1,
    approval: `APR-${String(n).padStart(12, "0")}`,
    cycle: 0,
    move: "approved",
    act: randomBytes(32).toString("hex"),
    shown_sha256: randomBytes(32).toString("hex"),
    nonce: randomBytes(16).toString("hex"),
  }));

const sha256 = (bytes: Uint8Array) => NODE_PRIMITIVES.fromHex(NODE_PRIMITIVES.sha256(bytes));

describe("a list of approvals that one gesture signs", () => {
  it("has the root of RFC 6962, and proves each of its statements alone, whatever its size", () => {
    for (const size of [1, 2, 3, 4, 5, 7, 8, 9, 100, 197, 500]) {
      const all = statements(size);
      const tree = createGrowingTree(sha256);
      for (const one of all) tree.add(hashLeaf(Buffer.from(canonicalize(one)), sha256));
      const list = listStatementOf(NODE_PRIMITIVES, all, NONCE);
      assert.deepEqual(list, {
        version: 1,
        move: "approved",
        size,
        root: NODE_PRIMITIVES.toHex(tree.root()),
        nonce: NONCE,
      });
      const challenge = challengeOf(NODE_PRIMITIVES, list);
      for (const [n, place] of placesIn(NOBLE, all, NONCE).entries()) {
        const signed = { statement: all[n]!, list: place };
        assert.equal(signedChallenge(n % 2 ? NOBLE : NODE_PRIMITIVES, signed), challenge);
      }
    }
  });

  it("proves no statement that is changed, elsewhere, or of another list", () => {
    const all = statements(7);
    const places = placesIn(NODE_PRIMITIVES, all, NONCE);
    const [statement, list] = [all[2]!, places[2]!];
    const refused = (changed: Partial<ApprovalStatement>, place: Partial<ListPlace> = {}) =>
      assert.throws(
        () =>
          signedChallenge(NODE_PRIMITIVES, {
            statement: { ...statement, ...changed },
            list: { ...list, ...place },
          }),
        { name: "PasskeyError", code: "list" },
      );
    for (const [name, value] of Object.entries(statement)) {
      const changed = typeof value === "number" ? value + 1 : flipped(value);
      refused({ [name]: changed } as Partial<ApprovalStatement>);
    }
    refused({}, { index: 3 });
    refused({}, { index: -1 });
    refused({}, { index: 7 });
    refused({}, { index: 2.5 });
    refused({}, { path: list.path.slice(1) });
    refused({}, { path: [...list.path, list.path[0]!] });
    refused({}, { path: list.path.toReversed() });
    for (const n of list.path.keys()) {
      refused({}, { path: list.path.with(n, flipped(list.path[n]!)) });
      refused({}, { path: list.path.with(n, list.path[n]!.toUpperCase()) });
    }
    refused({}, { statement: { ...list.statement, root: flipped(list.statement.root) } });
    refused({}, { statement: { ...list.statement, size: 3 } });
    const other = placesIn(NODE_PRIMITIVES, statements(7), NONCE)[2]!;
    refused({}, { statement: other.statement });
    refused({}, { path: other.path });
  });

  it("is another challenge with another size or nonce, and than a statement alone", () => {
    const all = statements(2);
    const [place] = placesIn(NODE_PRIMITIVES, all, NONCE);
    const signed = { statement: all[0]!, list: place! };
    const challenges = [
      signedChallenge(NODE_PRIMITIVES, signed),
      signedChallenge(NODE_PRIMITIVES, { statement: all[0]! }),
      challengeOf(NODE_PRIMITIVES, listStatementOf(NODE_PRIMITIVES, all, flipped(NONCE))),
      challengeOf(NODE_PRIMITIVES, { ...place!.statement, size: 3 }),
    ];
    assert.equal(new Set(challenges).size, challenges.length);
  });
});

/** Returns a text whose last character is another digit. */
const flipped = (text: string) => text.slice(0, -1) + (text.endsWith("0") ? "1" : "0");
