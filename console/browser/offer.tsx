import { useState } from "preact/hooks";
import type { Acts } from "./acts.ts";
import { call } from "./api.ts";
import type { ApprovalContext, ApprovalDetails } from "./shapes.ts";

/** Denies, and offers something else instead: another runbook or other values, or other arguments of a call or a device's command. */
export function Offer({ shown, context: { alternatives, arguments: asked }, acts }: {
  readonly shown: ApprovalDetails;
  readonly context: ApprovalContext;
  readonly acts: Acts;
}) {
  const { approval_id } = shown;
  const [runbook, setRunbook] = useState("");
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const [text, setText] = useState(() => JSON.stringify(asked ?? {}, null, 2));
  if (alternatives.length === 0 && !asked) return null;
  const chosen = alternatives.find((one) => one.runbook === runbook);
  const offer = () =>
    acts.run(async () => {
      const given = asked ? { arguments: JSON.parse(text) } : { runbook, values };
      await call("POST", `/v1/approvals/${approval_id}/offer`, given);
    });
  return (
    <details class="offer">
      <summary>Deny, and offer something else instead</summary>
      {asked
        ? (
          <label>
            Arguments
            <textarea
              rows={10}
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </label>
        )
        : (
          <label>
            Runbook
            <select
              value={runbook}
              onChange={({ currentTarget }) => {
                setRunbook(currentTarget.value);
                setValues({});
              }}
            >
              <option value="">Choose one</option>
              {alternatives.map((one) => (
                <option key={one.runbook} value={one.runbook}>{one.title}</option>
              ))}
            </select>
          </label>
        )}
      {chosen?.parameters.map(({ name, about, value }) => (
        <label key={name}>
          {name}: {about}
          <input
            placeholder={value === null ? "" : String(value)}
            value={values[name] ?? ""}
            onInput={({ currentTarget: { value } }) => {
              const { [name]: _, ...others } = values;
              setValues(value === "" ? others : { ...others, [name]: value });
            }}
          />
        </label>
      ))}
      <p class="quiet">It is asked for in your name, so that another person has to approve it.</p>
      <button
        type="button"
        class="plain"
        disabled={acts.busy || !asked && !runbook}
        onClick={offer}
      >
        Deny, and offer this
      </button>
    </details>
  );
}
