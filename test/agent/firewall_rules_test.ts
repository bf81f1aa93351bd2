import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { AgentFunctions } from "./_functions.ts";

const RULES: Readonly<Record<string, string>> = {
  "a chain": "chain input { type filter hook input priority 0; policy accept; tcp dport 23 drop; }",
  "sets, maps, comments and texts": `
    # a comment } table ip other {
    set blocked { type ipv4_addr; flags interval; elements = { 10.0.0.0/8, 192.0.2.1 } }
    chain input {
      type filter hook input priority filter - 5; policy drop;
      ct state established,related accept; iifname "lo" accept
      ip saddr @blocked drop comment "no } table ip other { and no include"
      tcp dport { 22, 80-90,
        443 } ct state new limit rate 10/second burst 5 packets log prefix "in: " accept
      tcp flags & (syn | ack) == syn counter packets 0 bytes 0 reject with tcp reset
      meta l4proto ipv6-icmp accept; ip6 saddr fd00::/8 accept
      tcp dport vmap { 25 : drop, 26 : accept }
      ip saddr != 192.0.2.7 jump other
    }
    chain other { return }`,
  "what packets add to a set": `
    set seen { type ipv4_addr; size 1000; flags dynamic,timeout; timeout 1m; }
    chain input { type filter hook input priority 0; update @seen { ip saddr } accept; }`,
  nothing: "",
};

/** Texts that are no rules, or more than rules. */
const PROGRAMS: readonly string[] = [
  "} table ip other { chain x { ",
  "chain a { } } delete table ip other; table inet x {",
  "chain a { accept } }\nflush ruleset\ntable inet x {",
  'include "/etc/shadow"',
  'chain a { include "/etc/shadow"; }',
  'chain a { accept\ninclude "/etc/shadow"\n}',
  'chain a { tcp dport { include "/etc/shadow" } accept; }',
  "define x = 22\nchain a { tcp dport $x accept; }",
  "chain a { define x = 22; }",
  "redefine x = 22",
  "delete table ip other",
  "chain a { delete @seen { ip saddr }; }",
  "destroy table ip other",
  "flush ruleset",
  "chain a { flush ruleset; }",
  "chain a { counter; flush ruleset }",
  "table ip other { }",
  "chain a { table ip other { } }",
  "add table ip other",
  "chain a { add table ip other; }",
  "chain a { add rule ip other x drop; }",
  "chain a { update other { ip saddr }; }",
  "chain a { list ruleset; }",
  "chain a { jump { accept; } }",
  "chain a { goto { accept } }",
  "chain a { tcp dport { 1, { 2 } } accept; }",
  "chain a { tcp dport { 1; } accept; }",
  "chain a { tcp dport $x accept; }",
  "chain a { accept \\\n }",
  'chain a { log prefix "a\nflush ruleset"; }',
  'chain a { log prefix "a\\"; } # "',
  "chain a { accept; } \u0000",
  "chain a { accept; }\r\nflush ruleset",
  "chain a { accept; }\u2028flush ruleset",
  "chain a {",
  "chain a { accept",
  "chain a { tcp dport { 22",
  "chain a { {",
  "chain { }",
  "chain a b { }",
  "chain flush { }",
  "flags dormant",
  "set s { elements = { include } }",
  "counter c { flush ruleset }",
];

describe("rules of a firewall", () => {
  let agent: AgentFunctions;
  before(() => agent = new AgentFunctions());
  after(() => agent.stop());

  const render = (rules: string) =>
    agent.result<{ script?: string; refused?: string }>("render_firewall", { rules });

  for (const [name, rules] of Object.entries(RULES)) {
    it(`are written anew from what was understood: ${name}`, async () => {
      const { script, refused } = await render(rules);
      assert.match(script ?? refused!, /^table inet sealoop \{\n[^]*\n\}\n$/);
      assert.doesNotMatch(script!, /#/);
    });
  }

  it("are those of the documents' example", async () => {
    const [, rules] = /^firewall:\n {2}\S+ \|\n([^]*?)\n```/m.exec(
      readFileSync("docs/shield.md", "utf8"),
    )!;
    const { script, refused } = await render(rules!);
    assert.match(script ?? refused!, /^chain input \{$/m);
  });

  for (const rules of PROGRAMS) {
    it(`are not ${JSON.stringify(rules)}`, async () => {
      const { script, refused } = await render(rules);
      assert.equal(script, undefined);
      assert.match(refused!, /^no firewall rules: /);
    });
  }

  it("name no other table and no file, whatever they are mixed from", async () => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    console.log(`    seed ${seed}`);
    let state = seed;
    const random = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const words = [...Object.values(RULES), ...PROGRAMS]
      .flatMap((text) => text.match(/"[^"]*"|[\w@./-]+|\s|[^\w\s]/g) ?? []);
    for (let n = 0; n < 3_000; n++) {
      const rules = Array.from({ length: 1 + random(12) }, () => words[random(words.length)])
        .join(random(2) === 0 ? " " : "");
      const { script } = await render(random(2) === 0 ? rules : `chain a { ${rules} }`);
      if (script === undefined) continue;
      const lines = script.replace(/"[^"\n]*"/g, "").trim().split("\n");
      const rest = lines.slice(1, -1).join("\n");
      assert.doesNotMatch(rest, /\b(table|include|define|delete|flush)\b|\$|\\/, script);
      const depths = [...lines.join("\n")].filter((one) => /[{}]/.test(one))
        .reduce((all, one) => [...all, all.at(-1)! + (one === "{" ? 1 : -1)], [0]);
      assert.ok(depths.slice(1, -1).every((depth) => depth > 0), script);
      assert.equal(depths.at(-1), 0, script);
    }
  });
});

describe("the agent's table, as nft has it,", () => {
  let agent: AgentFunctions | undefined;
  before(function () {
    try {
      execFileSync("unshare", ["-rn", "--", "nft", "list", "ruleset"], { stdio: "ignore" });
    } catch {
      console.log("    not run: it needs nft, and unshare with user namespaces, or root");
      return this.skip();
    }
    agent = new AgentFunctions(["unshare", "-rn", "--"]);
  });
  after(() => agent?.stop());

  const other = "table ip other {\n\tchain x {\n\t\ttcp dport 22 accept\n\t}\n}\n";
  const list = () => agent!.result<string>("run_nft", { arguments: ["-s", "list", "ruleset"] });

  it("takes all rules that the agent understands", async () => {
    for (const rules of Object.values(RULES)) {
      const { script } = await agent!.result<{ script: string }>("render_firewall", { rules });
      await agent!.result("run_nft", { script });
      await agent!.result("run_nft", { script: "delete table inet sealoop" });
    }
  });

  it("is changed alone: what a script changes elsewhere is put back, and told", async () => {
    await agent!.result("run_nft", { script: other });
    const before = await list();
    const own = "table inet sealoop {\n}\n";
    const attacks = [
      `${own}flush table ip other`,
      `${own}delete table ip other`,
      `${own}table ip third {\n}\n`,
      `${own}add rule ip other x drop`,
    ];
    for (const script of attacks) {
      const { refused } = await agent!.result<{ refused?: string }>("change_own_table", { script });
      assert.match(refused ?? "", /not only the agent's own table was changed/, script);
      await agent!.result("run_nft", { script: "delete table inet sealoop" });
      assert.equal(await list(), before, script);
    }
    assert.deepEqual(await agent!.result("change_own_table", { script: own }), { done: null });
  });
});
