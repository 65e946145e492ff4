/** A client of a few lines: enough JSON-RPC over a child's pipes to list tools and call them. */
export function connect(child, onNotification = () => {}) {
  const open = new Map();
  let rest = '';
  let last = 0;
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop();
    for (const message of lines.map((line) => JSON.parse(line)))
      message.id === undefined ? onNotification(message) : settle(message);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

  function settle({ id, result, error }) {
    const request = open.get(id);
    if (!request) return;
    open.delete(id);
    clearTimeout(request.timer);
    if (error) request.reject(new Error(error.message));
    else request.resolve(result);
  }

  function request(method, params, limit) {
    return new Promise((resolve, reject) => {
      const id = ++last;
      const timer = setTimeout(() => {
        open.delete(id);
        reject(new Error(`no answer in ${limit / 1000} s`));
      }, limit);
      open.set(id, { resolve, reject, timer });
      send({ id, method, params });
    });
  }

  return {
    request,
    async initialize() {
      const clientInfo = { name: 'hosts-check', version: '1.0.0' };
      const hello = await request(
        'initialize',
        { protocolVersion: '2025-11-25', capabilities: {}, clientInfo },
        10_000,
      );
      send({ method: 'notifications/initialized' });
      return hello;
    },
  };
}
