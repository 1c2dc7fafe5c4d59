import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Exposition } from '../../core/platform/observe/index.ts';
import { eventually } from '../../test/helpers/eventually.ts';
import { silentLogger } from '../../test/helpers/silent-logger.ts';
import { workerPorts } from '../../test/helpers/worker-ports.ts';
import { metricsServer } from './metrics-server.ts';

async function start(): Promise<number> {
  const [port = 0] = await workerPorts(1);
  const metrics = new Exposition();
  const bindAddress = `127.0.0.1:${port}`;
  const stop = new AbortController();
  const running = metricsServer({ bindAddress, metrics, logger: silentLogger }).run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  return port;
}

test('bounds its connections: a client that opens more loses some, and metrics are answered', async () => {
  const port = await start();
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  let open = 0;
  let closed = 0;
  for (let index = 0; index < 400; index += 1) {
    const socket = connect({ host: '127.0.0.1', port });
    socket.on('connect', () => (open += 1)).on('error', () => undefined);
    socket.on('close', () => (closed += 1));
    sockets.push(socket);
  }
  await eventually(() => expect(open).toBe(400));
  await eventually(() => expect(open - closed).toBeLessThanOrEqual(256));
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect(await response.text()).toContain('process_cpu_seconds_total');
});
