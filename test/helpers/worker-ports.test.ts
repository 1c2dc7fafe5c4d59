import { expect, test } from 'vitest';
import { workerPorts } from './worker-ports.ts';

test('calls side by side are given different ports', async () => {
  const ports = await Promise.all(Array.from({ length: 40 }, async () => await workerPorts(3)));
  expect(new Set(ports.flat()).size).toBe(120);
});
