import {
  BadTrust,
  formatTrust,
  isPinned,
  NOTHING_PINNED,
  parseTrust,
  type Trust,
  withCheckpoint,
} from "../../trust/mod.ts";
import { findValue, NOBLE } from "../checks/mod.ts";
import { h, pluralize, showText, type View } from "../views/mod.ts";
import { byId, fill } from "./dom.ts";

const KEY = "sealoop-ledger-trust";

/** Reads what this browser has pinned; nothing if that is nothing, or if the browser stores nothing. */
export function readTrust(): Trust {
  try {
    const text = localStorage.getItem(KEY);
    return text === null ? NOTHING_PINNED : parseTrust(text, NOBLE);
  } catch {
    return NOTHING_PINNED;
  }
}

/** Returns true if a text is meant to be a trust file. */
export function isTrustFile(text: string): boolean {
  return text.trimStart().startsWith("{") &&
    ["ledger_keys", "log_key"].some((name) => findValue(text, name) !== undefined);
}

/** Pins what a trust file says, and checks the page anew. @returns why that is not possible, if it is not */
export function pinTrust(text: string): View {
  try {
    save(parseTrust(text, NOBLE));
  } catch (error) {
    const reason = error instanceof BadTrust ? error.message : "This browser stores nothing";
    return h("p", { class: "result fail" }, "The trust file cannot be used. ", showText(reason));
  }
  location.reload();
  return h("p", {}, "Pinned.");
}

/** Remembers a checkpoint that holds, so that the ledger can't go back behind it. */
export function rememberCheckpoint(trust: Trust, note: string): void {
  if (!trust.logKey || trust.checkpoint?.note === note) return;
  try {
    save(withCheckpoint(trust, note, NOBLE));
  } catch {
    // The browser stores nothing; everything else works.
  }
}

function save(trust: Trust): void {
  localStorage.setItem(KEY, formatTrust(trust, NOBLE));
}

/** Says what is pinned, with a button that forgets it. */
export function showTrust(): void {
  const trust = readTrust();
  if (!isPinned(trust)) return;
  fill(byId("verdict-trust"), [
    "Checked against the trust file that this browser keeps: ",
    describe(trust).join(", "),
    ". ",
    h("button", { type: "button" }, "Forget the trust file"),
  ]);
  byId("verdict-trust").querySelector("button")!.addEventListener("click", () => {
    localStorage.removeItem(KEY);
    location.reload();
  });
}

function describe(trust: Trust): string[] {
  const { ledgerKeys, logKey, witnesses, witnessQuorum, minEra, checkpoint } = trust;
  return [
    ledgerKeys.length > 0 ? pluralize(ledgerKeys.length, "ledger key") : "",
    logKey ? `the key of the log ${logKey.name}` : "",
    witnesses.length > 0 ? `cosignatures of ${witnessQuorum} of ${witnesses.length} witnesses` : "",
    minEra > 1 ? `no era before ${minEra}` : "unsigned receipts allowed",
    checkpoint ? `the newest checkpoint, of ${pluralize(checkpoint.size, "receipt")}` : "",
  ].filter((part) => part !== "");
}
