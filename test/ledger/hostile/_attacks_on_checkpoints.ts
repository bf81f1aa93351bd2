/** Servers that show checkpoints and cosignatures that are false, old, or missing. */
import { content, cosignLine, extend, hashOf, seal, signLine, stateCheckpoint } from "./_chain.ts";
import {
  type AddServer,
  attacker,
  attackersLog,
  attackersNote,
  checkpoint,
  contents,
  ledger,
  log,
  logNote,
  ORIGIN,
  own,
  type Server,
  stranger,
  strangerNote,
  witnesses,
} from "./_genuine.ts";

/** Adds servers with false checkpoints. */
export function addFalseCheckpoints(add: AddServer): void {
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

/** Adds servers with false cosignatures. */
export function addFalseCosignatures(add: AddServer): void {
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
