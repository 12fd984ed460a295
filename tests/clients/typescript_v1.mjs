// The TypeScript SDK, first generation: one package, the `initialize` era.
import { load, order, walk, watchedFetch } from "./walk.mjs";

const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");

const client = new Client({ name: "typescript-v1", version: "1" });
const [command, ...args] = order.command ?? [];
const transport = command
  ? new StdioClientTransport({ command, args, env: order.environment, stderr: "inherit" })
  : new StreamableHTTPClientTransport(new URL(order.url), {
      fetch: watchedFetch,
      requestInit: { headers: { Authorization: `Bearer ${order.token}` } },
    });

// The transport alone knows which version was agreed on.
let version;
const agree = transport.setProtocolVersion?.bind(transport);
transport.setProtocolVersion = (agreed) => agree?.((version = agreed)) ?? (version = agreed);
await walk(client, transport, () => version);
