import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  type ArticleText,
  articleWorkflowId,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { addArticle, type ArticleRecord, getArticle } from "../../store/articles/mod.ts";
import { eventually } from "../_time.ts";
import { MODEL, type ModelReply, type ModelRequest } from "./_model.ts";
import { claim, useModelPlatform } from "./_model_platform.ts";

const TICKET = {
  title: "The connection to the office is cut every hour",
  description: "People at home lose their connection every 60 minutes. It began on Monday. " +
    "The log says that no proposal was chosen when the keys were renewed.",
  severity: "high",
};
const RESOLUTION = "The gateway had been updated, and offered no SHA-1 any more. " +
  "The old client knew nothing else. We rolled out client 5.2 to all 140 laptops.";

describe("articles, where a model is configured", () => {
  const world = useModelPlatform();
  let ticketId: string;

  before(async () => {
    const ticket = await world.call("itsm_create_ticket", TICKET);
    ticketId = ticket.ticket_id;
    await world.call("itsm_close_ticket", { ticket_id: ticketId, resolution: RESOLUTION });
  });

  /** Has an article written while the model gives these replies. */
  async function write(...model: ModelReply[]): Promise<ArticleRecord> {
    world.says = model;
    world.asked = [];
    const id = `ART-${randomBytes(6).toString("hex")}`;
    const { client, store } = world.loop;
    await addArticle(store.db, {
      id,
      source: { kind: "ticket", id: ticketId },
      keyword: null,
      slug: id.toLowerCase(),
      pageReceiptId: randomBytes(8).toString("hex"),
      requestedBy: "test",
      requestedByKey: null,
    });
    const run = await client.workflow.start(WORKFLOW.seo, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: articleWorkflowId(id),
      args: [{ article_id: id }],
    });
    const article = await eventually(async () => {
      const now = await getArticle(store.db, id);
      return now!.state === "writing" ? undefined : now;
    });
    await run.terminate("it was looked at");
    await store.db.execute("UPDATE articles SET state = 'refused' WHERE id = $1", [id]);
    return article;
  }
  const leadOf = ({ sections }: ArticleText): string =>
    sections[0]!.blocks.flatMap(({ sentences }) => sentences.map(({ text }) => text)).join(" ");
  const good = ({ at }: ModelRequest) => ({
    claims: [
      claim("Every 60 minutes, people at home lost their connection.", at(/every 60 minutes/)),
      claim("The updated gateway offered no SHA-1 any more.", at(/offered no SHA-1/)),
      claim("Client 5.2 was rolled out to all 140 laptops.", at(/rolled out client 5\.2/)),
    ],
  });
  function isByRules({ authorship, content, page }: ArticleRecord): void {
    assert.deepEqual([authorship!.written_by, authorship!.provider], ["rules", "local"]);
    assert.match(leadOf(content!), /people reported this: “The connection to the office/);
    assert.match(page!, /Written by rules from the records/);
  }

  it("begin with the model's story, and their foot says who told it", async () => {
    const { state, authorship, content, facts, page } = await write(good);
    assert.equal(state, "review");
    assert.deepEqual(authorship, {
      written_by: MODEL,
      provider: "openai",
      dropped: [],
      fallback: null,
    });
    assert.equal(
      leadOf(content!),
      "Every 60 minutes, people at home lost their connection. The updated gateway offered no SHA-1 any more. " +
        "Client 5.2 was rolled out to all 140 laptops.",
    );
    const cited = content!.sections[0]!.blocks[0]!.sentences.flatMap((one) => one.facts);
    assert.ok(cited.length === 3 && cited.every((n) => facts.some((fact) => fact.n === n)));
    assert.match(page!, new RegExp(`The story was phrased by ${MODEL}`));
    assert.ok(content!.sections.some(({ heading }) => heading === "How it was closed"));
  });

  it("leave out what no fact supports: another number, another name", async () => {
    const { authorship, page } = await write((asked) => ({
      claims: [
        ...good(asked).claims,
        claim("All 4711 laptops were new.", asked.at(/rolled out client 5\.2/)),
        claim("It was the fault of `pay-db`.", asked.at(/offered no SHA-1/)),
      ],
    }));
    assert.equal(authorship!.written_by, MODEL);
    assert.match(authorship!.dropped.join("\n"), /4711[^]*pay-db/);
    assert.match(page!, /Client 5\.2 was rolled out to all 140 laptops/);
    assert.doesNotMatch(page!, /4711|pay-db/);
  });

  const failing: readonly (readonly [string, ModelReply, number, RegExp])[] = [
    ["says nothing that can be read", () => "Once upon a time.", 1, /SyntaxError/],
    [
      "cites what is not there",
      () => ({ claims: [claim("All was well in the end.", 99)] }),
      2,
      /did not hold/,
    ],
  ];
  for (const [what, model, calls, fallback] of failing) {
    it(`are written by rules alone if the model ${what}`, async () => {
      const article = await write(model);
      isByRules(article);
      assert.match(article.authorship!.fallback!, fallback);
      assert.equal(world.asked.length, calls);
      assert.doesNotMatch(article.page!, /Once upon|All was well/);
    });
  }
});
