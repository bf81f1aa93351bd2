import { isEvidenceFile } from "../../opened/mod.ts";
import { type FileReport, findValue, NOBLE } from "../checks/mod.ts";
import {
  formatCount,
  groupHex,
  h,
  pluralize,
  showText,
  showTime,
  SIGNS,
  type View,
} from "../views/mod.ts";
import { byId, fill } from "./dom.ts";
import { decodeText, FetchError, fetchKeys, fetchRecords, fetchText, parseJson } from "./fetch.ts";
import { describeEvidence } from "./evidence.ts";
import type { Pool } from "./pool.ts";
import { isTrustFile, pinTrust } from "./trust.ts";

/** Larger files are for the command line. */
const MAX_MIB = 256;
const MAX_BREAKS = 20;
/** A trust file is small; exported files are not. */
const MAX_TRUST_BYTES = 100_000;

/** Checks files that are chosen or dropped on the page: published ones by their SHA-256, exports and opened evidence by what is in them. */
export function offerFileCheck(pool: Pool): void {
  const zone = byId("drop");
  const input = byId("file") as HTMLInputElement;
  zone.hidden = false;
  input.addEventListener("change", () => check(input.files?.[0]));
  addEventListener("dragover", (event) => {
    event.preventDefault();
    zone.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) zone.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    event.preventDefault();
    zone.classList.remove("over");
    zone.scrollIntoView({ block: "nearest" });
    check(event.dataTransfer?.files[0]);
  });

  async function check(file: File | undefined): Promise<void> {
    if (!file) return;
    fill(byId("report"), h("p", {}, "Checking ", showText(file.name, 100), " …"));
    fill(byId("report"), await checkFile(pool, file));
  }
}

async function checkFile(pool: Pool, file: File): Promise<View> {
  const name = showText(file.name, 100);
  if (file.size > MAX_MIB * 1024 * 1024) {
    return notChecked(name, `It is larger than ${MAX_MIB} MiB; check it with the Python program`);
  }
  try {
    // What is JSON is checked by itself first, so that a server can't pass an export off as something else.
    const beginning = await file.slice(0, 100).text();
    if (isEvidenceFile(beginning)) return await describeEvidence(name, await file.text());
    const failed = /^\s*[{[]/.test(beginning) ? await checkJson(pool, file, name) : undefined;
    if (typeof failed === "object") return failed.view;
    const sha256 = await hashFile(file);
    const known = await findFile(sha256);
    if (known) return describeKnown(name, sha256, known);
    const isNoExport = failed === undefined ? "" : ` It is no export either: ${failed}`;
    return notChecked(
      name,
      `No receipt of this ledger names this file, whose SHA-256 is ${sha256}.${isNoExport}`,
    );
  } catch (error) {
    const reason = error instanceof FetchError ? error.message : `It cannot be read: ${error}`;
    return notChecked(name, reason);
  }
}

/** Checks an exported file, or pins a trust file. @returns why it is neither, where it is not */
async function checkJson(pool: Pool, file: File, name: View): Promise<{ view: View } | string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const text = bytes.length < MAX_TRUST_BYTES ? decodeText(bytes) : undefined;
  if (text !== undefined && isTrustFile(text)) return { view: pinTrust(text) };
  const keys = await fetchKeys();
  const outcome = await pool.run({ task: { do: "file", bytes }, ...keys });
  if (!("report" in outcome)) {
    return "failed" in outcome ? outcome.failed : "The check returned nothing";
  }
  const isSame = await compareWithLedger(outcome.report);
  return { view: describeReport(name, outcome.report, isSame) };
}

/** Hashes a file in the browser; it is not sent. */
async function hashFile(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const hash = globalThis.isSecureContext
    ? new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
    : NOBLE.sha256(bytes);
  return [...hash].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A receipt about a published file. */
interface KnownFile {
  readonly receipt_id: string;
  readonly type: string;
  readonly subject: string;
  readonly timestamp: string | null;
  readonly verified: boolean;
}

/** Asks the ledger for the receipt of a file. @returns undefined: it has none */
async function findFile(sha256: string): Promise<KnownFile | undefined> {
  const answer = parseJson(await fetchText(`/api/receipts?file_sha256=${sha256}&limit=1`)) as {
    receipts: KnownFile[];
  };
  return answer.receipts[0];
}

function describeKnown(
  name: View,
  sha256: string,
  { receipt_id, type, subject, timestamp, verified }: KnownFile,
): View {
  const by = type === "api_seal"
    ? "A caller of the platform has sealed it; the platform has not published it."
    : `The platform has published it: ${type.replaceAll("_", " ")}, ${subject}.`;
  return h(
    "p",
    { class: `result ${verified ? "pass" : "fail"}` },
    h("span", { "aria-hidden": "true" }, verified ? SIGNS.pass : SIGNS.fail),
    " ",
    name,
    " belongs to the receipt ",
    h("a", { href: `/receipt/${encodeURIComponent(receipt_id)}` }, showText(receipt_id)),
    timestamp ? [" of ", showTime(timestamp)] : "",
    ". ",
    showText(by, 300),
    " Its SHA-256 is ",
    groupHex(sha256),
    ". Open the receipt to have it verified here.",
  );
}

const notChecked = (name: View, reason: string): View =>
  h("p", { class: "result fail" }, SIGNS.fail, " ", name, ": not checked. ", showText(reason));

/** Compares the last receipt of a file with the ledger's. @returns undefined if that is not possible */
async function compareWithLedger(
  { from, to, lastHash }: FileReport,
): Promise<boolean | undefined> {
  if (from === undefined) return undefined;
  try {
    const { records: [record] } = await fetchRecords(to - 1, to);
    return record !== undefined && findValue(record, "hash_sha256") === JSON.stringify(lastHash);
  } catch (error) {
    if (error instanceof FetchError) return undefined;
    throw error;
  }
}

function describeReport(name: View, report: FileReport, isSame: boolean | undefined): View {
  const { breaks, absent, from, to, count, fromStart } = report;
  const isValid = breaks.length === 0 && absent.length === 0 && isSame !== false;
  const range = from === undefined
    ? "unknown positions"
    : `#${formatCount(from)} to #${formatCount(to - 1)}`;
  const comparison = isSame === undefined
    ? "It was not compared with this ledger."
    : isSame
    ? "It ends with the same receipt as this ledger."
    : "It ends with a different receipt than this ledger.";
  return [
    h(
      "p",
      { class: `result ${isValid ? "pass" : "fail"}` },
      h("span", { "aria-hidden": "true" }, isValid ? SIGNS.pass : SIGNS.fail),
      " ",
      name,
      `: ${pluralize(count, "receipt")}, ${range}: `,
      absent.length > 0 &&
        [
          "cannot be told, as something pinned is not there: ",
          showText(absent.join("; "), 1000),
          ". ",
        ],
      breaks.length === 0
        ? absent.length === 0 && "all valid. "
        : `broken at ${pluralize(breaks.length, "position")}. `,
      !fromStart && "The record before the first one is not in the file. ",
      comparison,
    ),
    breaks.length > 0 && h(
      "ul",
      { class: "breaks" },
      breaks.slice(0, MAX_BREAKS).map(({ position, reason }) =>
        h("li", {}, `#${position} `, showText(reason, 400))
      ),
    ),
  ];
}
