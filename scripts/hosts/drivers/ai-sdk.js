/** Vercel's AI SDK with its MCP client. Copied beside the packages it imports; arguments: model URL, server command. */
import { createMCPClient } from '@ai-sdk/mcp';
import { Experimental_StdioMCPTransport as StdioTransport } from '@ai-sdk/mcp/mcp-stdio';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, stepCountIs } from 'ai';

const [url, prompt, command, ...args] = process.argv.slice(2);
const client = await createMCPClient({ transport: new StdioTransport({ command, args }) });
const model = createOpenAICompatible({ name: 'fake', baseURL: `${url}/v1`, apiKey: 'dummy' })('fake');
const { text } = await generateText({ model, prompt, tools: await client.tools(), stopWhen: stepCountIs(5) });
console.log(text);
await client.close();
