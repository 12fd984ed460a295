// Asks postal-mime about every message of a folder: `node ask.mjs FOLDER ENVIRONMENT`, where ENVIRONMENT holds it.
// Prints what ask.py prints.
import { createHash } from "node:crypto";
import { readFile, readdir } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, environment] = process.argv.slice(2);
const found = createRequire(join(environment, "package.json")).resolve("postal-mime");
const module = await import(pathToFileURL(found));
const PostalMime = module.default?.default ?? module.default;

const flat = (list) => [list ?? []].flat().flatMap((one) => (one.group ? flat(one.group) : [[one.name ?? "", one.address ?? ""]]));

async function answer(source) {
  const mail = await PostalMime.parse(source, { attachmentEncoding: "arraybuffer", rfc822Attachments: true, forceRfc822Attachments: true });
  return {
    subject: mail.subject ?? "",
    from: flat(mail.from),
    to: flat(mail.to),
    cc: flat(mail.cc),
    bcc: flat(mail.bcc),
    reply_to: flat(mail.replyTo),
    date: mail.date ?? null,
    plain: mail.text ?? "",
    html: mail.html ?? "",
    attachments: mail.attachments.map((one) => {
      const data = typeof one.content === "string" ? Buffer.from(one.content) : Buffer.from(one.content);
      return [one.filename ?? null, data.length, createHash("sha256").update(data).digest("hex")];
    }),
  };
}

const answers = {};
for (const name of (await readdir(folder)).filter((one) => one.endsWith(".eml")).sort()) {
  const stem = name.slice(0, -4);
  try {
    answers[stem] = await answer(await readFile(join(folder, name)));
  } catch (error) {
    answers[stem] = { error: error.name };
  }
}
process.stdout.write(JSON.stringify(answers));
