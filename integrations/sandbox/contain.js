/** Tells a sandbox to contain the attack on it: `node contain.js <port>`. */
const [port] = process.argv.slice(2);
const answer = await fetch(`http://127.0.0.1:${port}/contain`, { method: "POST" });
process.exit(answer.ok ? 0 : 1);
