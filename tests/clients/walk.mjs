// The way that both TypeScript clients go: list the tools, make the calls, then try to be deceived by a broken result.
//
// The order, one JSON object, is the first argument: `modules` (the folder of package.json), `url` and `token`, or
// `command` and `environment` for stdio, `mode` for clients that have several, and `calls`, pairs of a tool and its
// arguments. The report, one JSON object, goes to stdout.
import { createRequire } from "node:module";

export const order = JSON.parse(process.argv[2]);
export const load = createRequire(`${order.modules}/package.json`);

const exchanges = [];
let breaking = false;

// Notes what the client asked over HTTP; while `breaking`, takes everything out of the structured half of a result.
export async function watchedFetch(url, options) {
  const response = await fetch(url, options);
  exchanges.push([options?.method ?? "GET", response.status]);
  if (!breaking || response.status !== 200) return response;
  const message = await response.json();
  message.result.structuredContent = {};
  return new Response(JSON.stringify(message), { status: 200, headers: { "content-type": "application/json" } });
}

export async function walk(client, transport, protocol) {
  const errors = [];
  client.onerror = (error) => errors.push(String(error));
  await client.connect(transport);
  const report = { protocol: protocol(), server: client.getServerVersion().name, answers: [] };
  report.tools = (await client.listTools()).tools;
  let reference;
  for (const [name, given] of order.calls) {
    const named = Object.entries(given).map(([key, value]) => [key, value === "$reference" ? reference : value]);
    const answer = await client.callTool({ name, arguments: Object.fromEntries(named) });
    report.answers.push(answer);
    if (name === "mail_search") reference = answer.structuredContent.messages[0].reference;
  }
  if (order.url) {
    breaking = true;
    report.refused = await client.callTool({ name: "mail_capabilities", arguments: {} }).then(
      () => false,
      (error) => /schema/i.test(String(error)),
    );
  }
  await client.close();
  process.stdout.write(JSON.stringify({ ...report, errors, exchanges }));
}
