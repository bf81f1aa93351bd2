/** A call that a rule leaves to people: the person reads it, and their passkey signs it. */
import { render } from "preact";
import { callStatementOf, challengeOf, shownCallLines } from "../../ledger/passkeys/mod.ts";
import { HASHES } from "../../ledger/page/checks/mod.ts";
import { sign, toText } from "./authenticator.ts";
import type { CallProposal } from "./shapes.ts";

/**
 * Shows a call to the person, and has their passkey sign exactly the lines that they were shown.
 *
 * @returns what the header `x-passkey` of the same call says
 * @throws {Error} with a sentence for the person: nothing was signed
 */
export async function signCall(proposal: CallProposal): Promise<string> {
  const { challenge_id, challenge, statement, shown, rp_id, credentials } = proposal;
  if (challengeOf(HASHES, callStatementOf(HASHES, shown, statement)) !== challenge) {
    throw new Error(
      "Nothing was done: the gateway asks to sign another call than the one it shows",
    );
  }
  if (!await confirms(shownCallLines(shown))) {
    throw new Error("Nothing was done: you have not signed it");
  }
  const assertion = await sign(challenge, rp_id, credentials);
  const answer = JSON.stringify({ challenge_id, assertion });
  return toText(new TextEncoder().encode(answer).buffer);
}

/** Shows lines in a dialog. @returns true: the person goes on to sign them */
function confirms(lines: readonly string[]): Promise<boolean> {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", "sign-call");
  document.body.append(dialog);
  render(<CallToSign lines={lines} end={(answer) => dialog.close(answer)} />, dialog);
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "sign");
    });
    dialog.showModal();
  });
}

function CallToSign({ lines, end }: {
  readonly lines: readonly string[];
  readonly end: (answer: "sign" | "no") => void;
}) {
  return (
    <>
      <h2 id="sign-call">Your passkey decides about this call</h2>
      <pre tabIndex={0}>{lines.join("\n")}</pre>
      <p class="quiet">It signs these very lines, and then exactly this is done.</p>
      <div class="actions">
        <button type="button" onClick={() => end("sign")}>Sign with your passkey</button>
        <button type="button" class="plain" onClick={() => end("no")}>Leave it</button>
      </div>
    </>
  );
}
