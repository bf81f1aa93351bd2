import assert from "node:assert/strict";
import { judgeCommand } from "../../../judgement/guard/shell/mod.ts";

/** Returns the weight of the worst objection to a line. */
function weightOf(line: string): string {
  const weights = judgeCommand(line).objections.map(({ weight }) => weight);
  return weights.includes("deny") ? "deny" : weights[0] ?? "fine";
}

function decides(kind: string, lines: Readonly<Record<string, readonly string[]>>): void {
  for (const [weight, all] of Object.entries(lines)) {
    for (const line of all) {
      it(`gives ${weight} for ${kind}: ${line}`, () => assert.equal(weightOf(line), weight));
    }
  }
}

describe("judgeCommand() of text that a shell evaluates", () => {
  decides("arithmetic and names", {
    deny: [
      "test -v 'x[$(rm -rf /srv)]'",
      "[[ 'a[$(rm -rf /srv)]' -eq 1 ]]",
      "x='a[$(rm -rf /srv)]'; echo $((x))",
      "x='a[$(rm -rf /srv)]'; for ((i = x; i < 3; i++)); do :; done",
      "declare -i n; n='a[$(rm -rf /srv)]'",
      "v='$(rm -rf /srv)'; echo \"${v@P}\"",
      "mapfile -C 'rm -rf /srv #' -c 1 rows < /etc/hosts",
      "compgen -W '$(rm -rf /srv)'",
    ],
    ask: ['echo "${PS1@P}"', "printf -v 'a[$(id)]' x", "unset 'a[$(id)]'", "hash -p /tmp/x ls"],
    fine: [
      "[[ $(pgrep -c nginx) -ge 1 ]] && echo up",
      "n=$(wc -l < /var/log/syslog); echo $((n / 2))",
      "for ((i = 0; i < 3; i++)); do curl -s localhost/health; done",
      'mapfile -t rows < /etc/hosts; echo "${#rows[@]}"',
    ],
  });
});

describe("judgeCommand() of programs with a language of their own", () => {
  decides("filters", {
    ask: [
      "mlr --icsv put 'print > \"/srv/x\", $a' /tmp/a.csv",
      "mlr --icsv put '$x = exec(\"id\")' /tmp/a.csv",
      "mlr --icsv tee /srv/x /tmp/a.csv",
      "jq '$ENV' /tmp/a.json",
      "jq '\"\\(env)\"' /tmp/a.json",
      "fx /tmp/a.json 'x => x.constructor'",
      "yq 'load(\"/tmp/b\")' /tmp/a.yaml",
      "rg --hostname-bin /tmp/x error /var/log",
      "sdiff -o /tmp/c /tmp/a /tmp/b",
    ],
    fine: [
      "mlr --icsv --ojson head -n 2 then put '$r = $a / $b' /tmp/a.csv",
      "jq -r '.items[] | select(.status == \"failed\") | .name' /tmp/a.json",
      "yq eval '.services.api.image' compose.yaml",
      "fx /tmp/a.json .items.length",
    ],
  });
  decides("computed names", {
    ask: [
      "node -p 'process[\"env\"]'",
      "node -e 'const {env} = process; console.log(env)'",
      "node -p '`${require`fs`}`'",
      "node -p '[].map.constructor'",
      "python3 -c 'import platform; platform.os.unlink(\"x\")'",
      'mongosh shop --eval \'db["drop" + "Database"]()\'',
      'mongosh shop --eval \'db.o.aggregate([{["$" + "out"]: "c"}])\'',
      'mongosh shop --eval \'db.o.aggregate([{"\\u0024out": "c"}])\'',
      "mongosh shop --eval 'db.o.createIndex({a: 1}, {expireAfterSeconds: 1})'",
      "mongosh shop --eval 'db.runCommand({drop: \"o\"})'",
    ],
    fine: [
      "node -p 'process.version'",
      "node -p '[3, 1].sort().map(x => x * 2).join()'",
      'mongosh shop --eval \'db.o.aggregate([{$match: {env: "prod"}}, {$count: "n"}])\'',
      "mongosh --eval 'db.adminCommand({ping: 1})'",
    ],
  });
});

describe("judgeCommand() of options and verbs", () => {
  decides("options that write, load or change", {
    ask: [
      "openssl version -engine evil",
      "openssl s_client -connect db-1:443 < /etc/hosts",
      "strace -e inject=all:error=EIO -p 812",
      "strace -o '|sh' ls",
      "uptime --unknown",
    ],
    fine: [
      "openssl s_client -connect db-1:443 < /dev/null",
      "openssl x509 -in /etc/nginx/tls.crt -noout -enddate",
      "strace -f -e trace=network -p 812",
      "uptime --help",
    ],
  });
  decides("verbs of clouds", {
    ask: [
      "aws ec2 get-password-data --instance-id i-1",
      "aws ec2 describe-evil",
      "az cosmosdb keys list -n db -g rg",
      "gcloud auth print-access-token",
      "doctl databases connection db-1",
      "kubectl get -o yaml secret/db",
    ],
    fine: [
      "aws ec2 describe-instances --instance-ids i-1",
      "az vm show -g rg -n web-1",
      "gcloud compute instances list",
      "kubectl get secrets -n shop",
    ],
  });
  decides("whole fleets", {
    ask: [
      "supervisorctl restart all",
      "systemctl restart supervisord",
      "pm2 restart all",
      "docker compose up -d --force-recreate",
    ],
    fine: ["supervisorctl restart api", "pm2 restart api", "docker compose restart api"],
  });
});

describe("judgeCommand() of statements", () => {
  decides("tables and functions by whole words", {
    ask: [
      'psql -c "DELETE FROM logins WHERE id = 3"',
      'psql -c "UPDATE session_keys_master SET a = 1 WHERE id = 3"',
      "psql -c \"SELECT 'drop table x' \\gexec\"",
      "psql -c 'CREATE INDEX CONCURRENTLY i ON t (wipe(id))'",
      "psql -c 'EXPLAIN ANALYZE EXECUTE s'",
      "psql -c 'SELECT \"wipe\"()'",
    ],
    fine: [
      "psql -c 'DELETE FROM web_sessions WHERE expires_at < 3'",
      "psql -c 'CREATE INDEX CONCURRENTLY i ON orders (lower(name))'",
      "psql -c 'EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM logins'",
    ],
  });
});

describe("judgeCommand() of secrets", () => {
  decides("redirections, devices and histories", {
    ask: [
      'while read -r line; do echo "$line"; done < /etc/shadow',
      'echo "$(< /etc/shadow)"',
      "cat /etc/sh?dow",
      "strings /dev/sda1",
      "tail ~/.zsh_history",
      "find /home -name '.bash_hist*' -exec cat {} +",
      "printf '%s' \"$API_KEY\"",
      "export -p",
      "Get-Content C:\\Users\\x\\.ssh\\id_rsa",
      "Get-ChildItem Env:",
    ],
    fine: [
      "wc -l < /var/log/syslog",
      "ls -l /etc/shadow",
      "cat /etc/nginx/conf.d/*.conf",
      "echo $HOME",
      "</dev/tcp/db-1/5432",
    ],
  });
  decides("zeros into files", {
    ask: ["dd if=/dev/zero of=/tmp/x bs=1G count=900", "dd if=/dev/zero of=/var/log/x count=1"],
    fine: ["dd if=/dev/zero of=/tmp/testfile bs=1M count=100 oflag=direct"],
  });
});

describe("judgeCommand() of commands that only read", () => {
  for (
    const line of [
      "kubectl logs api-1 -n payments",
      "kubectl exec api-1 -n payments -- df -h",
      "docker exec api ps aux",
    ]
  ) {
    it(`reaches nothing that is named by ${line}`, () => {
      const { looks, targets } = judgeCommand(line);
      assert.deepEqual({ looks, targets }, { looks: true, targets: [] });
    });
  }
});
