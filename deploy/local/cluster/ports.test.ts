import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { freePorts, isFree, LOOPBACK } from './ports.ts';

test('a port somebody listens on is not free', async () => {
  const server = createServer().listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await isFree(port)).toBe(false);
  server.close();
  await once(server, 'close');
  expect(await isFree(port)).toBe(true);
});

test('several ports differ from each other and from those taken', async () => {
  const [first = 0] = await freePorts(1, []);
  const ports = await freePorts(20, [first]);
  expect(new Set([...ports, first]).size).toBe(21);
});
