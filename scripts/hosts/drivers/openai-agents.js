/** OpenAI's Agents SDK. Copied beside the packages it imports; arguments: model URL, prompt, server command. */
import { Agent, MCPServerStdio, run, setDefaultOpenAIClient, setTracingDisabled } from '@openai/agents';
import OpenAI from 'openai';

const [url, prompt, command, ...args] = process.argv.slice(2);
setTracingDisabled(true);
setDefaultOpenAIClient(new OpenAI({ baseURL: `${url}/v1`, apiKey: 'dummy' }));
const server = new MCPServerStdio({ name: 'sw', command, args });
await server.connect();
const agent = new Agent({ name: 'test', model: 'fake', instructions: 'Use the tools.', mcpServers: [server] });
const { finalOutput } = await run(agent, prompt);
console.log(finalOutput);
await server.close();
