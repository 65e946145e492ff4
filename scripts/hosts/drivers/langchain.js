/** LangChain's MCP adapters. Copied beside the packages it imports; arguments: model URL, prompt, server command. */

import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';

const [url, prompt, command, ...args] = process.argv.slice(2);
const client = new MultiServerMCPClient({ mcpServers: { sw: { transport: 'stdio', command, args } } });
const llm = new ChatOpenAI({ model: 'fake', apiKey: 'dummy', configuration: { baseURL: `${url}/v1` } });
const agent = createReactAgent({ llm, tools: await client.getTools() });
const { messages } = await agent.invoke({ messages: prompt });
console.log(messages.at(-1).content);
await client.close();
