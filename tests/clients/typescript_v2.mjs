// The TypeScript SDK, second generation: both eras, `auto` asks the server which one it speaks.
import { load, order, walk, watchedFetch } from "./walk.mjs";

const { Client, StreamableHTTPClientTransport } = load("@modelcontextprotocol/client");
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");

const client = new Client(
  { name: "typescript-v2", version: "1" },
  order.mode === "auto" ? { versionNegotiation: { mode: "auto" } } : {},
);
const [command, ...args] = order.command ?? [];
const transport = command
  ? new StdioClientTransport({ command, args, env: order.environment, stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(order.url), {
      fetch: watchedFetch,
      requestInit: { headers: { Authorization: `Bearer ${order.token}` } },
    });
await walk(client, transport, () => client.getNegotiatedProtocolVersion());
