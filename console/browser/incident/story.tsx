import { Markdown, MarkdownLine } from "../markdown.tsx";
import { preciseText, Time } from "../time.tsx";
import type { Story } from "./shapes.ts";

/** What happened, in sentences with their times. */
export function Events({ story: { events } }: { readonly story: Story }) {
  const first = Date.parse(events[0]?.at ?? "");
  return (
    <section aria-labelledby="story">
      <h2 id="story">What happened</h2>
      {events.length === 0 && <p class="quiet">Nothing yet.</p>}
      <ol class="moves">
        {events.map(({ at, says, receipt_id, approval_id }, n) => (
          <li key={n}>
            <Time at={at} />{" "}
            {n > 0 && <span class="quiet">+{preciseText(first, Date.parse(at))}</span>}{" "}
            <MarkdownLine text={says} />
            {approval_id && (
              <>
                {" "}
                <a href={`/console/approvals/${approval_id}`}>{approval_id}</a>
              </>
            )}
            {receipt_id && (
              <>
                {" "}
                <a class="quiet" href={`#${receipt_id}`}>receipt {receipt_id}</a>
              </>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

/** What the incident reached: services, people and actions. */
export function Reached({ story: { dependants, approvals, done }, service }: {
  readonly story: Story;
  readonly service: string | null;
}) {
  return (
    <section aria-labelledby="reached">
      <h2 id="reached">What it reached</h2>
      <p>
        {dependants === null
          ? "The service graph does not have its service, so nothing is known of what needs it."
          : dependants.length === 0
          ? `No service needs ${service}.`
          : `${service} is needed by ${dependants.join(", ")}.`}
      </p>
      {approvals.length > 0 && (
        <ul>
          {approvals.map(({ approval_id, status }) => (
            <li key={approval_id}>
              <a href={`/console/approvals/${approval_id}`}>{approval_id}</a> {status}
            </li>
          ))}
        </ul>
      )}
      <h3>What was done</h3>
      <Markdown text={done} />
    </section>
  );
}
