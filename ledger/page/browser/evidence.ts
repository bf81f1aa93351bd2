import { BadEvidence, verifyEvidence } from "../../opened/mod.ts";
import { NOBLE } from "../checks/mod.ts";
import { h, showText, SIGNS, type View } from "../views/mod.ts";
import { readTrust } from "./trust.ts";

const TITLES = [
  "it holds. What is claimed of it, and what is not:",
  "it does not hold:",
  "whether it holds can't be told:",
] as const;

/** Verifies a file of opened evidence in this browser, and describes what is claimed. It is not sent. */
export async function describeEvidence(name: View, text: string): Promise<View> {
  if (!globalThis.isSecureContext) {
    return failure(
      name,
      "browsers verify passkeys' signatures over HTTPS or on this machine alone.",
    );
  }
  try {
    const { exit, lines } = await verifyEvidence(text, readTrust(), NOBLE);
    return [
      h(
        "p",
        { class: `result ${exit === 0 ? "pass" : "fail"}` },
        h("span", { "aria-hidden": "true" }, exit === 0 ? SIGNS.pass : SIGNS.fail),
        " ",
        name,
        ": opened evidence; ",
        TITLES[exit],
      ),
      h("pre", { tabindex: 0, class: "evidence" }, h("code", {}, lines.join("\n"))),
    ];
  } catch (error) {
    if (!(error instanceof BadEvidence)) throw error;
    return failure(name, error.message);
  }
}

const failure = (name: View, reason: string): View =>
  h("p", { class: "result fail" }, SIGNS.fail, " ", name, ": not checked; ", showText(reason));
