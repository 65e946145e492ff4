/** Gemini's generateContent, streaming or not. */
import { sse } from './wire.js';

export const gemini = {
  name: 'gemini',
  matches: (path) => /:(stream)?generateContent$/i.test(path),
  read: (body) => ({
    tools: (body.tools ?? [])
      .flatMap((tool) => tool.functionDeclarations ?? [])
      .map(({ name, description }) => ({ name, description })),
    results: (body.contents ?? [])
      .flatMap(({ parts }) => parts ?? [])
      .filter((part) => part.functionResponse)
      .map((part) => JSON.stringify(part.functionResponse.response)),
  }),
  reply: (_body, action, response, path) => {
    const part = action.call ? { functionCall: { name: action.call, args: action.args } } : { text: action.say };
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    };
    if (path.includes('stream')) sse(response, [answer]);
    else response.json(answer);
  },
};
