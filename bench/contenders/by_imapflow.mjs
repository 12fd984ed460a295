// The jobs written by hand with imapflow, as direct as they can be. Runs beside packages of its own.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { ImapFlow } from "imapflow";

let client = null;

async function connection() {
  if (client === null) {
    client = new ImapFlow({
      host: "localhost",
      port: Number(process.env.BENCH_PORT),
      secure: true,
      auth: { user: process.env.BENCH_USER, pass: process.env.BENCH_PASSWORD },
      logger: false,
    });
    await client.connect();
  }
  return client;
}

async function opened() {
  const open = await connection();
  if (!open.mailbox || open.mailbox.path !== "INBOX") await open.mailboxOpen("INBOX");
  return open;
}

const ROW = { uid: true, envelope: true, flags: true, internalDate: true, size: true, bodyStructure: true };

async function subjects(range, options) {
  const open = await opened();
  const found = [];
  for await (const row of open.fetch(range, ROW, options)) found.push(row.envelope.subject);
  return found;
}

async function read(uid) {
  const open = await opened();
  const row = await open.fetchOne(uid, { uid: true, bodyStructure: true, source: { maxLength: 65536 } }, { uid: true });
  return row.source.toString("utf8");
}

const JOBS = {
  async list() {
    const open = await connection();
    return (await open.list({ statusQuery: { messages: true, unseen: true } })).map((row) => row.path);
  },
  async newest() {
    const open = await connection();
    // Opening it tells what is there; later on NOOP does.
    if (open.mailbox) await open.noop();
    else await opened();
    return subjects(`${Math.max(1, open.mailbox.exists - 24)}:*`, {});
  },
  async filter(wanted) {
    const open = await opened();
    const uids = await open.search({ from: wanted.from, subject: wanted.subject }, { uid: true });
    return subjects(uids.join(","), { uid: true });
  },
  read: (wanted) => read(wanted.small),
  read20m: (wanted) => read(wanted.large),
  async attach2m(wanted) {
    const open = await opened();
    await open.fetchOne(wanted.large, { uid: true, bodyStructure: true }, { uid: true });
    const row = await open.fetchOne(wanted.large, { uid: true, bodyParts: ["3"] }, { uid: true });
    const octets = Buffer.from(row.bodyParts.get("3").toString("latin1"), "base64");
    return { digest: createHash("sha256").update(octets).digest("hex") };
  },
  async mark(wanted) {
    const open = await opened();
    await open.messageFlagsAdd(String(wanted.unread), ["\\Seen"], { uid: true });
    return "done";
  },
  async draft() {
    const open = await connection();
    await open.append("Drafts", "Subject: draft\r\n\r\nWords.\r\n", ["\\Draft"]);
    return "done";
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  try {
    const result = method === "job" ? await JOBS[params.job](params) : "ready";
    console.log(JSON.stringify({ id, result }));
  } catch (error) {
    console.log(JSON.stringify({ id, error: String(error) }));
  }
}
process.exit(0);
