/** Traces of the contact that the tests erase, as parts of the platform store them, where no call gets them there. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { groundsOf } from "../contract/records/mod.ts";
import { deployFolder, deployGit, renderSite } from "../operations/articles/writing/mod.ts";
import { openMediaFiles } from "../integrations/media/mod.ts";
import { recordFindings } from "../store/incidents/mod.ts";
import { addLearningItems } from "../store/learning/mod.ts";
import { addMessage } from "../store/notices/mod.ts";
import { EMAIL, FILES, NAME } from "./_erased_person.ts";
import { insertRows } from "./_rows.ts";
import { asSuperuser } from "./_superuser.ts";
import type { People } from "./api/_people.ts";
import { addAudioClip, addMediaFile, addTranscript, addVideoProject } from "../store/media/mod.ts";

/** Returns the folder of the articles' site. */
export const siteFolder = (people: People) => join(people.loop.config.dataDir, "articles");

/** Stores what other parts of the platform store. */
export async function storeAboutContact(people: People, contactId: string): Promise<void> {
  const db = people.store.asPlatform();
  await addMessage(db, {
    kind: "said",
    from: "bob",
    subject: `About ${NAME}`,
    text: `Mail ${EMAIL}`,
  });
  await addMessage(db, { kind: "mail.received", from: EMAIL, subject: "Hello", text: "x" });
  await addMessage(db, {
    kind: "mail.sent",
    from: "mail",
    subject: "Zephyrine wants her mill",
    text: "x",
    refs: { contact_id: contactId },
  });
  const superuser = asSuperuser(people.store);
  const fingerprint = randomBytes(8).toString("hex");
  await recordFindings(superuser, [{
    fingerprint,
    detector: "logs",
    service: null,
    host: null,
    kind: "platform",
    code: "log",
    severity: "high",
    root: fingerprint,
    summary: `login of ${EMAIL} failed`,
    detail: { line: `user=${EMAIL}` },
    target: {},
  }] as never);
  const passage = `${NAME} had no light`;
  await addLearningItems(superuser, [{
    id: `LRN-${randomBytes(6).toString("hex")}`,
    ticket_id: "INC-000000000000",
    title: passage,
    category: "other",
    score: 1,
    factors: [],
    passage: { ...passageOf(passage), terms: { zephyrine: 1, light: 1 } },
    state: "queued",
    receipt_id: null,
  }] as never);
  await superuser.execute(
    `WITH k AS (INSERT INTO knowledge (id, version, kind, category, title, content, sha256, indexed)
       VALUES ('INC-1', 1, 'incident', 'other', $1, $1, 'x', 'x') RETURNING nr)
     INSERT INTO knowledge_terms (word, passage, weight) SELECT w, nr, 1 FROM k, unnest(ARRAY['zephyrin', 'light']) AS w`,
    [passage],
  );
  await superuser.execute(
    "INSERT INTO knowledge_words VALUES (current_tenant(), 'zephyrin', 1), (current_tenant(), 'light', 2), (current_tenant(), '', 2)",
  );
  const mail = { contact_id: contactId, thread_id: "t", subject: "Mill", body: `Dear ${NAME}` };
  const requestedBy = "key:k";
  const film = {
    id: "VID-000000000000",
    kind: "film",
    format: "square",
    captions: true,
  } as const;
  const scenes = [{ heading: NAME, text: `Mail ${EMAIL}` }];
  await addVideoProject(db, { ...film, title: `Film of ${NAME}`, requestedBy, scenes });
  const clip = { id: "AUD-000000000000", kind: "speech", title: NAME, voice: "heart" } as const;
  await addAudioClip(db, { ...clip, text: `Mail ${EMAIL}`, requestedBy });
  for (const sha256 of FILES) {
    const card = sha256 === FILES[2] ? { text: `The mill of ${NAME}` } : {};
    await addMediaFile(db, { sha256, bytes: 1, mediaType: "audio/wav", ...card });
  }
  const artifacts = { mp4: FILES[1]!, vtt: FILES[1]!, srt: FILES[1]!, poster: FILES[1]! };
  await superuser.execute("UPDATE audio_clips SET sha256 = $1", [FILES[0]]);
  await superuser.execute("UPDATE video_projects SET artifacts = $1", [
    JSON.stringify(artifacts),
  ]);
  await addTranscript(db, { id: "TRN-000000000000", source: `${EMAIL}.wav`, requestedBy });
  await superuser.execute(
    `INSERT INTO observations (ticket_id, run_id, round, source, place, code, says, words)
     SELECT id, 'run', 1, 'log', 0, 'lines', $1, $1 FROM tickets LIMIT 1`,
    [passage],
  );
  await insertRows(superuser, "emails", [{
    ...mail,
    id: "EML-000000000000",
    kind: "mail",
    recipient: EMAIL,
    recipient_key: EMAIL,
    message_id: "m@x",
    message: `\\x${Buffer.from(NAME).toString("hex")}`,
    commitment: "c",
    salt: `\\x${"ab".repeat(32)}`,
    asked_by: "bob",
    state: "sent",
  }]);
  await insertRows(superuser, "email_replies", [{
    ...mail,
    id: "RPL-000000000000",
    sender: EMAIL,
    sender_key: EMAIL,
    message_id: `1.${EMAIL}`,
    mail_references: [`0.${EMAIL}`],
    state: "draft",
    draft: `Dear ${NAME}`,
    receipt_id: "r",
  }]);
  await insertRows(superuser, "devices", [{
    id: "DEV-000000000000",
    name: `Laptop of ${NAME}`,
    platform: "linux",
    public_key: "k",
    runner_key: "k",
    receipt_id: "r",
    enrolment: {},
  }]);
  await insertRows(superuser, "device_commands", [{
    id: "CMD-000000000000",
    device_id: "DEV-000000000000",
    argv: ["mail", EMAIL],
    account: "agent",
    timeout_seconds: 1,
    output_bytes: 1,
    read_only: true,
    expires_at: new Date().toISOString(),
    description: `For ${NAME}`,
    output: `\\x${Buffer.from(NAME).toString("hex")}`,
    requested_by: "bob",
    needed: 1,
    grounds: groundsOf({ reasons: [`Asked by ${NAME}`] }),
    status: "expired",
  }]);
  await insertRows(superuser, "effects", [{
    id: "effect-1",
    ticket_id: "INC-1",
    service: "s",
    action: {},
    state: "done",
    action_sha256: "0".repeat(64),
    detail: { said: `hello ${NAME}` },
  }]);
}

const passageOf = (content: string) => ({
  id: "INC-1",
  kind: "incident",
  category: "other",
  title: content,
  content,
  sha256: "0".repeat(64),
  fault: null,
  indexed: "x",
});

/** Publishes an article that names the contact and one that does not, in two deployments to the folder, and one to git. */
export async function publishArticles(people: People, repository: string): Promise<void> {
  const articles = [
    { id: "ART-0000000000e1", slug: "zephyrine-quackenbush", title: `The mill of ${NAME}` },
    { id: "ART-0000000000e2", slug: "the-weighbridge", title: "The weighbridge" },
  ].map((article) => ({ ...article, description: "d", page: `<h1>${article.title}</h1>` }));
  const at = new Date().toISOString();
  const site = renderSite(articles.map((article) => ({ ...article, publishedAt: at })), {
    siteUrl: "https://articles.example",
    siteName: "Articles",
  });
  const { signal } = new AbortController();
  const go = () => Promise.resolve();
  for (let n = 0; n < 2; n++) await deployFolder(siteFolder(people), "platform", site, go, signal);
  const { inFolder } = openMediaFiles(people.loop.config);
  await deployGit({ repository, branch: "pages", inFolder }, site, "Publish", go, signal);
  await insertRows(
    asSuperuser(people.store),
    "articles",
    articles.map((article) => ({
      ...article,
      source_kind: "period",
      source_id: "2026-11",
      state: "published",
      steps: [],
      content: { title: article.title },
      checks: [{ check: "names", passed: true, about: article.title }],
      page_sha256: "0".repeat(64),
      words: 2,
      page_salt: `\\x${"ab".repeat(32)}`,
      page_receipt_id: "r",
      requested_by: "ann",
      deploy: {
        target: "git",
        state: "intended",
        code: "same_bytes",
        url: `https://articles.example/${article.slug}/`,
        at,
        receipt_id: "r",
      },
      created_at: at,
      published_at: at,
    })),
  );
}
