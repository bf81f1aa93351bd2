import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { BadSetting, loadConfig } from "../config.ts";
import { testFolder } from "./_run.ts";

describe("loadConfig()", () => {
  const sources = (text: string) =>
    loadConfig({ SEALOOP_BITCOIN_SOURCES: text }).settings.SEALOOP_BITCOIN_SOURCES;
  const calendars = (text?: string) =>
    loadConfig(text === undefined ? {} : { SEALOOP_OTS_CALENDARS: text }).settings
      .SEALOOP_OTS_CALENDARS;

  it("takes the public calendars and two sources of headers, unless others are named, or none", () => {
    assert.equal(calendars().length, 4);
    assert.equal(sources("public").length, 2);
    assert.deepEqual(calendars("none"), []);
    assert.deepEqual(calendars("https://a.example/,http://127.0.0.1:8080"), [
      "https://a.example",
      "http://127.0.0.1:8080",
    ]);
    const node = "core+http://rpc:p%2Fw@[::1]:8332";
    assert.deepEqual(sources(`${node},https://b.example/api`), [node, "https://b.example/api"]);
  });

  for (
    const address of [
      "http://calendar.example",
      "http://127.0.0.1.example",
      "http://localhost.example",
      "ftp://127.0.0.1",
      "calendar.example",
      "https://a.example, https://b.example",
      "https://a.example,",
      "core+https://a.example",
      "none,https://a.example",
      "https://",
    ]
  ) {
    it(`refuses ${address} as a calendar`, () => {
      assert.throws(() => calendars(address), (error) => {
        assert.ok(error instanceof BadSetting);
        assert.match(error.message, /SEALOOP_OTS_CALENDARS: Expected public, none, or https/);
        return true;
      });
    });
  }

  const wrong: readonly (readonly [name: string, value: string, says: RegExp])[] = [
    ["SEALOOP_GATEWAY_PORT", "abc", /SEALOOP_GATEWAY_PORT: "abc" is no whole number/],
    ["SEALOOP_GATEWAY_PORT", "1.5", /SEALOOP_GATEWAY_PORT: "1.5" is no whole number/],
    ["SEALOOP_GATEWAY_PORT", "70000", /70000 is too much: at most 65535/],
    ["SEALOOP_SWEEP_SECONDS", "0", /SEALOOP_SWEEP_SECONDS: 0 is too little: at least 5/],
    ["SEALOOP_GATWAY_PORT", "8080", /not a setting; did you mean SEALOOP_GATEWAY_PORT\?/],
    ["SEALOOP_XYZ", "1", /not a setting; docs\/operating\.md lists those there are/],
  ];
  for (const [name, value, says] of wrong) {
    it(`says what is wrong with ${name}=${value}`, () => {
      assert.throws(() => loadConfig({ [name]: value }), says);
    });
  }

  it("repeats no secret that is too short", () => {
    assert.throws(() => loadConfig({ SEALOOP_ENGINE_SECRET: "tooshort" }), (error) => {
      assert.match(String(error), /SEALOOP_ENGINE_SECRET/);
      return !String(error).includes("tooshort");
    });
  });

  it("refuses a Bitcoin node that is asked in the clear over a network, and keeps its password", () => {
    assert.throws(() => sources("core+http://rpc:secret@10.0.0.1:8332"), (error) => {
      assert.ok(error instanceof BadSetting && !error.message.includes("secret"));
      return true;
    });
  });

  it("reads a setting from the file that its name with _FILE names", async () => {
    const file = join(await testFolder(), "token");
    await writeFile(file, "a secret\n");
    assert.equal(
      loadConfig({ SEALOOP_A2A_TOKEN_FILE: file }).settings.SEALOOP_A2A_TOKEN,
      "a secret",
    );
    await writeFile(file, "80 80\n");
    assert.throws(() => loadConfig({ SEALOOP_GATEWAY_PORT_FILE: file }), {
      name: "BadSetting",
      message: /SEALOOP_GATEWAY_PORT: .* is no whole number/,
    });
  });

  it("refuses a file that is not there, and one beside the setting itself", async () => {
    const missing = join(await testFolder(), "missing");
    assert.throws(() => loadConfig({ SEALOOP_A2A_TOKEN_FILE: missing }), {
      message: `SEALOOP_A2A_TOKEN_FILE: cannot read ${missing} (ENOENT)`,
    });
    assert.throws(() => loadConfig({ SEALOOP_A2A_TOKEN: "a", SEALOOP_A2A_TOKEN_FILE: missing }), {
      message: "SEALOOP_A2A_TOKEN and SEALOOP_A2A_TOKEN_FILE are both set: set one of them",
    });
    assert.throws(
      () => loadConfig({ SEALOOP_NONE_FILE: missing }),
      /SEALOOP_NONE_FILE is not a setting/,
    );
  });
});
