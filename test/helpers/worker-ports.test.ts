import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { workerPorts } from './worker-ports.ts';

test('calls side by side are given different ports', async () => {
  const ports = await Promise.all(Array.from({ length: 40 }, async () => await workerPorts(3)));
  expect(new Set(ports.flat()).size).toBe(120);
});

test('a process that runs many files does not run out of them', async () => {
  for (let round = 0; round < 40; round += 1) {
    expect(new Set(await workerPorts(10)).size).toBe(10);
  }
});

test('another process has other ports, also one of another run', {
  tags: ['process'],
}, async () => {
  const own = await workerPorts(50);
  const module = JSON.stringify(join(import.meta.dirname, 'worker-ports.ts'));
  const script = `const { workerPorts } = await import(${module}); console.log(JSON.stringify(await workerPorts(50)));`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  const others = JSON.parse(stdout) as readonly number[];
  const [lowest, highest] = [Math.min(...own), Math.max(...own)];
  expect(others).toHaveLength(50);
  expect(others.filter((port) => port >= lowest && port <= highest)).toEqual([]);
});
