/** LangChain's MCP adapters. Copied beside the packages it imports; arguments: model URL, prompt, server command. */
import { HumanMessage } from '@langchain/core/messages';
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { ChatOpenAI } from '@langchain/openai';

const [url, prompt, command, ...args] = process.argv.slice(2);
const client = new MultiServerMCPClient({ mcpServers: { sw: { transport: 'stdio', command, args } } });
const tools = await client.getTools();
const model = new ChatOpenAI({ model: 'fake', apiKey: 'dummy', configuration: { baseURL: `${url}/v1` } }).bindTools(
  tools,
);
const messages = [new HumanMessage(prompt)];
for (let turn = 0; turn < 5; turn++) {
  const answer = await model.invoke(messages);
  messages.push(answer);
  if (!answer.tool_calls?.length) break;
  for (const call of answer.tool_calls) messages.push(await tools.find(({ name }) => name === call.name).invoke(call));
}
console.log(messages.at(-1).content);
await client.close();
