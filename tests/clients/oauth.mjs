// Both TypeScript SDKs come with nothing but the URL and their own authorization: find the issuer, ask the owner, call,
// and ask for more when a call needs it. The browser is a single request whose redirect is read and not followed.
//
// The order is the first argument: `modules`, `generation` (1 or 2), `mode`, `url`, `document` (the address of the
// client's own metadata, or nothing), and `message` for the call that needs more. The report goes to stdout.
import { createRequire } from "node:module";

const order = JSON.parse(process.argv[2]);
const load = createRequire(`${order.modules}/package.json`);
const { Client, StreamableHTTPClientTransport, UnauthorizedError } =
  order.generation === 2
    ? load("@modelcontextprotocol/client")
    : {
        ...load("@modelcontextprotocol/sdk/client/index.js"),
        ...load("@modelcontextprotocol/sdk/client/streamableHttp.js"),
        ...load("@modelcontextprotocol/sdk/client/auth.js"),
      };

const kept = {};
const granted = [];
let callback;
const provider = {
  redirectUrl: "http://127.0.0.1:33418/callback",
  clientMetadataUrl: order.document,
  clientMetadata: {
    client_name: "Tests",
    redirect_uris: ["http://127.0.0.1:33418/callback"],
    grant_types: ["authorization_code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "a-state-of-the-tests",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void granted.push((kept.tokens = tokens).scope),
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  codeVerifier: () => kept.verifier,
  redirectToAuthorization: async (url) => {
    const answer = await fetch(url, { redirect: "manual" });
    callback = new URL(answer.headers.get("location")).searchParams;
  },
};

const statuses = [];
let transport;
let client;

async function watchedFetch(url, options) {
  const response = await fetch(url, options);
  if (String(url) === order.url && options?.method === "POST") statuses.push(response.status);
  return response;
}

async function connect() {
  transport = new StreamableHTTPClientTransport(new URL(order.url), { authProvider: provider, fetch: watchedFetch });
  client = new Client({ name: "typescript", version: "1" }, order.mode ? { versionNegotiation: { mode: order.mode } } : {});
  await client.connect(transport);
}

// What is asked of the owner on the way ends the action; it is begun again once the answer is in.
async function withOwner(action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    if (callback.get("state") !== provider.state()) throw new Error("another state came back");
    await transport.finishAuth(order.generation === 2 ? callback : callback.get("code"));
    return await action();
  }
}

await withOwner(connect);
const read = await withOwner(() => client.callTool({ name: "mail_search", arguments: { limit: 1 } }));
const sent = await withOwner(() => client.callTool({ name: "mail_prepare_send", arguments: { message: order.message } }));
await client.close();
process.stdout.write(JSON.stringify({ read, sent, granted, statuses }));
