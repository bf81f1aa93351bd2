import { h, type View } from "./view.ts";

/** How to verify without the page, which comes from the server that it checks. */
export function yourself(
  { ledgerUrl, logKey }: { readonly ledgerUrl: string; readonly logKey: string | null },
): View {
  const command = (text: string) => h("pre", { tabindex: 0 }, h("code", {}, text));
  const python = `curl -s ${ledgerUrl}/api/how-to-verify \\\n` +
    `  | python3 -c 'import json, sys; print(json.load(sys.stdin)["reference_verifier"]["source"])' \\\n` +
    `  > verify_ledger.py\npython3 verify_ledger.py ${ledgerUrl}`;
  return h(
    "section",
    { id: "yourself", "aria-labelledby": "yourself-title" },
    h("h2", { id: "yourself-title" }, "Verify it without this page"),
    h(
      "p",
      {},
      "This page came from the server that it checks. To trust nothing of it, take the rules and a program of ",
      "your own:",
    ),
    h(
      "ul",
      {},
      h(
        "li",
        {},
        "One short file in Python, with ",
        h("a", { href: "/api/how-to-verify" }, "the rules of each era"),
        ". Read it before you run it:",
        command(python),
      ),
      h(
        "li",
        {},
        "The command of the project, on all cores, from your own copy of it:",
        command(`npm run verify -- ${ledgerUrl}`),
      ),
      h(
        "li",
        {},
        "Any client of Merkle logs that reads ",
        h("a", { href: "/checkpoint" }, "signed checkpoints"),
        " and tiles (C2SP tlog-tiles), with this key of the log:",
        command(logKey ?? "(it has signed nothing yet)"),
      ),
      h(
        "li",
        {},
        "The stock OpenTimestamps client, for a receipt that is anchored; the receipt’s page has the commands.",
      ),
      h(
        "li",
        {},
        "A program of your own, from the whole chain, raw, oldest first, a receipt a line:",
        command(`curl -s -H 'Accept: application/x-ndjson' '${ledgerUrl}/api/export?from=0'`),
      ),
    ),
  );
}
