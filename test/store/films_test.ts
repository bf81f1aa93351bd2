import assert from "node:assert/strict";
import type { FilmFields } from "../../contract/records/mod.ts";
import { openStore } from "../../store/mod.ts";
import { addVideoProject, getVideoProject } from "../../store/media/mod.ts";
import { testDatabase } from "../_servers.ts";

describe("a film", () => {
  it("keeps every field that its caller writes", async () => {
    const database = await testDatabase();
    const store = openStore(database.urls.gateway, "gateway", 1);
    try {
      const fields: Required<FilmFields> = { title: "Night", format: "square", captions: false };
      const id = "VID-0000000000f1";
      const film = { id, kind: "film", requestedBy: "key:k", scenes: [], ...fields } as const;
      await store.db.transaction((trx) => addVideoProject(trx, film));
      const added = (await getVideoProject(store.db, id))!;
      assert.deepEqual(added, { ...added, ...fields });
    } finally {
      await store.close();
      await database.drop();
    }
  });
});
