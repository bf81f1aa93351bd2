import { h, type View } from "./views/mod.ts";

/**
 * The section on verifying without this page, which comes from the server that it checks.
 *
 * @param logKey of the Merkle log; null if it has signed nothing yet
 */
export function verifyYourself(ledgerUrl: string, logKey: string | null): View {
  const command = (text: string) => h("pre", { tabindex: 0 }, h("code", {}, text));
  const python = `curl -s ${ledgerUrl}/api/how-to-verify \\\n` +
    `  | python3 -c 'import json, sys; print(json.load(sys.stdin)["reference_verifier"]["source"])' \\\n` +
    `  > verify_ledger.py\npython3 verify_ledger.py ${ledgerUrl} --pin sealoop.trust.json`;
  return h(
    "section",
    { id: "yourself", "aria-labelledby": "yourself-title" },
    h("h2", { id: "yourself-title" }, "Verify it without this page"),
    h(
      "p",
      {},
      "This page comes from the server that it checks. To verify without trusting the server, use one of these. The first ",
      "time pins in ",
      h("code", {}, "sealoop.trust.json"),
      " what the ledger has shown; compare its keys with another source. From then on give the file without ",
      h("code", {}, "--pin"),
      " (for the command: with ",
      h("code", {}, "--trust"),
      "), and the ledger can show nothing else any more.",
    ),
    h(
      "ul",
      {},
      h(
        "li",
        {},
        "A Python program, which needs nothing but Python 3.9, and ",
        h("a", { href: "/api/how-to-verify" }, "the rules of each era"),
        ". Read the program before you run it; ",
        h("code", {}, "--help"),
        " tells what else it does:",
        command(python),
      ),
      h(
        "li",
        {},
        "The project’s command, from your own copy:",
        command(`npm run verify -- ${ledgerUrl} --pin sealoop.trust.json`),
      ),
      h(
        "li",
        {},
        "Any client of Merkle logs (C2SP tlog-tiles). It reads ",
        h("a", { href: "/checkpoint" }, "signed checkpoints"),
        " and tiles, and needs this key of the log:",
        command(logKey ?? "(no checkpoint is signed yet)"),
      ),
      h(
        "li",
        {},
        "The OpenTimestamps client, for anchored receipts; the page of a receipt has the commands.",
      ),
      h(
        "li",
        {},
        "Your own program, with the raw chain, oldest first, one receipt per line:",
        command(`curl -s -H 'Accept: application/x-ndjson' '${ledgerUrl}/api/export?from=0'`),
      ),
    ),
  );
}
