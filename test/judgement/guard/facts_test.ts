import assert from "node:assert/strict";
import { EMPTY_STATE, judgeAction } from "../../../judgement/guard/mod.ts";

function reasonsOf(incident: string, action: Readonly<Record<string, unknown>>): string {
  return judgeAction({ incident, action: { confidence: 0.9, ...action } }, EMPTY_STATE)
    .rails[2]!.reasons.join(" | ");
}

describe("the fact check", () => {
  for (
    const [incident, description, quotes] of [
      ["The disk of web-1 is at 95 %", "Clean the disk, which is at 40 %", /95 %.*40 %/],
      [
        "The certificate is still valid for 30 days",
        "Renew the certificate, it has expired",
        /valid.*expired/,
      ],
      [
        "The certificate expires in 3 days",
        "The certificate expires in 30 days: renew it",
        /3 days.*30 days/,
      ],
      ["billing is down since 09:10", "Restart billing, which is healthy again", /down.*healthy/],
      [
        "billing has recovered by itself",
        "Restart billing, it does not answer",
        /recovered.*not answer/,
      ],
      ["web-2 answers 502", "Restart nginx on web-3", /web-2.*web-3/],
      [
        "The service was down since 2026-11-20",
        "Failing since 2026-11-02: restart it",
        /11-20.*11-02/,
      ],
      [
        "4 replicas of shop are running",
        "Only 2 replicas are left: restart shop",
        /4 replicas.*2 replicas/,
      ],
      ["The backup failed last night", "The backup has completed: prune it", /failed.*completed/],
      ["Host db-7 has been decommissioned", "Restart postgresql on db-7", /decommissioned.*db-7/],
    ] as const
  ) {
    it(`finds ${JSON.stringify(description)} against ${JSON.stringify(incident)}`, () => {
      assert.match(reasonsOf(incident, { description }), quotes);
    });
  }

  for (
    const [incident, description] of [
      ["4 replicas of shop are overloaded", "Scale shop to 6 replicas"],
      [
        "The disk of web-1 is at 95 %",
        "Remove logs older than 7 days until the disk is below 80 %",
      ],
      ["web-2 is down", "Restart web-2 and check that it is up"],
      ["web-2 is down", "Restart the service"],
      ["billing is down since 09:10", "Restart billing, which is down"],
      ["Latency is 900 ms", "Restart the cache; the timeout is 30 seconds"],
      [
        "The certificate of shop has expired",
        "Renew the certificate so that it is valid for 90 days",
      ],
      ["web-1 can't reach db-1", "Restart postgresql on db-1"],
    ] as const
  ) {
    it(`finds nothing in ${JSON.stringify(description)} against ${JSON.stringify(incident)}`, () => {
      assert.doesNotMatch(reasonsOf(incident, { description }), /says/);
    });
  }
});
