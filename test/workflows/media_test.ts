import assert from "node:assert/strict";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { MockActivityEnvironment } from "@temporalio/testing";
import { settleOpenActs } from "../../activities/acts/mod.ts";
import { endedMediaActivities, mediaKind, speechActivities } from "../../activities/media/mod.ts";
import { findReceipt } from "../../ledger/mod.ts";
import {
  type Media,
  openMedia,
  probeFilm,
  readProvenance,
  renderCard,
} from "../../integrations/media/mod.ts";
import { registry } from "../../operations/mod.ts";
import { addArticle } from "../../store/articles/mod.ts";
import { asSuperuser } from "../_superuser.ts";
import { skipWithoutMedia } from "../integrations/media/_media.ts";
import type { Json } from "../mcp/_tool_server.ts";
import { testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import {
  addAudioClip,
  addMediaFile,
  finishAudioClip,
  getAudioClip,
  listScenes,
} from "../../store/media/mod.ts";

const SAID = "The service answers again. Nobody was hurt.";

describe("media by operations", () => {
  let loop: TestLoop;
  let media: Media;
  let cwd: string;
  let server: Server;
  let speech: Json;

  before(async function () {
    await skipWithoutMedia(this);
    loop = await openLoop({ settings: { SEALOOP_OUTBOUND_ALLOW: "127.0.0.0/8" } });
    media = openMedia(loop.config);
    cwd = await testFolder();
    speech = await call("voice.speak", { text: SAID });
    const wav = await readFile((await media.files.find(speech.sha256))!);
    server = createServer((request, response) => {
      if (request.url === "/moved") response.writeHead(302, { location: "/said.wav" }).end();
      else if (request.url === "/large") response.end(Buffer.alloc(26 * 1024 * 1024));
      else response.end(wav);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    server?.close();
    await loop?.stop();
  });

  /** Calls an operation as a key of a tenant does, without governance. */
  async function call(name: string, input: object, tenant = "platform"): Promise<Json> {
    const operation = registry.get(name)!;
    const context = {
      ...loop,
      store: loop.store.forTenant(tenant),
      caller: { keyId: "k" },
      door: "rest",
      signal: new AbortController().signal,
      ending: new AbortController().signal,
      progress() {},
    };
    const parsed = operation.input.parse(input);
    await operation.governance?.check?.(parsed, context as never);
    return await operation.run(parsed, context as never);
  }

  /** Waits until a film is made, or failed. */
  const finished = (project_id: string): Promise<Json> =>
    eventually(async () => {
      const status = await call("video.status", { project_id });
      return ["done", "failed"].includes(status.state) ? status : undefined;
    });

  const address = (path: string) =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

  it("voice_tts speaks a text, and its receipt tells no words and no hash", async () => {
    assert.match(speech.audio_id, /^AUD-[0-9a-f]{12}$/);
    assert.ok(speech.seconds > 2 && speech.seconds < 8);
    assert.equal(speech.url, `http://localhost:8080/media/${speech.sha256}/${speech.audio_id}.wav`);
    const source = (await media.files.find(speech.sha256))!;
    const manifest = await readProvenance(media.tools, { source, mediaType: "audio/wav" }, { cwd });
    assert.deepEqual([manifest.state, manifest.receipt_id], ["untrusted", speech.receipt_id]);
    await loop.sealer.sealed(speech.receipt_id);
    const { text } = await findReceipt(loop.store, speech.receipt_id);
    assert.equal(JSON.parse(text).details.kind, "speech");
    assert.doesNotMatch(text, new RegExp(`Nobody|${speech.sha256}`));
  });

  it("voice_transcribe reads a recording of the inbox folder, and one of a server", async () => {
    await mkdir(join(loop.config.dataDir, "inbox"), { recursive: true });
    const path = join(loop.config.dataDir, "inbox", "call.txt");
    await writeFile(path, await readFile((await media.files.find(speech.sha256))!));
    for (const source of ["call.txt", address("/said.wav")]) {
      const heard = await call("voice.transcribe", { source });
      assert.equal(heard.text, SAID);
      assert.equal(heard.no_speech, false);
      assert.match(heard.transcript_id, /^TRN-[0-9a-f]{12}$/);
      assert.ok(heard.segments.at(-1).end <= speech.seconds);
    }
  });

  it("voice_transcribe reaches nothing outside of the inbox folder", async () => {
    const inbox = join(loop.config.dataDir, "inbox");
    await mkdir(inbox, { recursive: true });
    await symlink("/etc/hostname", join(inbox, "link.wav"));
    await symlink("/etc", join(inbox, "etc"));
    for (const source of ["link.wav", "etc/hostname", "missing.wav", "."]) {
      await assert.rejects(call("voice.transcribe", { source }), { name: "NotFound" }, source);
    }
    for (const source of ["/etc/hostname", "../secret", "a/../../b", "a\0b"]) {
      assert.throws(() => registry.get("voice.transcribe")!.input.parse({ source }), source);
    }
    const foreign = call("voice.transcribe", { source: "call.txt" }, "acme");
    await assert.rejects(foreign, { name: "Forbidden" });
  });

  it("voice_transcribe follows no redirect, and takes no more than 25 MiB", async () => {
    const refused: Readonly<Record<string, string>> = {
      [address("/moved")]: "NotFound",
      [address("/large")]: "TooLarge",
      "file:///etc/hostname": "Forbidden",
      "https://10.0.0.1/a.wav": "Forbidden",
    };
    for (const [source, name] of Object.entries(refused)) {
      const failed = await call("voice.transcribe", { source }).catch((error) => error);
      assert.deepEqual([source, failed.name], [source, name], failed.message);
    }
  });

  it("voice_blog_audio speaks a post with a chapter for each heading", async () => {
    const text =
      "Read this.\n\n## What happened\nIt *stopped*.\n```\nrm -rf /\n```\n## What we did\n- We [fixed](https://a.example) it.";
    const post = await call("voice.speak_post", { post: { title: "A short post", text } });
    const path = (await media.files.find(post.sha256))!;
    const { stderr } = await media.tools.ffmpeg(["-i", path, "-f", "null", "-"], {
      cwd,
      seconds: 60,
    });
    const titles = [...stderr.matchAll(/^\s+title\s+: (.*)$/gm)].map(([, title]) => title);
    assert.deepEqual([...new Set(titles)], ["A short post", "What happened", "What we did"]);
    assert.match(stderr, new RegExp(`Receipt ${post.receipt_id}`));
  });

  it("video_render makes a film with captions, and its status tells each scene", async () => {
    const image = await renderCard(media, { label: "", title: "A picture", footer: "" });
    await addMediaFile(loop.store.db, { ...image, mediaType: "image/png" });
    const scenes = [
      {
        heading: "What happened",
        text: "A certificate had expired. Nobody had been told.",
        image: image.sha256,
      },
      { heading: "What we did", text: "We made a new one." },
    ];
    const started = await call("video.render", { title: "A film", scenes });
    const status = await finished(started.project_id);
    assert.deepEqual([status.state, status.percent], ["done", 100], status.failure);
    assert.deepEqual(status.scenes.map(({ state }: Json) => state), ["done", "done"]);

    const film = (await media.files.find(status.artifacts.mp4.sha256))!;
    const probe = await probeFilm(media.tools, film, { cwd });
    assert.match(probe.video, /^h264 .*yuv420p.*1280x720.* 25 fps/);
    assert.match(probe.audio, /^aac .*48000 Hz/);
    assert.ok(probe.hasCaptions);
    assert.ok(
      Math.abs(probe.seconds - status.seconds) <= 0.1,
      `${probe.seconds} ${status.seconds}`,
    );
    const vtt = await readFile((await media.files.find(status.artifacts.vtt.sha256))!, "utf8");
    assert.match(
      vtt,
      /^WEBVTT\n\n00:00:00\.000 --> 00:00:0\d\.\d{3}\nA certificate had expired\.\n/,
    );
    assert.equal(vtt.match(/-->/g)?.length, 3);

    const read = (source: string) =>
      readProvenance(media.tools, { source, mediaType: "video/mp4" }, { cwd });
    assert.deepEqual(await read(film), {
      state: "untrusted",
      issuer: "sealoop media",
      receipt_id: status.receipt_id,
    });
    const bytes = await readFile(film);
    bytes[bytes.length - 1_000]! ^= 1;
    const changed = join(cwd, "changed.mp4");
    await writeFile(changed, bytes);
    assert.equal((await read(changed)).state, "invalid");
    await loop.sealer.sealed(status.receipt_id);
    const { text } = await findReceipt(loop.store, status.receipt_id);
    assert.deepEqual(JSON.parse(text).details.scenes, 2);
    assert.doesNotMatch(text, new RegExp(status.artifacts.mp4.sha256));
  });

  it("video_render and voice_blog_audio take an article, section by section", async () => {
    const id = "ART-00000000000a";
    const order = { keyword: null, slug: null, requestedBy: "key:k", requestedByKey: null };
    const source = { kind: "ticket", id: "INC-000000000000" } as const;
    await addArticle(loop.store.db, { ...order, id, source, pageReceiptId: "0".repeat(16) });
    await assert.rejects(call("video.render", { title: "A", article_id: id }), {
      name: "Conflict",
    });
    const section = (heading: string | null, text: string) => ({
      heading,
      blocks: [{ kind: "paragraph", sentences: [{ text, facts: [1] }] }],
    });
    const made = section("What we did", "We made a new one.");
    made.blocks[0]!.sentences.push({ text: "By `rm -rf /var/spool/x`.", facts: [1] });
    const sections = [section(null, "It `stopped`."), made];
    const incident = {
      timeline: [{ step: "repair", from_ms: 0, to_ms: 2_000 }],
      receipt_id: "00c0ffee00c0ffee",
    };
    const content = { title: "Down", description: "d", sections, receipts: [], incident };
    await asSuperuser(loop.store).execute("UPDATE articles SET content = $2 WHERE id = $1", [
      id,
      JSON.stringify(content),
    ]);
    const film = await call("video.render", { title: "A", article_id: id });
    const { state, failure } = await finished(film.project_id);
    assert.equal(state, "done", failure);
    const scenes = await listScenes(loop.store.db, film.project_id);
    assert.deepEqual(scenes.map((scene) => scene.incident), [incident, incident]);
    assert.deepEqual(scenes.map(({ heading, text }) => [heading, text]), [
      ["Down", "It stopped."],
      ["What we did", "We made a new one. The article has the commands."],
    ]);
    assert.ok((await call("voice.speak_post", { post: { article_id: id } })).seconds > 2);
    const missing = { post: { article_id: "ART-00000000000b" } };
    await assert.rejects(call("voice.speak_post", missing), { name: "NotFound" });
  });

  it("video_avatar animates speech that is there", async () => {
    const started = await call("video.avatar", { audio_id: speech.audio_id });
    const status = await finished(started.project_id);
    assert.deepEqual([status.kind, status.state], ["avatar", "done"], status.failure);
    assert.ok(Math.abs(status.seconds - speech.seconds) < 1);
    assert.equal((await call("video.projects", {})).projects[0].project_id, started.project_id);
  });

  it("video_render fails with the reason where an image is none", async () => {
    const { files } = media;
    const text = await files.keepBytes("<svg xmlns='http://www.w3.org/2000/svg'/>");
    await addMediaFile(loop.store.db, { ...text, mediaType: "text/plain" });
    const scenes = [{ heading: "One", text: "One.", image: text.sha256 }];
    const started = await call("video.render", { title: "A film", scenes });
    const status = await finished(started.project_id);
    assert.equal(status.failure, "A scene's image is no PNG or JPEG that can be read");
  });

  it("runs a program that fails three times, and waits for minutes where the database is away", async () => {
    const { db } = loop.store;
    const id = "AUD-0000000000e1";
    const file = await media.files.keepBytes("This is no sound");
    await addMediaFile(db, { ...file, mediaType: "audio/wav" });
    const clip = { kind: "speech", title: "T", text: "One.", voice: "heart" } as const;
    await addAudioClip(db, { ...clip, id, requestedBy: "key:k" });
    const { sha256 } = file;
    const made = { sha256, seconds: 1, sampleRate: 24_000, cues: [], receiptId: "0".repeat(16) };
    await finishAudioClip(db, id, made);
    const started = await call("video.avatar", { audio_id: id });
    const status = await finished(started.project_id);
    assert.equal(status.failure, "The programs that make it have failed");
    const { events } = await loop.client.workflow.getHandle(started.workflow_id).fetchHistory();
    const scenes = events!.flatMap((event) => event.activityTaskScheduledEventAttributes ?? [])
      .filter(({ activityType }) => activityType!.name === "makeVideoScene");
    assert.equal(scenes.length, 3);
    const { initialInterval, maximumInterval, maximumAttempts } = scenes[0]!.retryPolicy!;
    const [first, longest] = [initialInterval, maximumInterval].map((time) =>
      Number(time!.seconds)
    );
    let outage = 0;
    for (let n = 0; n < maximumAttempts! - 1; n++) outage += Math.min(longest!, first! * 2 ** n);
    assert.ok(outage > 600, `attempts end after ${outage} s`);
  });

  it("refuses images of others, and more than five requests at a time", async () => {
    const foreign = [{ heading: "One", text: "One.", image: speech.sha256 }];
    await assert.rejects(call("video.render", { title: "A", scenes: foreign }, "acme"), {
      name: "NotFound",
    });
    const scenes = [{ heading: "One", text: "One." }];
    const order = () => call("video.render", { title: "A", scenes }, "acme");
    const answers = await Promise.allSettled(Array.from({ length: 8 }, order));
    const refused = answers.filter((answer) => answer.status === "rejected");
    assert.deepEqual(refused.map(({ reason }) => reason.name), Array(3).fill("RateLimited"));
    const { value } = answers.find((answer) => answer.status === "fulfilled")!;
    const run = loop.client.workflow.getHandle(value.workflow_id);
    const scene = await eventually(async () => {
      const { events } = await run.fetchHistory();
      return events!.find((event) => event.activityTaskScheduledEventAttributes)
        ?.activityTaskScheduledEventAttributes;
    });
    assert.equal(scene?.priority?.fairnessKey, "acme", "tenants take turns");
  });

  it("refuses a text of thousands of lines, each of which would be spoken by itself", async () => {
    const text = "a\n".repeat(200);
    assert.throws(
      () => registry.get("voice.speak")!.input.parse({ text: text + text }),
      /sentences/,
    );
    const scenes = [{ heading: "One", text }, { heading: "Two", text }];
    await assert.rejects(call("video.render", { title: "A", scenes }), { name: "TooLarge" });
  });

  it("gives what a run has made to a repetition of its activity, and fails it no more", async () => {
    const { audio_id: id, workflow_id, run_id, ...made } = speech;
    const order = { id, requested_by: "key:k", run: { workflow_id, run_id } };
    const parts = { ...loop, media } as never;
    const env = new MockActivityEnvironment();
    const again = await env.run(speechActivities(parts).makeSpeech, order);
    assert.deepEqual(again, { audio_id: id, ...made });
    const failed = { order, code: "Cancelled", failure: "It was cancelled" };
    await env.run(endedMediaActivities(parts).failMediaRequest, failed);
    assert.equal((await getAudioClip(loop.store.db, id))?.state, "done");
  });

  it("ends requests whose run never began, once they are minutes old", async () => {
    const clip = { kind: "speech", title: "T", text: "One.", voice: "heart" } as const;
    const [old, fresh] = ["AUD-0000000000d1", "AUD-0000000000d2"];
    for (const id of [old, fresh]) {
      await addAudioClip(loop.store.db, { ...clip, id, requestedBy: "key:k" });
    }
    await asSuperuser(loop.store).execute(
      "UPDATE audio_clips SET created_at = now() - interval '1 hour' WHERE id = $1",
      [old],
    );
    await settleOpenActs(loop as never, { speech: mediaKind("speech") });
    const states = [old, fresh].map(async (id) => (await getAudioClip(loop.store.db, id))?.state);
    assert.deepEqual(await Promise.all(states), ["failed", "queued"]);
    assert.equal(await settleOpenActs(loop as never, { speech: mediaKind("speech") }), 0);
  });
});
