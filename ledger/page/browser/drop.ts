import { type FileReport, findValue } from "../checks/mod.ts";
import { formatCount, h, pluralize, showText, SIGNS, type View } from "../views/mod.ts";
import { byId, fill } from "./dom.ts";
import { FetchError, fetchKeys, fetchRecords } from "./fetch.ts";
import type { Pool } from "./pool.ts";
import { isTrustFile, pinTrust } from "./trust.ts";

/** Larger files are for the command line. */
const MAX_MIB = 256;
const MAX_BREAKS = 20;

/** Checks exported files that are chosen or dropped on the page. */
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
    const text = await file.text();
    if (isTrustFile(text)) return pinTrust(text);
    const keys = await fetchKeys();
    const outcome = await pool.run({ task: { do: "file", text }, ...keys });
    if ("report" in outcome) {
      return describeReport(name, outcome.report, await compareWithLedger(outcome.report));
    }
    return notChecked(name, "failed" in outcome ? outcome.failed : "The check returned nothing");
  } catch (error) {
    const reason = error instanceof FetchError ? error.message : `It cannot be read: ${error}`;
    return notChecked(name, reason);
  }
}

const notChecked = (name: View, reason: string): View =>
  h("p", { class: "result fail" }, SIGNS.fail, " ", name, ": not checked. ", showText(reason));

/** Compares the last receipt of a file with the ledger's. @returns undefined if that is not possible */
async function compareWithLedger(
  { from, to, lastHash }: FileReport,
): Promise<boolean | undefined> {
  if (from === undefined) return undefined;
  try {
    const [record] = await fetchRecords(to - 1, to);
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
