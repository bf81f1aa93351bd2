import type { FileReport } from "../file.ts";
import { valueOf } from "../records.ts";
import { count, counted, legible } from "../text.ts";
import { SIGNS } from "../verdict.ts";
import { h, type View } from "../view.ts";
import { byId, fill } from "./dom.ts";
import { fetchPublished, fetchRecords, NotAnswered } from "./export.ts";
import type { Pool } from "./pool.ts";

/** Larger files are for the command line. */
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_BREAKS = 20;

/** Takes exported files, chosen or dropped, and says of each whether it holds. */
export function offerFiles(pool: Pool): void {
  const zone = byId("drop");
  const input = byId("file") as HTMLInputElement;
  zone.hidden = false;
  input.addEventListener("change", () => take(input.files?.[0]));
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
    take(event.dataTransfer?.files[0]);
  });

  async function take(file: File | undefined): Promise<void> {
    if (!file) return;
    fill(byId("report"), h("p", {}, "Checking ", legible(file.name, 100), " …"));
    fill(byId("report"), await reportOn(pool, file));
  }
}

async function reportOn(pool: Pool, file: File): Promise<View> {
  const name = legible(file.name, 100);
  try {
    if (file.size > MOST_BYTES) {
      const most = `${MOST_BYTES / 1024 / 1024} MiB`;
      return failed(name, `It is larger than ${most}; the Python file checks it on your machine`);
    }
    const published = await fetchPublished();
    const outcome = await pool.run({ task: { do: "file", text: await file.text() }, ...published });
    if (!("report" in outcome)) {
      return failed(name, "failed" in outcome ? outcome.failed : "The check gave nothing");
    }
    return described(name, outcome.report, await inLedger(outcome.report));
  } catch (error) {
    return failed(
      name,
      error instanceof NotAnswered ? error.message : `It can't be read: ${error}`,
    );
  }
}

const failed = (name: View, reason: string): View =>
  h("p", { class: "result fail" }, SIGNS.fail, " ", name, ": not checked. ", legible(reason));

/** Whether the ledger has the same hash where the file ends; undefined: it was not compared. */
async function inLedger({ from, to, lastHash }: FileReport): Promise<boolean | undefined> {
  if (from === undefined) return undefined;
  const last = to - 1;
  try {
    const [record] = await fetchRecords(last, last + 1);
    return record !== undefined && valueOf(record, "hash_sha256") === JSON.stringify(lastHash);
  } catch (error) {
    if (error instanceof NotAnswered) return undefined;
    throw error;
  }
}

function described(name: View, report: FileReport, same: boolean | undefined): View {
  const { breaks, from, fromStart } = report;
  const good = breaks.length === 0 && same !== false;
  const range = from === undefined
    ? "of unknown positions"
    : `#${count(from)} to #${count(report.to - 1)}`;
  return [
    h(
      "p",
      { class: `result ${good ? "pass" : "fail"}` },
      h("span", { "aria-hidden": "true" }, good ? SIGNS.pass : SIGNS.fail),
      " ",
      name,
      `: ${counted(report.count, "receipt")}, ${range}: `,
      breaks.length === 0
        ? "each of them holds. "
        : `broken at ${counted(breaks.length, "position")}. `,
      !fromStart && "What the first one links to is not in the file. ",
      same === undefined
        ? "It was not compared with this ledger."
        : same
        ? "It ends with the same hash as this ledger does there."
        : "This ledger has another receipt where the file ends, or none.",
    ),
    breaks.length > 0 && h(
      "ul",
      { class: "breaks" },
      breaks.slice(0, MOST_BREAKS).map(({ position, reason }) =>
        h("li", {}, `#${position} `, legible(reason, 400))
      ),
    ),
  ];
}
